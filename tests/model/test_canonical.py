from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from support.problems import random_machine
from whence import RewardMachine
from whence.model.canonical import (
    breadth_first,
    can_pay,
    equivalence_classes,
    minimise,
    minimise_batch,
    reachable,
    valid,
)


def _relabelled(machine: RewardMachine, order: tuple[int, ...]) -> RewardMachine:
    new = np.argsort(order)
    return RewardMachine(
        machine.alphabet, new[machine.transitions[list(order)]], machine.rewards[list(order)]
    )


@pytest.mark.parametrize("seed", range(40))
def test_all_labelled_copies_share_one_canonical_form(seed: int) -> None:
    rng = np.random.default_rng(seed)
    machine = random_machine(rng, ("a", "b"), 4)
    forms = {_relabelled(machine, (0, *order)).canonical() for order in permutations((1, 2, 3))}
    assert len(forms) == 1
    assert forms.pop().same_as(machine)


def test_a_valid_machine_has_factorial_many_labelled_copies() -> None:
    found: dict[RewardMachine, int] = {}
    for entries in product(range(3), repeat=6):
        for paid in ((0, 0, 0, 0, 0, 1), (1, 0, 0, 1, 0, 0)):
            machine = RewardMachine(
                ("a", "b"), np.reshape(entries, (3, 2)), np.reshape(paid, (3, 2))
            )
            if machine.is_valid:
                for other in (machine, _relabelled(machine, (0, 2, 1))):
                    assert machine.canonical() == other.canonical()
                form = machine.canonical()
                found.setdefault(form, 0)
    assert found
    for form in found:
        copies = {_relabelled(form, order) for order in ((0, 1, 2), (0, 2, 1))}
        assert len(copies) == 2


def _behaviour(machine: RewardMachine, depth: int) -> list[tuple[float, ...]]:
    words = product(machine.alphabet, repeat=depth)
    return [machine.run(word).rewards for word in words]


@pytest.mark.parametrize("seed", range(60))
def test_the_minimised_machine_pays_the_same_and_has_no_equal_states(seed: int) -> None:
    rng = np.random.default_rng(seed)
    machine = random_machine(rng, ("a", "b"), int(rng.integers(1, 6)), np.array([1.0]))
    small = machine.minimised()
    assert _behaviour(small, 6) == _behaviour(machine, 6)
    assert small.same_as(machine)
    for state in range(1, small.n_states):
        for other in range(state):
            started = [_restarted(small, s) for s in (state, other)]
            assert not started[0].same_as(started[1])


def _restarted(machine: RewardMachine, state: int) -> RewardMachine:
    order = (state, *(s for s in range(machine.n_states) if s != state))
    return _relabelled(machine, order)


def test_minimising_merges_copies_and_drops_what_cannot_be_reached() -> None:
    machine = RewardMachine(
        ("a",), [[1], [2], [1], [0]], [[0], [1], [1], [5]], ["s", "t", "u", "lost"]
    )
    small = machine.minimised()
    assert small.names == ("s", "t")
    assert small.transitions.tolist() == [[1], [1]]
    assert small.rewards.tolist() == [[0], [1]]


def test_breadth_first_takes_symbols_in_order() -> None:
    assert breadth_first(np.array([[2, 1], [3, 1], [2, 2], [3, 3]])) == [0, 2, 1, 3]


def test_can_pay_follows_transitions_back() -> None:
    transitions = np.array([[1], [2], [2], [3]])
    rewards = np.array([[0.0], [-1.0], [0.0], [0.0]])
    assert can_pay(transitions, rewards).tolist() == [True, True, False, False]


@pytest.mark.parametrize("n", [1, 2, 4])
def test_machines_minimised_together_equal_those_minimised_alone(n: int) -> None:
    rng = np.random.default_rng(n)
    machines = [random_machine(rng, ("a", "b"), n, np.array([1.0])) for _ in range(300)]
    transitions, rewards, counts = minimise_batch(
        np.array([machine.transitions for machine in machines]),
        np.array([machine.rewards for machine in machines]),
    )
    assert n == 1 or len(set(counts.tolist())) > 1
    for i, machine in enumerate(machines):
        alone, size = machine.minimised(), int(counts[i])
        assert alone.n_states == size
        assert (alone.transitions == transitions[i, :size]).all()
        assert (alone.rewards == rewards[i, :size]).all()
        assert (transitions[i, size:] == np.arange(size, n)[:, None]).all()
        assert not rewards[i, size:].any()


def test_reachable_states_of_a_batch_one_by_one() -> None:
    chain = [[1], [2], [3], [3]]
    backwards = [[3], [0], [1], [2]]
    alone = [[0], [0], [1], [2]]
    found = reachable(np.array([chain, backwards, alone]))
    assert found.tolist() == [[True] * 4, [True] * 4, [True, False, False, False]]
    assert reachable(np.zeros((2, 1, 3), dtype=np.int64)).tolist() == [[True], [True]]
    split = np.array([[[0, 2], [1, 1], [2, 0]]])
    assert reachable(split).tolist() == [[True, False, True]]


def test_valid_machines_reach_everything_and_pay_something() -> None:
    reaching, stuck = [[1, 0], [1, 0]], [[0, 0], [1, 0]]
    nothing, last = [[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, -2.0]]
    everything = [[1.0, 1.0], [1.0, 1.0]]
    transitions = np.array([reaching, reaching, stuck, stuck, reaching])
    rewards = np.array([nothing, last, nothing, last, everything])
    assert valid(transitions, rewards).tolist() == [False, True, False, False, True]


def test_machines_that_read_nothing_have_one_class_of_states() -> None:
    transitions, rewards = np.zeros((3, 0), dtype=np.int64), np.zeros((3, 0))
    assert equivalence_classes(transitions, rewards).tolist() == [0, 0, 0]
    small, paid, kept = minimise(transitions, rewards)
    assert (small.shape, paid.shape, kept) == ((1, 0), (1, 0), [0])
