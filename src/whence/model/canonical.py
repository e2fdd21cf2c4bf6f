"""The canonical form of a machine's tables, and the smallest machine that pays the same.

Both number states breadth-first from 0, symbols in alphabet order, and leave out what
cannot be reached.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Bools, Floats, Ints


def breadth_first(transitions: Ints) -> list[int]:
    """Return the states reachable from 0, breadth-first, symbols in order.

    Args:
        transitions: int[n, m].
    """
    order = [0]
    seen = {0}
    for state in order:
        for target in transitions[state].tolist():
            if target not in seen:
                seen.add(target)
                order.append(target)
    return order


def renumber(transitions: Ints, rewards: Floats, order: list[int]) -> tuple[Ints, Floats]:
    """Keep the states of `order`, closed under transitions, in that order.

    Args:
        transitions: int[n, m].
        rewards: float[n, m].
        order: old state of each new state.
    """
    new = np.full(len(transitions), -1, dtype=transitions.dtype)
    new[order] = np.arange(len(order))
    return new[transitions[order]], rewards[order]


def equivalence_classes(transitions: Ints, rewards: Floats) -> Ints:
    """Return int[n]: two states share a class when they pay the same on every sequence.

    Moore's refinement: start from equal reward rows, split by the classes of the targets,
    until nothing splits.
    """
    classes = _ranks(rewards)
    while True:
        refined = _ranks(np.column_stack([classes, classes[transitions]]))
        if refined.max(initial=0) == classes.max(initial=0):
            return classes
        classes = refined


def minimise(transitions: Ints, rewards: Floats) -> tuple[Ints, Floats, list[int]]:
    """Return the smallest equivalent tables and, for each state, an old one it stands for."""
    order = breadth_first(transitions)
    transitions, rewards = renumber(transitions, rewards, order)
    classes = equivalence_classes(transitions, rewards)
    members, first = np.unique(classes, return_index=True)
    position = np.empty(len(members), dtype=np.int64)
    by_first = np.argsort(first)
    position[by_first] = np.arange(len(members))
    kept = first[by_first]
    small = position[classes[transitions[kept]]]
    final = breadth_first(small)
    small, paid = renumber(small, rewards[kept], final)
    return small, paid, [order[int(kept[state])] for state in final]


def can_pay(transitions: Ints, rewards: Floats) -> Bools:
    """Return bool[n]: whether some sequence from the state is ever paid a non-zero reward."""
    alive: Bools = (rewards != 0).any(axis=1)
    while True:
        grown = alive | alive[transitions].any(axis=1)
        if (grown == alive).all():
            return alive
        alive = grown


def _ranks(rows: Floats | Ints) -> Ints:
    """Return int[n]: equal rows get equal numbers."""
    if rows.shape[1] == 0:
        return np.zeros(len(rows), dtype=np.int64)
    _, inverse = np.unique(rows, axis=0, return_inverse=True)
    return inverse.reshape(-1)


def valid(transitions: Ints, rewards: Floats | Bools, n_states: Ints | None = None) -> Bools:
    """Return bool[B]: every state is reachable from 0 and some reward is not 0.

    Args:
        transitions: int[B, n, m].
        rewards: float[B, n, m], or bool[B, n, m]: whether an arrow pays.
        n_states: int[B], how many rows of each machine are states, the first ones; none of the
            others may be reached. By default all are.
    """
    size, n, _ = transitions.shape
    states = np.ones((size, n), dtype=np.bool_)
    if n_states is not None:
        states = np.arange(n) < n_states[:, None]
    pays = ((rewards != 0) & states[:, :, None]).any(axis=(1, 2))
    return np.asarray(pays & (reachable(transitions) == states).all(axis=1))


def reachable(transitions: Ints) -> Bools:
    """Return bool[B, n]: whether a state is reachable from 0, in int[B, n, m]."""
    size, n, _ = transitions.shape
    leads = np.zeros((size, n, n), dtype=np.bool_)
    leads[np.arange(size)[:, None, None], np.arange(n)[None, :, None], transitions] = True
    reached = np.zeros((size, n), dtype=np.bool_)
    reached[:, 0] = True
    for _ in range(n - 1):
        grown = reached | (reached[:, :, None] & leads).any(axis=1)
        if (grown == reached).all():
            break
        reached = grown
    return reached


def minimise_batch(transitions: Ints, rewards: Floats) -> tuple[Ints, Floats, Ints]:
    """Return the minimised canonical tables of many machines, and how many states each keeps.

    Rows behind a machine's states stay put and pay 0, so equal machines have equal bytes.

    Args:
        transitions: int[B, n, m].
        rewards: float[B, n, m].

    Returns:
        int64[B, n, m], float64[B, n, m] and int64[B].
    """
    size, n, _ = transitions.shape
    first = _equivalent(transitions, rewards).argmax(axis=2)
    machine = np.arange(size)[:, None]
    merged = first[machine[:, :, None], transitions]
    order, counts = _orders(merged)
    position = np.zeros((size, n), dtype=np.int64)
    kept = np.arange(n) < counts[:, None]
    position[np.broadcast_to(machine, kept.shape)[kept], order[kept]] = np.nonzero(kept)[1]
    small = position[machine[:, :, None], merged[machine, order]]
    stay = np.broadcast_to(np.arange(n)[:, None], small.shape)
    inside = kept[:, :, None]
    return np.where(inside, small, stay), np.where(inside, rewards[machine, order], 0.0), counts


def _equivalent(transitions: Ints, rewards: Floats) -> Bools:
    """Return bool[B, n, n]: which states of a machine pay the same on every sequence."""
    size, n, m = transitions.shape
    same: Bools = (rewards[:, :, None] == rewards[:, None]).all(axis=3)
    machine = np.arange(size)[:, None, None]
    for _ in range(n):
        refined = same.copy()
        for column in range(m):
            to = transitions[:, :, column]
            refined &= same[machine, to[:, :, None], to[:, None]]
        if (refined == same).all():
            break
        same = refined
    return same


def _orders(transitions: Ints) -> tuple[Ints, Ints]:
    """Return the states of each machine breadth-first, int64[B, n], and how many are reached.

    Entries behind the reached ones are 0.
    """
    size, n, m = transitions.shape
    machine = np.arange(size)
    order = np.zeros((size, n), dtype=np.int64)
    seen = np.zeros((size, n), dtype=np.bool_)
    seen[:, 0] = True
    counts = np.ones(size, dtype=np.int64)
    for place in range(n):
        for column in range(m):
            target = transitions[machine, order[:, place], column]
            new = np.flatnonzero((place < counts) & ~seen[machine, target])
            order[new, counts[new]] = target[new]
            seen[new, target[new]] = True
            counts[new] += 1
    return order, counts
