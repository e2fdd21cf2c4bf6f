from __future__ import annotations

import math

import numpy as np
import pytest

from whence import Prior
from whence.errors import ArgumentError
from whence.prior import checked_levels


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
