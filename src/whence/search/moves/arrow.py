"""Change the target and the reward of one arrow together, to any other pair of both.

All (n - 1)(G - 1) pairs of another target and another reward are equally likely: symmetric.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.search.machines import Machines
from whence.search.moves import choices
from whence.search.space import Space

PLACE = 2  # among the moves


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return space.largest > 1


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    result = machines.copy()
    size = len(machines.n_states)
    row, state = np.arange(size), choices.state(rng, machines.n_states)
    symbol = rng.integers(0, space.m, size=size)
    shift = rng.integers(0, np.maximum(machines.n_states - 1, 1)) + (machines.n_states > 1)
    levels = len(space.levels)
    other = rng.integers(1, max(levels, 2), size=size)
    old = machines.transitions[row, state, symbol]
    result.transitions[row, state, symbol] = (old + shift) % machines.n_states
    result.paid[row, state, symbol] = (machines.paid[row, state, symbol] + other) % levels
    return result, np.zeros(size)
