"""What the kernels of deterministic worlds are given, and room to work in.

C hubs, R rows: the hubs and the places; U visited states; `length` lanes of a row.
"""

from __future__ import annotations

from typing import NamedTuple

from whence._arrays import Bools, Floats, Ints


class Hubs(NamedTuple):
    """A world's hubs and places, row by row, as an expert with a discount sees them.

    Attributes:
        discount: of the expert.
        labels: int32[C], of each hub.
        floors: float64[R], 0 where one can walk among blanks for ever, else -inf.
        first: int64[R + 1], where the edges of each row begin.
        hubs: uint32[edges], where each leads.
        lengths: int32[edges], the steps on the way.
        weights: float64[edges], the discount to the power of the length.
    """

    discount: float
    labels: Ints
    floors: Floats
    first: Ints
    hubs: Ints
    lengths: Ints
    weights: Floats


class Pack(NamedTuple):
    """Room for machines that are solved together, side by side in rows.

    Attributes:
        machines: int64[seats], -1 where there is none.
        done: bool[seats].
        x: float64[C * length], what it is worth to enter each hub.
        leaving: float64[C * length], what it is worth to leave it, discounted.
        policy: float64[C * length], the edge that is taken; -1: walk for ever.
        paid: float64[m * length].
        targets: uint32[m * length].
        largest: float64[LANES], the largest change of the last sweep.
    """

    machines: Ints
    done: Bools
    x: Floats
    leaving: Floats
    policy: Floats
    paid: Floats
    targets: Ints
    largest: Floats


class Ahead(NamedTuple):
    """Where a policy leads from each hub and machine state.

    Attributes:
        node: int32[C * length], the next one; -1: among blanks for ever.
        paid: float64[C * length], what is paid there.
        weight: float64[C * length], the discount on the way.
        state: int8[C * length], 1 where a walk came by, 2 where the value is known.
        path: int32[C * length], the way of a walk.
    """

    node: Ints
    paid: Floats
    weight: Floats
    state: Ints
    path: Ints
