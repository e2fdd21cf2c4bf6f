"""The census: machines that are near the best in weight, each weighed once.

Where a posterior is concentrated, a few hundred machines hold nearly all of it. The census finds
them when the warm-up ends: from the machines that the chains then stand at, heaviest first, every
single change is weighed, and what is not much lighter than the best is kept. It is a list to
propose from (`whence.search.recalling`), not the posterior: what it lacks, chains still find.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.compiled import canonical_tables
from whence.likelihood.fitting import Fits, Normals
from whence.search.machines import Machines
from whence.search.neighbours import single_changes
from whence.search.space import Space
from whence.search.target import Target
from whence.search.unknowns import Experts

KEPT = 12.0  # nats below the heaviest that a member may be
WIDENED = 8.0  # nats below the heaviest whose changes are looked at
MOST_MEMBERS = 3_000
MOST_WEIGHED = 10_000  # machines
AT_ONCE = 8  # members whose changes are weighed together


class Census(NamedTuple):
    """Machines in canonical form, each at a discount.

    Attributes:
        machines: B of them.
        discount: int64[B], its place in the grid.
    """

    machines: Machines
    discount: Ints

    @property
    def size(self) -> int:
        """The number of members, B."""
        return len(self.discount)

    def rows(self, chosen: Ints) -> Census:
        """Return some of them."""
        return Census(self.machines.rows(chosen), self.discount[chosen])


class Weights(NamedTuple):
    """What members weigh at temperatures.

    Attributes:
        log_weight: float64[B], of all labelled copies and, about, of all experts.
        log_likelihood: float64[B], where the expert is known; else at the best one, about.
        normals: what is expected of the experts, where they are unknown.
    """

    log_weight: Floats
    log_likelihood: Floats
    normals: Normals | None


def empty(space: Space) -> Census:
    """Return a census of nobody."""
    tables = np.zeros((0, space.largest, space.m), dtype=np.int64)
    nobody = np.zeros(0, dtype=np.int64)
    return Census(Machines(tables, tables, nobody), nobody)


def joined(parts: list[Census]) -> Census:
    """Return all of them one after the other."""
    machines = zip(*(part.machines for part in parts), strict=True)
    return Census(
        Machines(*map(np.concatenate, machines)),
        np.concatenate([part.discount for part in parts]),
    )


def possible(target: Target) -> bool:
    """Return whether machines can be weighed: no arrow is pinned, and experts can be fitted."""
    space, known = target.space, target.unknowns
    free = (space.known_targets < 0).all() and (space.known_paid < 0).all()
    return bool(free) and (
        target.carrier.useful or (known.alpha is not None and known.lapse is not None)
    )


def canonical(machines: Machines, space: Space) -> Machines:
    """Return machines with their states numbered in canonical order."""
    every = np.ones(space.m, dtype=np.bool_)
    moved, paid, _ = canonical_tables(
        machines.transitions, machines.paid.astype(np.float64), every
    )
    return space.tidy(Machines(moved, paid.astype(np.int64), machines.n_states))


def keys(members: Census) -> list[bytes]:
    """Return what each member is known by."""
    size = members.size
    if not size:
        return []
    tables = (*members.machines, members.discount)
    rows = np.concatenate([table.reshape(size, -1) for table in tables], axis=1)
    return [row.tobytes() for row in rows.astype(np.int32)]


def weigh(target: Target, members: Census, temperatures: Floats) -> Weights:
    """Return what members weigh at temperatures, float64[B].

    Exact where the expert is known; else Laplace's approximation around the best expert.
    """
    return _at(target, _facts(target, members), temperatures)


def weigh_at_each(target: Target, members: Census, temperatures: Floats) -> list[Weights]:
    """Return what members weigh at each of some temperatures, float64[K]."""
    facts = _facts(target, members)
    return [_at(target, facts, np.full(members.size, t)) for t in temperatures.tolist()]


class _Facts(NamedTuple):
    """What is known of members at any temperature."""

    log_prior: Floats  # of all labelled copies
    log_likelihood: Floats
    fits: Fits | None


def _facts(target: Target, members: Census) -> _Facts:
    machines, known, size = members.machines, target.unknowns, members.size
    log_prior = target.space.log_prior(machines) + target.log_copies[machines.n_states]
    if not target.carrier.useful:
        experts = Experts(
            np.full(size, known.alpha, dtype=np.float64),
            np.full(size, known.lapse, dtype=np.float64),
            members.discount,
        )
        return _Facts(log_prior, target.log_likelihood(machines, experts), None)
    fits = target.carrier.fits(machines, members.discount)
    beside = target.posteriors[0].beside_steps(*machines.tables(target.space.levels))
    return _Facts(log_prior, fits.log_likelihood + beside, fits)


def _at(target: Target, facts: _Facts, temperatures: Floats) -> Weights:
    weight = facts.log_likelihood / temperatures + facts.log_prior
    if facts.fits is None:
        return Weights(weight, facts.log_likelihood, None)
    normals = target.carrier.tempered(facts.fits, temperatures)
    of_expert = target.carrier.log_prior_at(facts.fits.place) + normals.log_volume
    return Weights(weight + of_expert, facts.log_likelihood, normals)


def take(target: Target, seeds: Census) -> tuple[Census, int]:
    """Return the members that are found from some machines, heaviest first, and what it took.

    Args:
        target: what weighs.
        seeds: machines to begin with, in any order, canonical or not.

    Returns:
        The census, and how many machines were weighed.
    """
    found = _Found(target)
    found.add(Census(canonical(seeds.machines, target.space), seeds.discount))
    while found.weighed < MOST_WEIGHED and found.members.size < MOST_MEMBERS:
        rows = found.widest()
        if not len(rows):
            break
        found.add(_around(found.members.rows(rows), target))
    return found.sorted(), found.weighed


class _Found:
    """Members so far, with their weights."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._known: set[bytes] = set()
        self.members = empty(target.space)
        self._weight = np.zeros(0)
        self._widened = np.zeros(0, dtype=np.bool_)
        self.weighed = 0

    def add(self, some: Census) -> None:
        """Weigh those that are new, and keep what is not much lighter than the heaviest."""
        fresh: dict[bytes, int] = {}
        for row, key in enumerate(keys(some)):
            if key not in self._known:
                fresh.setdefault(key, row)
        if not fresh:
            return
        self._known.update(fresh)
        new = some.rows(np.fromiter(fresh.values(), dtype=np.int64, count=len(fresh)))
        weight = weigh(self._target, new, np.full(new.size, self._target.temperature)).log_weight
        self.weighed += new.size
        self._join(new, weight)

    def _join(self, new: Census, weight: Floats) -> None:
        every = np.concatenate([self._weight, weight])
        finite = every[np.isfinite(every)]
        kept = np.flatnonzero(every >= (finite.max() if len(finite) else math.inf) - KEPT)
        together = joined([self.members, new])
        marks = np.concatenate([self._widened, np.zeros(new.size, dtype=np.bool_)])
        self.members, self._weight = together.rows(kept), every[kept]
        self._widened = marks[kept]

    def widest(self) -> Ints:
        """Return the heaviest members whose changes were not looked at, and mark them."""
        if not self.members.size:
            return np.zeros(0, dtype=np.int64)
        due = ~self._widened & (self._weight >= self._weight.max() - WIDENED)
        rows = np.flatnonzero(due)
        rows = rows[np.argsort(-self._weight[rows], kind="stable")][:AT_ONCE]
        self._widened[rows] = True
        return rows

    def sorted(self) -> Census:
        """Return the heaviest members first."""
        order = np.argsort(-self._weight, kind="stable")[:MOST_MEMBERS]
        return self.members.rows(order)


def _around(members: Census, target: Target) -> Census:
    """Return all that is one change away: one entry, or the discount or kind."""
    parts = []
    for row in range(members.size):
        one = members.rows(np.array([row]))
        near = single_changes(one.machines, target.space.levels)
        near = near.rows(target.space.valid(near))
        parts.append(Census(canonical(near, target.space), np.repeat(one.discount, near.size)))
        others = np.arange(len(target.unknowns.places))
        others = others[others != one.discount[0]]
        parts.append(Census(one.machines.rows(np.zeros(len(others), dtype=np.int64)), others))
    return joined(parts)
