"""What the kernels of deterministic worlds are given, and room to work in.

C hubs, R rows: the hubs and the places; U visited states; `length` lanes of a row. Groups are
handed over as plain tuples, which numba takes ten times as fast as named ones.
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


class Steps(NamedTuple):
    """Where demonstrated actions lead.

    Attributes:
        n_actions: A.
        entered: uint32[U * A], the row that each action in each visited state leads to; R for one
            that the state does not have.
        row: uint32[K], the row that each demonstrated action leads to, one for each state and
            row.
        place: uint32[K], the position of its state among those visited, ascending.
        first: int64[U + 1], where those of each visited state begin.
        key: uint32[cells], which of these each cell is.
        node: uint32[cells], the history of each cell.
    """

    n_actions: int
    entered: Ints
    row: Ints
    place: Ints
    first: Ints
    key: Ints
    node: Ints


class Tables(NamedTuple):
    """Room for what is worked out for a pack.

    Attributes:
        machines: int64[seats], -1 where there is none.
        x: float64[(R + 1) * length], what it is worth to enter each row, and -inf.
        odds: float64[(R + 1) * length], exponentials, and 0.
        sums: float64[U * length], the log of their sum in each visited state.
        chances: float64[K * length], the log probability of each demonstrated action.
        alpha: float64[length], of the expert of each lane; 0 where it is infinite.
        lapse: float64[length], of the expert of each lane.
        sure: float64[length], 1 where alpha is infinite, else 0.
        far: float64[length], 1 where exponentials are too far apart to be kept as they are.
        reference: float64[length], the power of two that odds are divided by.
        lanes: uint32[H], the code of the lanes to count after each history.
        memory: uint32[H], the state of all machines together after it, times m.
        runs: int64[2 * H + 2], where runs of histories begin and end.
        live: bool[n].
        following: uint32[N * m], of states of all machines together, N of them, times m.
        codes: uint32[N * m], at multiples of m: the lanes to count there.
        dead: uint32[N * m], there too: a bit for each seat whose machine pays nothing any more.
        skipped: float64[seats], the log likelihood of steps that each machine finds random.
        totals: float64[2 * LANES], sums over cells.
    """

    machines: Ints
    x: Floats
    odds: Floats
    sums: Floats
    chances: Floats
    alpha: Floats
    lapse: Floats
    sure: Floats
    far: Floats
    reference: Floats
    lanes: Ints
    memory: Ints
    runs: Ints
    live: Bools
    following: Ints
    codes: Ints
    dead: Ints
    skipped: Floats
    totals: Floats
