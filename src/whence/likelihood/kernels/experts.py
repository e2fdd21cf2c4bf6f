"""Log likelihoods of solved machines, each at an expert: sums over rows, without a solve."""

from __future__ import annotations

import math

import numpy as np

from whence.likelihood.kernels.compiling import kernel, part
from whence.likelihood.kernels.constants import SMALLEST
from whence.likelihood.kernels.fitting import gathered, rows_used, weigh
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
def weigh_experts(q, counts, ends, alpha, lapse, out):
    """Write the log likelihood of each machine at its expert.

    Args:
        q: float64[R, A], of each row's actions, the machines' in turn; -inf where there is no
            such action.
        counts: float64[R, A], how often each was taken; rows of zeros count for nothing.
        ends: int64[B + 1], where each machine's rows begin, and the last ones end.
        alpha: float64[B], finite.
        lapse: float64[B].
        out: float64[B], written.
    """
    used, nothing = np.zeros(q.shape[0], dtype=np.int64), np.zeros((0, 0))
    for b in range(out.shape[0]):
        own, done = q[ends[b] : ends[b + 1]], counts[ends[b] : ends[b + 1]]
        size = rows_used(done, used)
        out[b] = _of_expert(gathered(own, nothing, done, used[:size]), alpha[b], lapse[b])
