"""Do independent ladders say the same? Frequencies of machines, with their Monte-Carlo errors."""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats, Ints

BATCHES = 20
COMMON = 0.01  # machines at least this frequent are compared
MOST_ERRORS = 3.0


def frequencies(codes: Ints) -> tuple[Floats, Floats]:
    """Return the frequencies of classes on each ladder, and their errors by batch means.

    Args:
        codes: int64[N, L], the class of each sample, 0 .. K - 1.

    Returns:
        float64[L, K], twice.
    """
    steps, ladders = codes.shape
    classes = int(codes.max(initial=-1)) + 1
    batches = min(BATCHES, steps)
    batch = np.arange(steps) * batches // steps
    counts = np.zeros((ladders, batches, classes))
    ladder = np.broadcast_to(np.arange(ladders), codes.shape)
    np.add.at(counts, (ladder, np.broadcast_to(batch[:, None], codes.shape), codes), 1)
    share = counts / counts.sum(axis=2, keepdims=True)
    error = share.std(axis=1, ddof=1) / np.sqrt(batches) if batches > 1 else share[:, 0] + 1.0
    return share.mean(axis=1), np.maximum(error, 1 / steps)


def disagreement(codes: Ints) -> float:
    """Return the largest difference between ladders of a common class's frequency, in errors.

    Args:
        codes: int64[N, L], the class of each sample.
    """
    mean, error = frequencies(codes)
    common = mean.max(axis=0) >= COMMON
    worst = 0.0
    for one in range(len(mean)):
        for other in range(one):
            gap = np.abs(mean[one] - mean[other])
            size = np.hypot(error[one], error[other])
            worst = max(worst, float((gap / size)[common].max(initial=0.0)))
    return worst
