"""Whether a machine can still pay where episodes went on, and where they ended."""

from __future__ import annotations

import numpy as np

from whence.likelihood.kernels.compiling import kernel
from whence.likelihood.kernels.machines import find_live


@kernel
def count_dead(transitions, rewards, parent, symbol, subtree_end, went_on, ended, out):
    """Add up how often episodes went on and ended where a machine can pay nothing any more.

    From a dead state only dead ones are reached: a whole subtree of histories is one look-up.

    Args:
        transitions: int64[B, n, m].
        rewards: float64[B, n, m].
        parent: int64[H], of each history, in depth-first order.
        symbol: int64[H], the last label of each history.
        subtree_end: int64[H], the next history that does not extend this one.
        went_on: int64[H], counts of a history and all that extend it.
        ended: int64[H].
        out: int64[B, 2], increased by those of the dead: went on, ended.
    """
    n = transitions.shape[1]
    live = np.zeros(n, dtype=np.bool_)
    memory = np.zeros(len(parent), dtype=np.int64)
    for b in range(transitions.shape[0]):
        find_live(transitions[b], rewards[b], n, live)
        node = 0
        while node < len(parent):
            if node > 0:
                memory[node] = transitions[b, memory[parent[node]], symbol[node]]
            if live[memory[node]]:
                node += 1
            else:
                out[b, 0] += went_on[node]
                out[b, 1] += ended[node]
                node = subtree_end[node]
