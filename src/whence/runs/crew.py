"""The crew of a run: sends units of work to an executor, and gets each one done.

An executor is anything with `submit` as in `concurrent.futures`. Units are cut by the time that
they took so far, which changes no bit of what is found; a unit that is lost with its worker, or
that is late, is sent once more. Results are joined in the order of the work, not of arrival.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError
from statistics import median
from typing import Any, NamedTuple

from whence.errors import ArgumentError, WorkerError
from whence.runs import manifest, units, wire
from whence.runs.job import Job
from whence.runs.workers import adopted
from whence.search.method import Carried, Method, Part

UNIT_SECONDS = 10.0  # that a unit should take
FIRST_SCANS = 50  # of the first units, whose pace is not known
POLL_SECONDS = 0.1
LATE = 3.0  # times as long as the others, and a unit is sent once more ...
LATE_SECONDS = 10.0  # ... but never before this
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
        """Return what became of each part, in their order."""
        under_way = [Unit(self, part, self._request(part)) for part in parts]
        for unit in under_way:
            unit.send()
        while not all(unit.done for unit in under_way):
            if not any(unit.look() for unit in under_way):
                self.tick()
                self._hurry(under_way)
                time.sleep(POLL_SECONDS)
        slowest = max(unit.seconds / unit.part.scans for unit in under_way)
        self.scans = max(1, int(UNIT_SECONDS / max(slowest, 1e-6)))
        return [wire.carried_of(method, unit.part, unit.data) for unit in under_way]

    def count(self, worker: str, scans: int, seconds: float, received: int) -> None:
        """Note what a worker has done."""
        old = self.workers.get(worker, Done(0, 0, 0.0))
        self.workers[worker] = Done(old.units + 1, old.scans + scans, old.seconds + seconds)
        self.received += received

    def submit(self, request: units.Request) -> Any:
        """Hand a request to the executor; a Dask client is told its name."""
        self.sent += sum(len(value) for value in request.values() if isinstance(value, bytes))
        if request["parcel"] is not None:
            pairs = self._parcel["pairs"]
            self.sent += sum(len(data) for pair in pairs for data in (pair[1], pair[3]))
        try:
            named = getattr(self.executor, "submit_named", None)
            if named is not None:
                return named(request["name"], units.work, request)
            return self.executor.submit(units.work, request)
        except Exception as error:
            return _Failed(error)

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

    def _request(self, part: Part) -> units.Request:
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

    def _hurry(self, under_way: list[Unit]) -> None:
        """Send units once more that take much longer than the others did."""
        took = [unit.seconds for unit in under_way if unit.done]
        if not took:
            return
        for unit in under_way:
            if unit.late(max(LATE * median(took), LATE_SECONDS)):
                self.notes.append(f"{unit.part.name}: late, and sent to another worker, too")
                unit.send()


class Unit:
    """A part under way, in one copy or two; the first that comes back counts."""

    def __init__(self, crew: Crew, part: Part, request: units.Request) -> None:
        self.crew = crew
        self.part = part
        self.request = request
        self.done = False
        self.data = b""
        self.seconds = 0.0
        self._copies: list[Any] = []
        self._sent = 0.0
        self._lost = 0

    def send(self) -> None:
        """Send a copy."""
        self._sent = time.perf_counter()
        self._copies.append(self.crew.submit(self.request))

    def late(self, seconds: float) -> bool:
        """Return whether the one copy was sent long ago."""
        waited = time.perf_counter() - self._sent
        return not self.done and len(self._copies) == 1 and waited > seconds

    def look(self) -> bool:
        """Take what has come back; returns whether something has."""
        back = [] if self.done else [copy for copy in self._copies if copy.done()]
        for copy in back:
            self._copies.remove(copy)
            self._take(copy)
            if self.done:
                for other in self._copies:
                    other.cancel()
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
            self.request = self.crew.with_missing(self.request, reply["missing"])
            self.send()
            return
        self.done, self.data, self.seconds = True, reply["done"], reply["seconds"]
        self.crew.count(reply["worker"], self.part.scans, self.seconds, len(self.data))

    def _mend(self, error: BaseException) -> None:
        """Send a unit once more whose worker is gone, if there are others."""
        self._lost += 1
        if self._lost >= MOST_LOST or not self.crew.renew():
            many = f"{self._lost} times in a row, " if self._lost > 1 else ""
            raise WorkerError(
                f"{self.part.name}: {many}the workers are gone ({type(error).__name__}: "
                f"{error}); nothing but the units in hand is lost where a run has a folder"
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
