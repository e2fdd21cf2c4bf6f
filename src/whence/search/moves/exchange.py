"""Exchange the roles of two states: all arrows to a now lead to b, and those to b to a.

The rows stay. Made twice, it undoes itself: symmetric.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.search.machines import Machines
from whence.search.moves import choices
from whence.search.space import Space

PLACE = 8  # among the moves


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return space.largest > 1


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    one, other = choices.two_states(rng, machines.n_states)
    turned = choices.exchanged(machines.transitions, one[:, None, None], other[:, None, None])
    used = np.arange(turned.shape[1]) < machines.n_states[:, None]
    transitions = np.where(used[:, :, None], turned, machines.transitions)
    return machines._replace(transitions=transitions), np.zeros(len(one))
