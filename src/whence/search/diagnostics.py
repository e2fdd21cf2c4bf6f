"""How exact a sample is: each diagnostic once, by the name and the rule that the field uses.

Effective sample size, Monte-Carlo standard error and R-hat are those of Vehtari, Gelman, Simpson,
Carpenter and Buerkner (Rank-normalization, folding, and localization, 2021), as ArviZ computes
them; the barrier and the round trips that it predicts are those of Syed, Bouchard-Cote,
Deligiannidis and Doucet (Non-reversible parallel tempering, 2022). Stopping rule, doubts and
report ask here and share the thresholds below.

C chains of N draws stand in float64[C, N].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from whence._arrays import Floats, Ints

COMMON = 0.01  # the least frequency of a class that ladders are compared by
MOST_ERRORS = 3.0  # a larger gap between ladders is a disagreement
BATCHES = 10  # of each chain
SHORTEST = 4  # draws a chain, below which nothing can be said


class Summary(NamedTuple):
    """A number that varies over the sample: its mean and the interval that holds 95%."""

    mean: float
    low: float
    high: float


class Agreement(NamedTuple):
    """How far independent ladders lie apart.

    Attributes:
        largest: the largest difference of a class's frequency between one ladder and all
            others, in units of its error, over the classes of at least 1%. Above
            `MOST_ERRORS` the ladders disagree.
        total_variation: the largest over pairs of ladders of half the sum of the differences,
            from 0 to 1; many rare classes make it large even where ladders agree.
        rhat: the largest R-hat of such a class; about 1 where ladders have mixed.
    """

    largest: float
    total_variation: float
    rhat: float


@dataclass(frozen=True, eq=False)
class Frequencies:
    """What the order of the draws says about the frequencies of classes.

    Attributes:
        errors: float64[K], the Monte-Carlo standard error of each class's frequency.
        ess: the effective sample size of the class of at least 1% that has the smallest.
        agreement: between ladders; None where there is but one.
    """

    errors: Floats
    ess: float
    agreement: Agreement | None


def frequencies(
    classes: Ints, ladder: Ints, n_classes: int, weight: Floats | None = None
) -> Frequencies:
    """Return how exact class frequencies are.

    Classes of less than 1% take the effective sample size of all of them together, or that of
    the slowest of the others where it is smaller. Weights cost as `evenness` says; ladders are
    compared as they were drawn.

    Args:
        classes: int64[M], the class of each draw; those of a ladder in order of time.
        ladder: int64[M].
        n_classes: K.
        weight: float64[M], which sums to 1; all the same by default.
    """
    even = 1.0 if weight is None else evenness(weight)
    chains = by_ladder(classes, ladder)
    shares = _shares(chains, n_classes)
    share = np.bincount(classes, minlength=n_classes) / len(classes)
    if weight is not None and even < 1:
        share = np.bincount(classes, weight, n_classes).astype(np.float64)
    common = np.flatnonzero(share >= COMMON)
    each = np.array([even * ess(chains == number) for number in common])
    smallest = float(each.min()) if len(each) else even * chains.size
    rare = ~np.isin(chains, common)
    worth = np.full(n_classes, min(smallest, even * ess(rare)) if rare.any() else smallest)
    worth[common] = each
    errors = np.sqrt(share * (1 - share) / worth)
    if len(chains) == 1:
        return Frequencies(errors, smallest, None)
    apart = max(float(d) for d in _distances(shares))
    rhats = [rhat(chains == number) for number in common]
    mixed = max((r for r in rhats if not math.isnan(r)), default=1.0)
    gap = disagreement(chains, common)
    return Frequencies(errors, smallest, Agreement(gap, apart, mixed))


def evenness(weight: Floats) -> float:
    """Return what weighted draws are worth beside as many even ones: (sum w)^2 / (N sum w^2)."""
    if not len(weight) or np.ptp(weight) == 0:
        return 1.0
    return float(weight.sum() ** 2 / (len(weight) * (weight**2).sum()))


def by_ladder(classes: Ints, ladder: Ints) -> Ints:
    """Return int64[C, N]: the classes of each ladder, of as many draws as the shortest has."""
    parts = [classes[ladder == name] for name in np.unique(ladder)]
    shortest = min(len(part) for part in parts)
    return np.stack([part[:shortest] for part in parts])


def disagreement(chains: Ints, common: Ints | None = None) -> float:
    """Return the largest gap between a ladder and all others, in errors, over common classes.

    Args:
        chains: int64[C, N], the class of each draw.
        common: the classes to compare; by default those of at least 1%.
    """
    if common is None:
        share = np.bincount(chains.reshape(-1)) / chains.size
        common = np.flatnonzero(share >= COMMON)
    return max((_gap(chains == number) for number in common), default=0.0)


def _gap(hits: npt.ArrayLike) -> float:
    """Return the largest gap between one chain's mean and that of all others, in errors."""
    x = np.asarray(hits, dtype=np.float64)
    means = x.mean(axis=1)
    least = math.sqrt(x.mean() * (1 - x.mean()) / x.shape[1])  # of independent draws
    errors = np.array([max(mcse(chain[None]), least) for chain in x])
    worst = 0.0
    for one in range(len(x)):
        rest = np.arange(len(x)) != one
        error = math.hypot(errors[one], float(np.sqrt((errors[rest] ** 2).sum())) / rest.sum())
        gap = abs(float(means[one] - means[rest].mean()))
        worst = max(worst, gap / error if error > 0 else 0.0)
    return worst


