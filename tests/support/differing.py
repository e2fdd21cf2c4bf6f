"""Random problems put to whence and to the solvers of `oracles`; how far the answers differ."""

from __future__ import annotations

import numpy as np

import whence
from support import oracles
from support.problems import random_machine, random_world
from whence import Expert, Posterior, RewardMachine
from whence.likelihood.values import compiled_q
from whence.planning.policies import optimal_q

DISCOUNTS = (0.0, 0.3, 0.9, 0.99, 0.999)


def _problem(rng: np.random.Generator) -> tuple[whence.LabeledMDP, RewardMachine, float]:
    states, actions, symbols, successors = (
        int(rng.integers(low, high)) for low, high in ((1, 12), (1, 5), (1, 4), (1, 5))
    )
    world = random_world(
        rng, states=states, actions=actions, symbols=symbols, successors=successors
    )
    machine = random_machine(rng, world.alphabet, int(rng.integers(1, 4)))
    return world, machine, float(rng.choice(DISCOUNTS))


def values(seed: int, solver: str) -> float:
    """Return the largest difference of optimal values, over 1 + their size, on one problem."""
    world, machine, discount = _problem(np.random.default_rng(seed))
    solve = {"quantecon": oracles.quantecon_values, "storm": oracles.storm_values}[solver]
    expected = solve(world, machine, discount)
    size = 1 + float(np.abs(expected).max())
    return max(
        float(np.abs(q(world, machine, discount).max(axis=2) - expected).max()) / size
        for q in (optimal_q, compiled_q)
    )


def equality(seed: int) -> None:
    """Compare two machines with all three methods; half of the pairs are the same."""
    rng = np.random.default_rng(seed)
    alphabet = tuple("abc"[: int(rng.integers(1, 4))])
    levels = np.array([1.0, 2.0])
    one = random_machine(rng, alphabet, int(rng.integers(1, 7)), levels)
    other = _disguised(rng, one)
    if rng.random() < 0.5:
        other = _changed(rng, other)
    found = one.difference(other)
    expected = oracles.shortest_difference(one, other)
    assert (None if found is None else len(found)) == expected
    assert one.same_as(other) == (expected is None) == oracles.bisimilar(one, other)
    assert (
        one.minimised().n_states
        == len(oracles.automaton(one, [0.0, 1.0, 2.0]).minify().states) - 1
    )
    if found is not None:
        assert one.run(found).rewards != other.run(found).rewards


def _disguised(rng: np.random.Generator, machine: RewardMachine) -> RewardMachine:
    """Return the same machine with a state doubled and all but the first renumbered."""
    n = machine.n_states
    doubled = int(rng.integers(n))
    transitions = np.vstack([machine.transitions, machine.transitions[doubled]])
    rewards = np.vstack([machine.rewards, machine.rewards[doubled]])
    moved = (transitions == doubled) & (rng.random(transitions.shape) < 0.5)
    transitions = np.where(moved, n, transitions)
    order = np.concatenate([[0], 1 + rng.permutation(n)])
    new = np.argsort(order)
    return RewardMachine(machine.alphabet, new[transitions[order]], rewards[order])


def _changed(rng: np.random.Generator, machine: RewardMachine) -> RewardMachine:
    transitions, rewards = machine.transitions.copy(), machine.rewards.copy()
    place = tuple(int(rng.integers(size)) for size in transitions.shape)
    if rng.random() < 0.5:
        transitions[place] = rng.integers(machine.n_states)
    else:
        rewards[place] = 2.0 - rewards[place]
    return RewardMachine(machine.alphabet, transitions, rewards)


def likelihood(seed: int) -> float:
    """Return by how far two log likelihoods differ, over 1 + their size, on one problem."""
    rng = np.random.default_rng(seed)
    world, machine, discount = _problem(rng)
    expert = Expert(
        float(rng.choice([0.0, 0.5, 5.0, 50.0])), discount, float(rng.choice([0.0, 0.1, 1.0]))
    )
    demos = whence.simulate(
        world, machine, Expert(2.0, discount, 0.2), episodes=5, length=8, seed=seed
    )
    other = random_machine(rng, world.alphabet, int(rng.integers(1, 4)))
    worst = 0.0
    for each in (machine, other):
        found = Posterior(world, demos, expert=expert, threads=1).finest(each)
        expected = oracles.scipy_log_likelihood(world, demos, each, expert)
        worst = max(worst, abs(found - expected) / (1 + abs(expected)))
    return worst
