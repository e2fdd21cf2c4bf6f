"""Structures: transition tables that put histories together after which the expert wants the same.

A structure is worth, state by state, what the best single goal explains of all that was done in
the state. Annealing over transition tables alone finds good ones in seconds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.search.finding.goals import Goals

HOT_SHARE = 0.02  # of what goals can explain at all
COLD = 1.0  # nats


class Structure(NamedTuple):
    """A transition table and what the expert heads for in each state.

    Attributes:
        transitions: int64[n, m].
        goals: a tuple of labels for each state; empty where no goal explains anything.
        worth: nats.
    """

    transitions: Ints
    goals: tuple[tuple[int, ...], ...]
    worth: float


def anneal(
    rng: np.random.Generator, goals: Goals, start: Ints, steps: int, p_self: float
) -> Structure:
    """Return the best structure that annealing from int64[n, m] meets."""
    from whence.search.finding.structure_kernel import anneal_tables

    n = len(start)
    loop = math.log(p_self)
    move = math.log1p(-p_self) - math.log(max(n - 1, 1))
    most = max(float(goals.gain.max(axis=1).sum()) * HOT_SHARE, 2 * COLD)
    heat = np.geomspace(most, COLD, steps)
    transitions, best = start.copy(), start.copy()
    columns = np.zeros(n, dtype=np.int64)
    worth = anneal_tables(
        goals.parent, goals.symbol, goals.gain, loop, move, rng.random((steps, 4)), heat,
        _room(len(goals.parent), n, goals.gain.shape[1], start.shape[1]), transitions, best,
        columns,
    )  # fmt: skip
    return Structure(best, tuple(goals.of_column(int(c)) for c in columns), float(worth))


def _room(
    size: int, n: int, width: int, m: int
) -> tuple[Ints, Ints, Floats, Floats, Floats, Ints]:
    """Return what annealing writes to: each history's state, twice, and sums, tops and a table."""
    none = np.zeros(size, dtype=np.int64)
    tops = np.zeros(n)
    return none, none.copy(), np.zeros((n, width)), tops, tops.copy(), np.zeros((n, m), np.int64)


def worth_of(goals: Goals, transitions: Ints, p_self: float) -> Structure:
    """Return a structure as it stands."""
    n, _ = transitions.shape
    at = np.zeros(len(goals.parent), dtype=np.int64)
    for h in range(len(at)):
        if goals.symbol[h] >= 0:
            at[h] = transitions[at[goals.parent[h]], goals.symbol[h]]
    sums = np.zeros((n, goals.gain.shape[1]))
    np.add.at(sums, at, goals.gain)
    loops = (transitions == np.arange(n)[:, None]).sum()
    prior = loops * math.log(p_self) + (transitions.size - loops) * (
        math.log1p(-p_self) - math.log(max(n - 1, 1))
    )
    columns = sums.argmax(axis=1)
    return Structure(
        transitions,
        tuple(goals.of_column(int(c)) for c in columns),
        float(sums.max(axis=1).sum() + prior),
    )
