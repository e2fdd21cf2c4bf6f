"""whence against solvers that nobody here wrote; `benchmarks/differential.py` asks for more."""

from __future__ import annotations

import pytest

from support import differing

PROBLEMS = 100
ROUNDING = 1e-9

pytestmark = pytest.mark.slow


def test_optimal_values_are_those_of_quantecon() -> None:
    assert max(differing.values(seed, "quantecon") for seed in range(PROBLEMS)) < ROUNDING


def test_optimal_values_are_those_of_storm() -> None:
    pytest.importorskip("stormpy")
    assert max(differing.values(seed, "storm") for seed in range(PROBLEMS)) < ROUNDING


def test_machines_are_the_same_where_automata_are() -> None:
    for seed in range(PROBLEMS):
        differing.equality(seed)


def test_log_likelihoods_are_those_of_scipy() -> None:
    assert max(differing.likelihood(seed) for seed in range(PROBLEMS)) < ROUNDING
