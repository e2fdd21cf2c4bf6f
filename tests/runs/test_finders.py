"""Finders in a run: stopped and resumed like all else, and without a trace in the posterior."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whence
from runs import small
from whence.runs import searching
from whence.runs.events import Event, OnEvent
from whence.search import seeking
from whence.search.finding import finder

SETTINGS = whence.Tempering(
    rungs=6, warm_up=100, pace=20, steps=2_000, every=100, until_agreed=False
)


class _KillError(Exception):
    """Stands for a kill."""


@pytest.fixture(autouse=True)
def _everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let finders look at small spaces too, not too long, and events come with each step."""
    monkeypatch.setattr(seeking, "FEW_MACHINES", 1.0)
    monkeypatch.setattr(finder, "STEPS", 100)
    monkeypatch.setattr(searching, "EVENT_SECONDS", 0.0)


def _broken_at(steps: list[int]) -> OnEvent:
    """Return a callback that breaks a run at each of some steps, once."""

    def broken(event: Event) -> None:
        if steps and event.step >= steps[0]:
            steps.pop(0)
            raise _KillError

    return broken


def test_a_run_that_is_killed_while_a_finder_looks_ends_as_an_unbroken_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seeking, "FEW_STEPS", 400)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    settings = replace(SETTINGS, steps=400, ladders=2)
    looking: list[int] = []

    def told(event: Event) -> None:
        if event.details["finding"]:
            looking.append(event.step)

    small.infer("tempering", settings=settings, folder=whole, checkpoint=1e9, on_event=told)
    assert looking[-1] > 20
    breaks = [1, 2, 7, looking[-1] // 2, looking[-1], looking[-1] + 5]
    on_event = _broken_at(breaks)
    with pytest.raises(_KillError):
        small.infer(
            "tempering", settings=settings, folder=broken, checkpoint=0.0, on_event=on_event
        )
    while breaks:
        with pytest.raises(_KillError):
            whence.resume(broken, checkpoint=0.0, on_event=on_event)
    whence.resume(broken, checkpoint=1e9)
    assert small.contents(broken) == small.contents(whole)


def test_a_finder_leaves_no_trace_in_the_posterior() -> None:
    """What the chains say with it is what all machines together say."""
    known = {"alpha": 20.0, "lapse": 0.0, "discount": 0.9}
    settings = replace(SETTINGS, ladders=2, steps=6_000)
    runs = (
        small.infer("tempering", settings=settings, **known),
        small.infer("exhaustive"),
    )
    sampled, exact = (run.posterior for run in runs)
    assert sampled is not None
    assert exact is not None
    for labels in (("a",), ("b",), ("a", "b"), ("b", "a"), ("a", "a")):
        expected = exact.pays(*labels).get(1.0, 0.0)
        error = np.sqrt(expected * (1 - expected) / sampled.ess)
        assert abs(sampled.pays(*labels).get(1.0, 0.0) - expected) <= 4 * error + 1e-3


def _looks(**changes: Any) -> bool:
    """Return whether a finder looks for machines at the beginning of a run."""
    told: list[bool] = []

    def on_event(event: Event) -> None:
        told.append(event.details["finding"])
        if event.step >= 3:
            raise _KillError

    with pytest.raises(_KillError):
        small.infer("tempering", on_event=on_event, **({"settings": SETTINGS} | changes))
    return any(told)


def test_short_runs_known_arrows_and_given_machines_do_without() -> None:
    start = whence.RewardMachine.from_arrows(["x -a/1-> y"], alphabet=("a", "b"))
    assert _looks()
    assert not _looks(settings=replace(SETTINGS, steps=60))
    assert not _looks(settings=replace(SETTINGS, finder=False))
    assert not _looks(init=start)
    assert not _looks(fix=["x -a-> x"])
