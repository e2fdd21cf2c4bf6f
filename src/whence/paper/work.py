"""Independent jobs on several cores; what comes out does not depend on how many."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from whence.errors import WhenceError

J = TypeVar("J")
R = TypeVar("R")

THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")

OnDone = Callable[[int, int], None]


def done_all(
    function: Callable[[J], R], jobs: Sequence[J], workers: int, on_done: OnDone
) -> list[R]:
    """Return function(job) for every job, in the order of the jobs.

    Args:
        function: a module's own, so that other processes find it.
        jobs: what to do; put long ones first.
        workers: processes.
        on_done: called with how many are done, and of how many.
    """
    results: dict[int, R] = {}
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),  # it is this process that is interrupted
    )
    try:
        with _one_thread_each():
            waiting = {pool.submit(function, job): i for i, job in enumerate(jobs)}
        for future in as_completed(waiting):
            results[waiting[future]] = future.result()
            on_done(len(results), len(jobs))
    except BrokenProcessPool:
        raise WhenceError(
            "a process ended before its work was done, perhaps for lack of memory; "
            "use fewer threads"
        ) from None
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return [results[i] for i in range(len(jobs))]


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Start processes whose linear algebra keeps to one thread; more would fight for cores."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
