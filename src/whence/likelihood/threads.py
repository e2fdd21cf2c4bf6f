"""Machines of a batch on several threads; what is found does not depend on how many."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np


def threads_available() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(part: Callable[[int, int], None], size: int, seats: int, threads: int) -> None:
    """Run `part(start, stop)` over all machines, in pieces that fill packs of `seats`."""
    if threads == 1 or size <= 2 * seats:
        part(0, size)
        return
    pieces = min(4 * threads, max(threads, size // (8 * seats)))
    edges = np.linspace(0, size, pieces + 1).astype(np.int64).tolist()
    list(_pool(threads, os.getpid()).map(part, edges[:-1], edges[1:]))


@lru_cache(maxsize=4)
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Return threads that wait for work; a forked process gets its own."""
    return ThreadPoolExecutor(threads)
