"""Where demonstrations look greedy, a run says so, and what cannot be told then."""

from __future__ import annotations

import math

import pytest

import whence
from whence import Expert, Posterior
from whence.analysis.greed import notes_of_greed

EVERY = ("alpha", "lapse")


def _notes(alpha: float, lapse: float, inferred: tuple[str, ...] = EVERY) -> list[str]:
    """Return what is said of an expert; a very sharp one is assumed where it is infinite."""
    world = whence.worlds.coffee()
    demos = whence.simulate(
        world.mdp, world.task, Expert(alpha, 0.92, lapse), episodes=50, length=50, seed=3
    )
    found = Expert(alpha if math.isfinite(alpha) else 1e4, 0.92, lapse)
    posterior = Posterior(world.mdp, demos, expert=found)
    return notes_of_greed(posterior, world.task, inferred)


def test_a_greedy_expert_is_named_with_its_lapses() -> None:
    (note,) = _notes(math.inf, 0.05)
    share = float(note.split("but for ")[1].split("%")[0])
    assert share == pytest.approx(5.0, abs=1.5)
    assert "pay along the way" in note


def test_one_that_never_lapses_is_named_without() -> None:
    (note,) = _notes(math.inf, 0.0)
    assert note.startswith("the expert may as well always act best: such")


@pytest.mark.parametrize("alpha", [10.0, 50.0])
def test_one_that_errs_is_not(alpha: float) -> None:
    assert _notes(alpha, 0.0) == []


def test_nor_is_one_that_is_known() -> None:
    assert _notes(math.inf, 0.05, ("lapse",)) == []


def test_a_run_tells() -> None:
    world = whence.worlds.coffee()
    demos = whence.simulate(
        world.mdp, world.task, Expert(math.inf, 0.92, 0.05), episodes=50, length=50, seed=3
    )
    settings = whence.Tempering(steps=80, warm_up=20, rungs=4)
    run = whence.infer(
        world.mdp, demos, states=3, discount=0.92, init=world.task, settings=settings
    )
    assert any("always act best" in note for note in run.notes)
