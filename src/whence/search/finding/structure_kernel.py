"""The compiled walk over transition tables; loaded when it is needed."""

from __future__ import annotations

import math

from whence._arrays import Floats, Ints
from whence.likelihood.kernels.compiling import lean_kernel as kernel
from whence.likelihood.kernels.compiling import part

RENEWED = 4096  # steps after which sums are made anew, against rounding
ONE_ENTRY, TWO_ENTRIES = 0.6, 0.8  # of the changes, up to which share


@kernel
def anneal_tables(
    parent: Ints,
    symbol: Ints,
    gain: Floats,
    loop: float,
    move: float,
    draws: Floats,
    heat: Floats,
    room: tuple[Ints, Ints, Floats, Floats, Floats, Ints],
    transitions: Ints,
    best: Ints,
    columns: Ints,
) -> float:
    """Walk over transition tables; `best` and the goals of its states are written.

    Returns what `best` is worth. Sums are kept from step to step; now and then they are made anew,
    against rounding.
    """
    at, new, sums, tops, fresh, old = room
    worth = 0.0
    best_worth = -1e300
    for step in range(len(heat)):
        if step % RENEWED == 0:
            worth = _counted(transitions, loop, move)
            worth += _summed(parent, symbol, gain, transitions, at, sums, tops)
        _copy(transitions, old)
        _change(draws, step, transitions)
        total = worth + _counted(transitions, loop, move) - _counted(old, loop, move)
        total += _shifted(parent, symbol, gain, transitions, at, new, sums, tops, fresh)
        if total >= worth or draws[step, 3] < math.exp((total - worth) / heat[step]):
            worth = total
            for y in range(len(tops)):
                tops[y] = fresh[y]
            for h in range(len(at)):
                at[h] = new[h]
            if worth > best_worth + 1e-3:
                best_worth = worth
                _copy(transitions, best)
                for y in range(len(tops)):
                    columns[y] = _highest(sums, y)
        else:
            _copy(old, transitions)
            for h in range(len(at)):
                if new[h] != at[h]:
                    _carry(gain, h, sums, new[h], at[h])
    return best_worth


@part
def _copy(table: Ints, into: Ints) -> None:
    for y in range(table.shape[0]):
        for s in range(table.shape[1]):
            into[y, s] = table[y, s]


@part
def _highest(sums: Floats, state: int) -> int:
    """Return the column of a state's highest sum."""
    result = 0
    for g in range(sums.shape[1]):
        if sums[state, g] > sums[state, result]:
            result = g
    return result


@part
def _top(sums: Floats, state: int) -> float:
    """Return a state's highest sum."""
    result: float = sums[state, 0]
    for g in range(sums.shape[1]):
        result = max(result, sums[state, g])
    return result


@part
def _carry(gain: Floats, history: int, sums: Floats, here: int, there: int) -> None:
    """Take a history's gains from one state's sums to another's."""
    for g in range(gain.shape[1]):
        sums[here, g] -= gain[history, g]
        sums[there, g] += gain[history, g]


@part
def _counted(transitions: Ints, loop: float, move: float) -> float:
    """Return the log prior of a transition table."""
    result = 0.0
    for y in range(transitions.shape[0]):
        for s in range(transitions.shape[1]):
            result += loop if transitions[y, s] == y else move
    return result


@part
def _summed(
    parent: Ints,
    symbol: Ints,
    gain: Floats,
    transitions: Ints,
    at: Ints,
    sums: Floats,
    tops: Floats,
) -> float:
    """Write each history's state, and each state's sums and highest sum; return these added up.

    Histories come depth-first, so a parent's state is known before its children's.
    """
    for y in range(sums.shape[0]):
        for g in range(sums.shape[1]):
            sums[y, g] = 0.0
    for h in range(len(parent)):
        at[h] = 0 if symbol[h] < 0 else transitions[at[parent[h]], symbol[h]]
        for g in range(gain.shape[1]):
            sums[at[h], g] += gain[h, g]
    total = 0.0
    for y in range(len(tops)):
        tops[y] = _top(sums, y)
        total += tops[y]
    return total


@part
def _shifted(
    parent: Ints,
    symbol: Ints,
    gain: Floats,
    transitions: Ints,
    at: Ints,
    new: Ints,
    sums: Floats,
    tops: Floats,
    fresh: Floats,
) -> float:
    """Move histories to their states in a changed table; return the change of the highest sums.

    Written are their new states, all sums, and the highest sums, in `fresh`.
    """
    for y in range(len(tops)):
        fresh[y] = tops[y]
    for h in range(len(parent)):
        new[h] = 0 if symbol[h] < 0 else transitions[new[parent[h]], symbol[h]]
        if new[h] != at[h]:
            fresh[at[h]] = math.nan
            fresh[new[h]] = math.nan
            _carry(gain, h, sums, at[h], new[h])
    change = 0.0
    for y in range(len(tops)):
        if math.isnan(fresh[y]):
            fresh[y] = _top(sums, y)
            change += fresh[y] - tops[y]
    return change


@part
def _change(draws: Floats, step: int, transitions: Ints) -> None:
    """Change an entry, or two of them, or make a row like another but for an entry."""
    n, m = transitions.shape
    place = int(draws[step, 0] * n * m)
    y, s = place // m, place % m
    kind = draws[step, 1]
    if kind < ONE_ENTRY:
        transitions[y, s] = int(draws[step, 2] * n)
    elif kind < TWO_ENTRIES:
        transitions[y, s] = y
        x = int(draws[step, 2] * n * m)
        transitions[x // m, x % m] = int((kind - ONE_ENTRY) / (TWO_ENTRIES - ONE_ENTRY) * n)
    else:
        x = int(draws[step, 2] * n)
        for k in range(m):
            target = transitions[x, k]
            transitions[y, k] = y if target == x else target
        transitions[y, s] = int((kind - TWO_ENTRIES) / (1.0 - TWO_ENTRIES) * n)
