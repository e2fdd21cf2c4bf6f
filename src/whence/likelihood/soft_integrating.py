"""How likely demonstrations are under a machine, whoever the soft expert: an integral.

The grid of `kernels.integrating`: lines of one alpha each, close to each other where the best
alpha is and ever wider apart. Every line is a solve; all machines go along side by side, and each
ends where its lines no longer matter.
"""

from __future__ import annotations

import math

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.kernels.constants import FARTHEST, SLANT, WAIT
from whence.likelihood.soft_fitting import Rows, Tables, paying

SPACINGS = {False: (0.9,), True: (0.4, 0.28, 0.2)}  # coarse and fine; until little changes
LEAST_SHARE = 1e-9  # of the way between the bounds of log alpha


class Grid:
    """Lines of one alpha each, around the best expert of every machine.

    Attributes:
        mean: float64[B, 2], the best log alpha and logit lapse, or what is known.
        root: float64[B, 2, 2], of their covariance, lower triangular.
        prior: float64[8], as `fit_machines` takes it.
        free: float64[2], 1 where log alpha and the lapse are unknown.
    """

    def __init__(self, mean: Floats, root: Floats, prior: Floats, free: Floats) -> None:
        self.mean, self.root, self.prior, self.free = mean, root, prior, free
        low, high = prior[2], prior[3]
        share = np.clip((mean[:, 0] - low) / (high - low), LEAST_SHARE, 1 - LEAST_SHARE)
        self._middle = np.log(share / (1 - share))
        self._scale = root[:, 0, 0] / ((high - low) * share * (1 - share))

    def line(self, machines: Ints, v: float, spacing: float) -> tuple[Floats, Floats, Floats]:
        """Return log alpha, the log weight of the line and its middle by logit lapse."""
        middle = self.mean[machines, 1]
        if not self.free[0]:
            return self.mean[machines, 0], np.zeros(len(machines)), middle
        w = 2.0 * math.sinh(v / 2.0)
        b, scale = self._middle[machines], self._scale[machines]
        place = np.clip(b + scale * w, -700.0, 700.0)
        low, high = self.prior[2], self.prior[3]
        log_alpha = low + (high - low) / (1 + np.exp(-place))
        away = np.abs(log_alpha - self.prior[0]) / self.prior[1]
        log_weight = math.log(high - low) - np.abs(place) - 2 * np.log1p(np.exp(-np.abs(place)))
        log_weight -= away + 2 * np.log1p(np.exp(-away))
        log_weight += np.log(spacing * scale * math.cosh(v / 2.0))
        slant = self.root[machines, 1, 0] * SLANT * math.tanh(w / SLANT)
        return log_alpha, log_weight, middle + slant


def integrals(
    rows: Rows,
    tables: Tables,
    grid: Grid,
    beta: float,
    spacing: float,
    cut: float,
    exact: float,
    nodes: list[Floats] | None = None,
) -> Floats:
    """Return float64[B]: the log of the likelihood to the power of beta, averaged over experts.

    Args:
        rows: as `fit_softly` takes it.
        tables: int64[B, n, m] and float64[B, n, m].
        grid: of experts.
        beta: the power.
        spacing: of the grid.
        cut: nats below the highest line at which lines are left out.
        exact: nats, of values.
        nodes: of one machine, to add to: log alpha, logit lapse and the log of what is summed.
    """
    size = len(tables[0])
    total, highest = np.full(size, -np.inf), np.full(size, -np.inf)
    for sign in (1, -1):
        open_, low = np.arange(size), np.zeros(size, dtype=np.int64)
        for step in range(0 if sign > 0 else 1, int(FARTHEST / spacing)):
            found = _line(rows, tables, grid, open_, sign * spacing * step, beta, spacing, cut,
                          exact, nodes)  # fmt: skip
            total[open_] = np.logaddexp(total[open_], found)
            highest[open_] = np.maximum(highest[open_], found)
            low[open_] = np.where(found < highest[open_] - cut, low[open_] + 1, 0)
            open_ = open_[low[open_] < WAIT]
            if not len(open_) or not grid.free[0]:
                break
        if not grid.free[0]:
            break
    return total


def _line(
    rows: Rows,
    tables: Tables,
    grid: Grid,
    machines: Ints,
    v: float,
    beta: float,
    spacing: float,
    cut: float,
    exact: float,
    nodes: list[Floats] | None,
) -> Floats:
    """Return float64[M], what the line of one alpha each adds, in logs."""
    from whence.likelihood.kernels.integrating import integrate_machines

    log_alpha, log_weight, middle = grid.line(machines, v, spacing)
    some = tables[0][machines], tables[1][machines]
    q, counts = rows(paying(some, np.exp(log_alpha)), exact)
    places = np.stack([np.zeros(len(machines)), middle], axis=1)
    free = np.array([0.0, grid.free[1]])
    written = np.zeros((0 if nodes is None else 2_000, 3))
    found = np.zeros((len(machines), 2))
    integrate_machines(
        q, counts, places, grid.root[machines], beta, grid.prior, free, spacing, cut, written,
        found,
    )  # fmt: skip
    if nodes is not None:
        used = written[: int(found[-1, 1])]
        used[:, 0] = log_alpha[-1]
        used[:, 2] += log_weight[-1]
        nodes.append(used)
    return np.asarray(found[:, 0] + log_weight)
