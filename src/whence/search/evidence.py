"""The evidence of each number of states, from a sample and machines whose weight is known.

Where kinds of expert are compared, each kind has its own for every number of states.

Let S be some machines of n states, and Z_S the sum of their likelihood times prior, which is known
exactly. The posterior gives S the share Z_S / Z_n of all machines of that size, and a sample tells
how large that share is: so log Z_n = log Z_S - log P(S | n), and its error is that of the share.
"""

from __future__ import annotations

import math

import numpy as np

from whence._arrays import Bools, Floats
from whence.model.expert import SOFT
from whence.search import diagnostics
from whence.search.census import Census, canonical, keys, take
from whence.search.draws import Draws
from whence.search.machines import Machines
from whence.search.problem import Problem

Evidence = dict[int | tuple[int, str], tuple[float, float]]

MOST = 40  # machines of a size that are summed exactly; the heaviest
LEAST_DRAWS = 400  # of a size, below which nothing is said of it
FINE = 1e-5  # nats, the error allowed in the weight of a machine that is summed
TOGETHER = 8  # draws that may be of one step, and count as one
SEEDS = 40  # machines from which those of a kind that was never drawn are looked for


def log_evidence(problem: Problem, census: Census, draws: Draws) -> Evidence:
    """Return log P(D | n) and its error, by size, where the sample has met the size.

    Where kinds of expert are compared, by size and kind. A kind that the sample hardly met has a
    lower bound, whose error is infinite: what machines near its best sum up to.

    Args:
        problem: what was searched.
        census: machines near the best in weight, heaviest first.
        draws: a sample, those of a ladder in order of time.
    """
    kinds = problem.unknowns.kinds
    result: Evidence = {}
    if len(kinds) == 1:
        found = _by_size(problem, census, draws, np.ones(draws.size, dtype=np.bool_))
        result.update((n, value) for n, value in found.items())
        return result
    for kind in kinds:
        own = draws.softly == (kind == SOFT)
        part = problem.of_kind(kind)
        places = [place for place, (each, _) in enumerate(problem.unknowns.places) if each == kind]
        found = _by_size(part, _of_places(census, places), draws, own)
        found = found or _bounds(part, census)
        result |= {(n, kind): value for n, value in found.items()}
    return result


def _of_places(census: Census, places: list[int]) -> Census:
    """Return the members at some places of the grid, which are all that there are then."""
    inside = np.flatnonzero(np.isin(census.discount, places))
    some = census.rows(inside)
    return Census(some.machines, some.discount - places[0])


def _bounds(problem: Problem, census: Census) -> dict[int, tuple[float, float]]:
    """Return lower bounds of log P(D | n): the machines of one kind near its best, by size."""
    count = len(problem.unknowns.places)
    seeds = census.machines.rows(np.arange(min(census.size, SEEDS)))
    places = np.repeat(np.arange(count), seeds.size)
    some = seeds.rows(np.tile(np.arange(seeds.size), count))
    near, _ = take(problem.target(), Census(some, places))
    result = {}
    for n in problem.sizes:
        members, _ = _members(near, n)
        if members.size:
            total = float(np.logaddexp.reduce(_weights(problem, members, n)))
            result[n] = total, math.inf
    return result


def _by_size(
    problem: Problem, census: Census, draws: Draws, chosen: Bools
) -> dict[int, tuple[float, float]]:
    """Return log P(D | n) and its error from some of the draws, by size."""
    space = problem.target().space
    paid = np.searchsorted(space.levels, draws.rewards).astype(np.int64)
    machines = Machines(draws.transitions, paid, draws.n_states)
    names = np.array(_names(canonical(machines, space)))
    result = {}
    for n in problem.sizes:
        own = chosen & (draws.n_states == n)
        members, place = _members(census, n)
        if own.sum() < LEAST_DRAWS or not members.size:
            continue
        inside = own & np.isin(names, np.array(place))
        if not inside.any():
            continue
        share, error = _share(inside, own, draws)
        total = float(np.logaddexp.reduce(_weights(problem, members, n)))
        result[n] = total - math.log(share), error
    return result


def _members(census: Census, n: int) -> tuple[Machines, list[bytes]]:
    """Return the heaviest machines of a size, each once, and what they are known by."""
    rows = np.flatnonzero(census.machines.n_states == n)
    first: dict[bytes, int] = {}
    for row, name in zip(rows.tolist(), _names(census.machines.rows(rows)), strict=True):
        first.setdefault(name, row)
    kept = list(first.items())[:MOST]
    chosen = np.array([row for _, row in kept], dtype=np.int64)
    return census.machines.rows(chosen), [name for name, _ in kept]


def _names(machines: Machines) -> list[bytes]:
    return keys(Census(machines, np.zeros(machines.size, dtype=np.int64)))


def _weights(problem: Problem, machines: Machines, n: int) -> Floats:
    """Return float64[B], the log of likelihood times prior, among machines of n states."""
    target = problem.target()
    space = target.space
    marginal = problem.of_machines("tempering")
    found = marginal.log_likelihood(*machines.tables(space.levels), tolerance=FINE)
    prior = space.log_entries(machines) + target.log_copies[n]
    return np.asarray(found / target.temperature + prior - space.prior.normaliser(n, space.m))


def _share(inside: Bools, own: Bools, draws: Draws) -> tuple[float, float]:
    """Return the share of draws of a size that are known machines, and the error of its log."""
    share = float(inside[own].mean())
    chains = diagnostics.by_ladder((inside - share * own).astype(np.float64), draws.ladder)
    error = diagnostics.mcse(chains) / float(own.mean()) / share
    unseen = TOGETHER / float(own.sum())  # where all draws are known machines, others may be rare
    return share, max(unseen, 0.0 if math.isnan(error) else error)
