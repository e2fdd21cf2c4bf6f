"""A state that waits is taken from its arrow and put into another, at the same number of states.

What waiting is, and how often each machine comes of it, `waiting` says. One of the states that
wait is removed and inserted elsewhere; what lies between is the same on the way back.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.search.machines import Machines
from whence.search.moves import waiting
from whence.search.space import Space

PLACE = 12  # among the moves


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return space.largest > 1


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    waits = waiting.all_waits(machines, space)
    w = np.where(waits, rng.random(waits.shape), -1.0).argmax(axis=1)
    old = waiting.looked_at(machines, w, space)
    between = waiting.remove(rng, machines, old, space)
    made = waiting.insert(rng, between, w, space)
    new = waiting.looked_at(made, w, space)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = waiting.log_remove(made, new, between, space)
        ratio = ratio + waiting.log_insert(between, machines, old, space)
        ratio = ratio - waiting.log_remove(machines, old, between, space)
        ratio = ratio - waiting.log_insert(between, made, new, space)
        ratio = ratio + np.log(waits.sum(axis=1))
        ratio = ratio - np.log(waiting.all_waits(made, space).sum(axis=1))
    possible = np.asarray(waits.any(axis=1))
    return machines.replaced(made, possible), np.where(possible, ratio, 0.0)
