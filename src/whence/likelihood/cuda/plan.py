"""A world and its demonstrations as the card wants them: rows, choices and cells.

A *row* is a state that can be entered: every state of the world in the order of sweeps, or, in a
deterministic world, its hubs and then the places that actions in visited states lead to.
A *choice* is an action that a visited state has. Entering a row is worth its pay and what comes
after it, discounted; a choice is worth the expectation over the rows that it may lead to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats, Ints, concatenated_ranges, offsets_of
from whence.likelihood.evidence import Evidence
from whence.likelihood.hub_map import HubMap
from whence.likelihood.layouts import layout
from whence.model.available import filled
from whence.model.mdp import LabeledMDP

MOST_NUMBERS = 2**31  # 32-bit numbers count entries, cells and steps


@dataclass(frozen=True, eq=False)
class Rows:
    """What is solved.

    Attributes:
        swept: rows that are swept again and again; those behind lead to them alone.
        wide: whether an action may have several outcomes.
        label: int32[R], -1 where there is none.
        least: float64[R], what a row is worth at least: -inf, or 0 where one can walk for ever.
        first: int32[R + 1], where the actions of each row begin.
        entries: int32[actions + 1], where the outcomes of each action begin.
        after: int32[outcomes], the row of each.
        weight: float64[outcomes], its probability, or the discount of the way to it.
    """

    swept: int
    wide: bool
    label: Ints
    least: Floats
    first: Ints
    entries: Ints
    after: Ints
    weight: Floats


@dataclass(frozen=True, eq=False)
class Choices:
    """What is read: the actions that the visited states have, and how often each was taken.

    Attributes:
        first: int32[U + 1], where the choices of each visited state begin.
        action: int32[choices].
        entries: int32[choices + 1], where the outcomes of each choice begin.
        after: int32[outcomes], the row of each.
        weight: float64[outcomes], its probability.
        first_cell: int32[choices + 1], where the cells of each choice begin.
        cells: int32[cells, 2], a history and how often the choice was taken after it.
        parent: int32[H], of each history.
        symbol: int32[H], the last label of each.
    """

    first: Ints
    action: Ints
    entries: Ints
    after: Ints
    weight: Floats
    first_cell: Ints
    cells: Ints
    parent: Ints
    symbol: Ints


def fits(mdp: LabeledMDP, evidence: Evidence) -> bool:
    """Return whether 32-bit numbers can count a world's outcomes and the steps in it."""
    return max(mdp.n_transitions, evidence.n_steps, evidence.n_cells) < MOST_NUMBERS


def world_rows(mdp: LabeledMDP) -> tuple[Rows, Ints]:
    """Return all states as rows, and int64[S], the row of each."""
    order = layout(mdp).order
    whole = filled(mdp)
    row = np.empty_like(order)
    row[order] = np.arange(len(order))
    pairs = (order[:, None] * whole.n_actions + np.arange(whole.n_actions)).reshape(-1)
    entries, after, weight = _outcomes(whole, pairs, row)
    return Rows(
        swept=len(order),
        wide=bool(len(after) > len(pairs)),
        label=_short(whole.labels[order]),
        least=np.full(len(order), -np.inf),
        first=_short(np.arange(len(order) + 1) * whole.n_actions),
        entries=entries,
        after=after,
        weight=weight,
    ), row


def hub_rows(mdp: LabeledMDP, hubs: HubMap, discount: float) -> tuple[Rows, Ints]:
    """Return hubs and places as rows, and int64[S], the row of each state, -1 where none."""
    swept, many = len(hubs.labels), len(hubs.states)
    label = np.full(many, -1)
    label[:swept] = hubs.labels
    row = np.full(mdp.n_states, -1)
    row[hubs.states] = np.arange(many)
    return Rows(
        swept=swept,
        wide=False,
        label=_short(label),
        least=np.where(hubs.forever, 0.0, -np.inf),
        first=_short(hubs.first),
        entries=_short(np.arange(len(hubs.hubs) + 1)),
        after=_short(hubs.hubs),
        weight=np.power(discount, hubs.lengths - 1.0),
    ), row


def choices(mdp: LabeledMDP, evidence: Evidence, row: Ints) -> Choices:
    """Return what is read of a world whose states are the rows int64[S]."""
    available = mdp.available[evidence.visited]
    place, action = np.nonzero(available)
    number = np.full(available.size, -1)
    number[place * mdp.n_actions + action] = np.arange(len(place))
    entries, after, weight = _outcomes(mdp, evidence.visited[place] * mdp.n_actions + action, row)
    node = np.repeat(np.arange(evidence.n_histories), np.diff(evidence.first_cell))
    choice = number[evidence.cell_key]
    order = np.argsort(choice, kind="stable")
    return Choices(
        first=_short(offsets_of(available.sum(axis=1))),
        action=_short(action),
        entries=entries,
        after=after,
        weight=weight,
        first_cell=_short(offsets_of(np.bincount(choice, minlength=len(place)))),
        cells=_short(np.stack([node, evidence.cell_count], axis=1)[order]),
        parent=_short(evidence.parent),
        symbol=_short(evidence.symbol),
    )


def _outcomes(mdp: LabeledMDP, pairs: Ints, row: Ints) -> tuple[Ints, Ints, Floats]:
    """Return where the outcomes of some (state, action) begin, their rows and probabilities."""
    first, last = mdp.offsets[pairs], mdp.offsets[pairs + 1]
    entry = concatenated_ranges(first, last)
    after = row[mdp.successors[entry]]
    return _short(offsets_of(last - first)), _short(after), mdp.probabilities[entry].copy()


def _short(numbers: Ints) -> Ints:
    return np.ascontiguousarray(numbers, dtype=np.int32)
