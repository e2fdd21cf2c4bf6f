"""Machines of a batch on several threads; what is found does not depend on how many."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

import numpy as np

LITTLE = 15_000  # states of the products of a piece: about half a millisecond, worth handing over
PIECES = 4  # of each thread, at most, so that all end together

T = TypeVar("T")
Part = Callable[[int, int], None]


def threads_available() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def spread(part: Part, size: int, seats: int, threads: int, work: float = np.inf) -> None:
    """Run `part(start, stop)` over all machines, in pieces that fill packs of `seats`.

    Pieces are as large as it pays to hand one to another thread, by counted `work`. This thread
    takes its share of them, and waits for nobody who has not begun when none is left.
    """
    most = min(PIECES * threads, size // (2 * seats))
    pieces = int(min(most, work // LITTLE))
    if threads == 1 or pieces < 2:
        part(0, size)
        return
    edges = np.linspace(0, size, pieces + 1).astype(np.int64).tolist()
    left = deque(pairwise(edges))
    pool = _pool(threads, os.getpid(), "pieces")
    others = [pool.submit(_take, part, left) for _ in range(min(threads, pieces) - 1)]
    try:
        _take(part, left)
    finally:
        begun = [other for other in others if not other.cancel()]
        left.clear()  # of use only where a piece failed
        failed = [error for other in begun if (error := other.exception()) is not None]
    if failed:
        raise failed[0]


def _take(part: Part, left: deque[tuple[int, int]]) -> None:
    """Do pieces for as long as there are any."""
    while left:
        try:
            start, stop = left.popleft()
        except IndexError:  # another thread has just taken the last one
            return
        part(start, stop)


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
