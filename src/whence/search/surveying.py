"""Who is in the census: every machine there is, where they are few, or those near the best.

Rungs far from the coldest need other machines than it does. Where all machines, each at every
discount, fit into the census, all of them are in it, and every chain on every rung is drawn anew
among them. Elsewhere a few of those that chains stand at on warmer rungs are in it, too, however
light they are on the coldest: leaps are made around them (`whence.search.leaping`).
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats
from whence.model.canonical import minimise_batch
from whence.search import census, leaping
from whence.search.census import KEPT, MOST_MEMBERS, Census
from whence.search.enumeration import Enumeration
from whence.search.machines import Machines
from whence.search.space import Space
from whence.search.target import Chains, Target

MOST_FAR = 12  # machines of warmer rungs
TIE = 1e-6  # nats, of weights that come out of other batches


def survey(target: Target, best: Chains, chains: Chains, rungs: int) -> tuple[Census, int]:
    """Return the census, heaviest first, and how many machines were weighed to find it.

    Args:
        target: what weighs.
        best: the best machines met.
        chains: where the ladders stand, those of a ladder one after the other.
        rungs: how many chains a ladder has.
    """
    every = everybody(target)
    if every is not None:
        return every.rows(np.argsort(-_weight(target, every), kind="stable")), every.size
    seeds = [Census(each.machines, each.experts.discount) for each in (best, chains)]
    near, weighed = census.take(target, census.joined(seeds))
    every = renewed(target, near, chains, rungs)
    return every, weighed + every.size - near.size


def renewed(target: Target, members: Census, chains: Chains, rungs: int) -> Census:
    """Return a census with the machines of warmer rungs that chains stand at now.

    Args:
        target: what weighs.
        members: the census, heaviest first, with others of warmer rungs or without.
        chains: where the ladders stand, those of a ladder one after the other.
        rungs: how many chains a ladder has.
    """
    if not members.size or not leaping.possible(target.space) or everybody(target) is not None:
        return members
    weight = _weight(target, members)
    near = members.rows(np.flatnonzero(weight >= weight[0] - KEPT - TIE))
    order = np.arange(chains.size).reshape(-1, rungs).T.reshape(-1)
    order = order[np.isfinite(chains.log_likelihood[order])]
    some = Census(chains.machines, chains.experts.discount).rows(order)
    return census.joined([near, _far(target, some, weight[0])])


def centres(members: Census, log_weight: Floats) -> Census | None:
    """Return the members around which leaps are made: the heaviest, and those from warmer rungs.

    Args:
        members: the census.
        log_weight: float64[B], of members on the coldest rung.
    """
    far = np.flatnonzero(log_weight < log_weight[0] - KEPT - TIE)
    return members.rows(np.append(0, far)) if 0 < len(far) <= MOST_FAR else None


def _far(target: Target, some: Census, heaviest: float) -> Census:
    """Return the first few of some machines that weigh far less than the heaviest does.

    No two of them pay the same.
    """
    some = Census(census.canonical(some.machines, target.space), some.discount)
    some = some.rows(np.flatnonzero(_weight(target, some) < heaviest - KEPT - TIE))
    transitions, rewards, _ = minimise_batch(*some.machines.tables(target.space.levels))
    first: dict[bytes, int] = {}
    for row in range(some.size):
        first.setdefault(transitions[row].tobytes() + rewards[row].tobytes(), row)
    return some.rows(np.array(list(first.values())[:MOST_FAR], dtype=np.int64))


def _weight(target: Target, members: Census) -> Floats:
    """Return float64[B], what members weigh on the coldest rung."""
    return census.weigh(target, members, np.full(members.size, target.temperature)).log_weight


def everybody(target: Target) -> Census | None:
    """Return every machine at every discount, if they are not too many."""
    space, places = target.space, len(target.unknowns.places)
    sizes = range(space.sizes[0], space.largest + 1)
    listed = Enumeration(sizes, space.m, space.levels)
    if listed.total * places > MOST_MEMBERS:
        return None
    parts = [
        _padded(listed.machines(np.arange(first, last)), space)
        for first, last in zip(listed.edges[:-1], listed.edges[1:], strict=True)
        if last > first
    ]
    machines = Machines(*map(np.concatenate, zip(*parts, strict=True)))
    machines = machines.rows(space.valid(machines))
    rows = np.repeat(np.arange(machines.size), places)
    return Census(
        census.canonical(machines.rows(rows), space), np.tile(np.arange(places), machines.size)
    )


def _padded(machines: Machines, space: Space) -> Machines:
    """Return machines with as many rows as the largest has."""
    size, n, m = machines.transitions.shape
    tables = np.zeros((2, size, space.largest, m), dtype=np.int64)
    tables[0, :, :n], tables[1, :, :n] = machines.transitions, machines.paid
    return space.tidy(Machines(tables[0], tables[1], machines.n_states))
