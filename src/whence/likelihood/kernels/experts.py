"""Log likelihoods of solved machines, each at an expert: sums over rows, without a solve."""

from __future__ import annotations

import numpy as np

from whence.likelihood.kernels.compiling import kernel
from whence.likelihood.kernels.fitting import at_lapse, gathered, rows_used, weigh


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
        rows = gathered(own, nothing, done, used, size, 1)
        weigh(rows, alpha[b])
        out[b] = at_lapse(rows, lapse[b])
