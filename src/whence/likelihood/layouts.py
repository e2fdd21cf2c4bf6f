"""A world as the kernels want it: its states in the order of sweeps, its transitions in rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import Bools, Floats, Ints, frozen_own, offsets_of
from whence.likelihood.compass import compass
from whence.model.available import filled
from whence.model.mdp import LabeledMDP

PADDED_MOST = 3  # rows of 2 and 3 successors, mixed with shorter ones, are padded to 3
TILE = 4096  # states that are swept together, at most
GOLDEN = (5**0.5 - 1) / 2
WATCHED_SHARE = 4  # one state in so many, and every labelled one, guides extrapolation
LARGE_WATCHED_SHARE = 32  # the same, in a world of several tiles


@dataclass(frozen=True, eq=False)
class Layout:
    """A world as the kernels want it, its states in the order in which they are swept.

    Row i of the solver's tables holds the values of the state at position i, and rows from S
    on what it is worth to enter each labelled state.

    Attributes:
        n_actions: A.
        width: successors per pair where rows are padded, else 0.
        order: int64[S], the state at each position.
        position: int64[S], of each state.
        offsets: int64[S * A + 1]; not used where rows are padded.
        successors: uint32[...], the rows to read; unsigned, so that no index needs a check.
        probabilities: float64[...].
        labels: int32[S], by position.
        entries: int32[S], the row of entering, by position; -1 where there is no label.
        watch: int32[S], the number of a state that guides extrapolation, or -1.
        n_watched: how many do.
        n_rows: S and the number of labelled states.
        tiles: int64[T + 1], where the parts begin that are swept together.
        reach: int64[T], the last tile that a state of each tile leads to.
        places: uint32[S * 4], the rows that four directions lead to, or empty: see `compass`.
        directions: int64[4], their actions.
        shares: float64[2], the probabilities to go ahead, and to each side.
    """

    n_actions: int
    width: int
    order: Ints
    position: Ints
    offsets: Ints
    successors: Ints
    probabilities: Floats
    labels: Ints
    entries: Ints
    watch: Ints
    n_watched: int
    n_rows: int
    tiles: Ints
    reach: Ints
    places: Ints
    directions: Ints
    shares: Floats


def layout(mdp: LabeledMDP) -> Layout:
    """Lay a world out for the kernels."""
    mdp = filled(mdp)
    order, tiles = _order(mdp)
    position = np.empty_like(order)
    position[order] = np.arange(mdp.n_states)
    labels = mdp.labels[order]
    n_rows, entries = _numbered(labels >= 0, mdp.n_states)
    share = WATCHED_SHARE if len(tiles) == 2 else LARGE_WATCHED_SHARE
    watched = (labels >= 0) | (np.arange(mdp.n_states) % share == 0)
    n_watched, watch = _numbered(watched, 0)
    rows = np.where(entries >= 0, entries, np.arange(mdp.n_states))[position]
    width, offsets, entry, real = _rows(mdp, order)
    starts = tiles[:-1] * mdp.n_actions
    starts = starts * width if width else offsets[starts]
    four = compass(mdp)
    nothing = np.zeros((0, 4), dtype=np.int64)
    leads = np.maximum.reduceat(position[mdp.successors[entry]] // TILE, starts)
    return Layout(
        n_actions=mdp.n_actions,
        width=width,
        order=frozen_own(order),
        position=frozen_own(position),
        offsets=frozen_own(offsets),
        successors=frozen_own(rows[mdp.successors[entry]].astype(np.uint32)),
        probabilities=frozen_own(np.where(real, mdp.probabilities[entry], 0.0)),
        labels=frozen_own(labels),
        entries=frozen_own(entries),
        watch=frozen_own(watch),
        n_watched=n_watched,
        n_rows=n_rows,
        tiles=frozen_own(tiles),
        reach=frozen_own(np.maximum(leads, np.arange(len(leads)))),
        places=frozen_own(
            rows[four.places[order] if four else nothing].reshape(-1).astype(np.uint32)
        ),
        directions=frozen_own(np.array(four.actions if four else range(4))),
        shares=frozen_own(np.array([four.ahead, four.aside] if four else [1.0, 0.0])),
    )


def _order(mdp: LabeledMDP) -> tuple[Ints, Ints]:
    """Return the states in the order of sweeps, and where the tiles begin, int64[T + 1].

    Values spread from labels, so states from which a label is near come first. A large world
    is cut into tiles that fit into a cache.
    """
    from whence.likelihood.kernels.ordering import grow_tiles, nearest_first

    first = mdp.offsets[:: mdp.n_actions]
    origins = np.repeat(np.arange(mdp.n_states), np.diff(first))
    seeds = np.flatnonzero(mdp.labels >= 0)
    seeds = seeds[np.argsort(np.arange(len(seeds)) * GOLDEN % 1)]  # neighbours apart
    order = np.empty(mdp.n_states, dtype=np.int64)
    nearest_first(
        seeds, origins, mdp.successors, np.zeros(mdp.n_states + 2, dtype=np.int64),
        np.empty(mdp.n_transitions, dtype=np.int32), np.zeros(mdp.n_states, dtype=np.bool_), order,
    )  # fmt: skip
    if mdp.n_states <= TILE:
        return order, np.array([0, mdp.n_states])
    tile = np.empty(mdp.n_states, dtype=np.int64)
    grow_tiles(first, mdp.successors, TILE, tile)
    order = order[np.argsort(tile[order], kind="stable")]
    return order, np.append(np.arange(0, mdp.n_states, TILE), mdp.n_states)


def _numbered(chosen: Bools, first: int) -> tuple[int, Ints]:
    """Return the number behind the last, and the chosen ones' numbers from `first` on, or -1."""
    numbers = first - 1 + np.cumsum(chosen)
    last = int(numbers[-1]) if len(numbers) else first - 1
    return last + 1, np.where(chosen, numbers, -1).astype(np.int32)


def _rows(mdp: LabeledMDP, order: Ints) -> tuple[int, Ints, Ints, Bools]:
    """Return the width, and for each entry of the new rows the world's entry and if it is real."""
    pairs = (order[:, None] * mdp.n_actions + np.arange(mdp.n_actions)).reshape(-1)
    lengths = np.diff(mdp.offsets)[pairs]
    starts = mdp.offsets[:-1][pairs]
    offsets = offsets_of(lengths)
    longest = int(lengths.max())
    if longest > PADDED_MOST:
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        entry = np.repeat(starts, lengths) + within
        return 0, offsets, entry, np.ones(len(entry), dtype=np.bool_)
    width = 1 if longest == 1 else PADDED_MOST
    columns = np.arange(width)
    entry = starts[:, None] + np.minimum(columns, lengths[:, None] - 1)
    return width, offsets, entry.reshape(-1), (columns < lengths[:, None]).reshape(-1)
