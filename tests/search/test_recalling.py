"""The census of the heaviest machines, and chains that are drawn anew from it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import chisquare

from support.problems import broad_posteriors
from whence import AlphaPrior, Expert, LapsePrior, Prior
from whence._arrays import Floats, Ints
from whence.search import census
from whence.search.census import Census
from whence.search.machines import Machines, of_one_size
from whence.search.recalling import Recaller
from whence.search.space import Space
from whence.search.target import Chains, Target
from whence.search.unknowns import Experts, Unknowns, unknowns

LEVELS = (0.0, 1.0)
DISCOUNTS = (0.7, 0.9)


def _target(seed: int, n: int, known: Unknowns) -> Target:
    posteriors = broad_posteriors(seed, known.discounts, LEVELS)
    nothing = np.full((n, 2), -1)
    prior = Prior()
    log_size = np.full(n + 1, -np.inf)
    log_size[n] = -prior.normaliser(n, 2)
    return Target(Space((n,), 2, LEVELS, prior, log_size, nothing, nothing), known, posteriors)


def _every(target: Target) -> Machines:
    """Return every valid labelled machine of two symbols and two levels."""
    n = target.space.largest
    targets = np.array(list(itertools.product(range(n), repeat=2 * n))).reshape(-1, n, 2)
    paid = np.array(list(itertools.product(range(2), repeat=2 * n))).reshape(-1, n, 2)
    machines = of_one_size(
        np.repeat(targets, len(paid), axis=0), np.tile(paid, (len(targets), 1, 1))
    )
    return machines.rows(target.space.valid(machines))


def _known(target: Target, machines: Machines) -> Chains:
    size = machines.size
    experts = Experts(np.full(size, 8.0), np.full(size, 0.1), np.zeros(size, dtype=np.int64))
    return target.chains(machines, experts)


def _classes(machines: Machines, target: Target) -> tuple[list[bytes], Machines]:
    ordered = census.canonical(machines, target.space)
    none = np.zeros(machines.size, dtype=np.int64)
    return census.keys(Census(ordered, none)), ordered


def _p_value(seed: int, *, spoilt: bool) -> float:
    """Return how well exact samples that were drawn anew are still exact samples."""
    target = _target(seed, 3, unknowns(Expert(8.0, 0.9, 0.1), None, None, None))
    rng = np.random.default_rng(seed)
    chains = _known(target, _every(target))
    temperatures = np.array([1.0, 3.0])
    log_weight = chains.log_likelihood / temperatures[1] + chains.log_prior
    weight = np.exp(log_weight - log_weight.max())
    drawn = rng.choice(chains.size, p=weight / weight.sum(), size=20_000)
    names, ordered = _classes(chains.machines, target)
    heavy = np.argsort(-weight)[:400]
    _, first = np.unique([names[i] for i in heavy.tolist()], return_index=True)
    members = Census(ordered.rows(heavy[first]), np.zeros(len(first), dtype=np.int64))
    recaller = Recaller(target, members, temperatures)
    if spoilt:
        recaller._running = np.cumsum(np.full_like(recaller._running, 1 / members.size), axis=1)
    after = recaller.step(rng, chains.rows(drawn), np.ones(len(drawn), dtype=np.int64))
    inside = recaller.numbers(after) >= 0
    assert 0.3 < inside.mean() < 0.95
    return _fits(_classes(after.machines, target)[0], names, weight)


def _fits(found: list[bytes], names: list[bytes], weight: Floats) -> float:
    expected: dict[bytes, float] = {}
    for name, mass in zip(names, weight.tolist(), strict=True):
        expected[name] = expected.get(name, 0.0) + mass
    total, size = sum(expected.values()), len(found)
    counts = dict.fromkeys(expected, 0)
    for name in found:
        counts[name] += 1
    common = [name for name in expected if expected[name] / total * size >= 10]
    seen = np.array([counts[name] for name in common])
    wanted = np.array([expected[name] / total * size for name in common])
    seen, wanted = np.append(seen, size - seen.sum()), np.append(wanted, size - wanted.sum())
    return float(chisquare(seen, wanted).pvalue)


@pytest.mark.parametrize("seed", range(4))
def test_exact_samples_that_are_drawn_anew_are_exact_samples(seed: int) -> None:
    assert _p_value(seed, spoilt=False) > 0.001


def test_drawing_without_weights_is_found_out() -> None:
    assert _p_value(0, spoilt=True) < 1e-6


def _at_rest(seed: int, *, ratio: bool) -> float:
    """Return how far the shares of machines are from exact where chains are only drawn anew.

    Six machines, each at two discounts, are all there is, and the expert is unknown.
    """
    known = unknowns(None, None, None, DISCOUNTS)
    target = _target(seed, 2, known)
    machines = _every(target)
    size = 6
    machines = machines.rows(np.random.default_rng(0).choice(machines.size, size, replace=False))
    members = Census(machines.rows(np.repeat(np.arange(size), 2)), np.tile(np.arange(2), size))
    weight = _integrated(target, members)
    recaller = Recaller(target, members, np.array([1.0]))
    if not ratio:
        recaller._log_excess = lambda chains, rung, numbers: np.zeros(chains.size)  # type: ignore[method-assign]
    rng = np.random.default_rng(seed)
    chains = target.chains(
        members.machines.rows(np.zeros(400, dtype=np.int64)),
        known.sample(rng, 400)._replace(discount=np.zeros(400, dtype=np.int64)),
    )
    counts = np.zeros(members.size)
    for step in range(220):
        chains = recaller.step(rng, chains, np.zeros(400, dtype=np.int64))
        if step >= 20:
            counts += np.bincount(recaller.numbers(chains), minlength=members.size)
    return float(0.5 * np.abs(counts / counts.sum() - weight).sum())


def _integrated(target: Target, members: Census) -> Floats:
    """Return float64[B], the exact shares of members, the expert integrated on a fine grid."""
    largest, alpha_prior, lapse_prior = 1.0, AlphaPrior(), LapsePrior()
    log_alpha = np.linspace(*alpha_prior.bounds, 400) - np.log(largest)
    lapse = (np.arange(200) + 0.5) / 200
    u, z = (grid.reshape(-1) for grid in np.meshgrid(log_alpha, lapse, indexing="ij"))
    log_prior = alpha_prior.log_density(u) + lapse_prior.log_density(z)
    result = np.zeros(members.size)
    machine_prior = target.space.log_prior(members.machines)
    for row in range(members.size):
        tables = members.machines.rows(np.full(len(u), row)).tables(LEVELS)
        posterior = target.posteriors[int(members.discount[row])]
        found = posterior.log_likelihood(*tables, alpha=np.exp(u), lapse=z, remember=False)
        result[row] = np.logaddexp.reduce(found + log_prior) + machine_prior[row]
    return np.asarray(np.exp(result - np.logaddexp.reduce(result)))


@pytest.mark.parametrize("seed", range(3))
def test_machines_with_their_experts_are_drawn_by_their_exact_weight(seed: int) -> None:
    assert _at_rest(seed, ratio=True) < 0.015


def test_drawing_experts_without_the_ratio_is_found_out() -> None:
    assert max(_at_rest(seed, ratio=False) for seed in (1, 3)) > 0.03


def _numbers(some: Census, of: Census) -> Ints:
    names = {key: row for row, key in enumerate(census.keys(of))}
    return np.array([names.get(key, -1) for key in census.keys(some)])


@pytest.mark.parametrize("seed", range(3))
def test_the_census_holds_the_heaviest_machines(seed: int) -> None:
    target = _target(seed, 2, unknowns(Expert(8.0, 0.9, 0.1), None, None, None))
    machines = _every(target)
    every = Census(
        census.canonical(machines, target.space), np.zeros(machines.size, dtype=np.int64)
    )
    weight = census.weigh(target, every, np.ones(every.size)).log_weight
    found, weighed = census.take(target, every.rows(np.array([int(weight.argmax())])))
    share = np.exp(weight - np.logaddexp.reduce(weight))
    inside = _numbers(every, found) >= 0
    assert share[inside].sum() > 0.9
    assert inside[np.argsort(-share)[:3]].all()
    assert weighed <= machines.size
    own = census.weigh(target, found, np.ones(found.size)).log_weight
    assert (np.diff(own) <= 0).all()
