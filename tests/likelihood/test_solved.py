"""Machines solved once for all experts: the same log likelihoods as solving them for each."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import whence
from support.problems import masked, random_machine, random_world
from whence import Expert, Posterior
from whence._arrays import Floats, Ints
from whence.likelihood import solved
from whence.likelihood.solved import Solved

DISCOUNTS = (0.5, 0.9, 0.99)


def _problem(
    seed: int,
) -> tuple[list[Posterior], tuple[Ints, Floats], tuple[Ints, Floats, Floats]]:
    """Return posteriors by discount over two worlds, 60 machines, and discounts and experts."""
    rng = np.random.default_rng(seed)
    pairs = []
    for actions in (2, 3):  # worlds with other numbers of actions, one of them with masks
        mdp = random_world(rng, states=9, actions=actions, symbols=2, successors=seed % 2 + 1)
        mdp = masked(rng, mdp) if actions == 3 else mdp
        task = random_machine(rng, mdp.alphabet, 2)
        demos = whence.simulate(mdp, task, Expert(3.0, 0.9, 0.1), episodes=8, length=9, seed=seed)
        pairs.append((mdp, demos))
    first = Posterior(pairs, expert=Expert(1.0, DISCOUNTS[0]), rewards=(-1.0, 0.0, 2.0))
    posteriors = [first.of_expert(Expert(1.0, discount)) for discount in DISCOUNTS]
    transitions = rng.integers(0, 3, (60, 3, 2))
    rewards = rng.choice([-1.0, 0.0, 2.0], (60, 3, 2))
    alpha = 10 ** rng.uniform(-2, 3, 60)
    lapse = np.where(rng.random(60) < 0.4, 0.0, rng.uniform(0, 0.5, 60))
    return posteriors, (transitions, rewards), (rng.integers(0, 3, 60), alpha, lapse)


@pytest.mark.parametrize("seed", range(4))
def test_log_likelihoods_are_those_of_the_engines(seed: int) -> None:
    posteriors, tables, (discount, alpha, lapse) = _problem(seed)
    assert Solved(posteriors).serves(alpha, discount).all()
    found = Solved(posteriors).log_likelihood(*tables, discount, alpha, lapse)
    for number, posterior in enumerate(posteriors):
        rows = discount == number
        wanted = posterior.log_likelihood(
            tables[0][rows], tables[1][rows], alpha=alpha[rows], lapse=lapse[rows], tolerance=1e-6
        )
        assert np.abs(found[rows] - wanted).max() < 1e-5


def test_numbers_do_not_depend_on_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    posteriors, tables, (discount, alpha, lapse) = _problem(5)
    whole = Solved(posteriors).log_likelihood(*tables, discount, alpha, lapse)
    one = Solved(posteriors)
    again = [one.log_likelihood(*tables, discount, alpha, lapse) for _ in range(2)]
    assert (again[1] == whole).all()
    monkeypatch.setattr(solved, "KEPT", 500)
    monkeypatch.setattr(solved, "ROOM", 300)
    few = Solved(posteriors)
    order = np.random.default_rng(0).permutation(60)
    parts = few.log_likelihood(
        tables[0][order], tables[1][order], discount[order], alpha[order], lapse[order]
    )
    assert (parts == whole[order]).all()


def test_experts_that_are_too_sharp_for_it_are_told() -> None:
    posteriors, _, _ = _problem(1)
    sharp = np.array([10.0, 1e9, np.inf])
    assert Solved(posteriors).serves(sharp, np.zeros(3, dtype=np.int64)).tolist() == [
        True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_rows_without_the_empty_ones_are_those_of_all_rows(seed: int) -> None:
    posteriors, (transitions, rewards), (discount, _, _) = _problem(seed)
    one = Solved(posteriors)
    tables, _ = one.keyed(transitions, rewards, discount)
    q, counts = one.all_rows(posteriors[1], tables, solved.EXACT * one.largest)
    rows = one._solved(np.ones(60, dtype=np.int64), tables)
    for own, taken, found in zip(q, counts, rows, strict=True):
        used = np.flatnonzero(taken.any(axis=1))
        assert np.array_equal(found[0], own[used])
        assert np.array_equal(found[1], taken[used])
        assert taken.sum() == posteriors[1].n_steps


def test_threads_may_keep_rows_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solved, "KEPT", 20_000)
    posteriors, _, _ = _problem(6)
    shared = Solved(posteriors)
    row = np.zeros((1, 1)), np.zeros((1, 1))

    def keep(thread: int) -> None:
        for first in range(0, 12_000, 10):
            shared._keep({f"{thread} {first + i}".encode(): row for i in range(10)})

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(keep, range(4)))
    finally:
        sys.setswitchinterval(before)
    assert shared._numbers == 2 * len(shared._kept)
