"""What kernels are given: arrays in named groups.

What lasts, such as a world, is handed over by address (`groups`). What a batch brings is handed
over as plain tuples, which numba takes ten times as fast as named ones.

S world states, A actions, B machines of n states and m symbols, E experts, H label histories.
"""

from __future__ import annotations

from typing import NamedTuple

from whence._arrays import Bools, Floats, Ints


class World(NamedTuple):
    """A world as an expert with a discount sees it; its states in the order of sweeps.

    Attributes:
        discount: of the expert.
        n_actions: A.
        width: successors per pair where rows are padded, else 0.
        n_rows: rows of the solver: S and the number of labelled states.
        n_watched: states that guide extrapolation.
        window: rounds that an extrapolation looks back on.
        offsets: int64[S * A + 1].
        successors: uint32[...], rows.
        probabilities: float64[...].
        discounted: float64[...], probabilities times the discount.
        labels: int32[S].
        entries: int32[S], the row of entering each labelled state.
        watch: int32[S], the number of a watched state, or -1.
        tiles: int64[T + 1], where the parts of the world begin that are swept together.
        reach: int64[T], the last tile that a state of each tile leads to.
        places: uint32[S * 4], the rows that four directions lead to, two opposite ones first, or
            empty in other worlds.
        directions: int64[4], their actions.
        shares: float64[4], the probability to get there, and to get where each direction beside
            it leads; then the same two times the discount.
        soft: whether values are those of a soft expert.
        open: bool[S * A], the actions that states have; empty where all have A.
        floor: what a soft expert may lose, in all, by states that have fewer actions; at most 0.
    """

    discount: float
    n_actions: int
    width: int
    n_rows: int
    n_watched: int
    window: int
    offsets: Ints
    successors: Ints
    probabilities: Floats
    discounted: Floats
    labels: Ints
    entries: Ints
    watch: Ints
    tiles: Ints
    reach: Ints
    places: Ints
    directions: Ints
    shares: Floats
    soft: bool
    open: Bools
    floor: float


class Cells(NamedTuple):
    """Demonstrations as counts at the histories of a trie.

    Attributes:
        visited: int64[U], the states with demonstrated actions.
        parent: int32[H], of each history.
        symbol: int32[H], the last label of each history.
        subtree_end: int32[H], the next history that does not extend this one.
        subtree_steps: float64[H], steps at this history and all that extend it.
        first: int32[H + 1], where the cells of each history begin.
        key: uint32[cells], action * U + position in `visited`.
        counts: float64[cells].
        choices: float64[U], how many actions each visited state has; empty where all have A.
        closed: uint32[...], action * U + position, of those that visited states do not have.
        subtree_extra: float64[H], nats that steps at this history and all that extend it gain at
            random where states have fewer than A actions; empty where all have A.
    """

    visited: Ints
    parent: Ints
    symbol: Ints
    subtree_end: Ints
    subtree_steps: Floats
    first: Ints
    key: Ints
    counts: Floats
    choices: Floats
    closed: Ints
    subtree_extra: Floats


class Machines(NamedTuple):
    """A batch of canonical machines.

    Attributes:
        transitions: int64[B, n, m].
        rewards: float64[B, n, m].
        counts: int64[B], reachable states.
        tolerance: float64[B], the error allowed in a value.
    """

    transitions: Ints
    rewards: Floats
    counts: Ints
    tolerance: Floats


class Experts(NamedTuple):
    """Who may be paid by each machine.

    Attributes:
        first: int64[B + 1], where the experts of each machine begin.
        alpha: float64[E].
        lapse: float64[E].
    """

    first: Ints
    alpha: Floats
    lapse: Floats


class Results(NamedTuple):
    """What is written.

    Attributes:
        log_likelihoods: float64[E].
        sweeps: int64[B].
        values: float64[B, n, S], or of no machine where values are not asked for.
        q: float64[B, n * A * U], of visited states, or of no machine likewise.
    """

    log_likelihoods: Floats
    sweeps: Ints
    values: Floats
    q: Floats
