"""Exchange two targets in one row: its arrows to a now lead to b, and those to b to a.

Made twice, it undoes itself: symmetric.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.search.machines import Machines
from whence.search.moves import choices
from whence.search.space import Space

PLACE = 4  # among the moves


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return space.largest > 1


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    one, other = choices.two_states(rng, machines.n_states)
    turned = choices.exchanged(machines.transitions, one[:, None, None], other[:, None, None])
    state = choices.state(rng, machines.n_states)[:, None, None]
    row = np.arange(machines.transitions.shape[1])[None, :, None] == state
    transitions = np.where(row, turned, machines.transitions)
    return machines._replace(transitions=transitions), np.zeros(len(one))
