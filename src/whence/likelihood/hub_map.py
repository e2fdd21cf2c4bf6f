"""The ways between the labelled states of a deterministic world, worked out once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import Bools, Ints, frozen_own, offsets_of
from whence.model.available import filled
from whence.model.mdp import LabeledMDP


@dataclass(frozen=True, eq=False)
class HubMap:
    """The ways between the hubs of a deterministic world, and to them from its places.

    Rows are the hubs, C of them, and then the places: blank states that an action in a visited
    state leads to.

    Attributes:
        states: int64[R], the world state of each row.
        labels: int32[C], of the hubs.
        forever: bool[R], whether one can walk among blanks for ever.
        first: int64[R + 1], where the edges of each row begin.
        hubs: uint32[edges], the hub that each leads to.
        lengths: int32[edges], the steps on the way, at least 1.
        entered: uint32[U * A], the row that each action in each visited state leads to; R for one
            that the state does not have.
    """

    states: Ints
    labels: Ints
    forever: Bools
    first: Ints
    hubs: Ints
    lengths: Ints
    entered: Ints


@dataclass(frozen=True)
class Limits:
    """What a map may cost.

    Attributes:
        work: operations for a machine: one for each edge of a place, `hub_sweeps` for each edge
            of a hub.
        hub_sweeps: sweeps over the hubs.
        edges: to be kept.
        steps: to be walked, once.
    """

    work: int
    hub_sweeps: int
    edges: int
    steps: int

    def allow(self, hub_edges: int, edges: int, steps: int) -> bool:
        """Return whether so much is within them; `edges` are those of hubs and places."""
        work = self.hub_sweeps * hub_edges + (edges - hub_edges)
        return work <= self.work and edges <= self.edges and steps <= self.steps


def is_deterministic(mdp: LabeledMDP) -> bool:
    """Return whether every action has one outcome."""
    return mdp.is_deterministic


def map_hubs(mdp: LabeledMDP, visited: Ints, limits: Limits | None = None) -> HubMap | None:
    """Measure the ways of a deterministic world; None where that goes beyond the limits.

    Args:
        mdp: the world.
        visited: int64[U], the states in which actions were demonstrated.
        limits: none by default.
    """
    available = mdp.available[visited].reshape(-1)
    mdp = filled(mdp)
    following = mdp.successors.reshape(mdp.n_states, mdp.n_actions)
    hubs = np.flatnonzero(mdp.labels >= 0)
    after = following[visited].reshape(-1)
    places = np.unique(after[mdp.labels[after] < 0])
    states = np.concatenate([hubs, places])
    row = np.full(mdp.n_states, -1, dtype=np.int32)
    row[states] = np.arange(len(states))
    first, before = _backwards(mdp)
    forever, ending = _walks(mdp, first, before)
    found = _edges(mdp, states, len(hubs), first, before, forever, ending, limits)
    if found is None:
        return None
    rows, targets, lengths = found
    order = np.argsort(rows * (len(hubs) + 1) + targets, kind="stable")
    return HubMap(
        states=frozen_own(states),
        labels=frozen_own(mdp.labels[hubs]),
        forever=frozen_own(forever[states]),
        first=frozen_own(offsets_of(np.bincount(rows, minlength=len(states)))),
        hubs=frozen_own(targets[order].astype(np.uint32)),
        lengths=frozen_own(lengths[order].astype(np.int32)),
        entered=frozen_own(np.where(available, row[after], len(states)).astype(np.uint32)),
    )


def _backwards(mdp: LabeledMDP) -> tuple[Ints, Ints]:
    """Return int64[S + 1] and int32[N]: the states that lead to each."""
    from whence.likelihood.kernels import hub_ways

    first = np.zeros(mdp.n_states + 2, dtype=np.int64)
    before = np.empty(mdp.n_transitions, dtype=np.int32)
    hub_ways.backwards(mdp.successors, mdp.n_actions, first, before)
    return first[:-1], before


def _walks(mdp: LabeledMDP, first: Ints, before: Ints) -> tuple[Bools, Ints]:
    """Return bool[S], whether one can walk on among blanks for ever, and the blanks that end.

    Those, int32[...], are blank states from which every walk comes to a label, each after all
    that it leads to.
    """
    from whence.likelihood.kernels import hub_ways

    blank = mdp.labels < 0
    left = blank[mdp.successors].reshape(mdp.n_states, -1).sum(axis=1)
    order = np.empty(mdp.n_states, dtype=np.int32)
    count = hub_ways.peel(mdp.labels, first, before, left, order)
    return left > 0, order[:count]


def _edges(
    mdp: LabeledMDP,
    states: Ints,
    n_hubs: int,
    first: Ints,
    before: Ints,
    forever: Bools,
    ending: Ints,
    limits: Limits | None,
) -> tuple[Ints, Ints, Ints] | None:
    """Return the row, the hub and the length of each edge, or None beyond the limits."""
    from whence.likelihood.kernels import hub_ways

    distance = np.zeros(mdp.n_states, dtype=np.int32)
    queue = np.empty(mdp.n_states, dtype=np.int32)
    offsets = mdp.offsets[:: mdp.n_actions]
    bounded = ~forever[states]
    furthest = np.zeros(mdp.n_states if bounded.any() else 0, dtype=np.int32)
    last = np.concatenate([ending, states[:n_hubs][bounded[:n_hubs]].astype(np.int32)])
    found: list[tuple[Ints, Ints, Ints]] = [(np.zeros(0, dtype=np.int64),) * 3]
    hub_edges = edges = steps = 0
    for hub in range(n_hubs):
        state = int(states[hub])
        count = hub_ways.walk_back(state, mdp.labels, first, before, distance, queue)
        lengths = distance[states]
        distance[queue[:count]] = 0
        found.append(_leading(hub, lengths > 0, lengths))
        if bounded.any():
            hub_ways.longest(state, last, offsets, mdp.successors, mdp.labels, furthest)
            longer = furthest[states]
            found.append(_leading(hub, bounded & (longer > lengths), longer))
            edges += len(found[-2][0])
            hub_edges += int((found[-2][0] < n_hubs).sum())
        edges += len(found[-1][0])
        hub_edges += int((found[-1][0] < n_hubs).sum())
        steps += count * mdp.n_actions
        if limits is not None and not limits.allow(hub_edges, edges, steps):
            return None
    rows, targets, lengths = (np.concatenate(each) for each in zip(*found, strict=True))
    return rows, targets, lengths


def _leading(hub: int, chosen: Bools, lengths: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the edges of the chosen rows to one hub."""
    rows = np.flatnonzero(chosen)
    return rows, np.full(len(rows), hub), lengths[rows]
