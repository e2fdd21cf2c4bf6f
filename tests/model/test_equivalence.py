from __future__ import annotations

from collections import deque
from itertools import product

import numpy as np
import pytest

import whence
from support.problems import random_machine, random_world
from whence import LabeledMDP, RewardMachine
from whence.errors import MachineError

FIGURE_1 = RewardMachine.from_arrows(["y0 -l-> y1", "y0 -r/1-> y2"], alphabet=("t", "w", "l", "r"))


def test_the_papers_recharge_machine_misses_the_wet_rule() -> None:
    world = whence.worlds.recharge()
    assert world.task.difference(FIGURE_1) == ("w", "r")
    assert FIGURE_1.difference(world.task, world.mdp) == ("w", "r")
    assert not world.task.same_as(FIGURE_1)


def test_the_papers_multi_coffee_machine_differs_after_a_decoration() -> None:
    figure_3 = RewardMachine.from_arrows(
        [
            "y0 -c-> y1",
            "y0 -k-> y2",
            "y0 -*-> y3",
            "y1 -*-> y2",
            "y1 -o/2-> y3",
            "y2 -*-> y3",
            "y2 -o/1-> y3",
        ],
        alphabet=("c", "k", "o", "*"),
    )
    assert figure_3.difference(whence.worlds.multi_coffee().task) == ("c", "*", "o")


@pytest.mark.parametrize("seed", range(60))
def test_the_sequence_is_the_shortest_by_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = random_machine(rng, ("a", "b"), 3, np.array([1.0]))
    b = random_machine(rng, ("a", "b"), 2, np.array([1.0]))
    brute = next(
        (
            word
            for length in range(1, 6)
            for word in product("ab", repeat=length)
            if a.run(word).rewards != b.run(word).rewards
        ),
        None,
    )
    assert a.difference(b) == brute
    assert a.same_as(b) == (brute is None)


def _brute_in_world(a: RewardMachine, b: RewardMachine, mdp: LabeledMDP) -> int | None:
    """Length of the shortest sequence, by 0-1 breadth-first search over plain tuples."""
    queue = deque((int(s), 0, 0, 0) for s in mdp.initial_states)
    best: dict[tuple[int, int, int], int] = {}
    answer: int | None = None
    while queue:
        state, x, y, length = queue.popleft()
        if best.get((state, x, y), 10**9) <= length:
            continue
        best[state, x, y] = length
        for action in range(mdp.n_actions):
            for following in mdp.row(state, action)[0].tolist():
                label = mdp.label(following)
                (nx, ra), (ny, rb) = a.step(x, label), b.step(y, label)
                if ra != rb and (answer is None or length + 1 < answer):
                    answer = length + 1
                if label is None:
                    queue.appendleft((following, nx, ny, length))
                else:
                    queue.append((following, nx, ny, length + 1))
    return answer


@pytest.mark.parametrize("seed", range(60))
def test_in_a_world_the_sequence_is_shortest_and_possible(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=8, actions=2, symbols=2, successors=2)
    a = random_machine(rng, mdp.alphabet, 3, np.array([1.0]))
    b = random_machine(rng, mdp.alphabet, 3, np.array([1.0]))
    told = a.difference(b, mdp)
    expected = _brute_in_world(a, b, mdp)
    assert (None if told is None else len(told)) == expected
    assert a.same_in(b, mdp) == (told is None)
    if told is not None:
        assert a.run(told).rewards != b.run(told).rewards
        assert a.run(told[:-1]).rewards == b.run(told[:-1]).rewards


def test_machines_can_be_the_same_in_one_world_only() -> None:
    world = whence.worlds.coffee()
    careless = RewardMachine.from_arrows(
        ["before -c-> holding", "holding -o/1-> over"], alphabet=("c", "o", "*")
    )
    no_plants = LabeledMDP.from_dense(
        [[[0, 1, 0]], [[0, 0, 1]], [[1, 0, 0]]],
        labels=[None, "c", "o"],
        alphabet=("c", "o"),
    )
    small = RewardMachine.from_arrows(["before -c-> holding", "holding -o/1-> over"])
    always = RewardMachine.from_arrows(
        ["before -c-> holding", "before -o/1-> over", "holding -o/1-> over"]
    )
    assert careless.difference(world.task, world.mdp) is not None
    assert small.same_in(always, no_plants)
    assert not small.same_as(always)


def test_different_alphabets_are_refused_by_name() -> None:
    with pytest.raises(MachineError, match=r"differ in \(o\)"):
        RewardMachine(("c",), [[0]], [[1]]).difference(
            RewardMachine(("c", "o"), [[0, 0]], [[0, 0]])
        )
    one = RewardMachine(("c",), [[0]], [[1]])
    with pytest.raises(MachineError, match="does not know 'o'"):
        one.difference(one, whence.worlds.coffee().mdp)
