"""Which labels can be read next, from every state of a large world."""

from __future__ import annotations

import numpy as np

from whence.likelihood.kernels.compiling import kernel


@kernel
def components(offsets, successors, blank, component):
    """Number the strongly connected components of the blank states (Tarjan's algorithm).

    Steps into labelled states do not count, so that a labelled state is a component by itself.
    Every component has a higher number than those that it leads to.

    Args:
        offsets: int64[S + 1], of `successors`.
        successors: int32[N], the states that each leads to.
        blank: bool[S].
        component: int32[S], all -1; written.

    Returns:
        Their number.
    """
    size = blank.shape[0]
    seen_as = np.zeros(size, dtype=np.int32)  # from 1 on
    lowest = np.empty(size, dtype=np.int32)
    edge = np.empty(size, dtype=np.int64)
    path = np.empty(size, dtype=np.int32)
    stack = np.empty(size, dtype=np.int32)
    count = seen = top = 0
    for root in range(size):
        entered = root
        depth = 0
        while seen_as[root] == 0 or depth > 0:
            if entered >= 0:
                seen += 1
                seen_as[entered] = lowest[entered] = seen
                edge[entered] = offsets[entered]
                path[depth] = stack[top] = entered
                depth += 1
                top += 1
            s = path[depth - 1]
            entered = -1
            if edge[s] < offsets[s + 1]:
                t = successors[edge[s]]
                edge[s] += 1
                if blank[t] and seen_as[t] == 0:
                    entered = t
                elif blank[t] and component[t] < 0:
                    lowest[s] = min(lowest[s], seen_as[t])
                continue
            depth -= 1
            if depth > 0:
                lowest[path[depth - 1]] = min(lowest[path[depth - 1]], lowest[s])
            if lowest[s] == seen_as[s]:
                while component[s] < 0:
                    top -= 1
                    component[stack[top]] = count
                count += 1
    return count


@kernel
def pass_back(offsets, targets, own, reached):
    """Work out what is reached from each node, given that of those before it.

    Args:
        offsets: int64[C + 1], of `targets`.
        targets: int64[edges], nodes before the own one, or C + h for hub h.
        own: uint64[hubs], the bit of each.
        reached: uint64[C], written.
    """
    nodes = reached.shape[0]
    for node in range(nodes):
        found = np.uint64(0)
        for e in range(offsets[node], offsets[node + 1]):
            target = targets[e]
            found |= reached[target] if target < nodes else own[target - nodes]
        reached[node] = found
