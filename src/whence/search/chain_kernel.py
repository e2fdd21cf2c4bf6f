"""What a step of many chains does beside its moves, compiled: loaded when it is needed.

All of it could be said in NumPy, where each of a step's hundred small calls costs more than what
it computes. Random numbers are drawn outside, so that streams stay as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.likelihood.kernels.compiling import kernel, part
from whence.likelihood.kernels.compiling import lean_kernel as lean

MIX = 0x2545F4914F6CDD1D  # an odd number, to spread keys


@kernel
def weigh_entries(
    transitions: Ints,
    paid: Ints,
    n_states: Ints,
    table: Floats,
    zero: int,
    known_targets: Ints,
    known_paid: Ints,
    entries: Floats,
    valid: Bools,
) -> None:
    """Write the log probability of each entry, 0 in rows that hold no state; and what is valid.

    Args:
        transitions: int64[B, n, m].
        paid: int64[B, n, m].
        n_states: int64[B].
        table: float64[n + 1, 2, 2], of an entry by states, whether it stays, whether it pays 0.
        zero: the place of the level 0.
        known_targets: int64[n, m], -1 where nothing is pinned.
        known_paid: int64[n, m].
        entries: float64[B, n, m], written.
        valid: bool[B], written: all states are reached, something is paid, all is as pinned.
    """
    size, n, m = transitions.shape
    order, seen = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_)
    for b in range(size):
        count = n_states[b]
        pays, as_known, inside = False, True, True
        for y in range(n):
            seen[y] = False
            for x in range(m):
                target, level = transitions[b, y, x], paid[b, y, x]
                if known_targets[y, x] >= 0 and known_targets[y, x] != target:
                    as_known = False
                if known_paid[y, x] >= 0 and known_paid[y, x] != level:
                    as_known = False
                entries[b, y, x] = 0.0
                if y < count:
                    pays |= level != zero
                    entries[b, y, x] = table[
                        count, 1 if target == y else 0, 1 if level == zero else 0
                    ]
        seen[0] = True
        order[0] = 0
        found, head = 1, 0
        while head < found:
            y = order[head]
            inside &= y < count
            head += 1
            for x in range(m):
                target = transitions[b, y, x]
                if not seen[target]:
                    seen[target] = True
                    order[found] = target
                    found += 1
        valid[b] = pays and as_known and inside and found == count


@lean
def pick(
    transitions: Ints, paid: Ints, n_states: Ints, alpha: Floats, lapse: Floats, discount: Ints,
    log_likelihood: Floats, log_prior: Floats,
    other_transitions: Ints, other_paid: Ints, other_n_states: Ints, other_alpha: Floats,
    other_lapse: Floats, other_discount: Ints, other_log_likelihood: Floats,
    other_log_prior: Floats,
    own: Ints, others: Ints,
    to_transitions: Ints, to_paid: Ints, to_n_states: Ints, to_alpha: Floats, to_lapse: Floats,
    to_discount: Ints, to_log_likelihood: Floats, to_log_prior: Floats,
) -> None:  # fmt: skip
    """Write chains: row i is the other's row others[i], or where that is -1 the own row own[i]."""
    n, m = transitions.shape[1], transitions.shape[2]
    for i in range(len(own)):
        j = others[i]
        if j >= 0:
            for y in range(n):
                for x in range(m):
                    to_transitions[i, y, x] = other_transitions[j, y, x]
                    to_paid[i, y, x] = other_paid[j, y, x]
            to_n_states[i] = other_n_states[j]
            to_alpha[i], to_lapse[i] = other_alpha[j], other_lapse[j]
            to_discount[i] = other_discount[j]
            to_log_likelihood[i], to_log_prior[i] = other_log_likelihood[j], other_log_prior[j]
        else:
            j = own[i]
            for y in range(n):
                for x in range(m):
                    to_transitions[i, y, x] = transitions[j, y, x]
                    to_paid[i, y, x] = paid[j, y, x]
            to_n_states[i] = n_states[j]
            to_alpha[i], to_lapse[i], to_discount[i] = alpha[j], lapse[j], discount[j]
            to_log_likelihood[i], to_log_prior[i] = log_likelihood[j], log_prior[j]


@part
def _equal(members: Ints, number: int, row: Ints) -> bool:
    """Return whether a member's row is this one."""
    k = 0
    while k < len(row) and members[number, k] == row[k]:
        k += 1
    return k == len(row)


@kernel
def find_members(
    transitions: Ints, paid: Ints, n_states: Ints, discount: Ints,
    members: Ints, slots: Ints, numbers: Ints, adding: bool,
) -> None:  # fmt: skip
    """Write the numbers of machines among members, or -1; or add them as members, in order.

    A machine is known by its canonical form and its discount, as a row of numbers: how many
    states, the place of the discount, and target and level of each arrow, states breadth-first.

    Args:
        transitions: int64[B, n, m], of machines all whose states are reached.
        paid: int64[B, n, m].
        n_states: int64[B].
        discount: int64[B].
        members: int64[M, 2 + 2 n m], the rows of members.
        slots: int64[H], where members are found by what is mixed of their rows; -1 where nobody
            is. H is a power of two, more than M.
        numbers: int64[B], written; not where members are added.
        adding: whether the machines are the members.
    """
    size, n, m = transitions.shape
    order, new = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    row = np.empty(2 + 2 * n * m, dtype=np.int64)
    for b in range(size):
        for k in range(len(row)):  # whole slices would drag in how errors are worded
            row[k] = 0
        for y in range(n):
            new[y] = -1
        row[0], row[1] = n_states[b], discount[b]
        order[0], new[0] = 0, 0
        found, head, at = 1, 0, 2
        while head < found:
            y = order[head]
            head += 1
            for x in range(m):
                target = transitions[b, y, x]
                if new[target] < 0:
                    new[target] = found
                    order[found] = target
                    found += 1
                row[at], row[at + 1] = new[target], paid[b, y, x]
                at += 2
        mixed = np.uint64(0)
        for value in row:
            mixed = (mixed ^ np.uint64(value + 1)) * np.uint64(MIX)
            mixed ^= mixed >> np.uint64(29)
        slot = np.int64(mixed & np.uint64(len(slots) - 1))
        number = slots[slot]
        while number >= 0 and not _equal(members, number, row):
            slot = (slot + 1) & (len(slots) - 1)
            number = slots[slot]
        if adding:
            for k in range(len(row)):
                members[b, k] = row[k]
            slots[slot] = b
        else:
            numbers[b] = number


@lean
def draw_members(running: Floats, rung: Ints, chance: Floats, numbers: Ints) -> None:
    """Write members drawn by weight.

    Args:
        running: float64[K, M], the weights of members at each rung, summed up.
        rung: int64[B].
        chance: float64[B], from 0 up to 1.
        numbers: int64[B], written.
    """
    last = running.shape[1] - 1
    for b in range(len(rung)):
        wanted = chance[b] * running[rung[b], last]
        low, high = 0, last
        while low < high:
            middle = (low + high) // 2
            if running[rung[b], middle] > wanted:
                high = middle
            else:
                low = middle + 1
        numbers[b] = low


def plain(array: Any) -> Any:
    """Return an array as kernels take it: whole, in order, and not locked."""
    return array if array.flags.carray else array.copy()
