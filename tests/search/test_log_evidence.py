"""Log evidence from a sample, beside the sum over all machines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whence
from support.problems import random_machine, random_world
from whence import Expert, Tempering

QUICK = Tempering(ladders=4, rungs=5, steps=900, until_agreed=False)


def _evidence(seed: int, **asked: Any) -> tuple[dict[Any, tuple[float, float]], ...]:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=8, actions=3, symbols=2, successors=2, blank=0.3)
    task = random_machine(rng, mdp.alphabet, 2)
    demos = whence.simulate(mdp, task, Expert(8.0, 0.9, 0.1), episodes=10, length=8, seed=seed)
    exact = whence.infer(mdp, demos, states=(1, 2), method="exhaustive", **asked)
    sampled = whence.infer(mdp, demos, states=(1, 2), settings=QUICK, seed=seed, **asked)
    return dict(exact.log_evidence), dict(sampled.log_evidence)


@pytest.mark.parametrize(("seed", "known"), [(0, True), (1, True), (2, True), (1, False)])
def test_evidence_from_a_sample_is_that_of_all_machines(seed: int, known: bool) -> None:
    asked = {"expert": Expert(8.0, 0.9, 0.1)} if known else {"discount": 0.9}
    exact, sampled = _evidence(seed, **asked)
    assert sampled
    for n, (value, error) in sampled.items():
        assert error < 0.1
        assert abs(value - exact[n][0]) < 4 * error + 0.01
