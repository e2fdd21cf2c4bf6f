"""The soft expert that fits each machine best: few solves, well chosen.

Every alpha takes a solve. But Q, in nats, bends little with alpha: it is near alpha times what is
paid, to experts who hardly err as to those who hardly do anything else. So it is taken as a
straight line through two alphas, and the best expert on that line is found as a Boltzmann expert
is. The next line goes through the alpha that was found: each round has its two solves.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from whence._arrays import Floats, Ints

RATIOS = (4.0, 1.3)  # of the two alphas of a line, round by round
TRUSTED = math.log(6.0)  # how far in log alpha a later line is believed
EXACT = 1e-4  # nats, of the values behind a line

Tables = tuple[Ints, Floats]
Rows = Callable[[Tables, float], tuple[Floats, Floats]]


def paying(tables: Tables, alpha: Floats) -> Tables:
    """Return machines that pay alpha times as much, float64[B]."""
    return tables[0], tables[1] * alpha[:, None, None]


def fit_softly(
    rows: Rows, tables: Tables, prior: Floats, free: Floats, start: Floats, most_rows: int
) -> Floats:
    """Return the fit of each machine, float64[B, 8], as `fit_machines` writes it.

    Args:
        rows: returns the soft Q of machines that pay in nats, exact to some nats, and what was
            done there, float64[B, R, A] each.
        tables: int64[B, n, m] and float64[B, n, m].
        prior: float64[8], as `fit_machines` takes it.
        free: float64[2], 1 where log alpha and the lapse are to be fitted.
        start: float64[2], log alpha and logit lapse where they are not, or to start from.
        most_rows: pairs of a machine state and a visited state that are looked at.
    """
    from whence.likelihood.kernels.fitting import fit_machines

    size = len(tables[0])
    result, alpha = np.zeros((size, 8)), np.full(size, math.exp(start[0]))
    priors, starts = np.tile(prior, (size, 1)), np.tile(start, (size, 1))
    if not free[0]:
        q, counts = rows(paying(tables, alpha), EXACT)
        nothing = np.zeros((0, 0))
        parts = _in_turn(q / alpha[0]), nothing, _in_turn(counts), _ends(q)
        fit_machines(*parts, most_rows, priors, free, starts, result)
        return result
    for number, ratio in enumerate(RATIOS):
        slope, base, counts = _line(rows, tables, alpha, ratio)
        if number:
            priors[:, 2] = np.maximum(prior[2], starts[:, 0] - TRUSTED)
            priors[:, 3] = np.minimum(prior[3], starts[:, 0] + TRUSTED)
        parts = _in_turn(slope), _in_turn(base), _in_turn(counts), _ends(slope)
        fit_machines(*parts, most_rows, priors, free, starts, result)
        alpha = np.exp(result[:, 0])
        starts = result[:, :2].copy()
    return result


def _in_turn(rows: Floats) -> Floats:
    """Return float64[B R, A], all machines' rows, float64[B, R, A], one after the other."""
    return np.ascontiguousarray(rows.reshape(-1, rows.shape[2]))


def _ends(rows: Floats) -> Ints:
    """Return int64[B + 1], where each machine's rows begin then, and the last ones end."""
    return np.asarray(np.arange(len(rows) + 1) * rows.shape[1])


def _line(
    rows: Rows, tables: Tables, alpha: Floats, ratio: float
) -> tuple[Floats, Floats, Floats]:
    """Return slope and base of Q as a line in alpha, and what was done, float64[B, R, A] each.

    The slope is -inf where there is no such action.
    """
    middle = alpha / math.sqrt(ratio)
    low, counts = rows(paying(tables, middle), EXACT)
    high, _ = rows(paying(tables, ratio * middle), EXACT)
    there = ~np.isneginf(low)
    slope = np.subtract(high, low, out=np.full_like(low, -np.inf), where=there)
    slope /= (ratio - 1) * middle[:, None, None]
    along = np.multiply(slope, middle[:, None, None], out=np.zeros_like(low), where=there)
    return slope, np.subtract(low, along, out=np.zeros_like(low), where=there), counts
