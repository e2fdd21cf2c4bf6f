"""k is ignored, or leads to one state from everywhere: it ends it all, or undoes what was done.

Where something can still be paid, k staying put and k leading to a state t change places, both
unpaid. Made twice, it undoes itself: symmetric, where the same states can pay afterwards.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Bools, Floats
from whence.search.machines import Machines
from whence.search.moves import choices
from whence.search.space import Space

PLACE = 13  # among the moves


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return space.largest > 1 and space.m > 1


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    size, n, m = machines.transitions.shape
    row, states = np.arange(size), np.arange(n)
    k, t = rng.integers(0, m, size=size), choices.state(rng, machines.n_states)[:, None]
    alive = _alive(machines, space)
    old = machines.transitions[row, :, k]
    unpaid = machines.paid[row, :, k] == space.zero
    new = np.where(old == t, states, np.where(old == states, t, old))
    result = machines.copy()
    result.transitions[row, :, k] = np.where(alive & unpaid & (states != t), new, old)
    same = (_alive(result, space) == alive).all(axis=1)
    return machines.replaced(result, same), np.zeros(size)


def _alive(machines: Machines, space: Space) -> Bools:
    """Return bool[B, n]: from which states something can still be paid."""
    size, n, _ = machines.transitions.shape
    used = np.arange(n) < machines.n_states[:, None]
    row = np.arange(size)[:, None, None]
    alive = (machines.paid != space.zero).any(axis=2) & used
    while True:
        grown = alive | (alive[row, machines.transitions].any(axis=2) & used)
        if (grown == alive).all():
            return np.asarray(alive)
        alive = grown
