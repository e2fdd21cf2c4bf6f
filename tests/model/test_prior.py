from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from support.problems import valid_machines
from whence import Prior, RewardMachine
from whence._arrays import Floats, Ints
from whence.errors import ArgumentError
from whence.model.canonical import valid
from whence.model.prior import checked_levels


def test_the_papers_formula_by_hand() -> None:
    transitions = np.array([[[0, 1], [1, 1]]])
    rewards = np.array([[[0.0, 2.0], [0.0, 0.0]]])
    value = Prior().log_prior(transitions, rewards, (0.0, 1.0, 2.0))[0]
    expected = 3 * math.log(3 / 4) + math.log((1 / 4) / 2) + 3 * math.log(3 / 5) + math.log(2 / 5)
    assert value == pytest.approx(expected, rel=1e-14)


def test_one_state_has_no_factor_for_transitions() -> None:
    value = Prior().log_prior(np.zeros((1, 1, 2), dtype=int), np.array([[[0.0, 1.0]]]), (0.0, 1.0))
    assert value[0] == pytest.approx(math.log(3 / 4) + math.log(1 / 4), rel=1e-14)


def test_it_sums_to_one_over_all_tables() -> None:
    tables = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T.reshape(-1, 2, 2)
    total = sum(
        np.exp(Prior(0.7, 0.4).log_prior(tables, np.repeat(r[None], 16, axis=0), (0.0, 1.0))).sum()
        for r in tables.astype(float)
    )
    assert total == pytest.approx(1, rel=1e-12)


def test_a_reward_that_is_no_level_has_prior_zero() -> None:
    rewards = np.array([[[0.5]], [[0.0]]])
    value = Prior().log_prior(np.zeros((2, 1, 1), dtype=int), rewards, (0.0, 1.0))
    assert value[0] == -math.inf
    assert math.isfinite(value[1])


def test_levels_are_sorted_and_must_contain_zero() -> None:
    assert checked_levels((2, 0, 1, 0)) == (0.0, 1.0, 2.0)
    for bad in ((1.0,), (0.0, math.inf), ("x",)):
        with pytest.raises(ArgumentError, match="rewards are"):
            checked_levels(bad)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="p_self is 1"):
        Prior(p_self=1.0)


def test_samples_are_valid_and_follow_the_prior() -> None:
    prior, levels = Prior(0.7, 0.6), (0.0, 1.0)
    transitions, rewards = prior.sample(np.random.default_rng(0), 2, 1, levels, 20_000)
    machines = [
        RewardMachine(("a",), t, r) for t, r in zip(transitions[:50], rewards[:50], strict=True)
    ]
    assert all(machine.is_valid for machine in machines)
    tables = np.array(list(product((0, 1), repeat=4)))
    every = tables[:, :2].reshape(-1, 2, 1), tables[:, 2:].reshape(-1, 2, 1).astype(float)
    kept = valid(*every)
    weights = np.exp(prior.log_prior(every[0][kept], every[1][kept], levels))
    expected = weights / weights.sum()
    codes = np.concatenate([transitions, rewards], axis=1).reshape(-1, 4) @ [8, 4, 2, 1]
    seen = np.bincount(codes.astype(int), minlength=16)[kept] / len(codes)
    errors = np.sqrt(expected * (1 - expected) / len(codes))
    assert (np.abs(seen - expected) < 4.5 * errors).all()


@pytest.mark.parametrize("seed", range(20))
def test_validity_of_a_batch_is_that_of_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    transitions = rng.integers(0, 4, size=(30, 4, 2))
    rewards = (rng.random((30, 4, 2)) < 0.1).astype(float)
    each = [
        RewardMachine(("a", "b"), t, r).is_valid for t, r in zip(transitions, rewards, strict=True)
    ]
    assert valid(transitions, rewards).tolist() == each


def test_impossible_samples_are_refused() -> None:
    for n, m, levels in ((0, 1, (0.0, 1.0)), (1, 0, (0.0, 1.0)), (1, 1, (0.0,))):
        with pytest.raises(ArgumentError, match="no valid machine"):
            Prior().sample(np.random.default_rng(0), n, m, levels, 3)


SMALL = [(1, 1, 2), (1, 2, 3), (2, 1, 2), (2, 2, 2), (3, 1, 3), (3, 2, 2), (4, 1, 2)]


