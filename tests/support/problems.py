"""Random worlds and machines for tests; everything comes from the generator."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np

import whence
from whence._arrays import Floats, Ints
from whence.model.canonical import valid


def random_world(
    rng: np.random.Generator,
    *,
    states: int,
    actions: int,
    symbols: int,
    successors: int,
    blank: float = 0.5,
) -> whence.LabeledMDP:
    """Return a world with 1 to `successors` successors a pair, and a spread of starts."""
    rows = []
    for state in range(states):
        for action in range(actions):
            k = int(rng.integers(1, min(successors, states) + 1))
            chosen = rng.choice(states, size=k, replace=False)
            weights = rng.dirichlet(np.ones(k))
            rows += [
                (state, action, int(s), float(p)) for s, p in zip(chosen, weights, strict=True)
            ]
    labels = np.where(
        rng.random(states) < blank, -1, rng.integers(0, max(symbols, 1), size=states)
    )
    if symbols == 0:
        labels[:] = -1
    starts = rng.choice(states, size=int(rng.integers(1, min(states, 3) + 1)), replace=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", whence.WhenceWarning)
        return whence.LabeledMDP.from_triples(
            rows,
            states=states,
            actions=actions,
            labels=labels.astype(np.int64),
            alphabet=[chr(ord("a") + i) for i in range(symbols)],
            initial=[(int(s), 1 / len(starts)) for s in starts],
        )


def masked(rng: np.random.Generator, mdp: whence.LabeledMDP) -> whence.LabeledMDP:
    """Return the world with some actions of some states missing; each state keeps one."""
    closed = rng.random((mdp.n_states, mdp.n_actions)) < rng.choice([0.2, 0.6])
    closed[np.arange(mdp.n_states), rng.integers(mdp.n_actions, size=mdp.n_states)] = False
    pair = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offsets))
    state, action = np.divmod(pair, mdp.n_actions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", whence.WhenceWarning)
        return whence.LabeledMDP.from_triples(
            np.column_stack([state, action, mdp.successors, mdp.probabilities]),
            states=mdp.n_states,
            actions=mdp.actions,
            labels=mdp.labels,
            alphabet=mdp.alphabet,
            initial=list(
                zip(mdp.initial_states.tolist(), mdp.initial_probabilities.tolist(), strict=True)
            ),
            unavailable=np.argwhere(closed),
        )


def random_machine(
    rng: np.random.Generator, alphabet: tuple[str, ...], n: int, levels: Floats | None = None
) -> whence.RewardMachine:
    """Return a machine with uniform tables; half of the rewards are 0."""
    shape = (n, len(alphabet))
    levels = np.array([-1.0, 0.5, 1.0, 2.0]) if levels is None else levels
    rewards = np.where(rng.random(shape) < 0.5, 0.0, rng.choice(levels, size=shape))
    return whence.RewardMachine(alphabet, rng.integers(0, n, size=shape), rewards)


def valid_machines(n: int, m: int, levels: tuple[float, ...]) -> tuple[Ints, Floats]:
    """Return every valid machine, each of its (n - 1)! labelled copies, by brute force."""
    targets = np.array(list(product(range(n), repeat=n * m))).reshape(-1, n, m)
    paid = np.array(list(product(levels, repeat=n * m))).reshape(-1, n, m)
    transitions = np.repeat(targets, len(paid), axis=0)
    rewards = np.tile(paid, (len(targets), 1, 1))
    kept = valid(transitions, rewards)
    return transitions[kept], rewards[kept]


def broad_posteriors(
    seed: int, discounts: tuple[float, ...], levels: tuple[float, ...]
) -> tuple[whence.Posterior, ...]:
    """Return posteriors by discount, of few demonstrations in a world of two symbols."""
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=8, actions=3, symbols=2, successors=2, blank=0.3)
    paying = random_machine(rng, mdp.alphabet, 2)
    rewards = (paying.rewards > 0.6).astype(np.float64)
    task = whence.RewardMachine(mdp.alphabet, paying.transitions, rewards)
    shown = whence.Expert(8.0, 0.9, 0.1)
    demos = whence.simulate(mdp, task, shown, episodes=6, length=8, seed=seed)
    experts = [whence.Expert(8.0, discount, 0.1) for discount in discounts]
    first = whence.Posterior(mdp, demos, expert=experts[0], rewards=levels)
    return tuple(first.of_expert(expert) for expert in experts)
