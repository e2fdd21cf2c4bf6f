"""How likely it is that a leap makes a machine, compiled: loaded when it is needed."""

from __future__ import annotations

import math

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.kernels.compiling import kernel

NEGLIGIBLE = 40.0  # nats below the largest part at which a part is left out


@kernel
def weigh_leaps(
    transitions: Ints, paid: Ints, n_states: Ints, discount: Ints, rung: Ints,
    sizes: Ints, log_arrow: Floats, log_place: Floats, orders: Ints, first_order: Ints,
    out: Floats,
) -> None:  # fmt: skip
    """Write the log probability that a leap around each centre makes a machine or its copies.

    Args:
        transitions: int64[B, n, m].
        paid: int64[B, n, m].
        n_states: int64[B].
        discount: int64[B].
        rung: int64[B].
        sizes: int64[C], the states of each centre.
        log_arrow: float64[K, C, n m, n G], by state and symbol, and by target and level.
        log_place: float64[K, C, D], of each place of the grid of discounts.
        orders: int64[P, n], new numbers of states, 0 first.
        first_order: int64[n + 2], where those of each number of states begin.
        out: float64[B, C], written.
    """
    size, _, m = transitions.shape
    levels = log_arrow.shape[3] // orders.shape[1]
    for b in range(size):
        k, n = rung[b], n_states[b]
        for c in range(len(sizes)):
            out[b, c] = -np.inf
            if sizes[c] != n:
                continue
            top, total = -np.inf, 0.0
            for p in range(first_order[n], first_order[n + 1]):
                value = log_place[k, c, discount[b]]
                for y in range(n):
                    row = orders[p, y] * m
                    for x in range(m):
                        code = orders[p, transitions[b, y, x]] * levels + paid[b, y, x]
                        value += log_arrow[k, c, row + x, code]
                    if value < top - NEGLIGIBLE:
                        break
                if value < top - NEGLIGIBLE or value == -np.inf:
                    continue
                if value > top:
                    total = total * math.exp(top - value) + 1.0
                    top = value
                else:
                    total += math.exp(value - top)
            if total > 0:
                out[b, c] = top + math.log(total)
