"""Q of the states visited in a deterministic world, from what it is worth to enter its hubs."""

from __future__ import annotations

import numpy as np

from whence.likelihood.kernels.compiling import kernel
from whence.likelihood.kernels.groups import own


@kernel
def visit_hubs(start, stop, world, entered, n_actions, worths, rows, out):
    """Write Q of the visited states for the canonical machines start..stop-1.

    Args:
        start: first machine.
        stop: last machine + 1.
        world: its hubs and places.
        entered: uint32[U * A], the row that each action in each visited state leads to.
        n_actions: A.
        worths: float64[..., C, n], of machine start + i.
        rows: float64[R + 1], scratch; the last is -inf, for actions that are not there.
        out: float64[B, n, A, U], written.
    """
    world = own(world)
    n, hubs = worths.shape[2], world.labels.shape[0]
    for b in range(start, stop):
        for y in range(n):
            for hub in range(hubs):
                rows[hub] = worths[b - start, hub, y]
            for row in range(hubs, world.floors.shape[0]):
                best = world.floors[row]
                for e in range(world.first[row], world.first[row + 1]):
                    best = max(best, world.weights[e] * rows[world.hubs[e]])
                rows[row] = best
            for u in range(out.shape[3]):
                for a in range(n_actions):
                    out[b, y, a, u] = rows[np.int64(entered[u * n_actions + a])]