def ess(draws: npt.ArrayLike) -> float:
    """Return the effective sample size of the mean of float[C, N], all chains together.

    Chains are split in halves, and their autocorrelations summed up to Geyer's initial
    monotone sequence. A number that never changes counts every draw.
    """
    x = split(np.asarray(draws, dtype=np.float64))
    if x.shape[1] < SHORTEST // 2:
        return math.nan
    if np.ptp(x) == 0:
        return float(x.size)
    pairs, left_over = _geyer(_autocorrelation(x))
    tau = max(2 * float(pairs.sum()) - 1 + left_over, 1 / math.log10(x.size))
    return x.size / tau


def mcse(draws: npt.ArrayLike) -> float:
    """Return the Monte-Carlo standard error of the mean of float[C, N]."""
    x = np.asarray(draws, dtype=np.float64)
    return float(x.std(ddof=1)) / math.sqrt(ess(x)) if x.size > 1 else math.nan


def batch_error(draws: npt.ArrayLike) -> float:
    """Return the standard error of the mean of float[C, N] by the means of batches.

    Autocorrelations that are weak and last long drown in the noise of their estimates, and the
    effective sample size is overstated; means of long batches show them.
    """
    x = np.asarray(draws, dtype=np.float64)
    size = x.shape[1] // BATCHES
    if not size:
        return math.nan
    means = x[:, x.shape[1] - BATCHES * size :].reshape(len(x), BATCHES, size).mean(axis=2)
    return float(means.std(ddof=1)) / math.sqrt(means.size)


def rhat(draws: npt.ArrayLike) -> float:
    """Return R-hat of float[C, N]: rank-normalised, of split chains, the folded one counting too.

    Near 1 where chains have mixed; above 1.01 they hardly have. Not a number where nothing
    varies.
    """
    x = split(np.asarray(draws, dtype=np.float64))
    if x.shape[1] < 2 or np.ptp(x) == 0:
        return math.nan
    folded = np.abs(x - np.median(x))
    both = [_rhat(_normalised(part)) for part in (x, folded) if np.ptp(part) > 0]
    return max(both)


