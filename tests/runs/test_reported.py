"""Runs go on until the facts that they tell are exact enough, too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runs import small
from whence.runs.reported import error_of_facts, largest_error
from whence.runs.walk import Walk
from whence.search.method import AGREED
from whence.search.sampling import ParallelTempering

FACTS = "the probability of a fact has an error"


def _walk(monkeypatch: pytest.MonkeyPatch) -> Walk:
    """Return a walk whose ladders agree, as they say, but whose facts are of a few draws."""
    job = small.infer("tempering", steps=4).job
    job = replace(job, settings=replace(job.settings, steps=200, until_agreed=True))
    walk = Walk.start(job, job.problem(1))
    while walk.state.step < 150:
        walk.advance()
    monkeypatch.setattr(ParallelTempering, "ended", lambda *_: AGREED)
    return walk


def test_facts_must_be_as_exact_as_what_else_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    walk = _walk(monkeypatch)
    draws = walk.method.sampled(walk.state, walk.records)
    assert draws is not None
    error = largest_error(walk.method.problem.posteriors[0], draws, walk.known)
    assert error > 1e-3
    for factor, wanted in ((1.01, AGREED), (0.99, None)):
        walk.method.settings = replace(walk.method.settings, precision=error * factor)
        assert walk.ended() == wanted


def test_plans_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    walk = _walk(monkeypatch)
    assert not walk.known
    walk.ended()
    first = dict(walk.known)
    assert first
    walk.ended()
    assert {name: id(plan) for name, plan in walk.known.items()} == {
        name: id(plan) for name, plan in first.items()
    }


def test_a_run_that_made_all_its_steps_says_which_facts_are_rough() -> None:
    little = small.demonstrations(small.world(), episodes=2)
    rough = small.infer("tempering", steps=80, precision=1e-4, demos=little)
    assert rough.posterior is not None
    assert error_of_facts(rough.posterior) > 1e-4
    assert any(
        doubt.startswith("the probability of a fact has an error") for doubt in rough.doubts
    )
    assert not any(
        doubt.startswith("the probability of a fact")
        for doubt in small.infer("tempering", steps=80, precision=0.9, demos=little).doubts
    )
