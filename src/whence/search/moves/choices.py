"""Random choices that several moves make."""

from __future__ import annotations

import numpy as np

from whence._arrays import Ints
from whence.search.machines import Machines


def state(rng: np.random.Generator, n_states: Ints) -> Ints:
    """Return int64[B]: a state of each machine."""
    return rng.integers(0, n_states)


def two_states(rng: np.random.Generator, n_states: Ints) -> tuple[Ints, Ints]:
    """Return int64[B], twice: two different states of each machine, where it has two."""
    first = rng.integers(0, n_states)
    shift = rng.integers(0, np.maximum(n_states - 1, 1)) + (n_states > 1)
    return first, (first + shift) % n_states


def exchanged(values: Ints, one: Ints, other: Ints) -> Ints:
    """Return values with the two exchanged; shapes are broadcast."""
    return np.where(values == one, other, np.where(values == other, one, values))


def renumbered(machines: Machines, one: Ints, other: Ints) -> Machines:
    """Return the same machines with the numbers of two states, int64[B] each, exchanged."""
    if (one == other).all():
        return machines
    states = np.broadcast_to(np.arange(machines.transitions.shape[1]), machines.paid.shape[:2])
    order = exchanged(states, one[:, None], other[:, None])
    row = np.arange(machines.size)[:, None]
    targets = exchanged(machines.transitions[row, order], one[:, None, None], other[:, None, None])
    return Machines(targets, machines.paid[row, order], machines.n_states)


def one_of(rng: np.random.Generator, weights: tuple[float, ...], size: int) -> Ints:
    """Return int64[size]: places in `weights`, which sum to 1."""
    return np.asarray(rng.choice(len(weights), p=weights, size=size), dtype=np.int64)
