"""Demonstrations compiled once into a trie of label histories.

A machine's state depends on the labels read so far and on nothing else. So steps are grouped by
their history, the nodes of a trie, and within one by state and action: a cell. What a
likelihood costs depends on the number of cells, not on the number of steps, and below a history
after which the machine can pay nothing every action that a state has is equally likely: one
look-up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import BLANK, Floats, Ints, frozen_own, offsets_of
from whence.model.checks import step_labels, step_states, translated_history
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

LEAST_ROOM = 2**14  # histories, twice over, that there is room for at first; a power of two
GROWTH = 8


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """Counts of (history, state, action); histories in depth-first order, 0 the empty one.

    Attributes:
        n_steps: steps in all.
        visited: int64[U], the states in which actions were demonstrated, ascending.
        parent: int64[H], the history that each one extends by one label.
        symbol: int64[H], that label; -1 at the root.
        subtree_end: int64[H], the first history behind all that extend this one.
        subtree_steps: float64[H], the steps at this history and at all that extend it.
        first_cell: int64[H + 1], where each history's cells begin.
        cell_key: uint32[cells], position in `visited` * A + action.
        cell_count: float64[cells].
        choices: float64[U], how many actions each visited state has; empty where all have A.
        closed: int64[...], position in `visited` * A + action, of those that they do not have.
        subtree_extra: float64[H], by how many nats the steps of a history and all that extend it
            are likelier at random than with A actions everywhere; empty where all have A.
    """

    n_steps: int
    visited: Ints
    parent: Ints
    symbol: Ints
    subtree_end: Ints
    subtree_steps: Floats
    first_cell: Ints
    cell_key: Ints
    cell_count: Floats
    choices: Floats
    closed: Ints
    subtree_extra: Floats

    @property
    def n_histories(self) -> int:
        """The number of distinct label histories, H."""
        return len(self.parent)

    @property
    def n_cells(self) -> int:
        """The number of distinct (history, state, action)."""
        return len(self.cell_key)

    def __repr__(self) -> str:
        return (
            f"<Evidence: {self.n_steps} steps, {self.n_histories} histories, {self.n_cells} cells>"
        )


def compile_evidence(mdp: LabeledMDP, demos: Demonstrations) -> Evidence:
    """Compile demonstrations of a world; they must fit it."""
    demos.check(mdp).raise_any()
    node, parent, symbol = grown_trie(mdp, demos, demos.action_offsets)
    order, parent, symbol, subtree_end = depth_first(parent, symbol)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    here = demos.states[step_states(demos)]
    visited, place = np.unique(here, return_inverse=True)
    width = len(visited) * mdp.n_actions
    key = place.reshape(-1).astype(np.int64) * mdp.n_actions + demos.actions
    cells, counts = np.unique(position[node] * max(width, 1) + key, return_counts=True)
    owner = cells // max(width, 1)
    first_cell = offsets_of(np.bincount(owner, minlength=len(parent)))
    running = np.concatenate([[0.0], np.cumsum(counts, dtype=np.float64)])
    at = running[first_cell]
    return Evidence(
        n_steps=demos.n_steps,
        visited=frozen_own(visited.astype(np.int64)),
        parent=frozen_own(parent),
        symbol=frozen_own(symbol),
        subtree_end=frozen_own(subtree_end),
        subtree_steps=frozen_own(at[subtree_end] - at[:-1]),
        first_cell=frozen_own(first_cell),
        cell_key=frozen_own((cells % max(width, 1)).astype(np.uint32)),
        cell_count=frozen_own(counts.astype(np.float64)),
        **_availability(mdp, visited, cells % max(width, 1), counts, first_cell, subtree_end),
    )


def _availability(
    mdp: LabeledMDP, visited: Ints, key: Ints, counts: Ints, first_cell: Ints, end: Ints
) -> dict[str, Floats | Ints]:
    """Return the fields of `Evidence` that say which actions visited states have."""
    if mdp.available[visited].all():
        nothing = frozen_own(np.zeros(0))
        closed = frozen_own(np.zeros(0, dtype=np.int64))
        return {"choices": nothing, "closed": closed, "subtree_extra": nothing}
    choices = mdp.available[visited].sum(axis=1).astype(np.float64)
    extra = counts * np.log(mdp.n_actions / choices)[key // mdp.n_actions]
    at = np.concatenate([[0.0], np.cumsum(extra)])[first_cell]
    return {
        "choices": frozen_own(choices),
        "closed": frozen_own(np.flatnonzero(~mdp.available[visited])),
        "subtree_extra": frozen_own(at[end] - at[:-1]),
    }


def grown_trie(mdp: LabeledMDP, demos: Demonstrations, offsets: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the history of each step, and parent and symbol of each history as first met.

    Steps begin at `offsets` in each episode: `action_offsets` for every action, or
    `state_offsets` for every state, whose history has its own label in it unless it is the first.
    """
    from whence.likelihood.kernels.histories import walk_trie

    labels = step_labels(mdp, demos)
    history = translated_history(mdp, demos)
    node = np.empty(int(offsets[-1]), dtype=np.int64)
    m = max(len(mdp.alphabet), 1)
    most = int((labels != BLANK).sum()) + len(history) + 1
    parent = np.zeros(most, dtype=np.int64)
    symbol = np.full(most, BLANK, dtype=np.int64)
    count, room = 0, LEAST_ROOM
    while count == 0:  # a table that is too small is no great loss beside the next one
        count = walk_trie(
            demos.state_offsets, offsets, labels, demos.history_offsets, history, m,
            np.full(room, -1), np.empty(room, dtype=np.int64), node, parent, symbol,
        )  # fmt: skip
        room *= GROWTH
    return node, parent[:count], symbol[:count]


def depth_first(parent: Ints, symbol: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the depth-first order of histories; parent, symbol, subtree_end in that order."""
    from whence.likelihood.kernels import histories

    order = np.empty(len(parent), dtype=np.int64)
    end = np.empty(len(parent), dtype=np.int64)
    size, position, free = np.ones_like(order), np.zeros_like(order), np.ones_like(order)
    histories.depth_first(parent, size, position, free, order, end)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return order, position[parent[order]], symbol[order], end
