from __future__ import annotations

import math

import numpy as np
import pytest

from whence._arrays import Ints
from whence.errors import ArgumentError
from whence.model.canonical import valid
from whence.search import neighbours
from whence.search.machines import (
    Machines,
    check_space,
    of_one_size,
    uniform,
    until_valid,
)

LEVELS = (0.0, 1.0, 2.0)


def _task(size: int) -> Machines:
    """Return copies of a machine of which almost every neighbour is valid: 3 states, 2 symbols."""
    transitions = np.array([[1, 2], [2, 0], [0, 1]])
    paid = np.array([[0, 1], [2, 0], [1, 2]])
    return of_one_size(np.repeat(transitions[None], size, 0), np.repeat(paid[None], size, 0))


def _changes(old: Machines, new: Machines) -> Ints:
    """Return int[B]: how many of the entries differ."""
    tables = zip(old[:2], new[:2], strict=True)
    differ = [(a != b).reshape(len(a), -1).sum(axis=1) for a, b in tables]
    return np.asarray(differ[0] + differ[1])


@pytest.mark.parametrize("p", [1e-9, 1 / 16, 0.5, 0.95])
def test_entries_are_chosen_independently_given_that_one_is(p: float) -> None:
    size, length = 40_000, 6
    chosen = neighbours.some_of(np.random.default_rng(0), (size, length), p)
    assert chosen.any(axis=1).all()
    share = p / -math.expm1(length * math.log1p(-p))  # P(entry | at least one)
    error = math.sqrt(share * (1 - share) / size)
    assert np.abs(chosen.mean(axis=0) - share).max() < 4.5 * error
    count = chosen.sum(axis=1)
    for k in range(1, length + 1):
        binomial = math.comb(length, k) * p**k * (1 - p) ** (length - k)
        expected = binomial / -math.expm1(length * math.log1p(-p))
        error = math.sqrt(expected * (1 - expected) / size) + 1e-4
        assert abs((count == k).mean() - expected) < 4.5 * error


def test_pairs_of_entries_are_chosen_as_often_as_independence_says() -> None:
    size, p = 40_000, 0.3
    chosen = neighbours.some_of(np.random.default_rng(1), (size, 4), p)
    expected = p * p / (1 - (1 - p) ** 4)
    error = math.sqrt(expected * (1 - expected) / size)
    for i in range(4):
        for j in range(i):
            assert abs((chosen[:, i] & chosen[:, j]).mean() - expected) < 4.5 * error


def test_one_changes_exactly_one_entry_each_as_often() -> None:
    size = 24_000
    old = _task(size)
    new = neighbours.one(np.random.default_rng(2), old, LEVELS, 0.5)
    assert (_changes(old, new) == 1).all()
    entries = np.concatenate(
        [(a != b).mean(axis=0).ravel() for a, b in zip(old[:2], new[:2], strict=True)]
    )
    error = math.sqrt(1 / 12 * 11 / 12 / size)
    assert np.abs(entries - 1 / 12).max() < 4.5 * error


def test_changed_entries_take_every_other_value_equally_often() -> None:
    size = 30_000
    old = _task(size)
    new = neighbours.one(np.random.default_rng(3), old, LEVELS, 0.5)
    for table, before, values in ((new.transitions, 1, (0, 2)), (new.paid, 0, (1, 2))):
        entry = table[:, 0, 0]
        changed = entry[entry != before]
        assert set(changed.tolist()) == set(values)
        assert abs((changed == values[0]).mean() - 0.5) < 4.5 * 0.5 / math.sqrt(len(changed))


@pytest.mark.parametrize("kind", ["several", "one"])
@pytest.mark.parametrize(
    ("n", "m", "levels"), [(3, 4, (0.0, 1.0)), (1, 3, LEVELS), (4, 1, LEVELS)]
)
def test_neighbours_are_valid_different_and_pay_levels(
    kind: str, n: int, m: int, levels: tuple[float, ...]
) -> None:
    rng = np.random.default_rng(4)
    old = uniform(rng, 500, n, m, levels)
    new = neighbours.KINDS[kind](rng, old, levels, 0.4)
    assert valid(*new.tables(levels)).all()
    assert (_changes(old, new) >= 1).all()
    assert np.isin(new.paid, np.arange(len(levels))).all()
    assert new.transitions.shape == (500, n, m)


def test_the_neighbours_of_each_machine_do_not_depend_on_the_others_values() -> None:
    old = uniform(np.random.default_rng(5), 8, 3, 2, LEVELS)
    before = [table.copy() for table in old]
    neighbours.several(np.random.default_rng(6), old, LEVELS, 0.9)
    assert all((a == b).all() for a, b in zip(old, before, strict=True))


def test_random_machines_are_uniform_over_the_valid_ones() -> None:
    found = uniform(np.random.default_rng(7), 20_000, 2, 1, (0.0, 1.0))
    transitions, rewards = found.tables((0.0, 1.0))
    codes = np.concatenate([transitions, rewards], axis=1).reshape(-1, 4) @ [8, 4, 2, 1]
    counts = np.bincount(codes.astype(int), minlength=16)
    # state 0 must lead to state 1, and one of the rewards must be 1: 2 * 3 machines
    assert (counts > 0).sum() == 6
    assert counts[[9, 10, 11, 13, 14, 15]].min() > 0
    assert np.abs(counts[counts > 0] / 20_000 - 1 / 6).max() < 4.5 * math.sqrt(5 / 36 / 20_000)


def test_searches_without_an_end_are_refused() -> None:
    with pytest.raises(ArgumentError, match="nothing to search"):
        check_space(1, 1, (0.0, 1.0))
    with pytest.raises(ArgumentError, match="nothing to search"):
        check_space(2, 0, (0.0, 1.0))
    check_space(1, 1, LEVELS)

    def never(rows: Ints) -> Machines:
        return of_one_size(*np.zeros((2, len(rows), 1, 1), dtype=int))

    with pytest.raises(ArgumentError, match=r"no valid machine in 20000 draws with .*: lower p0"):
        until_valid(never, 2, 0, neighbours.CURE)
