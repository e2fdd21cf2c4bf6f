"""Moves of a Metropolis sampler: one small module each, with the same function.

`propose(rng, machines, space)` returns a proposal for each machine and, float64[B], the log of
q(old | new) / q(new | old), the ratio by which a proposal is likelier made backward than forward.
Proposals need not be valid: the prior says so, and they are rejected.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whence._arrays import Floats
from whence.search.moves import (
    arrow,
    copy_row,
    entries,
    exchange,
    redraw,
    regroup,
    resize,
    swap_rows,
    swap_symbols,
    turn_row,
)
from whence.search.space import Machines, Space

Move = Callable[[np.random.Generator, Machines, Space], tuple[Machines, Floats]]

MOVES: dict[str, Move] = {
    "entries": entries.propose,
    "arrow": arrow.propose,
    "redraw": redraw.propose,
    "turn_row": turn_row.propose,
    "copy_row": copy_row.propose,
    "swap_rows": swap_rows.propose,
    "swap_symbols": swap_symbols.propose,
    "exchange": exchange.propose,
    "regroup": regroup.propose,
    "resize": resize.propose,
}


def usable(space: Space) -> tuple[str, ...]:
    """Return the moves that can change anything in a space."""
    names = ["entries", "redraw"]
    if space.largest > 1:
        names += ["arrow", "turn_row", "copy_row", "swap_rows", "exchange"]
    if space.m > 1:
        names.append("swap_symbols")
    if space.largest > 2:
        names.append("regroup")
    if len(space.sizes) > 1:
        names.append("resize")
    return tuple(name for name in MOVES if name in names)
