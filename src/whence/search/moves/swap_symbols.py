"""Exchange the arrows of two symbols, in one row or in all. Made twice, it undoes itself."""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.search.machines import Machines
from whence.search.moves import choices
from whence.search.space import Space

PLACE = 7  # among the moves
ONE_ROW = 0.7


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return space.m > 1


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    size, n, m = machines.transitions.shape
    one, other = choices.two_states(rng, np.full(size, m))
    symbols = np.broadcast_to(np.arange(m), (size, m))
    source = choices.exchanged(symbols, one[:, None], other[:, None])[:, None, :]
    state = choices.state(rng, machines.n_states)[:, None]
    chosen = (np.arange(n) == state) | np.asarray(rng.random(size) >= ONE_ROW)[:, None]
    chosen &= np.arange(n) < machines.n_states[:, None]
    source = np.where(chosen[:, :, None], source, symbols[:, None, :])
    result = Machines(
        np.take_along_axis(machines.transitions, source, axis=2),
        np.take_along_axis(machines.paid, source, axis=2),
        machines.n_states,
    )
    return result, np.zeros(size)
