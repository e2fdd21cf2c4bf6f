"""The order in which a world's states are swept, and the tiles of a large world."""

from __future__ import annotations

import numpy as np

from whence.likelihood.kernels.compiling import kernel, lean_kernel


@lean_kernel
def nearest_first(seeds, origins, successors, first, before, seen, order):
    """Write the states to `order`: by how few steps lead from them to a seed, far ones last.

    Args:
        seeds: int64[...], states at distance 0.
        origins: int64[N], the state that each transition leaves.
        successors: int32[N], the state that it enters.
        first: int64[S + 2], all 0, written over.
        before: int32[N], written over.
        seen: bool[S], all false, written over.
        order: int64[S], written.
    """
    size = order.shape[0]
    for s in successors:
        first[s + 2] += 1
    for s in range(size):
        first[s + 2] += first[s + 1]
    for e in range(len(successors)):
        before[first[successors[e] + 1]] = origins[e]
        first[successors[e] + 1] += 1
    count = 0
    for s in seeds:
        seen[s] = True
        order[count] = s
        count += 1
    head = 0
    while head < count:
        for e in range(first[order[head]], first[order[head] + 1]):
            if not seen[before[e]]:
                seen[before[e]] = True
                order[count] = before[e]
                count += 1
        head += 1
    for s in range(size):
        if not seen[s]:
            order[count] = s
            count += 1


@kernel
def grow_tiles(first, successors, most, tile):
    """Write a tile's number for each state: `most` states each, in waves from the first one.

    Waves lead to the waves beside them only, so that tiles which look into each other are swept
    one right after the other, while both are in the cache.

    Args:
        first: int64[S + 1], where the transitions of each state begin.
        successors: int32[N].
        most: states of a tile.
        tile: int64[S], written.
    """
    size = tile.shape[0]
    tile[:] = -1
    queue = np.empty(size, dtype=np.int64)
    count = 0
    head = 0
    for s in range(size):
        if tile[s] >= 0:
            continue
        tile[s] = count // most
        queue[count] = s
        head = count
        count += 1
        while head < count:
            for e in range(first[queue[head]], first[queue[head] + 1]):
                after = successors[e]
                if tile[after] < 0:
                    tile[after] = count // most
                    queue[count] = after
                    count += 1
            head += 1
