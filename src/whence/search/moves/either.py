"""k does what l does, or no longer: in one state, or in all.

Where k does not do what l does, its arrows become l's. Where it does, they are drawn from the
prior; so the probability of the way back is that of the arrows that were there.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.search.machines import Machines
from whence.search.moves import choices
from whence.search.space import Space

PLACE = 12  # among the moves
ONE_STATE = 0.6


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return space.m > 1


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    size, n, m = machines.transitions.shape
    row, states = np.arange(size), np.arange(n)
    k, other = choices.two_states(rng, np.full(size, m))
    state = choices.state(rng, machines.n_states)
    chosen = (states == state[:, None]) | np.asarray(rng.random(size) >= ONE_STATE)[:, None]
    chosen &= states < machines.n_states[:, None]
    old = machines.transitions[row, :, k], machines.paid[row, :, k]
    model = machines.transitions[row, :, other], machines.paid[row, :, other]
    same = (old[0] == model[0]) & (old[1] == model[1])
    alike = (same | ~chosen).all(axis=1)[:, None]
    count = np.broadcast_to(machines.n_states[:, None], (size, n))
    own = np.broadcast_to(states, (size, n))
    fresh = space.draw_targets(rng, own, count), space.draw_paid(rng, (size, n))
    result = machines.copy()
    new = tuple(
        np.where(chosen, np.where(alike, a, b), c)
        for a, b, c in zip(fresh, model, old, strict=True)
    )
    result.transitions[row, :, k], result.paid[row, :, k] = new
    drawn = [space.log_target(a, own, count) + space.log_paid(b) for a, b in (old, new)]
    ratio = np.where(alike, -drawn[1], drawn[0])
    return result, np.where(chosen, ratio, 0.0).sum(axis=1)
