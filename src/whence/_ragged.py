"""Small operations on ragged rows stored flat."""

from __future__ import annotations

import numpy as np

from whence._arrays import Ints


def concatenated_ranges(starts: Ints, stops: Ints) -> Ints:
    """Return the numbers of start[0]..stop[0]-1, then of start[1]..stop[1]-1, and so on."""
    lengths = np.asarray(stops, dtype=np.int64) - starts
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    shift: Ints = np.repeat(starts - (ends - lengths), lengths)
    return np.asarray(np.arange(total) + shift)


def offsets_of(lengths: Ints) -> Ints:
    """Return where each of the ragged rows starts, and where the last one ends."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=result[1:])
    return result
