from __future__ import annotations

import itertools

import numpy as np
import pytest

import whence
from support.problems import random_machine, random_world
from whence.errors import ArgumentError
from whence.paper.worlds import BUILT_IN
from whence.planning.evaluation import expected_return, horizon_optimum, monte_carlo

FIGURES = {"recharge": (1.0, 1.0), "coffee": (0.710, 0.525), "multi-coffee": (2.0, 1.429)}


@pytest.mark.parametrize("name", BUILT_IN)
def test_exact_returns_of_the_papers_worlds(name: str) -> None:
    world = BUILT_IN[name](None)
    best = whence.plan(world.mdp, world.task, world.expert.discount)
    expert = whence.expert_policy(world.mdp, world.task, world.expert)
    for policy, figure in zip((best, expert), FIGURES[name], strict=True):
        result = whence.evaluate(world.mdp, policy, world.task, world.length, episodes=2000)
        assert round(result.expected_return, 3) == figure
        assert round(result.reference, 3) == FIGURES[name][0]
        assert result.regret == result.reference - result.expected_return
        assert result.simulated is not None
        spread = 3 * result.simulated.standard_error + 1e-4
        assert abs(result.simulated.mean - result.expected_return) <= spread


def test_the_usual_office_start_and_the_clock() -> None:
    usual = whence.worlds.coffee(start=(2, 1))
    plan = whence.plan(usual.mdp, usual.task, 0.92)
    assert round(expected_return(usual.mdp, plan, usual.task, 100), 3) == 0.842
    coffee = whence.worlds.coffee()
    assert round(horizon_optimum(coffee.mdp, coffee.task, 100), 4) == 0.8385


def _return_by_enumeration(
    mdp: whence.LabeledMDP, policy: whence.Policy, truth: whence.RewardMachine, length: int
) -> float:
    """Sum over all paths, one by one."""
    paths = [
        (int(s), 0, 0, float(p), 0.0)
        for s, p in zip(mdp.initial_states, mdp.initial_probabilities, strict=True)
    ]
    for _ in range(length):
        grown = []
        for (state, x, y, chance, paid), action in itertools.product(paths, range(mdp.n_actions)):
            for following, p in zip(*mdp.row(state, action), strict=True):
                label = mdp.label(int(following))
                nx, _ = policy.machine.step(x, label)
                ny, reward = truth.step(y, label)
                weight = chance * float(policy.probabilities[x, state, action]) * float(p)
                if weight:
                    grown.append((int(following), nx, ny, weight, paid + reward))
        paths = grown
    return sum(chance * paid for *_, chance, paid in paths)


@pytest.mark.parametrize("seed", range(12))
def test_propagation_equals_the_sum_over_all_paths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=5, actions=2, symbols=2, successors=2)
    truth = random_machine(rng, mdp.alphabet, 2)
    believed = random_machine(rng, mdp.alphabet, 3)
    policy = whence.expert_policy(mdp, believed, whence.Expert(1.5, 0.8, 0.1))
    brute = _return_by_enumeration(mdp, policy, truth, 4)
    assert expected_return(mdp, policy, truth, 4) == pytest.approx(brute, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_no_policy_beats_the_horizon_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=6, actions=3, symbols=2, successors=3)
    truth = random_machine(rng, mdp.alphabet, 3)
    best = horizon_optimum(mdp, truth, 7)
    for discount in (0.0, 0.5, 0.99):
        assert expected_return(mdp, whence.plan(mdp, truth, discount), truth, 7) <= best + 1e-12


def test_far_parts_of_a_world_do_not_change_the_horizon_optimum() -> None:
    line = whence.LabeledMDP.from_map(
        "labels: g\nstarts: S\nmap:\n" + "S" + "." * 5 + "g" + "." * 60 + "g\n", source="line"
    )
    always = whence.RewardMachine(("g",), [[0]], [[1.0]])
    for length, best in ((5, 0), (6, 1), (7, 2), (30, 25)):
        assert horizon_optimum(line, always, length) == best


def test_monte_carlo_is_repeatable_and_one_episode_has_no_error() -> None:
    world = whence.worlds.coffee()
    plan = whence.plan(world.mdp, world.task, 0.92)
    first, second = (monte_carlo(world.mdp, plan, world.task, 50, 100, 7) for _ in range(2))
    assert first == second
    assert np.isnan(monte_carlo(world.mdp, plan, world.task, 1, 100, 7).standard_error)


def test_zero_steps_earn_nothing_and_negative_ones_are_refused() -> None:
    world = whence.worlds.coffee()
    plan = whence.plan(world.mdp, world.task, 0.92)
    assert whence.evaluate(world.mdp, plan, world.task, 0).expected_return == 0
    with pytest.raises(ArgumentError, match="length is -1"):
        whence.evaluate(world.mdp, plan, world.task, -1)
