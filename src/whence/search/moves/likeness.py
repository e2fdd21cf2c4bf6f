"""A state made in the likeness of another: its row, and the arrows that are led to it.

An entry of the new row of state b, in the likeness of row a, keeps both the target and the
reward of row a with probability BOTH; keeps the target and has another reward, or keeps the
reward and has a target from the prior, with probability ONE each; and is else drawn from the
prior. An arrow from a to itself is copied as one from b to itself with probability LOOP, else as
one to a. Every row can be drawn, so the move back has a probability, too.

Of the arrows that lead to a, each is led to b instead with probability LEAD, those from a to
itself with probability 1 - LOOP.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.search.machines import Machines
from whence.search.space import Space

BOTH = 0.7
ONE = 0.12
LOOP = 0.9
LEAD = 0.5

Row = tuple[Ints, Ints]


def draw(
    rng: np.random.Generator, model: Row, a: Ints, b: Ints, n_states: Ints, space: Space
) -> Row:
    """Return a row, int64[B, m] twice, of state b in the likeness of the row `model` of a."""
    targets, paid = model
    shape = targets.shape
    loops = (targets == a[:, None]) & (rng.random(shape) < LOOP)
    copied = np.where(loops, b[:, None], targets)
    count = np.broadcast_to(n_states[:, None], shape)
    fresh = space.draw_targets(rng, np.broadcast_to(b[:, None], shape), count)
    levels = len(space.levels)
    other = (paid + rng.integers(1, max(levels, 2), size=shape)) % levels
    lot = rng.random(shape)
    rest = lot >= BOTH + 2 * ONE
    paid = np.where(rest, space.draw_paid(rng, shape), paid)
    return (
        np.where(lot < BOTH + ONE, copied, fresh),
        np.where((lot >= BOTH) & (lot < BOTH + ONE), other, paid),
    )


def log_probability(
    row: Row, model: Row, a: Ints, b: Ints, n_states: Ints, space: Space
) -> Floats:
    """Return float64[B]: the log probability that `draw` makes a row."""
    targets, paid = row
    looped = model[0] == a[:, None]
    same_target = np.where(targets == model[0], np.where(looped, 1 - LOOP, 1.0), 0.0)
    same_target = same_target + np.where(looped & (targets == b[:, None]), LOOP, 0.0)
    same_paid = np.where(paid == model[1], 1.0, 0.0)
    other_paid = (1 - same_paid) / max(len(space.levels) - 1, 1)
    any_target = np.exp(space.log_target(targets, b[:, None], n_states[:, None]))
    any_paid = np.exp(space.log_paid(paid))
    chance = BOTH * same_target * same_paid
    chance = chance + ONE * (same_target * other_paid + any_target * same_paid)
    chance = chance + (1 - BOTH - 2 * ONE) * any_target * any_paid
    return np.asarray(np.log(chance).sum(axis=1))


def lead(rng: np.random.Generator, transitions: Ints, arrows: Bools, a: Ints, b: Ints) -> Ints:
    """Return int64[B, n, m]: some of the `arrows`, which lead to a, lead to b."""
    led = arrows & (rng.random(arrows.shape) < _lead_chance(transitions, a))
    return np.where(led, b[:, None, None], transitions)


def log_led(led: Bools, arrows: Bools, a: Ints) -> Floats:
    """Return float64[B]: the log probability that `lead` leads just those arrows."""
    chance = np.broadcast_to(_lead_chance(arrows, a), arrows.shape)
    each = np.where(led, np.log(chance), np.log1p(-chance))
    return np.asarray(np.where(arrows, each, 0.0).sum(axis=(1, 2)))


def _lead_chance(tables: Ints | Bools, a: Ints) -> Floats:
    """Return float64[B, n, 1]: how likely an arrow of each row is led away from a."""
    own = np.arange(tables.shape[1])[None, :, None] == a[:, None, None]
    return np.where(own, 1 - LOOP, LEAD)


def row_of(machines: Machines, state: Ints) -> Row:
    """Return the rows of a state of each machine, int64[B, m] twice."""
    index = np.arange(len(state))
    return machines.transitions[index, state], machines.paid[index, state]


def put(machines: Machines, state: Ints, row: Row) -> None:
    """Write a row of each machine."""
    index = np.arange(len(state))
    machines.transitions[index, state] = row[0]
    machines.paid[index, state] = row[1]
