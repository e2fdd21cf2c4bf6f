"""A discount that was assumed, but that the demonstrations speak against, is doubted."""

from __future__ import annotations

import pytest

import whence
from whence import Demonstrations, Expert, Posterior, Tempering
from whence.analysis import sensitivity
from whence.paper.worlds import World

EVERY = ("alpha", "lapse")


@pytest.fixture(scope="module")
def shown() -> tuple[World, Demonstrations]:
    world = whence.worlds.coffee()
    demos = whence.simulate(
        world.mdp, world.task, Expert(30, 0.8), episodes=100, length=100, seed=0
    )
    return world, demos


@pytest.mark.parametrize("alpha", [0.5, 30.0, 900.0])
def test_a_wrong_discount_is_doubted_whatever_alpha_was_found(
    shown: tuple[World, Demonstrations], alpha: float
) -> None:
    world, demos = shown
    posterior = Posterior(world.mdp, demos, expert=Expert(alpha, 0.95))
    (doubt,) = sensitivity.doubts_of_discount(posterior, world.task, EVERY)
    assert doubt.startswith(
        "the discount was taken to be 0.95, but with 0.8 this machine explains"
    )
    assert doubt.endswith("--discount infer")


def test_the_right_discount_is_not(shown: tuple[World, Demonstrations]) -> None:
    world, demos = shown
    posterior = Posterior(world.mdp, demos, expert=Expert(30, 0.8))
    assert sensitivity.doubts_of_discount(posterior, world.task, EVERY) == []


@pytest.mark.parametrize("inferred", [("lapse",), ("alpha", "discount")])
def test_nor_is_one_that_was_inferred_or_belongs_to_a_known_expert(
    shown: tuple[World, Demonstrations], inferred: tuple[str, ...]
) -> None:
    world, demos = shown
    posterior = Posterior(world.mdp, demos, expert=Expert(30, 0.95))
    assert sensitivity.doubts_of_discount(posterior, world.task, inferred) == []


def test_the_gain_is_that_of_the_best_alpha_at_each_discount(
    shown: tuple[World, Demonstrations],
) -> None:
    world, demos = shown
    posterior = Posterior(world.mdp, demos, expert=Expert(1.0, 0.8))
    found = sensitivity.best_log_likelihood(posterior, world.task, 0.8)
    for alpha in (25.0, 28.0, 30.0, 32.0, 35.0):
        other = posterior.of_expert(Expert(alpha, 0.8))
        assert other.finest(world.task) <= found + 0.5


def test_a_run_tells(shown: tuple[World, Demonstrations]) -> None:
    world, demos = shown
    task = world.task
    arrows = [  # of another machine a wrong discount may be the best
        f"u{y} -{symbol}/{task.rewards[y, k]:g}-> u{task.transitions[y, k]}"
        for y in range(task.n_states)
        for k, symbol in enumerate(task.alphabet)
    ]
    settings = Tempering(steps=60, warm_up=20, rungs=4)
    for alpha, discount, doubted in ((None, 0.95, True), (None, None, False), (30.0, 0.95, False)):
        run = whence.infer(
            world.mdp, demos, states=3, fix=arrows, settings=settings, alpha=alpha,
            discount=discount,
        )  # fmt: skip
        assert any("discount" in doubt for doubt in run.doubts) == doubted


def test_no_demonstrations_speak_against_nothing() -> None:
    world = whence.worlds.coffee()
    nothing = Demonstrations.from_episodes([])
    posterior = Posterior(world.mdp, nothing, expert=Expert(30, 0.95))
    assert sensitivity.doubts_of_discount(posterior, world.task, EVERY) == []
