"""Ways read off the goals: the labels that an expert goes to, one after the other."""

from __future__ import annotations

import numpy as np

import whence
from whence import Expert, LabeledMDP, Posterior, RewardMachine
from whence.paper.growing import Growing, growing
from whence.search.finding.goals import Goals, find_goals
from whence.search.finding.tracing import beginnings, traced


def _goals(kind: str, states: int, seed: int = 3) -> tuple[Goals, Posterior]:
    world = growing(Growing(kind, states, 6, 10, 0.1, False, seed))
    posterior = Posterior(
        world.mdp, world.demonstrations(seed), expert=world.expert, rewards=world.rewards
    )
    return find_goals(posterior, world.expert.discount), posterior


def _same(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> bool:
    return all(a.shape == b.shape and (a == b).all() for a, b in zip(one, other, strict=True))


def test_a_sequence_is_read_off_at_once() -> None:
    goals, _ = _goals("sequence", 5)
    targets, paid = np.tile(np.arange(5)[:, None], (1, 6)), np.zeros((5, 6), dtype=np.int64)
    for place in range(4):
        targets[place, place] = place + 1
    paid[3, 3] = 1
    assert any(_same(made, (targets, paid)) for made in beginnings(goals, 6, 5, 0, 2))


def test_a_patrol_is_read_off_at_once() -> None:
    goals, _ = _goals("patrol", 4)
    targets, paid = np.tile(np.arange(4)[:, None], (1, 6)), np.zeros((4, 6), dtype=np.int64)
    for place in range(4):
        targets[place, place] = (place + 1) % 4
    paid[3, 3] = 1
    assert any(_same(made, (targets, paid)) for made in beginnings(goals, 6, 4, 0, 2))


CORRIDOR = """
labels: a=a b=b c=c
starts: S

map:
+-------------+
|..b.Sa...b..c|
+-------------+
"""


def test_a_label_that_lies_on_the_way_to_the_next_one_is_read_off() -> None:
    mdp = LabeledMDP.from_map(CORRIDOR)
    symbols = [mdp.alphabet.index(name) for name in "abc"]
    targets, rewards = np.tile(np.arange(4)[:, None], (1, 3)), np.zeros((4, 3))
    for place, symbol in enumerate(symbols):
        targets[place, symbol] = place + 1
    rewards[2, symbols[2]] = 1.0
    expert = Expert(alpha=200, discount=0.95)
    task = RewardMachine(mdp.alphabet, targets, rewards)
    demos = whence.simulate(mdp, task, expert, episodes=20, length=12, seed=0)
    goals = find_goals(Posterior(mdp, demos, expert=expert), expert.discount)
    made = beginnings(goals, 3, 4, 0, 2)
    truth = targets, rewards.astype(np.int64)
    assert any(_same(each, truth) for each in made)  # though the nearest `b` is behind


def test_machines_with_another_way_keep_their_states_and_their_room() -> None:
    goals, _ = _goals("choice", 5)
    base = np.array([[1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]]), np.zeros((2, 6), dtype=np.int64)
    base[1][0, 0] = 1
    made = traced(base, goals, 5, 0, 3)
    assert made
    for targets, paid in made:
        assert len(targets) <= 5
        changed = (targets[:2] != base[0]) | (paid[:2] != base[1])
        assert changed.sum() == 1  # the arrow by which the way begins
    assert not traced(base, goals, 2, 0, 3)  # no room for another state


def test_fewer_histories_keep_their_parents() -> None:
    goals, _ = _goals("sequence", 5)
    few = goals.fewer(40)
    assert 0 < len(few.parent) <= 40
    for h in range(len(few.parent)):
        assert few.symbol[h] < 0 or few.parent[h] < h
    assert few.steps.min() >= np.sort(goals.steps)[-len(few.steps)]
