"""Merge state b into a, and use the free state to split c, at the same number of states.

Merging leads all arrows to b on to a. Splitting makes state b in the likeness of c: its row, and
some of the arrows to c. What lies between, the machine without b, is the same on the way back,
which merges b into c and splits a: it makes the old row b in the likeness of row a, and must lead
to b just those arrows that led there before.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.search.machines import Machines
from whence.search.moves import likeness
from whence.search.space import Space

PLACE = 9  # among the moves


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return space.largest > 2


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    n_states = machines.n_states
    b = 1 + rng.integers(0, np.maximum(n_states - 1, 1))
    a, c = (_other(rng, b, n_states) for _ in range(2))
    between, elsewhere = merged(machines, a, b)
    new = likeness.draw(rng, likeness.row_of(between, c), c, b, n_states, space)
    arrows = elsewhere & (between.transitions == c[:, None, None])
    targets = likeness.lead(rng, between.transitions, arrows, c, b)
    split = Machines(targets, between.paid.copy(), n_states)
    likeness.put(split, b, new)
    ratio = _log_split(machines, between, elsewhere, a, b, space)
    ratio = ratio - _log_split(split, between, elsewhere, c, b, space)
    possible = (n_states > 2)[:, None, None]
    return Machines(
        np.where(possible, split.transitions, machines.transitions),
        np.where(possible, split.paid, machines.paid),
        n_states,
    ), np.where(n_states > 2, ratio, 0.0)


def merged(machines: Machines, a: Ints, b: Ints) -> tuple[Machines, Bools]:
    """Lead all arrows to b, except those in row b, to a; also return bool[B, n, 1]: not row b."""
    states = np.arange(machines.transitions.shape[1])[None, :, None]
    elsewhere = (states != b[:, None, None]) & (states < machines.n_states[:, None, None])
    to_b = machines.transitions == b[:, None, None]
    transitions = np.where(elsewhere & to_b, a[:, None, None], machines.transitions)
    return machines._replace(transitions=transitions), elsewhere


def _log_split(
    made: Machines, between: Machines, elsewhere: Bools, c: Ints, b: Ints, space: Space
) -> Floats:
    """Return float64[B]: the log probability that a split of c makes a machine of `between`."""
    arrows = elsewhere & (between.transitions == c[:, None, None])
    led = arrows & (made.transitions == b[:, None, None])
    row = likeness.row_of(made, b)
    model = likeness.row_of(between, c)
    alike = likeness.log_probability(row, model, c, b, between.n_states, space)
    return alike + likeness.log_led(led, arrows, c)


def _other(rng: np.random.Generator, b: Ints, n_states: Ints) -> Ints:
    """Return a state of each machine that is not b."""
    drawn = rng.integers(0, np.maximum(n_states - 1, 1))
    return np.where(n_states > 1, drawn + (drawn >= b), 0)
