"""Whoever does the work, the bytes are the same; whoever dies, nothing is lost but a unit."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest

import whence
from runs import small
from whence import Exhaustive, Tempering
from whence.errors import ArgumentError, WorkerError
from whence.runs import crew, searching, units, workers
from whence.runs.events import Event
from whence.search import seeking
from whence.search.finding import finder
from whence.search.method import Part

SETTINGS = Tempering(rungs=4, ladders=3, warm_up=40, pace=10, steps=2_000, every=20, trips=1)

UNKNOWN = Tempering(rungs=4, warm_up=20, pace=10, steps=80, until_agreed=False)


class Here:
    """An executor that works at once, in this process, and says that it has several workers."""

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.requests: list[dict[str, Any]] = []

    def submit(self, function: Any, request: dict[str, Any]) -> Future[Any]:
        """Do it."""
        self.requests.append(request)
        future: Future[Any] = Future()
        future.set_result(function(request))
        return future


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let finders look at small spaces, and cut units into different lengths."""
    monkeypatch.setattr(seeking, "FEW_MACHINES", 1.0)
    monkeypatch.setattr(finder, "STEPS", 200)
    monkeypatch.setattr(finder, "MOST_TURNS", 15)
    monkeypatch.setattr(crew, "UNIT_SECONDS", 0.5)
    monkeypatch.setattr(crew, "POLL_SECONDS", 0.01)
    units._known.clear()


def _tempering(**changes: Any) -> whence.Run:
    usual = {"alpha": 20.0, "lapse": 0.0, "discount": 0.9, "settings": SETTINGS}
    return small.infer("tempering", **(usual | changes))


def _bytes(run: whence.Run) -> list[bytes]:
    draws = run.draws
    assert draws is not None
    arrays = (run.trace.score, run.trace.best, draws.transitions, draws.rewards, draws.alpha,
              draws.lapse, draws.log_likelihood, draws.weight)  # fmt: skip
    numbers = repr((run.steps, run.evaluations, run.score, run.log_evidence, run.exact, run.best))
    return [*(array.tobytes() for array in arrays), numbers.encode()]


def test_tempering_does_not_depend_on_who_works() -> None:
    expected = _bytes(_tempering())
    for seats in (1, 2, 3):
        assert _bytes(_tempering(executor=Here(seats))) == expected


def test_an_unknown_expert_and_size_do_not_depend_on_who_works() -> None:
    said = {"alpha": "infer", "lapse": "infer", "discount": (0.8, 0.9), "states": (1, 2),
            "settings": UNKNOWN}  # fmt: skip
    assert _bytes(_tempering(executor=Here(2), **said)) == _bytes(_tempering(**said))


def test_an_enumeration_does_not_depend_on_who_works() -> None:
    expected = _bytes(small.infer("exhaustive"))
    for seats in (1, 3):
        assert _bytes(small.infer("exhaustive", executor=Here(seats))) == expected


class Held(Here):
    """Keeps back what it found for one unit, until others have come; notes what was asked for."""

    def __init__(self, seats: int, place: int, until: int) -> None:
        super().__init__(seats)
        self.place, self.until = place, until
        self.held: list[tuple[Future[Any], Any]] = []

    def submit(self, function: Any, request: dict[str, Any]) -> Future[Any]:
        """Do it, at once or later."""
        future = super().submit(function, request)
        number = len(self.requests)
        if number == self.place:
            self.held.append((Future(), future.result()))
            return self.held[0][0]
        if number == self.until:
            self.held[0][0].set_result(self.held[0][1])
        return future


def test_workers_do_not_wait_for_a_slow_unit_of_an_enumeration() -> None:
    executor = Held(2, place=4, until=9)
    run = small.infer("exhaustive", executor=executor, settings=Exhaustive(batch=8))
    alone = small.infer("exhaustive", settings=Exhaustive(batch=8))
    assert _bytes(run) == _bytes(alone)
    names = [request["name"] for request in executor.requests if request["parcel"] is None]
    assert len(set(names)) == len(names)  # nothing was sent twice


