"""Copies of ladders: several of each go on after the warm-up, where that costs little."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whence
from runs import small
from whence import Expert, Tempering
from whence.runs import searching
from whence.runs.events import Event
from whence.runs.walk import Walk
from whence.search import tempering
from whence.search.agreeing import SETTLING
from whence.search.method import Carried, Method, Part

SETTINGS = Tempering(rungs=4, warm_up=20, pace=10, steps=200, every=20, trips=1,
                     until_agreed=False)  # fmt: skip
KNOWN: dict[str, Any] = {"expert": Expert(20, 0.9), "settings": SETTINGS, "alpha": None,
                         "lapse": None, "discount": None}  # fmt: skip


class _KillError(Exception):
    """Stands for a kill."""


class _Parts:
    """A crew that makes the steps of each ladder apart."""

    def __init__(self, seats: int, scans: int) -> None:
        self.seats, self.scans = seats, scans
        self.ahead: list[Part] = []
        self.seen: list[Part] = []
        self.rng = np.random.default_rng()

    def carried(self, method: Method[Any, Any, Any], parts: list[Part]) -> list[Carried]:
        self.seen += parts
        return [method.carried(self.rng, part) for part in parts]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let short runs have copies, too."""
    monkeypatch.setattr("whence.search.adapting.LEAST_LEFT", 0)


def _walk(**changes: Any) -> Walk:
    job = small.infer("tempering", **KNOWN | {"steps": 4} | changes).job
    job = replace(job, settings=SETTINGS)
    return Walk.start(job, job.problem(1))


def test_there_are_copies_where_machines_cost_nothing_to_score(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _walk().state.copies == tempering.MOST_COPIES
    assert _walk(alpha="infer").state.copies == 1
    monkeypatch.setattr(tempering, "SMALL", 25)
    assert _walk().state.copies == 2  # 5 states times 2
    monkeypatch.setattr(tempering, "SMALL", 12)
    assert _walk().state.copies == 1


def test_copies_begin_as_the_warm_up_ends_and_go_their_own_ways() -> None:
    walk = _walk()
    while walk.state.warm < 0:
        assert walk.state.strands == 1
        walk.advance()
    state = walk.state
    assert (state.ladders, state.strands, len(state.ladder)) == (2, 4, 8)
    assert sorted(state.ladder.tolist()) == list(range(8))
    assert state.ladder[::4].tolist() == [0, 1]
    tables = state.chains.machines.transitions.reshape(2, 4, 4, -1)
    assert (tables == tables[:, :1]).all()
    seen = walk.method.evaluations(state)
    for _ in range(SETTLING):
        walk.advance()
    assert not len(walk.records)
    assert walk.method.evaluations(walk.state) == seen + 32 * SETTLING
    tables = walk.state.chains.machines.transitions.reshape(2, 4, 4, -1)
    assert (tables != tables[:, :1]).any()
    walk.advance()
    assert len(walk.records) == 1
    assert len(walk.rows.together().score[-1]) == 2  # type: ignore[union-attr]


def test_a_run_that_is_over_soon_spends_no_steps_on_copies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("whence.search.adapting.LEAST_LEFT", 500)
    walk = _walk()
    while walk.state.warm < 0:
        walk.advance()
    assert walk.state.strands == 1
    walk.advance()
    assert len(walk.records) == 1


def test_draws_stand_copy_after_copy_in_order_of_time() -> None:
    walk = _walk()
    kept: list[Any] = []
    while walk.state.step < 200:
        walk.advance()
        record = walk.method.record(walk.state)
        if record is not None:
            kept.append(record.log_likelihood)
    draws = walk.method.sampled(walk.state, walk.records)
    assert draws is not None
    rows = np.stack(kept).reshape(
        -1, 2 * tempering.MOST_COPIES
    )  # steps, and where there is a census times
    assert draws.log_likelihood.tolist() == rows.T.reshape(-1).tolist()
    assert draws.ladder.tolist() == [0] * (rows.size // 2) + [1] * (rows.size // 2)


@pytest.mark.parametrize(("seats", "scans"), [(1, 7), (2, 60)])
def test_ladders_with_copies_go_the_same_way_apart(seats: int, scans: int) -> None:
    whole, apart = _walk(), _walk()
    crew = _Parts(seats, scans)
    crew.rng = apart.rng
    while whole.state.step < 200:
        whole.advance()
    while apart.state.step < 200:
        apart.advance(crew)
    assert len(crew.seen) > 2 * seats
    assert max(len(part.places) for part in crew.seen) == 8 // seats
    for one, other in (
        (whole.state.chains, apart.state.chains),
        (whole.records.together(), apart.records.together()),
    ):
        assert one is not None
        assert other is not None
        for first, second in zip(one.tables, other.tables, strict=True):
            assert first.tobytes() == second.tobytes()
    assert whole.state.trips.tolist() == apart.state.trips.tolist()


@pytest.mark.parametrize("step", [15, 60, 170])
def test_a_broken_run_with_copies_ends_as_an_unbroken_one(
    step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "EVENT_SECONDS", 0.0)

    def broken(event: Event) -> None:
        if event.step >= step:
            raise _KillError

    run = small.infer("tempering", **KNOWN, folder=tmp_path / "whole")
    assert run.ladders["copies"] == tempering.MOST_COPIES
    with pytest.raises(_KillError):
        small.infer(
            "tempering", **KNOWN, folder=tmp_path / "broken", checkpoint=0.0, on_event=broken
        )
    assert whence.load(tmp_path / "broken").provisional
    whence.resume(tmp_path / "broken")
    assert small.contents(tmp_path / "broken") == small.contents(tmp_path / "whole")
