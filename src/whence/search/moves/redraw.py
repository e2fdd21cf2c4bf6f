"""Redraw an arrow, a row or everything from the prior.

What is redrawn is forgotten, so q(old | new) / q(new | old) is the ratio of the priors of the
redrawn entries, and the likelihood alone decides.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Bools, Floats
from whence.search.machines import Machines
from whence.search.moves import choices
from whence.search.space import Space

PLACE = 3  # among the moves
PARTS = (0.6, 0.3, 0.1)  # of an arrow, a row and everything


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return True


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    shape = machines.transitions.shape
    own = np.arange(shape[1])[None, :, None]
    count = machines.n_states[:, None, None]
    chosen = _chosen(rng, machines, space)
    targets = space.draw_targets(rng, np.broadcast_to(own, shape), np.broadcast_to(count, shape))
    paid = space.draw_paid(rng, shape)
    result = Machines(
        np.where(chosen, targets, machines.transitions),
        np.where(chosen, paid, machines.paid),
        machines.n_states,
    )
    before = space.log_target(machines.transitions, own, count) + space.log_paid(machines.paid)
    after = space.log_target(result.transitions, own, count) + space.log_paid(result.paid)
    return result, np.where(chosen, before - after, 0.0).sum(axis=(1, 2))


def _chosen(rng: np.random.Generator, machines: Machines, space: Space) -> Bools:
    """Return bool[B, n, m]: what to redraw."""
    size, n, m = machines.transitions.shape
    part = choices.one_of(rng, PARTS, size)[:, None, None]
    states = np.arange(n)[None, :, None]
    row = states == choices.state(rng, machines.n_states)[:, None, None]
    drawn = np.asarray(rng.integers(0, m, size=size))
    symbol = np.arange(m) == drawn[:, None, None]
    used = states < machines.n_states[:, None, None]
    return np.asarray(used & (row | (part == 2)) & (symbol | (part > 0)))
