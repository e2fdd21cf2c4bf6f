"""Ladders of temperatures: swaps between neighbours, round trips, and where the rungs stand.

The temperature of a rung divides the log likelihood. Swapping the chains of neighbouring rungs
i and j is accepted with probability min(1, exp((1/T_i - 1/T_j)(l_j - l_i))). The rungs are placed
so that all neighbours reject equally often: the sum of the rejection rates up to a rung, as a
function of 1/T, is divided into equal parts (Syed, Bouchard-Cote, Deligiannidis and Doucet,
Non-reversible parallel tempering, 2022).
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Bools, Floats, Ints

LEAST_RATE = 0.02  # so that no two rungs fall together


def geometric(coldest: float, hottest: float, rungs: int) -> Floats:
    """Return float64[rungs], from the coldest to the hottest."""
    if rungs == 1:
        return np.array([coldest])
    return np.geomspace(coldest, max(hottest, coldest * (1 + 1e-9)), rungs)


def swaps(
    rng: np.random.Generator, temperatures: Floats, log_likelihood: Floats, odd: bool
) -> tuple[Ints, Floats]:
    """Swap neighbours, the even or the odd pairs.

    Args:
        rng: of every choice.
        temperatures: float64[L, K].
        log_likelihood: float64[L, K].
        odd: which pairs.

    Returns:
        int64[L, K], the old rung of the chain at each rung now, and float64[L, K - 1], the
        probability of each swap that was tried, nan elsewhere.
    """
    ladders, rungs = temperatures.shape
    order = np.tile(np.arange(rungs), (ladders, 1))
    chance = np.full((ladders, rungs - 1), np.nan)
    low = np.arange(1 if odd else 0, rungs - 1, 2)
    cold = 1 / temperatures[:, low] - 1 / temperatures[:, low + 1]
    hotter, colder = log_likelihood[:, low + 1], log_likelihood[:, low]
    with np.errstate(invalid="ignore"):  # two impossible machines swap freely
        gain = np.where(hotter == colder, 0.0, cold * (hotter - colder))
    chance[:, low] = np.exp(np.minimum(gain, 0.0))
    accepted = rng.random((ladders, len(low))) < chance[:, low]
    order[:, low] = np.where(accepted, low + 1, low)
    order[:, low + 1] = np.where(accepted, low, low + 1)
    return order, chance


def respaced(temperatures: Floats, rejection: Floats) -> Floats:
    """Return float64[K], rungs between the same ends with evenly spread rejections.

    Args:
        temperatures: float64[K], ascending.
        rejection: float64[K - 1], the rejection rate of each pair of neighbours.
    """
    beta = 1 / temperatures
    barrier = np.concatenate([[0.0], np.cumsum(np.maximum(rejection, LEAST_RATE))])
    wanted = np.linspace(0, barrier[-1], len(temperatures))
    logs = np.interp(wanted, barrier, np.log(beta))
    placed = np.exp(-logs)
    placed[0], placed[-1] = temperatures[0], temperatures[-1]
    return np.asarray(placed)


def travelled(replica: Ints, came_from_hot: Bools) -> tuple[Bools, Ints]:
    """Note which replicas are at the ends; count round trips.

    Args:
        replica: int64[L, K], who stands on each rung.
        came_from_hot: bool[L, K], by replica: at the hottest rung since it was at the coldest.

    Returns:
        The new `came_from_hot`, and int64[L], how many arrived at the coldest rung from the
        hottest.
    """
    row = np.arange(len(replica))
    result = came_from_hot.copy()
    result[row, replica[:, -1]] = True
    arrived = result[row, replica[:, 0]].copy()
    result[row, replica[:, 0]] = False
    if replica.shape[1] == 1:
        return result, np.ones(len(replica), dtype=np.int64)
    return result, arrived.astype(np.int64)
