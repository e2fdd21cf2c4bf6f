"""States that wait: what an arrow did is done one label later.

A state w *waits* where one arrow alone leads to it, s from y, which pays nothing, and where one
label k of its own does something: it leads elsewhere. All others stay put and pay nothing, or all
others do as in y. To *insert* such a state takes an arrow, a label k, one of these two kinds, and
what k does: mostly what the arrow did ("s, and then k"); or what y does after k and s ("k and s in
either order"); or anything. To *remove* it takes such a state, one of the labels that k may be,
and what the arrow does then: mostly what k did; or it stays put; or anything.

A machine without its state w, whose row then means nothing, is called `between`. Every choice that
could have made the same machine is counted, so that both probabilities are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.search.machines import Machines
from whence.search.space import Space

AS_BEFORE, AS_ELSE = 0.6, 0.3  # the label does what the arrow did; or one of the other two things

Entry = tuple[Ints, Ints]  # a target and a place of a level, of the same shape


class Wait(NamedTuple):
    """A state of each machine that may wait.

    Attributes:
        w: int64[B].
        y: int64[B], whence it is entered.
        s: int64[B], by which label.
        labels: bool[B, 2, m]: whether it waits for each label, by kind: others stay put, or do as
            in y.
    """

    w: Ints
    y: Ints
    s: Ints
    labels: Bools

    @property
    def any(self) -> Bools:
        """bool[B]: whether it waits."""
        return np.asarray(self.labels.any(axis=(1, 2)))


def looked_at(machines: Machines, w: Ints, space: Space) -> Wait:
    """Return how a state of each machine waits, if it does."""
    size, n, m = machines.transitions.shape
    row, states = np.arange(size), np.arange(n)
    entering = machines.transitions == w[:, None, None]
    entering &= ((states != w[:, None]) & (states < machines.n_states[:, None]))[:, :, None]
    place = entering.reshape(size, -1).argmax(axis=1)
    y, s = place // m, place % m
    alone = (entering.sum(axis=(1, 2)) == 1) & (machines.paid[row, y, s] == space.zero) & (w > 0)
    others = _others(machines, y, s, w, space)
    differ = machines.transitions[row, w][:, None] != others[0]
    differ |= machines.paid[row, w][:, None] != others[1]
    labels = differ.sum(axis=2, keepdims=True) == differ
    labels &= (machines.transitions[row, w] != w[:, None])[:, None]
    return Wait(w, y, s, labels & alone[:, None, None])


def _others(machines: Machines, y: Ints, s: Ints, w: Ints, space: Space) -> Entry:
    """Return int64[B, 2, m] twice: what the labels of w do, all but the one that it waits for."""
    row = np.arange(len(w))
    targets, paid = machines.transitions[row, y], machines.paid[row, y].copy()
    targets = np.where(targets == y[:, None], w[:, None], targets)
    targets[row, s], paid[row, s] = w, space.zero
    stay = np.broadcast_to(w[:, None], targets.shape)
    nothing = np.full_like(paid, space.zero)
    return np.stack([stay, targets], axis=1), np.stack([nothing, paid], axis=1)


def all_waits(machines: Machines, space: Space) -> Bools:
    """Return bool[B, n]: which states wait."""
    size, n, _ = machines.transitions.shape
    each = machines.rows(np.repeat(np.arange(size), n))
    found = looked_at(each, np.tile(np.arange(n), size), space).any.reshape(size, n)
    return np.asarray(found & (np.arange(n) < machines.n_states[:, None]))


def remove(rng: np.random.Generator, machines: Machines, wait: Wait, space: Space) -> Machines:
    """Return machines between: the arrow to a state that waits leads elsewhere."""
    size, _, m = machines.transitions.shape
    row = np.arange(size)
    k = np.where(wait.labels.any(axis=1), rng.random((size, m)), -1.0).argmax(axis=1)
    did = machines.transitions[row, wait.w, k], machines.paid[row, wait.w, k]
    stays = wait.y, np.full(size, space.zero)
    entry = _one_of(rng, did, stays, wait.w, machines.n_states, space)
    result = machines.copy()
    for table, new in zip(result[:2], entry, strict=True):
        table[row, wait.y, wait.s] = new
    return result


def log_remove(machines: Machines, wait: Wait, between: Machines, space: Space) -> Floats:
    """Return float64[B]: the log probability that `remove` makes what is between."""
    size = len(wait.w)
    row = np.arange(size)
    entry = _entry(between, wait)
    did = machines.transitions[row, wait.w], machines.paid[row, wait.w]
    stays = wait.y[:, None], np.full((size, 1), space.zero)
    chance = _chance(entry, did, stays, machines.n_states[:, None], space)
    labels = wait.labels.any(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(np.where(labels, chance, 0.0).sum(axis=1) / labels.sum(axis=1)))


def insert(rng: np.random.Generator, between: Machines, w: Ints, space: Space) -> Machines:
    """Return machines in which the state w, to which nothing leads between, waits."""
    size, _, m = between.transitions.shape
    row = np.arange(size)
    y = _rest(rng.integers(0, np.maximum(between.n_states - 1, 1)), w)
    s, k, kind = (np.asarray(rng.integers(0, most, size=size)) for most in (m, m, 2))
    did = between.transitions[row, y, s], between.paid[row, y, s]
    after = _after(between, y, s)
    entry = _one_of(rng, did, (after[0][row, k], after[1][row, k]), w, between.n_states, space)
    others = _others(between, y, s, w, space)
    result = between.copy()
    for table, other, new in zip(result[:2], others, entry, strict=True):
        table[row, w] = other[row, kind]
        table[row, w, k] = new
    result.transitions[row, y, s], result.paid[row, y, s] = w, space.zero
    return result


def log_insert(between: Machines, made: Machines, wait: Wait, space: Space) -> Floats:
    """Return float64[B]: the log probability that `insert` makes machines, which wait so."""
    row = np.arange(len(wait.w))
    m = between.transitions.shape[2]
    did = _entry(between, wait)
    entry = made.transitions[row, wait.w], made.paid[row, wait.w]
    chance = _chance(entry, did, _after(between, wait.y, wait.s), made.n_states[:, None], space)
    every = (wait.labels * chance[:, None]).sum(axis=(1, 2)) / (2 * m)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(every) - np.log(np.maximum(made.n_states - 1, 1) * m))


def _entry(between: Machines, wait: Wait) -> Entry:
    """Return int64[B, 1] twice: what the arrow does between."""
    row = np.arange(len(wait.w))
    targets, paid = between.transitions[row, wait.y, wait.s], between.paid[row, wait.y, wait.s]
    return targets[:, None], paid[:, None]


def _after(between: Machines, y: Ints, s: Ints) -> Entry:
    """Return int64[B, m] twice: what s does once each label was read in y."""
    row = np.arange(len(y))[:, None]
    there = between.transitions[row[:, 0], y]
    return between.transitions[row, there, s[:, None]], between.paid[row, there, s[:, None]]


def _rest(drawn: Ints, w: Ints) -> Ints:
    """Return states that are not w, from numbers of one state less."""
    return drawn + (drawn >= w)


def _one_of(
    rng: np.random.Generator, one: Entry, other: Entry, w: Ints, n_states: Ints, space: Space
) -> Entry:
    """Return an entry of each machine: mostly one, or the other, or anything that is not w."""
    size = len(w)
    lot = rng.random(size)
    target = _rest(rng.integers(0, np.maximum(n_states - 1, 1)), w)
    fresh = target, space.draw_paid(rng, (size,))
    first, second = lot < AS_BEFORE, lot < AS_BEFORE + AS_ELSE
    made = (
        np.where(first, a, np.where(second, b, c))
        for a, b, c in zip(one, other, fresh, strict=True)
    )
    return next(made), next(made)


def _chance(entry: Entry, one: Entry, other: Entry, n_states: Ints, space: Space) -> Floats:
    """Return the probability that `_one_of` returns an entry; shapes are broadcast."""
    same = [(entry[0] == each[0]) & (entry[1] == each[1]) for each in (one, other)]
    fresh = np.exp(space.log_paid(entry[1])) / np.maximum(n_states - 1, 1)
    rest = (1 - AS_BEFORE - AS_ELSE) * fresh
    return np.asarray(AS_BEFORE * same[0] + AS_ELSE * same[1] + rest)
