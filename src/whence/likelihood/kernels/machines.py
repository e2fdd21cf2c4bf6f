"""Machines: their canonical form, and their states from which anything is paid."""

from __future__ import annotations

from whence.likelihood.kernels.compiling import lean_kernel, part

UNSEEN = -1


@part
def _reachable(transitions, order, new):
    """Write the states reachable from 0, breadth-first, to `order`, and their places to `new`.

    Returns:
        How many there are.
    """
    n, m = transitions.shape
    for y in range(n):
        new[y] = UNSEEN
    new[0] = 0
    order[0] = 0
    count = 1
    head = 0
    while head < count:
        y = order[head]
        head += 1
        for x in range(m):
            target = transitions[y, x]
            if new[target] == UNSEEN:
                new[target] = count
                order[count] = target
                count += 1
    return count


@lean_kernel
def canonical_batch(
    transitions, rewards, readable, table, order, new, out_transitions, out_rewards, counts
):
    """Write the canonical reachable part of each machine; the rest becomes unreachable zeros.

    Columns of symbols that the world cannot show count as staying and paying 0.

    Args:
        transitions: int64[B, n, m].
        rewards: float64[B, n, m].
        readable: bool[m].
        table: int64[n, m], scratch.
        order: int64[n], scratch.
        new: int64[n], scratch.
        out_transitions: int64[B, n, m], written.
        out_rewards: float64[B, n, m], written.
        counts: int64[B], the number of reachable states, written.
    """
    size, n, m = transitions.shape
    for b in range(size):
        for y in range(n):
            for x in range(m):
                table[y, x] = transitions[b, y, x] if readable[x] else y
        count = _reachable(table, order, new)
        counts[b] = count
        for i in range(n):
            for x in range(m):
                if i < count:
                    y = order[i]
                    out_transitions[b, i, x] = new[table[y, x]]
                    out_rewards[b, i, x] = rewards[b, y, x] if readable[x] else 0.0
                else:
                    out_transitions[b, i, x] = i
                    out_rewards[b, i, x] = 0.0


@part
def find_live(transitions, rewards, count, live):
    """Mark the machine states from which a non-zero reward can be reached; return how many."""
    m = transitions.shape[1]
    for y in range(count):
        live[y] = False
        for x in range(m):
            if rewards[y, x] != 0.0:
                live[y] = True
    changed = True
    while changed:
        changed = False
        for y in range(count):
            if not live[y]:
                for x in range(m):
                    if live[transitions[y, x]]:
                        live[y] = True
                        changed = True
                        break
    total = 0
    for y in range(count):
        if live[y]:
            total += 1
    return total
