"""What log likelihoods are read in: rows of numbers, one for each lane of a pack.

R rows that actions lead to, U visited states, K demonstrated actions, H label histories;
`length` lanes of a row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.likelihood.kernels.constants import LANES, STATES
from whence.likelihood.kernels.lines import aligned


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


def empty_tables(
    rows: int, odds: int, steps: Steps, histories: int, sizes: tuple[int, int]
) -> Tables:
    """Return room for packs of machines of n states and m symbols.

    Args:
        rows: R.
        odds: as many, or 0 where each visited state's exponentials are taken by themselves.
        steps: where demonstrated actions lead.
        histories: H.
        sizes: n and m.
    """
    n, m = sizes
    length, seats = -(-n // LANES) * LANES, max(LANES // n, 1)
    joint = max(STATES, n) * max(m, 1)
    visited = len(steps.first) - 1 if odds else 0
    x, kept, sums, chances, *lanes, totals = aligned(
        (rows + 1) * length, (odds + 1) * length, visited * length, len(steps.row) * length,
        *[length] * 5, 2 * LANES,
    )  # fmt: skip
    x[rows * length :] = -np.inf
    alpha, lapse, sure, far, reference = lanes
    return Tables(
        machines=np.full(seats, -1),
        x=x,
        odds=kept,
        sums=sums,
        chances=chances,
        alpha=alpha,
        lapse=lapse,
        sure=sure,
        far=far,
        reference=reference,
        lanes=np.zeros(histories, dtype=np.uint32),
        memory=np.zeros(histories, dtype=np.uint32),
        runs=np.zeros(2 * histories + 2, dtype=np.int64),
        live=np.zeros(n, dtype=np.bool_),
        following=np.zeros(joint, dtype=np.uint32),
        codes=np.zeros(joint, dtype=np.uint32),
        dead=np.zeros(joint, dtype=np.uint32),
        skipped=np.zeros(seats),
        totals=totals,
    )
