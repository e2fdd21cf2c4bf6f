"""One state more, or one less: an arrow waits for one label more, or no longer waits for one.

What waiting is, and how often each machine comes of it, `waiting` says. The new state takes any
place but the first: what was there goes to the end. The way back takes one of the states that
wait, and the last state goes to its place.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.search.machines import Machines
from whence.search.moves import choices, waiting
from whence.search.space import Space

PLACE = 11  # among the moves


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return len(space.sizes) > 1


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    grow = rng.random(machines.size) < 0.5
    more, ratio_more = _inserted(rng, machines, space)
    less, ratio_less = _removed(rng, machines, space)
    ratio = np.where(grow, ratio_more, ratio_less)
    result = less.replaced(more, grow)
    possible = np.isfinite(ratio)
    return space.tidy(machines.replaced(result, possible)), np.where(possible, ratio, 0.0)


def _inserted(
    rng: np.random.Generator, machines: Machines, space: Space
) -> tuple[Machines, Floats]:
    """Return machines with a state more, and the log ratio; minus infinity without room."""
    last = np.minimum(machines.n_states, space.largest - 1)
    between = machines._replace(n_states=last + 1)
    place = 1 + rng.integers(0, np.maximum(last, 1))
    made = waiting.insert(rng, between, last, space)
    wait = waiting.looked_at(made, last, space)
    ratio = waiting.log_remove(made, wait, between, space)
    ratio = ratio - waiting.log_insert(between, made, wait, space)
    waits = waiting.all_waits(made, space).sum(axis=1)
    with np.errstate(divide="ignore"):
        ratio = ratio + np.log(np.maximum(last, 1)) - np.log(waits)
    room = machines.n_states < space.largest
    return choices.renumbered(made, np.minimum(place, last), last), np.where(room, ratio, -np.inf)


def _removed(
    rng: np.random.Generator, machines: Machines, space: Space
) -> tuple[Machines, Floats]:
    """Return machines with a state less, and the log ratio; minus infinity where none waits."""
    waits = waiting.all_waits(machines, space)
    w = np.where(waits, rng.random(waits.shape), -1.0).argmax(axis=1)
    last = machines.n_states - 1
    machines = choices.renumbered(machines, w, last)
    wait = waiting.looked_at(machines, last, space)
    between = waiting.remove(rng, machines, wait, space)
    ratio = waiting.log_insert(between, machines, wait, space)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = ratio - waiting.log_remove(machines, wait, between, space)
        ratio = ratio - np.log(np.maximum(last, 1)) + np.log(waits.sum(axis=1))
    smaller = between._replace(n_states=np.maximum(last, 1))
    return smaller, np.where(waits.any(axis=1), ratio, -np.inf)
