"""Room for rows of numbers, from cache lines on; nothing here is compiled."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from whence._arrays import Floats

LINE = 8  # numbers of a cache line


def aligned(*sizes: int) -> list[Floats]:
    """Return float64[size] each, zeros, at multiples of 64 bytes: rows must not straddle lines."""
    starts = list(accumulate((-(-size // LINE) * LINE for size in sizes), initial=0))
    numbers = _from_line(np.zeros(starts[-1] + LINE))
    return [numbers[start : start + size] for start, size in zip(starts, sizes, strict=False)]


def paged(shape: tuple[int, int], kind: type[np.floating]) -> Floats:
    """Return zeros from a cache line on, in large pages of memory where the system has them.

    It has them for what NumPy leaves empty, not for its zeros.
    """
    size = shape[0] * shape[1]
    numbers = np.empty(size + 64 // np.dtype(kind).itemsize, dtype=kind)
    numbers[:] = 0.0
    return _from_line(numbers)[:size].reshape(shape)


def _from_line(numbers: Floats) -> Floats:
    """Return an array from its first cache line on."""
    address = numbers.__array_interface__["data"][0]
    return numbers[-address % 64 // numbers.itemsize :]
