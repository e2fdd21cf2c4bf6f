"""How likely demonstrations are under a machine, whoever the expert: an integral over experts.

The trapezoidal rule on a grid around the best expert: log alpha, stretched so that its bounds lie
at infinity, and logit lapse. Steps are short near the best place and grow with the distance from
it, w = 2 sinh(v / 2), so that a narrow peak and a wide prior are met by the same grid. Lines of
the grid follow the slant of the peak. What lies far below the highest value seen is left out,
but where values rise: far from the peak a line may begin below a ridge (a sharp expert who lapses
often) that holds some of the weight.
"""

from __future__ import annotations

import math

import numpy as np

from whence.likelihood.kernels.compiling import kernel, maker, part
from whence.likelihood.kernels.constants import FARTHEST, SLANT, SMALLEST, WAIT
from whence.likelihood.kernels.fitting import gathered, rows_used, weigh, without_lapses
from whence.likelihood.kernels.functions import logarithms


@part
def _of_lapse(rows, chances, lapse):
    """Return the log likelihood, from the chances of the actions taken if nobody lapsed."""
    if lapse == 0.0:  # no chance is too small to have a logarithm then
        return without_lapses(rows)
    size = rows.at.shape[0]
    for k in range(size):
        mixed = (1.0 - lapse) * chances[k] + lapse / rows.able[rows.row[k]]
        rows.mixed[k] = max(mixed, SMALLEST)
    logarithms(rows.mixed, size, rows.logs, rows.bits, rows.floats)
    total = 0.0
    for k in range(size):
        total += rows.counts[k] * rows.logs[k]
    return total


@part
def _stretched(b, prior):
    """Return log alpha, and the log of its slope and prior, at a place between its bounds."""
    low, high = prior[2], prior[3]
    share = 1.0 / (1.0 + math.exp(-b)) if b > 0 else math.exp(b) / (1.0 + math.exp(b))
    a = low + (high - low) * share
    log_slope = math.log(high - low) - abs(b) - 2.0 * math.log1p(math.exp(-abs(b)))
    away = abs(a - prior[0]) / prior[1]
    return a, log_slope - away - 2.0 * math.log1p(math.exp(-away))


@part
def _log_lapse(z, prior):
    """Return the log prior of a lapse by its logit."""
    return -prior[4] * math.log1p(math.exp(-z)) - prior[5] * math.log1p(math.exp(z))


@part
def _noted(place, a, z, value, nodes):
    if place < nodes.shape[0]:
        nodes[place, 0], nodes[place, 1], nodes[place, 2] = a, z, value


@part
def _line(rows, chances, a, centre, scale, log_weight, beta, prior, free, spacing, cut, top, sums,
          nodes):  # fmt: skip
    """Add a line of one alpha: sums are the total relative to the highest value, it, and places.

    Returns:
        The highest value of the line.
    """
    weigh(rows, math.exp(a))
    for k in range(rows.at.shape[0]):
        chances[k] = rows.odds[rows.at[k]] / rows.total[rows.row[k]]
    highest = -np.inf
    for side in range(2):
        low, before = 0, -np.inf
        for step in range(side, 10_000):
            v = spacing * step * (1.0 if side == 0 else -1.0)
            z, lapse = centre, prior[7]
            if free[1] > 0:
                z += scale * 2.0 * math.sinh(v / 2.0)
                if abs(v) > FARTHEST or abs(z) > 200.0:
                    break
                lapse = 1.0 / (1.0 + math.exp(-z))
            value = log_weight + beta * _of_lapse(rows, chances, lapse)
            if free[1] > 0:
                value += _log_lapse(z, prior) + math.log(spacing * scale * math.cosh(v / 2.0))
            highest = max(highest, value)
            if value > sums[1]:
                sums[0] = sums[0] * math.exp(sums[1] - value) + 1.0
                sums[1] = value
            else:
                sums[0] += math.exp(value - sums[1])
            _noted(int(sums[2]), a, z, value, nodes)
            sums[2] += 1.0
            low = low + 1 if value < max(top, sums[1]) - cut and value <= before else 0
            before = value
            if free[1] == 0 or low == WAIT:
                break
        if free[1] == 0:
            break
    return highest


@maker
def _integral(rows, place, root, beta, prior, free, spacing, cut, nodes):
    """Return the log of the integral over experts, and how many places were looked at."""
    chances = np.empty(rows.at.shape[0])
    sums = np.array([0.0, -1e300, 0.0])
    a, log_weight, b, scale = place[0], 0.0, 0.0, 0.0
    if free[0] > 0:
        share = (place[0] - prior[2]) / (prior[3] - prior[2])
        share = min(max(share, 1e-9), 1.0 - 1e-9)
        b = math.log(share / (1.0 - share))
        scale = root[0, 0] / ((prior[3] - prior[2]) * share * (1.0 - share))
    for side in range(2):
        low, before = 0, -np.inf
        for step in range(side, 10_000):
            v = spacing * step * (1.0 if side == 0 else -1.0)
            w = 2.0 * math.sinh(v / 2.0)
            centre = place[1]
            if free[0] > 0:
                if abs(v) > FARTHEST or abs(b + scale * w) > 200.0:
                    break
                a, log_weight = _stretched(b + scale * w, prior)
                log_weight += math.log(spacing * scale * math.cosh(v / 2.0))
                centre += root[1, 0] * SLANT * math.tanh(w / SLANT)
            top = sums[1]
            highest = _line(
                rows, chances, a, centre, root[1, 1], log_weight, beta, prior, free, spacing,
                cut, top, sums, nodes,
            )  # fmt: skip
            low = low + 1 if highest < sums[1] - cut and highest <= before else 0
            before = highest
            if free[0] == 0 or low == WAIT:
                break
        if free[0] == 0:
            break
    return sums[1] + math.log(sums[0]), int(sums[2])


@kernel
def integrate_machines(q, counts, places, roots, beta, prior, free, spacing, cut, nodes, out):
    """Write the log of each machine's likelihood to the power of beta, averaged over experts.

    Args:
        q: float64[B, R, A], of each row's actions; -inf where there is no such action.
        counts: float64[B, R, A], how often each was taken.
        places: float64[B, 2], the best log alpha and logit lapse, or what is known.
        roots: float64[B, 2, 2], of their covariance, lower triangular.
        beta: the power.
        prior: float64[8], as `fit_machines` takes it for each machine.
        free: float64[2], 1 where log alpha and the lapse are unknown, else 0.
        spacing: of the grid, in v.
        cut: nats below the highest value at which places are left out.
        nodes: float64[places, 3], written for the last machine: log alpha, logit lapse and the log
            of what is summed.
        out: float64[B, 2], written: the logarithm, without the priors' constants, and how many
            places were looked at.
    """
    used, nothing = np.zeros(q.shape[1], dtype=np.int64), np.zeros((0, 0))
    for b in range(q.shape[0]):
        size = rows_used(counts[b], used)
        rows = gathered(q[b], nothing, counts[b], used, size, 1)
        out[b, 0], out[b, 1] = _integral(
            rows, places[b], roots[b], beta, prior, free, spacing, cut, nodes
        )
