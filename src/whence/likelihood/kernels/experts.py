"""Log likelihoods of solved machines, each at an expert: sums over rows, without a solve."""

from __future__ import annotations

import math

import numpy as np

from whence.likelihood.kernels.compiling import kernel, part
from whence.likelihood.kernels.constants import SMALLEST
from whence.likelihood.kernels.fitting import gathered, weigh
from whence.likelihood.kernels.functions import logarithms


@part
def _of_expert(rows, alpha, lapse):
    """Return the log likelihood of what was taken in some rows."""
    weigh(rows, alpha)
    value = 0.0
    if lapse == 0.0:
        for k in range(rows.at.shape[0]):
            value += rows.counts[k] * (rows.x[rows.at[k]] - math.log(rows.total[rows.row[k]]))
        return value
    size = rows.at.shape[0]
    for k in range(size):
        r = rows.row[k]
        p = rows.odds[rows.at[k]] / rows.total[r]
        rows.mixed[k] = max((1.0 - lapse) * p + lapse / rows.able[r], SMALLEST)
    logarithms(rows.mixed, size, rows.logs, rows.bits, rows.floats)
    for k in range(size):
        value += rows.counts[k] * rows.logs[k]
    return value


@kernel
def weigh_experts(q, counts, alpha, lapse, out):
    """Write the log likelihood of each machine at its expert.

    Args:
        q: float64[B, R, A], of each row's actions; -inf where there is no such action.
        counts: float64[B, R, A], how often each was taken; rows of zeros count for nothing.
        alpha: float64[B], finite.
        lapse: float64[B].
        out: float64[B], written.
    """
    used, nothing = np.zeros(q.shape[1], dtype=np.int64), np.zeros((0, 0))
    for b in range(q.shape[0]):
        size = 0
        for row in range(q.shape[1]):
            for a in range(q.shape[2]):
                if counts[b, row, a] > 0.0:
                    used[size] = row
                    size += 1
                    break
        out[b] = _of_expert(gathered(q[b], nothing, counts[b], used, size, 1), alpha[b], lapse[b])
