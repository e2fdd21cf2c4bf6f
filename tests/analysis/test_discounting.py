"""A discount that was assumed, but that the demonstrations speak against, is doubted."""

from __future__ import annotations

import numpy as np
import pytest

import whence
from runs import small
from whence import Demonstrations, Expert, Posterior, RewardMachine, Tempering
from whence.analysis import discounting
from whence.paper.worlds import World
from whence.search.problem import Problem
from whence.search.unknowns import INFER, unknowns


def _problem(
    posterior: Posterior, alpha: float | str = INFER, discount: float | str | None = None
) -> Problem:
    """Return what a run searched that assumed the discount of a posterior."""
    given = posterior.expert.discount if discount is None else discount
    return Problem((posterior,), unknowns(None, alpha, None, given), range(3, 4), {})


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
    (doubt,) = discounting.doubts_of_discount(posterior, world.task, _problem(posterior))
    assert doubt.startswith(
        "the discount was taken to be 0.95, but with 0.8 this machine explains"
    )
    assert doubt.endswith("--discount infer")


def test_the_right_discount_is_not(shown: tuple[World, Demonstrations]) -> None:
    world, demos = shown
    posterior = Posterior(world.mdp, demos, expert=Expert(30, 0.8))
    assert discounting.doubts_of_discount(posterior, world.task, _problem(posterior)) == []


@pytest.mark.parametrize(("alpha", "discount"), [(30.0, 0.95), (INFER, INFER)])
def test_nor_is_one_that_was_inferred_or_belongs_to_a_known_expert(
    shown: tuple[World, Demonstrations], alpha: float | str, discount: float | str
) -> None:
    world, demos = shown
    posterior = Posterior(world.mdp, demos, expert=Expert(30, 0.95))
    problem = _problem(posterior, alpha, discount)
    assert discounting.doubts_of_discount(posterior, world.task, problem) == []


def test_the_gain_is_that_of_the_best_alpha_at_each_discount(
    shown: tuple[World, Demonstrations],
) -> None:
    world, demos = shown
    posterior = Posterior(world.mdp, demos, expert=Expert(1.0, 0.8))
    found = discounting.best_log_likelihood(posterior, world.task, 0.8)
    for alpha in (25.0, 28.0, 30.0, 32.0, 35.0):
        other = posterior.of_expert(Expert(alpha, 0.8))
        assert other.finest(world.task) <= found + 0.5


def _imitation(alphabet: tuple[str, ...]) -> RewardMachine:
    """Return a machine that makes an expert of discount 0.95 do what the task does at 0.8."""
    stay = np.arange(3)[:, None].repeat(len(alphabet), axis=1)
    transitions, rewards = stay.copy(), np.zeros(stay.shape)
    office, plant = alphabet.index("o"), alphabet.index("*")
    transitions[0, office], rewards[0, office] = 1, 1.0
    transitions[0, plant], rewards[0, plant] = 2, 1.0
    transitions[1, plant] = 0
    return RewardMachine(alphabet, transitions, rewards)


def test_another_machine_at_another_discount_is_found(
    shown: tuple[World, Demonstrations],
) -> None:
    world, demos = shown
    posterior = Posterior(world.mdp, demos, expert=Expert(3.2, 0.95, 0.03))
    machine = _imitation(posterior.alphabet)
    found = [discounting.best_log_likelihood(posterior, machine, d) for d in (0.95, 0.8)]
    assert found[1] < found[0] + discounting.CLEARLY
    (doubt,) = discounting.doubts_of_discount(posterior, machine, _problem(posterior))
    assert doubt.startswith("the discount was taken to be 0.95, but with 0.8 another machine")


def test_nothing_is_looked_for_in_worlds_too_large(
    shown: tuple[World, Demonstrations], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, demos = shown
    monkeypatch.setattr(discounting, "WORK", 1_000)
    posterior = Posterior(world.mdp, demos, expert=Expert(3.2, 0.95, 0.03))
    machine = _imitation(posterior.alphabet)
    assert discounting.doubts_of_discount(posterior, machine, _problem(posterior)) == []


def test_a_run_tells(shown: tuple[World, Demonstrations]) -> None:
    world, demos = shown
    task = world.task
    arrows = [
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
    assert discounting.doubts_of_discount(posterior, world.task, _problem(posterior)) == []


@pytest.mark.parametrize("unit", [1_000.0, 0.001])
def test_other_units_of_reward_change_nothing(unit: float) -> None:
    mdp = small.world()
    demos = small.demonstrations(mdp, episodes=40)
    found = []
    for pay in (1.0, unit):
        task = RewardMachine.from_arrows(["x -a-> y", f"y -b/{pay:g}-> x"], alphabet=mdp.alphabet)
        posterior = Posterior(mdp, demos, expert=Expert(20 / pay, 0.9), rewards=(0.0, pay))
        found.append([discounting.best_log_likelihood(posterior, task, d) for d in (0.8, 0.9)])
    assert found[0] == pytest.approx(found[1], abs=0.05)
