"""Change one to three entries, each to another value, all of which are equally likely.

The choice of the entries depends on the number of states alone, so the move is symmetric.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.search.machines import Machines
from whence.search.moves import choices
from whence.search.space import Space

PLACE = 1  # among the moves
AMOUNTS = (0.6, 0.25, 0.15)  # of one, two and three changes


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return True


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    size, n, m = machines.transitions.shape
    count = machines.n_states[:, None, None]
    used = np.broadcast_to(np.arange(n)[None, :, None] < count, (size, n, m))
    may_turn = used & (count > 1)
    open_ = np.concatenate([may_turn.reshape(size, -1), used.reshape(size, -1)], axis=1)
    amount = choices.one_of(rng, AMOUNTS, size) + 1
    order = np.where(open_, rng.random(open_.shape), 2.0).argsort(axis=1).argsort(axis=1)
    chosen = open_ & (order < amount[:, None])
    turn = chosen[:, : n * m].reshape(size, n, m)
    pay = chosen[:, n * m :].reshape(size, n, m)
    shift = rng.integers(1, np.maximum(count, 2), size=(size, n, m))
    levels = len(space.levels)
    other = rng.integers(1, max(levels, 2), size=(size, n, m))
    transitions = np.where(turn, (machines.transitions + shift) % count, machines.transitions)
    paid = np.where(pay, (machines.paid + other) % levels, machines.paid)
    return Machines(transitions, paid, machines.n_states), np.zeros(size)
