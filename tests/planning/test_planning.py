from __future__ import annotations

import numpy as np
import pytest

import whence
from support.problems import random_machine, random_world
from whence import LabeledMDP, RewardMachine
from whence.errors import ArgumentError, MachineError
from whence.likelihood import reference
from whence.model.product import product
from whence.planning.policies import optimal_q

LINE = LabeledMDP.from_dense(
    [[[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 1]]],
    labels=[None, None, "g"],
    actions=["left", "right"],
)


def test_q_of_a_goal_two_steps_away_by_hand() -> None:
    machine = RewardMachine.from_arrows(["a -g/1-> b"])
    q = optimal_q(LINE, machine, 0.9)
    assert q[0] == pytest.approx(np.array([[0.81, 0.9], [0.81, 1.0], [0.9, 1.0]]), abs=1e-12)
    assert (q[1] == 0).all()


def test_a_machine_that_pays_for_ever_is_a_geometric_series() -> None:
    machine = RewardMachine(("g",), [[0]], [[1.0]])
    q = optimal_q(LINE, machine, 0.99)
    assert q[0, 2, 1] == pytest.approx(100, rel=1e-12)
    assert q[0, 0, 1] == pytest.approx(0.99 * 100, rel=1e-12)


def test_discount_zero_sees_one_step() -> None:
    q = optimal_q(LINE, RewardMachine(("g",), [[0]], [[1.0]]), 0.0)
    assert q[0].tolist() == [[0, 0], [0, 1], [0, 1]]


def test_equally_good_actions_share_evenly() -> None:
    policy = whence.plan(LINE, RewardMachine.from_arrows(["a -g/1-> b"]), 0.9)
    assert policy.probabilities[0].tolist() == [[0, 1], [0, 1], [0, 1]]
    assert policy.probabilities[1].tolist() == [[0.5, 0.5]] * 3
    assert policy.actions[0].tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="read-only"):
        policy.probabilities[0, 0, 0] = 1


@pytest.mark.parametrize("seed", range(30))
def test_policy_and_value_iteration_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=12, actions=3, symbols=3, successors=4)
    machine = random_machine(rng, mdp.alphabet, int(rng.integers(1, 5)))
    discount = float(rng.choice([0.0, 0.5, 0.9, 0.99]))
    both = product(mdp, machine)
    exact = reference.policy_iteration(both, discount)
    swept = reference.value_iteration(both, discount)
    assert np.abs(exact - swept).max() < 1e-10
    residual = both.backup(exact.max(axis=2), discount) - exact
    assert np.abs(residual).max() < 1e-11


def test_columns_follow_the_worlds_alphabet() -> None:
    world = whence.worlds.coffee()
    turned = world.task.over(("*", "o", "c"))
    assert np.array_equal(
        whence.plan(world.mdp, world.task, 0.9).probabilities,
        whence.plan(world.mdp, turned, 0.9).probabilities,
    )


def test_wrong_alphabets_and_discounts_are_refused() -> None:
    with pytest.raises(MachineError, match="the world lacks 'x'"):
        whence.plan(LINE, RewardMachine(("g", "x"), [[0, 0]], [[1, 0]]), 0.9)
    with pytest.raises(ArgumentError, match="discount is 1"):
        whence.plan(LINE, RewardMachine(("g",), [[0]], [[1]]), 1)


def test_rewards_of_very_different_size_are_planned_exactly() -> None:
    rows = [(0, 0, 1, 1), (0, 1, 2, 1), (1, 0, 0, 1), (1, 1, 0, 1), (2, 0, 0, 1), (2, 1, 0, 1)]
    mdp = LabeledMDP.from_triples(
        [*rows, (3, 0, 3, 1), (3, 1, 3, 1)],
        states=4,
        actions=2,
        labels=[None, "x", "y", "big"],
        initial=[(0, 0.5), (3, 0.5)],
    )
    machine = RewardMachine(mdp.alphabet, [[0, 0, 0]], [[1e-3, 2e-3, 1e9]])
    q = optimal_q(mdp, machine, 0.9)
    best = 2e-3 / (1 - 0.81)
    assert q[0, 0] == pytest.approx([1e-3 + 0.81 * best, best], rel=1e-9)
    assert q[0, 3] == pytest.approx([1e10, 1e10], rel=1e-12)


def test_rewards_beyond_floating_point_are_refused() -> None:
    with pytest.raises(MachineError, match="1e\\+308 is too large"):
        whence.plan(LINE, RewardMachine(("g",), [[0]], [[1e308]]), 0.9)


def test_a_policy_follows_the_order_of_another_worlds_alphabet() -> None:
    rows = [(0, 0, 1, 1), (0, 1, 2, 1), (1, 0, 1, 1), (1, 1, 2, 1), (2, 0, 1, 1), (2, 1, 2, 1)]
    one, other = (
        LabeledMDP.from_triples(
            rows, states=3, actions=2, labels=[None, "a", "b"], alphabet=alphabet
        )
        for alphabet in (("a", "b"), ("b", "a"))
    )
    machine = RewardMachine.from_arrows(["x -a-> y", "y -b/1-> x"], alphabet=("a", "b"))
    policy = whence.plan(one, machine, 0.9)
    for mdp in (one, other):
        result = whence.evaluate(mdp, policy, machine, 10, episodes=3)
        assert result.expected_return == 5
        assert result.simulated is not None
        assert result.simulated.mean == 5
    pays = RewardMachine(("g",), [[0]], [[1]])
    foreign = whence.Policy(pays, policy.probabilities[:1, :2], 0.9)
    with pytest.raises(ArgumentError, match="plan in this world"):
        whence.evaluate(LINE, foreign, pays, 3)
