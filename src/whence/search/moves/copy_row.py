"""Redraw the row of one state in the likeness of another's."""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.search.machines import Machines
from whence.search.moves import choices, likeness
from whence.search.space import Space

PLACE = 5  # among the moves


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return space.largest > 1


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    model_state, state = choices.two_states(rng, machines.n_states)
    model = likeness.row_of(machines, model_state)
    old = likeness.row_of(machines, state)
    around = model_state, state, machines.n_states, space
    new = likeness.draw(rng, model, *around)
    result = machines.copy()
    likeness.put(result, state, new)
    back = likeness.log_probability(old, model, *around)
    ratio = back - likeness.log_probability(new, model, *around)
    alone = machines.n_states < 2
    if alone.any():
        result.transitions[alone], result.paid[alone] = (
            machines.transitions[alone],
            machines.paid[alone],
        )
    return result, np.where(alone, 0.0, ratio)
