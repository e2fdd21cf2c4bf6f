"""The loop of a run: step, tell, keep, until it ends or is stopped."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from whence.errors import WorkerError
from whence.runs import events, times
from whence.runs.crew import Crew
from whence.runs.events import Event, OnEvent
from whence.runs.job import Job
from whence.runs.keeper import Keeper
from whence.runs.signals import Stop, Stopped
from whence.runs.walk import Walk
from whence.search.problem import Problem

EVENT_SECONDS = 0.2
SO_FAR_SHARE = 0.05  # of the time, at most, that is spent on what was found so far


class _TimeIsUp(Exception):  # noqa: N818
    """The minutes are over while workers are at it."""


class Search:
    """A job that is being carried out.

    Attributes:
        job: what to do.
        problem: what is searched.
        walk: where the search stands.
        keeper: its folder, or None.
        on_event: who is told, or None.
        stop: whether the user asked to stop.
        crew: who does the work, or None: this process.
        so_far: works out what was found so far: a provisional `Run`.
        write_so_far: writes that into a folder.
    """

    so_far: Callable[[], Any] | None = None
    write_so_far: Callable[[Path, Any], None] | None = None

    def __init__(
        self,
        job: Job,
        problem: Problem,
        walk: Walk,
        keeper: Keeper | None = None,
        on_event: OnEvent | None = None,
        stop: Stop | None = None,
        crew: Crew | None = None,
    ) -> None:
        self.job = job
        self.problem = problem
        self.walk = walk
        self.keeper = keeper
        self.on_event = on_event
        self.stop = stop or Stop()
        self.crew = crew
        self._told = -np.inf
        self._next_so_far = 0.0
        self._compiled = times.compiling().seconds

    def run(self, first: str) -> str:
        """Make all steps that are left; returns why it ended."""
        walk, keeper = self.walk, self.keeper
        began = time.perf_counter() - walk.seconds
        if self.crew is not None:
            self.crew.tick = lambda: self._while_waiting(began)
        self.tell(first)
        if keeper is not None and first != events.RESUMED:
            keeper.save(walk, self.job, self.event(events.CHECKPOINT))
        try:
            stopped = self._searched(began)
        finally:
            if self.crew is not None:
                self.crew.leave()
        stopped = stopped or "minutes"
        if keeper is not None:
            keeper.save(walk, self.job, self.event(events.CHECKPOINT), stopped)
        return stopped

    def _searched(self, began: float) -> str | None:
        """Make steps; returns why there are no more, or None where the time is up."""
        walk = self.walk
        stopped = walk.ended()
        while stopped is None and walk.seconds < self.job.most_seconds:
            try:
                walk.advance(self.crew)
            except _TimeIsUp:
                break
            except WorkerError as error:
                raise self._kept_safe(error) from error
            walk.seconds = time.perf_counter() - began
            stopped = walk.ended()
            self._after_step(stopped)
        return stopped

    def tell(self, kind: str) -> None:
        """Tell the callback and the journal what happened."""
        if self.keeper is None and self.on_event is None:
            return
        event = self.event(kind)
        if self.keeper is not None:
            self.keeper.note(event)
        if self.on_event is not None:
            self.on_event(event)

    def event(self, kind: str) -> Event:
        """Return where the search stands."""
        walk, method = self.walk, self.walk.method
        found = method.best(walk.state)
        return Event(
            kind=kind,
            step=walk.state.step,
            steps=method.steps(walk.state),
            seconds=walk.seconds,
            evaluations=method.evaluations(walk.state),
            score=None if found is None else found.score,
            machine=None if found is None else found.machine,
            details=method.details(walk.state) | ({} if self.crew is None else self.crew.details),
            compiling=times.compiling().seconds - self._compiled,
            look=method.look(walk.state),
            so_far=None if found is None else self.so_far,
            most_seconds=None if math.isinf(self.job.most_seconds) else self.job.most_seconds,
        )

    def _kept_safe(self, error: WorkerError) -> WorkerError:
        """Keep all but the units in hand, where there is a folder; returns what to say."""
        if self.keeper is None:
            return error
        self.keeper.save(self.walk, self.job, self.event(events.CHECKPOINT))
        return WorkerError(f"{error}; go on with whence resume {self.keeper.folder}")

    def _while_waiting(self, began: float) -> None:
        """Tell how it goes while workers are at it; leave them where the run is to stop."""
        now = time.perf_counter()
        if now - began >= self.job.most_seconds:
            raise _TimeIsUp
        self.walk.seconds = now - began
        self._after_step(None)

    def _after_step(self, stopped: str | None) -> None:
        now = time.perf_counter()
        if now - self._told >= EVENT_SECONDS:
            self._told = now
            self.tell(events.PROGRESS)
        if self.keeper is None or stopped is not None:
            return
        if self.stop.asked:
            self.keeper.save(self.walk, self.job, self.event(events.CHECKPOINT))
            self.tell(events.STOPPED)
            raise Stopped(
                f"stopped after {self.walk.state.step:,} steps; nothing is lost: go on with "
                f"whence resume {self.keeper.folder}"
            )
        if self.keeper.due:
            self.keeper.save(self.walk, self.job, self.event(events.CHECKPOINT))
            self._tell_so_far()

    def _tell_so_far(self) -> None:
        """Write what was found so far, if anything; that takes at most a twentieth of the time."""
        began = time.perf_counter()
        if began < self._next_so_far or self.so_far is None or self.write_so_far is None:
            return
        if self.walk.method.best(self.walk.state) is None:
            return
        assert self.keeper is not None
        self.write_so_far(self.keeper.folder, self.so_far())
        now = time.perf_counter()
        self._next_so_far = now + (now - began) / SO_FAR_SHARE
