"""The smallest machines that pay the same, many at once."""

from __future__ import annotations

import numpy as np

from whence._arrays import Ints
from whence.likelihood.compiled import canonical_tables
from whence.search.machines import Machines

Tables = tuple[Ints, Ints]  # int64[n, m] twice: targets, and places of the levels


def reduced(made: list[Tables], zero: int, most: int) -> tuple[Machines, Ints]:
    """Return the smallest machines that pay the same, in canonical form, each once.

    Those with more than `most` states are left out, and those that pay nothing.

    Returns:
        the machines, and which of `made` each comes from.
    """
    m = made[0][0].shape[1]
    largest = max(max(len(targets) for targets, _ in made), most)
    transitions = np.tile(np.arange(largest)[:, None], (len(made), 1, m))
    paid = np.full(transitions.shape, zero)
    for number, (targets, pays) in enumerate(made):
        transitions[number, : len(targets)] = targets
        paid[number, : len(pays)] = pays
    first = _alike(transitions, paid)
    transitions = np.take_along_axis(first, transitions.reshape(len(made), -1), axis=1).reshape(
        transitions.shape
    )
    small = canonical_tables(transitions, paid.astype(np.float64), np.ones(m, dtype=np.bool_))
    places = np.arange(largest)[None, :, None]
    used = places < small[2][:, None, None]
    targets, pays = np.where(used, small[0], places), np.where(used, small[1], zero)
    kept = np.flatnonzero((small[2] <= most) & (pays != zero).any(axis=(1, 2)))
    machines = Machines(targets[kept, :most], pays[kept, :most].astype(np.int64), small[2][kept])
    first_of = _distinct(machines)
    return machines.rows(first_of), kept[first_of]


def _alike(transitions: Ints, paid: Ints) -> Ints:
    """Return int64[B, n]: the first state of each machine that pays as this one does, for ever."""
    size, n, m = transitions.shape
    factors = np.random.default_rng(0).integers(1, 2**62, size=2 * m + 1).astype(np.uint64) | 1
    classes = _firsts((paid.astype(np.uint64) * factors[:m]).sum(axis=2))
    count = -1
    while count != (new := _count(classes)):
        count = new
        ahead = np.take_along_axis(classes, transitions.reshape(size, -1), axis=1)
        ahead = ahead.reshape(size, n, m).astype(np.uint64)
        keys = (ahead * factors[m : 2 * m]).sum(axis=2) + classes.astype(np.uint64) * factors[-1]
        classes = _firsts(keys)
    return classes


def _firsts(keys: Ints) -> Ints:
    return np.asarray((keys[:, :, None] == keys[:, None, :]).argmax(axis=2))


def _count(classes: Ints) -> int:
    return int((classes == np.arange(classes.shape[1])).sum())


def _distinct(machines: Machines) -> Ints:
    """Return the first place of each machine, ascending."""
    size, n, m = machines.transitions.shape
    rows = np.concatenate(
        [table.reshape(size, n * m) for table in (machines.transitions, machines.paid)], axis=1
    )
    _, first = np.unique(rows, axis=0, return_index=True)
    return np.sort(first)