def split(draws: Floats) -> Floats:
    """Return float64[2 C, N // 2]: each chain in halves, the middle draw left out if N is odd."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def barrier(rejection: npt.ArrayLike) -> float:
    """Return Lambda, the communication barrier: the sum of neighbours' rejection rates."""
    return float(np.sum(rejection))


def trips_predicted(rejection: npt.ArrayLike, scans: int) -> float:
    """Return how many round trips a number of scans makes, if local moves forget at every rung.

    scans / (2 + 2 sum of r / (1 - r)), with r the rejection rate of each pair of neighbours.
    """
    r = np.minimum(np.asarray(rejection, dtype=np.float64), 1 - 1e-12)
    return scans / (2 + 2 * float((r / (1 - r)).sum()))


def summarised(values: Floats, weight: Floats) -> Summary:
    """Return the mean and the 2.5% and 97.5% quantiles of weighted values."""
    mean = float(weight @ values) if np.isfinite(values).all() else math.inf
    order = np.argsort(values, kind="stable")
    running = np.cumsum(weight[order]) / weight.sum()
    places = np.searchsorted(running, (0.025, 0.975)).clip(max=len(values) - 1)
    low, high = values[order][places].tolist()
    return Summary(mean, low, high)


def _autocorrelation(x: Floats) -> Floats:
    """Return float64[N], the autocorrelation at each lag, over all chains together."""
    count, length = x.shape
    covariance = _autocovariance(x).mean(axis=0)
    within = covariance[0] * length / (length - 1)
    together = covariance[0]
    if count > 1:
        together = together + float(x.mean(axis=1).var(ddof=1))
    rho = 1 - (within - covariance) / together
    rho[0] = 1.0
    return np.asarray(rho)


def _autocovariance(x: Floats) -> Floats:
    """Return float64[C, N]: the mean of (x_t - mean) (x_{t + lag} - mean), over N."""
    length = x.shape[1]
    padded = 1 << (2 * length - 1).bit_length()
    waves = np.fft.rfft(x - x.mean(axis=1, keepdims=True), n=padded, axis=1)
    return np.asarray(np.fft.irfft(np.abs(waves) ** 2, n=padded, axis=1)[:, :length] / length)


def _geyer(rho: Floats) -> tuple[Floats, float]:
    """Return the sums of the pairs of lags (0, 1), (2, 3), ... that count, and what is left over.

    Pairs count up to the first that is not above 0 (Geyer's initial positive sequence), or to
    where lags end, and each at most as much as the one before it (the monotone sequence). Left
    over is the even lag of that last pair, where it is above 0.
    """
    even = np.arange(0, max(len(rho) - 3, 0) + 1, 2)
    sums = rho[even] + rho[even + 1]
    over = np.flatnonzero(sums <= 0)
    last = int(over[0]) if len(over) else len(sums) - 1
    return np.minimum.accumulate(sums[:last]), max(float(rho[2 * last]), 0.0)


def _rhat(x: Floats) -> float:
    length = x.shape[1]
    within = float(x.var(axis=1, ddof=1).mean())
    between = length * float(x.mean(axis=1).var(ddof=1))
    if within == 0:
        return math.inf
    return math.sqrt((between / within + length - 1) / length)


def _normalised(x: Floats) -> Floats:
    """Return the normal scores of ranks, ties at their mean rank."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2
    normal = NormalDist()
    scores = np.array([normal.inv_cdf((r - 3 / 8) / (x.size + 1 / 4)) for r in rank.tolist()])
    return np.asarray(scores[inverse].reshape(x.shape))


def _shares(chains: Ints, n_classes: int) -> Floats:
    """Return float64[C, K]: how frequent each class is in each chain."""
    return np.stack([np.bincount(chain, minlength=n_classes) / len(chain) for chain in chains])


def _distances(shares: Floats) -> Floats:
    """Return the total variation of each pair of chains."""
    first, second = np.triu_indices(len(shares), k=1)
    return np.asarray(0.5 * np.abs(shares[first] - shares[second]).sum(axis=1))
