"""Ways that the expert takes step by step, read off the goals.

After some histories the expert heads for a label; after that label, for another one; and so on. A
*way* is the labels that explain most, one after the other, from where a machine's state is entered
by a label, or from the start. Ways become machines: paid at their end or part of the way, or
leading to a state that the machine has. So a second way of many steps comes at once; with half of
it, a machine may well explain less than without.

An expert that looks ahead does not go to the nearest place of the next label, but to the one that
lies on its way further on. Then the label after the next explains more than the next one, which is
left out. So every way is also read *with stops*: at the labels that are always read on the way.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from whence._arrays import Bools, Floats, Ints
from whence.search.finding.goals import SHARPNESS, Goals
from whence.search.finding.parts import dead_states, grown
from whence.search.finding.reducing import Tables

LONGEST = 16  # steps of a way
LEAST = 3.0  # nats that a step of a way must explain
WORTH = 8.0  # nats that a way must explain in all
ALWAYS = 0.95  # of the histories that arrive have read a label on the way, where that is a stop


def beginnings(goals: Goals, m: int, most: int, zero: int, levels: int) -> list[Tables]:
    """Return machines with one way from the start, paid at a step of it; then it ends, or begins.

    Args:
        goals: what the expert heads for.
        m: how many labels there are.
        most: states that a machine may have.
        zero: the place of the level 0.
        levels: how many there are.
    """
    starts = (goals.symbol < 0)[:, None]
    made = []
    for way in _read_off(goals, starts, m, min(most, LONGEST))[0]:
        for length in range(1, len(way) + 1):
            for level in (level for level in range(levels) if level != zero):
                for again in (True, False):
                    made.append(_loop(way[:length], m, again, zero, level))
    return [tables for tables in made if len(tables[0]) <= most]


def traced(machine: Tables, goals: Goals, most: int, zero: int, levels: int) -> list[Tables]:
    """Return a machine with another way: from a state, by a label and on.

    Args:
        machine: int64[n, m] twice, all states reachable.
        goals: what the expert heads for.
        most: states that a machine may have.
        zero: the place of the level 0.
        levels: how many there are.
    """
    targets = machine[0]
    n, m = targets.shape
    states = _states(goals, targets)
    alive = np.flatnonzero(~dead_states(machine, zero))
    pairs = [(int(y), k) for y in alive for k in range(m)]
    at = np.where(goals.symbol < 0, -1, states[goals.parent])
    starts = np.stack([(at == y) & (goals.symbol == k) for y, k in pairs], axis=1)
    room = most - n
    if room <= 0 or not starts.any():
        return []
    made: list[Tables] = []
    read = _read_off(goals, starts, m, min(room, LONGEST))
    for (y, k), ways in zip(pairs, read, strict=True):
        for way in ways:
            for length in range(1, len(way) + 1):
                made += _with_way(machine, y, [k, *way[:length]], zero, levels)
    return made


def _states(goals: Goals, targets: Ints) -> Ints:
    """Return int64[H]: the state after each history."""
    result = np.zeros(len(goals.parent), dtype=np.int64)
    for h, (parent, symbol) in enumerate(zip(goals.parent, goals.symbol, strict=True)):
        if symbol >= 0:
            result[h] = targets[result[parent], symbol]
    return result


def _read_off(goals: Goals, starts: Bools, m: int, longest: int) -> list[list[list[int]]]:
    """Return the ways, P times one or two, that begin after bool[H, P] histories."""
    plain = _ways(goals, starts, m, longest, False)
    stopping = _ways(goals, starts, m, longest, True)
    return [
        [way] if way == longer else [way, longer]
        for way, longer in zip(plain, stopping, strict=True)
    ]


def _ways(goals: Goals, starts: Bools, m: int, longest: int, stopping: bool) -> list[list[int]]:
    """Return the labels of each way, P of them, that begin after bool[H, P] histories.

    The next label is the one that leaves least unexplained of what was done before it was read: a
    label further on explains more, since more was done before it, but none of it as well. With
    stops, it is the first that is always read before that one.
    """
    gain = goals.gain[:, : m * len(SHARPNESS)].reshape(-1, m, len(SHARPNESS))
    count = starts.shape[1]
    ways: list[list[int]] = [[] for _ in range(count)]
    worth, going, entered = np.zeros(count), starts.any(axis=0), starts
    for _ in range(longest):
        if not going.any():
            break
        on_way = _before(goals, entered, m)
        found, lost = _explained(on_way, gain)
        label = np.where(found >= LEAST, lost, np.inf).argmin(axis=1)
        going &= found.max(axis=1) >= LEAST
        for number in np.flatnonzero(going).tolist():
            worth[number] += found[number, label[number]]
            if stopping:
                label[number] = _stop(goals, on_way[:, number], int(label[number]))
            ways[number].append(int(label[number]))
        entered = _read(goals, on_way, label) & going
    return [way if worth[number] >= WORTH else [] for number, way in enumerate(ways)]


def _stop(goals: Goals, on_way: Bools, label: int) -> int:
    """Return the first label that is always read before a label, or that label itself.

    Args:
        goals: what the expert heads for.
        on_way: bool[H, m], whether a history has entered the way, and not read a label since.
        label: what is headed for.
    """
    before = on_way[goals.parent]
    arrived = before[:, label] & (goals.symbol == label)
    if not arrived.any():
        return label
    always = np.flatnonzero(before[arrived].mean(axis=0) <= 1 - ALWAYS)
    if not always.size:
        return label
    first = before[:, label] & before[:, always].all(axis=1)
    times = [int((first & (goals.symbol == stop)).sum()) for stop in always]
    return int(always[int(np.argmax(times))])


def _read(goals: Goals, on_way: Bools, label: Ints) -> Bools:
    """Return bool[H, P]: the histories that end with the label, int64[P], that was headed for."""
    before = on_way[goals.parent[:, None], np.arange(len(label)), label]
    return np.asarray(before & (goals.symbol[:, None] == label))


def _before(goals: Goals, entered: Bools, m: int) -> Bools:
    """Return bool[H, P, m]: whether a history has entered, and not read a label since."""
    result = np.repeat(entered[:, :, None], m, axis=2)
    for h, (parent, symbol) in enumerate(zip(goals.parent, goals.symbol, strict=True)):
        if symbol >= 0:
            since = result[parent].copy()
            since[:, symbol] = False
            result[h] |= since
    return result


def _explained(on_way: Bools, gain: npt.NDArray[np.float32]) -> tuple[Floats, Floats]:
    """Return float64[P, m] twice: nats that heading for a label explains, and how many it misses.

    It misses what the best label after each history would explain more.
    """
    best = np.maximum(gain.max(axis=(1, 2)), 0.0)
    explained, missed = [], []
    for g in range(on_way.shape[2]):
        here = on_way[:, :, g].T.astype(np.float32)
        explained.append((here @ gain[:, g]).max(axis=1))
        missed.append(here @ best - explained[-1])
    return np.stack(explained, axis=1).astype(float), np.stack(missed, axis=1).astype(float)


def _loop(way: list[int], m: int, again: bool, zero: int, level: int) -> Tables:
    """Return a machine of one way, paid at its end, after which it ends or begins again."""
    n = len(way) if again else len(way) + 1
    targets, paid = np.tile(np.arange(n)[:, None], (1, m)), np.full((n, m), zero)
    for place, label in enumerate(way):
        targets[place, label] = (place + 1) % n
    paid[len(way) - 1, way[-1]] = level
    return targets, paid


def _with_way(machine: Tables, y: int, way: list[int], zero: int, levels: int) -> Iterator[Tables]:
    """Yield the machine with a way from a state: paid at its end, or to a state there is."""
    targets, paid = machine
    n = len(targets)
    dead = dead_states(machine, zero)
    lost = dead[targets[y]] & (paid[y] == zero) & (targets[y] != y)
    longer, pays = machine
    for _ in way[1:]:
        longer, pays = grown((longer, pays), zero)
    for place in range(n, n + len(way) - 1):
        longer[place, lost] = targets[y, lost]
    here = [y, *range(n, n + len(way) - 1)]
    longer, pays = longer.copy(), pays.copy()
    for state, label, there in zip(here, way, [*here[1:], here[-1]], strict=True):
        longer[state, label], pays[state, label] = there, zero
    ends = {int(z) for z in targets[paid != zero]}
    for z in range(n):
        new = longer.copy()
        new[here[-1], way[-1]] = z
        if not dead[z]:
            yield new, pays
        for level in (level for level in range(levels) if level != zero and z in ends):
            sums = pays.copy()
            sums[here[-1], way[-1]] = level
            yield new, sums
