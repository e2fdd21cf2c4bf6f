from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from whence import AlphaPrior, Expert
from whence.errors import ArgumentError
from whence.model.expert import best_actions


def test_boltzmann_probabilities_by_hand() -> None:
    p = Expert(alpha=2, discount=0.9).action_probabilities(np.array([0.0, 1.0]))
    assert p == pytest.approx([1 / (1 + math.e**2), math.e**2 / (1 + math.e**2)], rel=1e-14)


def test_a_lapse_is_spread_evenly() -> None:
    p = Expert(alpha=math.inf, discount=0.9, lapse=0.1).action_probabilities(
        np.array([[0.0, 1.0, 1.0, 0.5]])
    )
    assert p == pytest.approx(np.array([[0.025, 0.475, 0.475, 0.025]]), rel=1e-14)


def test_infinite_alpha_splits_ties_within_a_billionth() -> None:
    q = np.array([1.0, 1.0 - 5e-10, 1.0 - 2e-9])
    assert Expert(math.inf, 0.5).action_probabilities(q).tolist() == [0.5, 0.5, 0.0]


def test_ties_of_huge_values_count_as_floating_point_resolves_them() -> None:
    assert best_actions(np.array([1e9, 1e9 - 1e-6, 1e9 - 1.0])).tolist() == [True, True, False]


def test_large_alpha_and_values_do_not_overflow() -> None:
    p = Expert(alpha=1e6, discount=0.9).action_probabilities(np.array([1e9, -1e9]))
    assert p.tolist() == [1.0, 0.0]
    assert Expert(alpha=0, discount=0.9).action_probabilities(np.zeros(4)).tolist() == [0.25] * 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 0.9), "alpha is -1"),
        ((math.nan, 0.9), "alpha is nan"),
        (("x", 0.9), "alpha is x"),
        ((1, 1.0), "discount is 1.0"),
        ((1, -0.1), "discount is -0.1"),
        ((1, 0.9, 1.5), "lapse is 1.5"),
        ((1, 0.9, math.nan), "lapse is nan"),
    ],
)
def test_bad_experts_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Expert(*arguments)


@pytest.mark.parametrize("spread", [1e-6, 0.01, 0.5])
def test_a_narrow_prior_of_alpha_can_be_sampled(spread: float) -> None:
    drawn = AlphaPrior(30.0, spread).sample(np.random.default_rng(0), 20_000)
    away = (drawn - np.log(30.0)) / spread
    assert np.mean(np.abs(away) < np.log(3)) == pytest.approx(0.5, abs=0.02)  # its quartiles
