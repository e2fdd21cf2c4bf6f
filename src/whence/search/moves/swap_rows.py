"""Exchange the rows of two states: what a did, b does. Made twice, it undoes itself."""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.search.machines import Machines
from whence.search.moves import choices
from whence.search.space import Space

PLACE = 6  # among the moves


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return space.largest > 1


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    one, other = choices.two_states(rng, machines.n_states)
    states = np.arange(machines.transitions.shape[1])[None, :]
    source = choices.exchanged(
        np.broadcast_to(states, machines.transitions.shape[:2]), one[:, None], other[:, None]
    )
    row = np.arange(len(one))[:, None]
    result = Machines(
        machines.transitions[row, source], machines.paid[row, source], machines.n_states
    )
    return result, np.zeros(len(one))
