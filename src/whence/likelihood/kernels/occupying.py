"""Where machines were, and what was done there: rows of Q and counts, without the empty ones."""

from __future__ import annotations

from whence.likelihood.kernels.compiling import lean_kernel

NOWHERE, SOMEWHERE = -1, -2


@lean_kernel
def occupied_rows(
    transitions, parent, symbol, first, key, counts, q, memory, place, ends, out_q, out_counts
):
    """Write Q and the counts of actions where some were taken, machine after machine.

    Rows of a machine come by its state, then by visited state.

    Args:
        transitions: int64[B, n, m].
        parent: int64[H], of each history.
        symbol: int64[H], its last label.
        first: int64[H + 1], where the cells of each history begin.
        key: uint32[cells], position among visited states * A + action.
        counts: float64[cells].
        q: float64[B, n, A, U].
        memory: int64[H], scratch.
        place: int64[n, U], scratch.
        ends: int64[B + 1], from 0; written: where the rows of each machine end.
        out_q: float64[rows, A], written; there is room for all.
        out_counts: float64[rows, A], written.
    """
    n, actions, many = q.shape[1], q.shape[2], q.shape[3]
    size = 0
    for b in range(transitions.shape[0]):
        for y in range(n):
            for u in range(many):
                place[y, u] = NOWHERE
        for node in range(parent.shape[0]):
            y = 0
            if node > 0:
                y = transitions[b, memory[parent[node]], symbol[node]]
            memory[node] = y
            for cell in range(first[node], first[node + 1]):
                place[y, key[cell] // actions] = SOMEWHERE
        for y in range(n):
            for u in range(many):
                if place[y, u] == SOMEWHERE:
                    place[y, u] = size
                    for a in range(actions):
                        out_q[size, a] = q[b, y, a, u]
                        out_counts[size, a] = 0.0
                    size += 1
        for node in range(parent.shape[0]):
            for cell in range(first[node], first[node + 1]):
                row = place[memory[node], key[cell] // actions]
                out_counts[row, key[cell] % actions] += counts[cell]
        ends[b + 1] = size