def test_units_of_an_enumeration_are_shorter_towards_its_end() -> None:
    job = replace(small.infer("exhaustive").job, settings=Exhaustive(batch=1))
    method = job.search(job.problem(1))
    state = method.init(np.random.default_rng(0))
    scans: list[int] = []
    ahead: list[Part] = []
    while ahead or not scans:
        ahead += method.parts(state, 2, 10, ahead)
        assert len(ahead) <= 8
        scans += [part.scans for part in ahead[:1]]
        ahead = ahead[1:]
    assert scans[0] == 10
    assert scans[-1] == 1
    assert sum(scans) == method.steps(state)


def test_nobody_waits_for_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit that is done is taken at once: units of a moment would else cost a look each."""
    monkeypatch.setattr(crew, "POLL_SECONDS", 60.0)
    began = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        run = _tempering(executor=pool)
    assert time.perf_counter() - began < 60
    assert _bytes(run) == _bytes(_tempering())


def test_units_do_not_grow_by_leaps() -> None:
    """A first unit that took no time says little of the next ones."""
    executor = Here(1)
    _tempering(executor=executor)
    scans = [request["scans"] for request in executor.requests if request["parcel"] is None]
    assert all(after <= 4 * before for before, after in itertools.pairwise(scans))


def test_annealing_goes_on_in_this_process() -> None:
    executor = Here(2)
    assert small.infer("annealing", executor=executor).best == small.infer("annealing").best
    assert not executor.requests


def test_world_and_demonstrations_travel_once() -> None:
    executor = Here(2)
    _tempering(executor=executor)
    assert sum(request["parcel"] is not None for request in executor.requests) == 2
    assert len(executor.requests) > 10
    assert executor.requests[0]["name"] == "ladder 1, 2 steps 1-10"


@pytest.mark.parametrize("name", ["whence", "numpy", "processor", "processor features"])
def test_a_worker_on_which_bits_would_differ_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = units.identity() | {name: "another"}

    class Other(Here):
        def submit(self, function: Any, request: dict[str, Any]) -> Future[Any]:
            with monkeypatch.context() as elsewhere:
                elsewhere.setattr(units, "identity", lambda: there)
                return super().submit(function, request)

    with pytest.raises(WorkerError, match=f"worker .*: {name} is another there and .* here"):
        _tempering(executor=Other(1))


class Dying(Here):
    """Loses the unit of a worker now and then; starts workers anew where it may."""

    def __init__(self, renews: bool) -> None:
        super().__init__(2)
        self.renews = renews
        self.renewed = 0

    def submit(self, function: Any, request: dict[str, Any]) -> Future[Any]:
        """Do it, or die."""
        if len(self.requests) % 7 == 5:
            self.requests.append(request)
            future: Future[Any] = Future()
            future.set_exception(BrokenExecutor("a process ended abruptly"))
            return future
        return super().submit(function, request)

    def renew(self) -> bool:
        """Start anew."""
        self.renewed += self.renews
        return self.renews


def test_units_that_are_lost_are_done_again() -> None:
    executor = Dying(renews=True)
    told: list[Event] = []
    run = _tempering(executor=executor, on_event=told.append)
    assert _bytes(run) == _bytes(_tempering())
    assert executor.renewed > 2
    assert "its worker died" in told[-1].details["mended"][0]


def test_a_run_whose_workers_are_gone_goes_on_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(WorkerError, match=r"the workers are gone .* whence resume .*run"):
        _tempering(executor=Dying(renews=False), folder=tmp_path / "run", checkpoint=1e9)
    assert whence.load(tmp_path / "run").steps > 0
    run = whence.resume(tmp_path / "run", executor=Here(3))
    assert _bytes(run) == _bytes(_tempering())


class Slow(Here):
    """Never comes back with the second unit, the first time."""

    def submit(self, function: Any, request: dict[str, Any]) -> Future[Any]:
        """Do it, or not."""
        if len(self.requests) == 4:
            self.requests.append(request)
            return Future()
        return super().submit(function, request)


def test_a_unit_that_is_late_is_done_by_another_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "LATE_SECONDS", 0.05)
    told: list[Event] = []
    run = _tempering(executor=Slow(2), on_event=told.append)
    assert _bytes(run) == _bytes(_tempering())
    assert "late" in told[-1].details["mended"][0]


def test_minutes_end_while_workers_are_at_it(tmp_path: Path) -> None:
    run = _tempering(executor=Slow(2), minutes=0.02, folder=tmp_path / "run")
    assert run.stopped == "minutes"
    assert _bytes(whence.resume(tmp_path / "run", minutes=10)) == _bytes(_tempering())


def test_real_processes_of_which_one_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "EVENT_SECONDS", 0.0)
    killed: list[int] = []
    with workers.opened(2) as executor:

        def kill(event: Event) -> None:
            names = list(event.details["workers"])
            if names and not killed:
                killed.append(int(names[0].rpartition(":")[2]))
                os.kill(killed[0], signal.SIGKILL)

        run = small.infer(
            "tempering", executor=executor, on_event=kill, folder=tmp_path / "run",
            settings=Tempering(rungs=4, warm_up=20, pace=10, steps=200, until_agreed=False),
        )  # fmt: skip
    assert killed
    alone = small.infer(
        "tempering",
        settings=Tempering(rungs=4, warm_up=20, pace=10, steps=200, until_agreed=False),
    )
    assert _bytes(run) == _bytes(alone)
    from whence.runs.status import status_document

    last = status_document(tmp_path / "run")["last"]
    assert "its worker died" in last["mended"][0]
    assert len(last["workers"]) >= 2


@pytest.mark.parametrize(
    "address", ["tls://10.0.0.7:8786", "tcp://127.0.0.1:8786", "tcp://localhost:8786"]
)
def test_schedulers_here_or_by_tls_are_taken(address: str) -> None:
    workers.check_safe(address)


@pytest.mark.parametrize("address", ["tcp://10.0.0.7:8786", "tcp://localhost.evil.org:8786"])
def test_a_scheduler_elsewhere_wants_tls(address: str) -> None:
    with pytest.raises(WorkerError, match=r"use TLS.*tls://"), workers.opened(address):
        pass


@pytest.mark.parametrize("text", ["0", "-2", "two", "http://x:1", "tcp://x"])
def test_workers_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="give how many processes"), workers.opened(text):
        pass


def test_an_executor_that_is_none_is_refused() -> None:
    with pytest.raises(ArgumentError, match="give something with submit"):
        small.infer("tempering", executor=3)
    with pytest.raises(ArgumentError, match="a card works in this process"):
        small.infer("tempering", executor=Here(1), device="cuda")


@pytest.mark.parametrize("named", [None, "x86-64-v3"])
def test_features_of_the_processor_count_unless_they_are_set(
    named: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """numba takes the machine's own features also where a processor is named."""
    monkeypatch.setattr(numba.config, "CPU_NAME", named)
    monkeypatch.setattr(numba.config, "CPU_FEATURES", None)
    mine = units.identity.__wrapped__()
    other = SimpleNamespace(flatten=lambda: "+another")
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: other)
    assert units.difference(mine, units.identity.__wrapped__()) is not None
    monkeypatch.setattr(numba.config, "CPU_FEATURES", "")
    assert units.identity.__wrapped__()["processor features"] != mine["processor features"]


class Later(Here):
    """Comes back with each unit after a while, which is longer than between checkpoints."""

    def submit(self, function: Any, request: dict[str, Any]) -> Future[Any]:
        """Do it, and say so later."""
        done, future = super().submit(function, request), Future[Any]()
        threading.Timer(0.05, lambda: future.set_result(done.result())).start()
        return future


def test_a_checkpoint_before_the_first_unit_is_done_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "EVENT_SECONDS", 0.0)
    told: list[Event] = []
    run = small.infer(
        "exhaustive", executor=Later(2), folder=tmp_path / "run", checkpoint=0,
        on_event=told.append,
    )  # fmt: skip
    assert _bytes(run) == _bytes(small.infer("exhaustive"))
    early = [event for event in told if event.machine is None]
    assert early
    assert all(event.so_far is None for event in early)
