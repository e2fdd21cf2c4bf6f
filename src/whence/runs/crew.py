"""The crew of a run: sends units of work to an executor, and gets each one done.

An executor is anything with `submit` as in `concurrent.futures`. Units are cut by the time that
they took so far, which changes no bit of what is found; a unit that is lost with its worker, or
that is late, is sent once more. Results are joined in the order of the work, not of arrival; a
worker that is done finds its next unit waiting, where units do not depend on each other.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from itertools import islice, takewhile
from statistics import median
from typing import Any, NamedTuple

from whence.errors import ArgumentError, WorkerError
from whence.runs import manifest, units, wire
from whence.runs.bell import Bell
from whence.runs.job import Job
from whence.runs.workers import adopted
from whence.search.method import Carried, Method, Part

UNIT_SECONDS = 10.0  # that a unit should take ...
LONGEST_SECONDS = 60.0  # ... and at most, where there are so many workers ...
TASKS_PER_SECOND = 50.0  # ... that more than this would come and go
FIRST_SCANS = 50  # of the first units, whose pace is not known
GROWTH = 4  # times as many steps as before that a unit has at most
IN_HAND = 2  # units of each worker that are sent ahead
POLL_SECONDS = 0.1  # between two looks at the time, and at futures that tell nobody
LATE = 3.0  # times as long as the others, and a unit is sent once more ...
LATE_SECONDS = 10.0  # ... but never before this
RECENT = 20  # units whose pace is remembered
MOST_LOST = 5  # workers that a unit may lose
SEATS = 4  # where an executor does not say how many workers it has


class Done(NamedTuple):
    """What a worker has done so far."""

    units: int
    scans: int
    seconds: float


class Crew:
    """Whoever does the work of a run.

    Attributes:
        executor: takes the units.
        scans: how many steps a unit should have.
        workers: what each has done so far, by name.
        sent: bytes that were sent to workers so far.
        received: bytes that came back.
        notes: what went wrong and was mended, in words.
        tick: called while units are under way; may raise to leave them.
    """

    def __init__(self, executor: Any, job: Job, threads: int | None) -> None:
        self.executor = adopted(executor)
        self.scans = FIRST_SCANS if job.method == "tempering" else 1
        self.workers: dict[str, Done] = {}
        self.sent = self.received = 0
        self.notes: list[str] = []
        self.tick: Callable[[], None] = lambda: None
        self._parcel = manifest.parcel(job)
        flat = [each for pair in self._parcel["pairs"] for each in (pair[1], pair[3])]
        self._key = wire.key_of(self._parcel["job"], *flat)
        self._identity = units.identity()
        self._threads = threads or 1
        self._shared: tuple[Any, str, bytes] | None = None
        self._under_way: deque[Unit] = deque()
        self._unsent: deque[Unit] = deque()
        self._out: dict[Unit, None] = {}  # sent and not done, the first sent first
        self._ahead: deque[Part] = deque()
        self._paces: deque[float] = deque(maxlen=RECENT)
        self._present: set[str] = set()
        self._bell = Bell()

    @property
    def ahead(self) -> Sequence[Part]:
        """Parts that are under way, in their order."""
        return self._ahead

    @property
    def seats(self) -> int:
        """How many workers there are, as far as the executor says."""
        return seats_of(self.executor)

    @property
    def details(self) -> dict[str, Any]:
        """What to tell whoever watches, for JSON."""
        return {
            "workers": {
                name: {
                    "units": done.units,
                    "steps": done.scans,
                    "steps_per_second": round(done.scans / max(done.seconds, 1e-9), 3),
                }
                for name, done in sorted(self.workers.items())
            },
            "bytes_sent": self.sent,
            "bytes_received": self.received,
            "mended": list(self.notes),
        }

    def carried(self, method: Method[Any, Any, Any], parts: list[Part]) -> list[Carried]:
        """Take on more parts; return what became of those that are to be joined next.

        Those are all that are under way, or where parts do not depend on each other the first
        ones, as many as are done.
        """
        fresh = [Unit(self, part) for part in parts]
        for several in (self._under_way, self._unsent):
            several.extend(fresh)
        self._ahead.extend(parts)
        seats = self.seats
        self._note_losses()
        self._send(seats)
        while not self._enough(method):
            if self._look(self._bell.answered()):
                self._send(seats)
                continue
            self.tick()
            self._hurry(method, seats)
            if not self._bell.wait(POLL_SECONDS) and self._look(list(self._out)):
                self._send(seats)
        done = list(takewhile(lambda unit: unit.done, self._under_way))
        for _ in done:
            self._under_way.popleft()
            self._ahead.popleft()
        self._learn(done, seats)
        return [wire.carried_of(method, unit.part, unit.data) for unit in done]

    def leave(self) -> None:
        """Call back what is under way, as far as it has not begun."""
        for unit in self._out:
            unit.cancel()
        for several in (self._under_way, self._unsent, self._out, self._ahead):
            several.clear()

    def _enough(self, method: Method[Any, Any, Any]) -> bool:
        """Return whether something can be joined."""
        if method.meeting:
            return all(unit.done for unit in self._under_way)
        return self._under_way[0].done

    def _look(self, some: list[Unit]) -> bool:
        """Take what has come back of some units; returns whether something has."""
        back = [unit for unit in some if unit.look()]
        for unit in back:
            if unit.done:
                self._out.pop(unit, None)
        return bool(back)

    def _note_losses(self) -> None:
        """Note which workers are gone, where the executor gives their units to others itself."""
        present = set(getattr(self.executor, "present", ()))
        for who in sorted(self._present - present):
            self.notes.append(f"worker {who} is gone; {len(present)} are left, and do its units")
        self._present = present

    def _send(self, seats: int) -> None:
        """Send units, ahead to workers that know the job."""
        most = seats + (IN_HAND - 1) * min(len(self.workers), seats)
        while self._unsent and len(self._out) < most:
            unit = self._unsent.popleft()
            self._out[unit] = None
            unit.send()

    def _learn(self, done: list[Unit], seats: int) -> None:
        """Cut units by the time that the last ones took."""
        paces = [unit.pace for unit in done]
        self._paces.extend(paces)
        wanted = min(max(UNIT_SECONDS, seats / TASKS_PER_SECOND), LONGEST_SECONDS)
        most = GROWTH * max(unit.part.scans for unit in done)
        self.scans = max(1, min(int(wanted / max(*paces, 1e-6)), most))

    def count(self, worker: str, scans: int, seconds: float, received: int) -> None:
        """Note what a worker has done."""
        old = self.workers.get(worker, Done(0, 0, 0.0))
        self.workers[worker] = Done(old.units + 1, old.scans + scans, old.seconds + seconds)
        self.received += received

    def submit(self, request: units.Request, unit: Unit) -> Any:
        """Hand a unit's request to the executor; a Dask client is told its name."""
        self.sent += sum(len(value) for value in request.values() if isinstance(value, bytes))
        if request["parcel"] is not None:
            pairs = self._parcel["pairs"]
            self.sent += sum(len(data) for pair in pairs for data in (pair[1], pair[3]))
        try:
            named = getattr(self.executor, "submit_named", None)
            if named is not None:
                future = named(request["name"], units.work, request)
            else:
                future = self.executor.submit(units.work, request)
        except Exception as error:
            future = _Failed(error)
        self._bell.hear(future, unit)
        return future

    def with_missing(self, request: units.Request, missing: str) -> units.Request:
        """Return a request with what the worker lacks."""
        if missing == "job":
            return request | {"parcel": self._parcel}
        assert self._shared is not None
        return request | {"shared_data": self._shared[2]}

    def renew(self) -> bool:
        """Replace an executor that broke, where it knows how to; returns whether it did."""
        renew = getattr(self.executor, "renew", None)
        return bool(renew is not None and renew())

    def request(self, part: Part) -> units.Request:
        """Return what a worker is sent to do a part."""
        shared = None
        if part.shared is not None:
            if self._shared is None or self._shared[0] is not part.shared:
                data = wire.packed("shared", part.shared)
                self._shared = (part.shared, wire.key_of(data), data)
            shared = self._shared[1]
        return {
            "name": part.name,
            "identity": self._identity,
            "job": self._key,
            "parcel": None,
            "shared": shared,
            "shared_data": None,
            "places": list(part.places),
            "scans": part.scans,
            "state": wire.packed("state", part.state),
            "threads": self._threads,
        }

    def _hurry(self, method: Method[Any, Any, Any], seats: int) -> None:
        """Send units once more that take much longer than the others did, if others could."""
        now = time.perf_counter()
        begun = list(islice(self._out, seats))
        for unit in begun:
            unit.begun = unit.begun or now
        paces = [unit.pace for unit in self._under_way if unit.done]
        if not paces and not method.meeting:
            paces = list(self._paces)
        if not paces or seats < 2:
            return
        pace = LATE * median(paces)
        for unit in begun:
            if unit.late(max(pace * unit.part.scans, LATE_SECONDS)):
                self.notes.append(f"{unit.part.name}: late, and sent to another worker, too")
                unit.shun()
                unit.send()


