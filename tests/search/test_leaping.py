"""Leaps: exact samples stay exact samples, and without the ratio they do not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import chisquare

from support.problems import broad_posteriors
from whence import AlphaPrior, Expert, Prior
from whence._arrays import Floats, Ints
from whence.search import census, surveying
from whence.search.census import Census
from whence.search.leaping import Leaper, _shares
from whence.search.machines import Machines
from whence.search.space import Space
from whence.search.target import Chains, Target
from whence.search.unknowns import Experts, Unknowns, unknowns

LEVELS = (0.0, 1.0)
KNOWN = unknowns(Expert(8.0, 0.9, 0.1), None, None, None)
TEMPERATURES = np.array([1.0, 3.0])


def _target(seed: int, sizes: tuple[int, ...], known: Unknowns) -> Target:
    posteriors = broad_posteriors(seed, known.discounts, LEVELS)
    n = sizes[-1]
    nothing, prior = np.full((n, 2), -1), Prior()
    log_size = np.full(n + 1, -np.inf)
    for size in sizes:
        log_size[size] = -prior.normaliser(size, 2) - size
    return Target(Space(sizes, 2, LEVELS, prior, log_size, nothing, nothing), known, posteriors)


def _every(target: Target) -> Machines:
    """Return every valid labelled machine, padded to the largest size."""
    space, parts = target.space, []
    for n in space.sizes:
        targets = np.array(list(itertools.product(range(n), repeat=2 * n))).reshape(-1, n, 2)
        paid = np.array(list(itertools.product(range(2), repeat=2 * n))).reshape(-1, n, 2)
        tables = np.repeat(targets, len(paid), axis=0), np.tile(paid, (len(targets), 1, 1))
        wide = np.zeros((2, len(tables[0]), space.largest, 2), dtype=np.int64)
        wide[0, :, :n], wide[1, :, :n] = tables
        own = Machines(wide[0], wide[1], np.full(len(tables[0]), n))
        parts.append(space.tidy(own))
    machines = Machines(*map(np.concatenate, zip(*parts, strict=True)))
    return machines.rows(space.valid(machines))


def _names(chains: Chains, target: Target) -> list[bytes]:
    ordered = census.canonical(chains.machines, target.space)
    return census.keys(Census(ordered, chains.experts.discount))


def _leaper(target: Target, chains: Chains, weight: Floats) -> Leaper:
    """Return leaps around four machines, drawn by weight."""
    rows = np.random.default_rng(5).choice(chains.size, 4, replace=False, p=weight)
    some = chains.rows(rows)
    return Leaper(target, Census(some.machines, some.experts.discount), TEMPERATURES)


def _fits(found: list[bytes], names: list[bytes], weight: Floats) -> float:
    expected: dict[bytes, float] = {}
    for name, mass in zip(names, weight.tolist(), strict=True):
        expected[name] = expected.get(name, 0.0) + mass
    size = len(found)
    counts = dict.fromkeys(expected, 0)
    for name in found:
        counts[name] += 1
    common = [name for name in expected if expected[name] * size >= 10]
    seen = np.array([counts[name] for name in common])
    wanted = np.array([expected[name] * size for name in common])
    seen, wanted = np.append(seen, size - seen.sum()), np.append(wanted, size - wanted.sum())
    return float(chisquare(seen, wanted).pvalue)


def _p_value(seed: int, sizes: tuple[int, ...], *, ratio: bool) -> float:
    """Return how well exact samples are still exact samples after leaps, the expert known."""
    target = _target(seed, sizes, KNOWN)
    machines = _every(target)
    size = machines.size
    experts = Experts(np.full(size, 8.0), np.full(size, 0.1), np.zeros(size, dtype=np.int64))
    chains = target.chains(machines, experts)
    weight = np.exp(chains.log_likelihood / TEMPERATURES[1] + chains.log_prior)
    weight /= weight.sum()
    rng = np.random.default_rng(seed)
    drawn = chains.rows(rng.choice(size, p=weight, size=20_000))
    leaper = _leaper(target, chains, weight)
    if not ratio:
        leaper.log_chance = lambda machines, discount, rung: np.zeros(machines.size)  # type: ignore[method-assign]
    rungs = np.ones(drawn.size, dtype=np.int64)
    after, jumped = leaper.step(rng, drawn, rungs)
    assert jumped.mean() > 0.02
    after, _ = leaper.step(rng, after, rungs)
    return _fits(_names(after, target), _names(chains, target), weight)


@pytest.mark.parametrize("seed", range(4))
def test_exact_samples_after_leaps_are_exact_samples(seed: int) -> None:
    assert _p_value(seed, (3,), ratio=True) > 0.001


@pytest.mark.parametrize("seed", range(2))
def test_machines_of_several_sizes_leap(seed: int) -> None:
    assert _p_value(seed, (1, 2, 3), ratio=True) > 0.001


def test_leaps_without_the_ratio_are_found_out() -> None:
    assert _p_value(0, (3,), ratio=False) < 1e-6


def _with_experts(seed: int, *, ratio: bool) -> tuple[float, float]:
    """Return the same for machines at two discounts, and for alpha, which is unknown."""
    target = _target(seed, (2,), unknowns(None, "infer", 0.1, (0.7, 0.9)))
    machines = _every(target)
    low, high = AlphaPrior().bounds
    edges = np.linspace(low, high, 301)
    middle, count = (edges[1:] + edges[:-1]) / 2, len(edges) - 1
    row, place, at = (
        part.reshape(-1) for part in np.indices((machines.size, 2, count), dtype=np.int64)
    )
    experts = Experts(np.exp(middle[at]), np.full(len(at), 0.1), place)
    every = target.chains(machines.rows(row), experts)
    weight = np.exp(every.log_likelihood / TEMPERATURES[1] + every.log_prior)
    weight /= weight.sum()
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(weight), p=weight, size=20_000)
    inside = middle[at[chosen]] + (edges[1] - edges[0]) * (rng.random(20_000) - 0.5)
    drawn = target.chains(
        machines.rows(row[chosen]),
        Experts(np.exp(inside), np.full(20_000, 0.1), place[chosen]),
    )
    leaper = _leaper(target, every, weight)
    if not ratio:
        leaper.target.carrier.__dict__["log_proposed"] = lambda expected, place: 0.0
    after, jumped = leaper.step(rng, drawn, np.ones(20_000, dtype=np.int64))
    assert jumped.mean() > 0.03
    cuts = np.searchsorted(edges, np.quantile(inside, np.linspace(0, 1, 21)[1:-1]))
    bins = edges[np.unique(cuts)]
    wanted = np.bincount(np.searchsorted(bins, middle[at]), weight, len(bins) + 1)
    found = np.searchsorted(bins, np.log(after.experts.alpha))
    seen = np.bincount(found, minlength=len(bins) + 1)
    by_alpha = chisquare(seen, wanted / wanted.sum() * seen.sum()).pvalue
    return _fits(_names(after, target), _names(every, target), weight), float(by_alpha)


@pytest.mark.parametrize("seed", range(2))
def test_machines_leap_with_their_experts(seed: int) -> None:
    of_machines, of_alpha = _with_experts(seed, ratio=True)
    assert of_machines > 0.001
    assert of_alpha > 0.0001  # a grid of 300 alphas stands for all of them


def test_experts_who_leap_without_the_ratio_are_found_out() -> None:
    assert min(_with_experts(0, ratio=False)) < 1e-6


def test_chances_of_leaps_are_how_often_they_are_made() -> None:
    target = _target(1, (2,), unknowns(None, "infer", 0.1, (0.7, 0.9)))
    machines = _every(target)
    rows = np.arange(4) * 30
    leaper = Leaper(target, Census(machines.rows(rows), np.arange(4) % 2), TEMPERATURES)
    rungs = np.zeros(40_000, dtype=np.int64)
    made, place = leaper.drawn(np.random.default_rng(0), rungs)
    valid = target.space.valid(made)
    ordered = census.canonical(made.rows(valid), target.space)
    found = census.keys(Census(ordered, place[valid]))
    every = machines.rows(np.repeat(np.arange(machines.size), 2))
    of_place = np.tile(np.arange(2), machines.size)
    chance = np.exp(leaper.log_chance(every, of_place, np.zeros(every.size, dtype=np.int64)))
    names = census.keys(Census(census.canonical(every, target.space), of_place))
    assert abs(chance.sum() - valid.mean()) < 0.01
    assert _fits(found, names, chance / chance.sum()) > 0.001


def _listed(some: Census) -> set[bytes]:
    return set(census.keys(some))


@pytest.mark.parametrize("sizes", [(2,), (1, 2)])
def test_where_machines_are_few_all_of_them_are_in_the_census(sizes: tuple[int, ...]) -> None:
    target = _target(0, sizes, unknowns(None, None, None, (0.7, 0.9)))
    machines = _every(target)
    ordered = census.canonical(machines, target.space)
    wanted = {
        key
        for place in range(2)
        for key in census.keys(Census(ordered, np.full(ordered.size, place)))
    }
    found = surveying.everybody(target)
    assert found is not None
    assert found.size == len(wanted)
    assert _listed(found) == wanted


def test_machines_of_warmer_rungs_are_what_leaps_are_made_around() -> None:
    target = _target(2, (3,), KNOWN)
    machines = _every(target)
    rows: Ints = np.random.default_rng(0).choice(machines.size, 40, replace=False)
    size = len(rows)
    experts = Experts(np.full(size, 8.0), np.full(size, 0.1), np.zeros(size, dtype=np.int64))
    chains = target.chains(machines.rows(rows), experts)
    best = chains.rows(np.array([int(target.score(chains).argmax())]))
    found, _ = surveying.survey(target, best, chains, 20)
    weight = census.weigh(target, found, np.ones(found.size)).log_weight
    around = surveying.centres(found, weight)
    light = weight < weight[0] - census.KEPT - surveying.TIE
    assert 0 < light.sum() <= surveying.MOST_FAR
    assert around is not None
    assert around.size == light.sum() + 1
    assert _listed(around) <= _listed(found)


def test_shares_of_centres_are_numbers_however_far_machines_are_from_them() -> None:
    weight = np.zeros(41)
    weight[0] = -2_000.0  # counts for nothing, and only the second centre has it
    each = np.zeros((41, 2))
    each[:, 1], each[0] = -800.0, (-2_000.0, 0.0)
    share = np.exp(_shares(weight, each))
    assert share.sum() == pytest.approx(1)
    assert share[1] == pytest.approx(0.1)  # its part of those that are dealt out evenly
