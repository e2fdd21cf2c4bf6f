"""Demonstrations compiled once into a trie of label histories.

A machine's state depends on the labels read so far and on nothing else. So steps are grouped by
their history, the nodes of a trie, and within one by state and action: a cell. What a
likelihood costs depends on the number of cells, not on the number of steps, and below a history
after which the machine can pay nothing every action is equally likely: one look-up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import BLANK, Floats, Ints, frozen_own, offsets_of
from whence.model.checks import step_labels, step_states, translated_history
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP


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
    node, parent, symbol = _walk(mdp, demos)
    order, parent, symbol, subtree_end = _depth_first(parent, symbol)
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
    )


def _walk(mdp: LabeledMDP, demos: Demonstrations) -> tuple[Ints, Ints, Ints]:
    """Return the history of each step, and parent and symbol of each history as first met."""
    from whence.likelihood.kernels.histories import walk_trie

    labels = step_labels(mdp, demos)
    history = translated_history(mdp, demos)
    node = np.empty(demos.n_steps, dtype=np.int64)
    m = max(len(mdp.alphabet), 1)
    most = int((labels != BLANK).sum()) + len(history) + 1
    parent = np.zeros(most, dtype=np.int64)
    symbol = np.full(most, BLANK, dtype=np.int64)
    count = walk_trie(
        demos.state_offsets, demos.action_offsets, labels, demos.history_offsets, history, m,
        node, parent, symbol,
    )  # fmt: skip
    return node, parent[:count], symbol[:count]


def _depth_first(parent: Ints, symbol: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the depth-first order of histories; parent, symbol, subtree_end in that order."""
    from whence.likelihood.kernels.histories import depth_first

    order = np.empty(len(parent), dtype=np.int64)
    end = np.empty(len(parent), dtype=np.int64)
    depth_first(parent, order, end)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return order, position[parent[order]], symbol[order], end
