"""Machines of a batch on several threads; what is found does not depend on how many."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

import numpy as np

LITTLE = 30_000  # states of the products of a batch: about a millisecond

T = TypeVar("T")


def threads_available() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(
    part: Callable[[int, int], None], size: int, seats: int, threads: int, work: float = np.inf
) -> None:
    """Run `part(start, stop)` over all machines, in pieces that fill packs of `seats`.

    Where all of it is little `work`, one thread does it: to hand a piece to another thread takes
    longer than to do it.
    """
    if threads == 1 or size <= 2 * seats or work < LITTLE:
        part(0, size)
        return
    pieces = min(4 * threads, max(threads, size // (8 * seats)))
    edges = np.linspace(0, size, pieces + 1).astype(np.int64).tolist()
    list(_pool(threads, os.getpid(), "pieces").map(part, edges[:-1], edges[1:]))


def side_by_side(calls: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """Return what each of some calls returns; each may spread its own work over all threads.

    They take turns with the interpreter, and go on together in kernels, which do not hold it.
    """
    if threads == 1 or len(calls) < 2:
        return [call() for call in calls]
    pool = _pool(threads, os.getpid(), "calls")  # which waits for pieces, so it cannot do them
    return list(pool.map(lambda call: call(), calls))


@lru_cache(maxsize=8)
def _pool(threads: int, process: int, kind: str) -> ThreadPoolExecutor:
    """Return threads that wait for work; a forked process gets its own."""
    return ThreadPoolExecutor(threads)
