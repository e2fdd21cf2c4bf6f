"""Machines whose states are numbered as known arrows say.

Known arrows go by the numbers of states, and the same machine has as many numberings as there are
orders of its states behind the first. One is looked for that has the arrows.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Ints
from whence.search.machines import Machines
from whence.search.space import Space

Arrows = list[tuple[int, int, int, int]]  # state, symbol, target and the place of what is paid


def as_pinned(machines: Machines, space: Space) -> Machines:
    """Return the same machines with what is pinned, as far as any numbering has it."""
    if not space.pinned:
        return machines
    transitions, paid = machines.transitions.copy(), machines.paid.copy()
    for row, n in enumerate(machines.n_states.tolist()):
        order = _order(transitions[row, :n], paid[row, :n], space)
        if order is not None:
            transitions[row, :n] = np.argsort(order)[transitions[row, order]]
            paid[row, :n] = paid[row, order]
    return Machines(transitions, paid, machines.n_states)


def _order(transitions: Ints, paid: Ints, space: Space) -> Ints | None:
    """Return int64[n]: the state of a machine at each number; the first keeps its own.

    Args:
        transitions: int64[n, m].
        paid: int64[n, m], places of levels.
        space: with known arrows.
    """
    arrows: Arrows = [
        (y, x, int(space.known_targets[y, x]), int(space.known_paid[y, x]))
        for y, x in np.argwhere(space.known_targets >= 0).tolist()
    ]
    found = _placed({0: 0}, arrows, transitions, paid)
    if found is None:
        return None
    others = iter([state for state in range(len(paid)) if state not in found.values()])
    order = [found[n] if n in found else next(others) for n in range(len(paid))]
    return np.array(order, dtype=np.int64)


def _placed(
    known: dict[int, int], arrows: Arrows, transitions: Ints, paid: Ints
) -> dict[int, int] | None:
    """Return the states at all numbers that arrows name, those of some numbers being known."""
    for number, symbol, target, level in arrows:
        if number not in known:
            continue
        state = known[number]
        there = int(transitions[state, symbol])
        if paid[state, symbol] != level or known.get(target, there) != there:
            return None
        if target not in known:
            if there in known.values():
                return None
            return _placed({**known, target: there}, arrows, transitions, paid)
    missing = [number for number, *_ in arrows if number not in known]
    if not missing:
        return known
    for state in range(len(paid)):
        if state not in known.values():
            found = _placed({**known, missing[0]: state}, arrows, transitions, paid)
            if found is not None:
                return found
    return None
