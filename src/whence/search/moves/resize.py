"""One state more, or one less: split a state, or merge a state into another.

Splitting c makes the new state in the likeness of c, its row and some of the arrows to c; the way
back merges it into c, which is one choice in as many as there were states. Both directions are
tried equally often, and a size that is not allowed has no mass.

The new state takes any place but the first, and what was there goes to the end; the way back
takes any state but 0, and the last goes to its place: as many choices in both directions. Where
nothing is pinned, no target notices the numbers of states: they are shuffled instead, and the
state that comes or goes is the last.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.search.machines import Machines
from whence.search.moves import choices, likeness
from whence.search.moves.regroup import merged
from whence.search.space import Space

PLACE = 10  # among the moves


def usable(space: Space) -> bool:
    """Return whether the move can change anything in a space."""
    return len(space.sizes) > 1


def propose(rng: np.random.Generator, machines: Machines, space: Space) -> tuple[Machines, Floats]:
    """Return proposals and log q(old | new) - log q(new | old)."""
    if not space.pinned:
        machines = shuffled(rng, machines)
    grow = rng.random(len(machines.n_states)) < 0.5
    possible = np.where(grow, machines.n_states < space.largest, machines.n_states > 1)
    last = np.where(grow, machines.n_states, machines.n_states - 1)
    place = 1 + rng.integers(0, np.maximum(last, 1)) if space.pinned else last
    place = np.where(possible, place, last)
    more, ratio_more = _split(rng, machines, space)
    taken = choices.renumbered(machines, np.where(grow, last, place), last)
    less, ratio_less = _merge(rng, taken, space)
    choose = grow[:, None, None]
    stay = ~possible[:, None, None]
    result = Machines(
        np.where(stay, machines.transitions, np.where(choose, more[0], less[0])),
        np.where(stay, machines.paid, np.where(choose, more[1], less[1])),
        np.where(possible, machines.n_states + np.where(grow, 1, -1), machines.n_states),
    )
    result = choices.renumbered(space.tidy(result), np.where(grow, place, last), last)
    return result, np.where(possible, np.where(grow, ratio_more, ratio_less), 0.0)


def shuffled(rng: np.random.Generator, machines: Machines) -> Machines:
    """Return the same machines with states other than 0 renumbered at random."""
    size, n, _ = machines.transitions.shape
    states = np.arange(n)
    free = (states > 0) & (states < machines.n_states[:, None])
    key = np.where(free, rng.random((size, n)), np.where(states > 0, 2.0 + states, -1.0))
    old = key.argsort(axis=1, kind="stable")  # the old state at each new place
    new = old.argsort(axis=1)
    row = np.arange(size)[:, None]
    targets = new[row[:, :, None], machines.transitions[row, old]]
    return Machines(targets, machines.paid[row, old], machines.n_states)


def _split(
    rng: np.random.Generator, machines: Machines, space: Space
) -> tuple[tuple[Ints, Ints], Floats]:
    c = rng.integers(0, machines.n_states)
    b = np.minimum(machines.n_states, space.largest - 1)
    count = np.minimum(machines.n_states + 1, space.largest)
    model = likeness.row_of(machines, c)
    new = likeness.draw(rng, model, c, b, count, space)
    arrows = _arrows(machines, c)
    targets = likeness.lead(rng, machines.transitions, arrows, c, b)
    grown = Machines(targets, machines.paid.copy(), count)
    made = likeness.log_led(arrows & (targets != machines.transitions), arrows, c)
    likeness.put(grown, b, new)
    made = made + likeness.log_probability(new, model, c, b, count, space)
    return (grown.transitions, grown.paid), -made


def _merge(
    rng: np.random.Generator, machines: Machines, space: Space
) -> tuple[tuple[Ints, Ints], Floats]:
    b = machines.n_states - 1
    a = rng.integers(0, np.maximum(b, 1))
    between, elsewhere = merged(machines, a, b)
    smaller = between._replace(n_states=np.maximum(b, 1))
    arrows = elsewhere & _arrows(smaller, a)
    row, model = likeness.row_of(machines, b), likeness.row_of(smaller, a)
    made = likeness.log_probability(row, model, a, b, machines.n_states, space)
    made = made + likeness.log_led(arrows & (machines.transitions == b[:, None, None]), arrows, a)
    return (between.transitions, between.paid), made


def _arrows(machines: Machines, c: Ints) -> Bools:
    """Return bool[B, n, m]: the arrows that lead to c."""
    states = np.arange(machines.transitions.shape[1])[None, :, None]
    used = states < machines.n_states[:, None, None]
    return np.asarray(used & (machines.transitions == c[:, None, None]))
