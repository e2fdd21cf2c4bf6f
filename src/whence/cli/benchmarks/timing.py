"""How long something takes: the fastest of several runs, since other programs only slow it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from whence._arrays import Floats, Ints
from whence.likelihood.posterior import Posterior

ENOUGH = 1.0  # seconds of runs after which no other one begins
REPEATS = 20  # at most
COARSE = 1.0 if sys.platform == "win32" else 0.0  # there a core's time advances by 16 ms

Tables = tuple[Ints, Floats]


class Timing(NamedTuple):
    """One run.

    Attributes:
        wall: seconds by the clock.
        cpu: seconds of all cores together, of this process.
    """

    wall: float
    cpu: float

    @property
    def core(self) -> float:
        """Seconds of a run on one thread, as if nothing else ran meanwhile.

        That is the core's time, or the clock's where the core's is counted too coarsely.
        """
        return self.cpu if self.cpu > COARSE else self.wall


def least(
    run: Callable[[], object], *, warm_up: Callable[[], object] | None = None, runs: int = 3
) -> Timing:
    """Return the run that took the least time by the clock.

    Args:
        run: what to measure.
        warm_up: what to do once beforehand, uncounted; by default `run` itself.
        runs: how many to make at least; short ones are repeated more often.
    """
    (warm_up or run)()
    timings = [_timed(run) for _ in range(runs)]
    while len(timings) < REPEATS and sum(timing.wall for timing in timings) < ENOUGH:
        timings.append(_timed(run))
    return min(timings)


def unremembered(posterior: Posterior, tables: Tables, tolerance: float | None = None) -> Floats:
    """Score machines, int[B, n, m] and float[B, n, m], as if for the first time."""
    posterior.forget()
    return posterior.log_likelihood(*tables, tolerance=tolerance)


def _timed(run: Callable[[], object]) -> Timing:
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return Timing(time.perf_counter() - wall, time.process_time() - cpu)