@pytest.mark.parametrize(("n", "m", "g"), SMALL)
def test_the_normaliser_is_the_prior_of_all_valid_machines(n: int, m: int, g: int) -> None:
    prior, levels = Prior(0.55, 0.3), tuple(float(level) for level in range(g))
    total = np.exp(prior.log_prior(*valid_machines(n, m, levels), levels)).sum()
    assert prior.normaliser(n, m) == pytest.approx(math.log(total), rel=1e-11)


def test_the_normaliser_keeps_its_digits_where_valid_machines_are_rare() -> None:
    # one symbol: 0 leads to a chain through all states, the last one anywhere: 19! orders
    prior = Prior(0.5, 0.75)
    expected = math.lgamma(20) + 19 * math.log(0.5 / 19) + math.log1p(-(0.75**20))
    assert prior.normaliser(20, 1) == pytest.approx(expected, rel=1e-11)


def test_masses_over_a_range_of_sizes_sum_to_one() -> None:
    prior, levels, sizes = Prior(0.7, 0.4), (0.0, 1.0), range(1, 4)
    masses = []
    for n in sizes:
        transitions, rewards = valid_machines(n, 2, levels)
        copies = math.factorial(n - 1)
        mass = np.exp(prior.log_mass(transitions, rewards, levels, sizes)).sum() / copies
        masses.append(mass)
    assert masses == pytest.approx([4 / 7, 2 / 7, 1 / 7], rel=1e-11)
    assert math.exp(Prior().log_size(5, range(5, 6))) == pytest.approx(1, rel=1e-14)


def test_no_valid_machine_has_no_normaliser() -> None:
    for n, m in ((0, 1), (1, 0)):
        with pytest.raises(ArgumentError, match="no valid machine"):
            Prior().normaliser(n, m)


@pytest.mark.parametrize("name", ["p_self", "p_zero"])
@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1.1, math.nan])
def test_probabilities_lie_strictly_between_0_and_1(name: str, value: float) -> None:
    with pytest.raises(ArgumentError, match=f"{name} is .*between 0 and 1"):
        Prior(**{name: value})


@pytest.mark.parametrize("size", [0, 1, 7])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_samples_keep_transitions_and_rewards_together(n: int, size: int) -> None:
    """What is drawn is what entry-by-entry draws of the same generator give, the valid ones."""
    prior, levels = Prior(0.3, 0.8), (-1.0, 0.0, 2.0)
    transitions, rewards = prior.sample(np.random.default_rng(4), n, 2, levels, size)
    assert transitions.shape == rewards.shape == (size, n, 2)
    assert ((transitions >= 0) & (transitions < n)).all()
    assert valid(transitions, rewards).all()
    rng = np.random.default_rng(4)
    kept: list[tuple[Ints, Floats]] = []
    while len(kept) < size:
        drawn = prior._draw(rng, (2 * (size - len(kept)) + 8, n, 2), levels)
        kept += [pair for pair in zip(*drawn, strict=True) if valid(*(t[None] for t in pair))[0]]
    for i, (targets, paid) in enumerate(kept[:size]):
        assert np.array_equal(transitions[i], targets)
        assert np.array_equal(rewards[i], paid)


def test_draws_of_an_entry_follow_its_prior() -> None:
    prior, levels = Prior(0.3, 0.8), (-1.0, 0.0, 2.0)
    transitions, rewards = prior._draw(np.random.default_rng(0), (30_000, 3, 1), levels)
    for state in range(3):
        seen = np.bincount(transitions[:, state, 0], minlength=3) / 30_000
        expected = np.where(np.arange(3) == state, 0.3, 0.35)
        assert (np.abs(seen - expected) < 5 * np.sqrt(expected * (1 - expected) / 30_000)).all()
    for level, chance in ((0.0, 0.8), (-1.0, 0.1), (2.0, 0.1)):
        error = 5 * math.sqrt(chance * (1 - chance) / rewards.size)
        assert abs((rewards == level).mean() - chance) < error


def test_where_zero_is_the_only_level_machines_that_pay_nothing_are_possible() -> None:
    transitions, rewards = np.zeros((2, 1, 3), dtype=int), np.zeros((2, 1, 3))
    rewards[1, 0, 2] = 1.0
    found = Prior().log_prior(transitions, rewards, (0.0,))
    assert found[0] == pytest.approx(3 * math.log(3 / 4), rel=1e-14)
    assert found[1] == -math.inf