class Unit:
    """A part under way, in one copy or two; the first that comes back counts."""

    def __init__(self, crew: Crew, part: Part) -> None:
        self.crew = crew
        self.part = part
        self.done = False
        self.begun: float | None = None  # when a worker was free for it
        self.data = b""
        self.seconds = 0.0
        self._request: units.Request | None = None
        self._copies: list[Any] = []
        self._lost = 0

    @property
    def pace(self) -> float:
        """Seconds of a step."""
        return self.seconds / self.part.scans

    def send(self) -> None:
        """Send a copy."""
        if self._request is None:
            self._request = self.crew.request(self.part)
        self._copies.append(self.crew.submit(self._request, self))

    def shun(self) -> None:
        """Give no more work for a while to whoever has it, where the executor can."""
        shun = getattr(self.crew.executor, "shun", None)
        if shun is not None:
            shun(self._copies[0])

    def cancel(self) -> None:
        """Call back all copies that have not begun."""
        for copy in self._copies:
            copy.cancel()

    def late(self, seconds: float) -> bool:
        """Return whether the one copy has begun long ago."""
        if self.done or self.begun is None or len(self._copies) != 1:
            return False
        return time.perf_counter() - self.begun > seconds

    def look(self) -> bool:
        """Take what has come back; returns whether something has."""
        back = [] if self.done else [copy for copy in self._copies if copy.done()]
        for copy in back:
            self._copies.remove(copy)
            self._take(copy)
            if self.done:
                self.cancel()
                break
        return bool(back)

    def _take(self, copy: Any) -> None:
        try:
            reply = copy.result()
        except (BrokenExecutor, CancelledError, OSError) as error:
            self._mend(error)
            return
        except Exception as error:
            raise WorkerError(
                f"{self.part.name}: a worker failed: {type(error).__name__}: {error}; nothing but "
                "the units in hand is lost where a run has a folder"
            ) from error
        if "refused" in reply:
            raise WorkerError(f"worker {reply['worker']}: {reply['refused']}")
        if "missing" in reply:
            assert self._request is not None
            self._request = self.crew.with_missing(self._request, reply["missing"])
            self.send()
            return
        self.done, self.data, self.seconds = True, reply["done"], reply["seconds"]
        self.crew.count(reply["worker"], self.part.scans, self.seconds, len(self.data))

    def _mend(self, error: BaseException) -> None:
        """Send a unit once more whose worker is gone, if there are others."""
        self._lost += 1
        if self._lost >= MOST_LOST or not self.crew.renew():
            why = (str(error).splitlines() or [""])[0]
            many = f"{self._lost} times in a row, " if self._lost > 1 else ""
            raise WorkerError(
                f"{self.part.name}: {many}the workers are gone ({type(error).__name__}: "
                f"{why}); nothing but the units in hand is lost where a run has a folder"
            ) from error
        self.crew.notes.append(f"{self.part.name}: its worker died, and another one does it")
        self.send()


class _Failed:
    """A future of work that could not be handed over."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def done(self) -> bool:
        return True

    def cancel(self) -> None:
        return None

    def result(self) -> Any:
        raise self._error


def checked_executor(executor: Any) -> Any:
    """Return an executor, if it is one."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ArgumentError(
            f"executor is {executor!r}; give something with submit, such as "
            "concurrent.futures.ProcessPoolExecutor(4) or a Dask client"
        )
    return executor


def seats_of(executor: Any) -> int:
    """Return how many workers an executor has, as far as it says."""
    for name in ("seats", "_max_workers", "num_workers"):
        value = getattr(executor, name, None)
        if isinstance(value, int) and value > 0:
            return value
    return SEATS
