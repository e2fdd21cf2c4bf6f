"""What tells machines apart, in worlds that are walked and by what large ones can produce."""

from __future__ import annotations

import numpy as np
import pytest

from support.problems import random_machine, random_world
from whence import LabeledMDP, RewardMachine
from whence.analysis import apart
from whence.model.equivalence import difference_in


@pytest.mark.parametrize("seed", range(30))
def test_both_ways_find_a_shortest_difference(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng((91, seed))
    mdp = random_world(
        rng, states=int(rng.integers(4, 30)), actions=2, symbols=3, successors=2, blank=0.6
    )
    one, other = (random_machine(rng, mdp.alphabet, int(rng.integers(1, 4))) for _ in range(2))
    walked = difference_in(one, other, mdp)
    monkeypatch.setattr(apart, "LARGE", 0)
    found = apart.told_apart(one, other, mdp)
    assert (found is None) == (walked is None)
    if found is not None:
        assert walked is not None
        assert len(found) == len(walked)
        assert one.run(found).rewards[:-1] == other.run(found).rewards[:-1]
        assert one.run(found).rewards[-1] != other.run(found).rewards[-1]


def test_a_long_corridor_is_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    size = 30_000
    here = np.arange(size)
    rows = [
        np.stack([here, np.full(size, a), np.clip(here + by, 0, size - 1), np.ones(size)], 1)
        for a, by in enumerate((-1, 1))
    ]
    labels: list[str | None] = [None] * size
    labels[-1], labels[0] = "a", "b"
    mdp = LabeledMDP.from_triples(np.concatenate(rows), states=size, actions=2, labels=labels,
                                  alphabet=["a", "b"], initial=size // 2)  # fmt: skip

    def refused(*_: object) -> None:
        raise AssertionError("every place was walked")

    monkeypatch.setattr(apart, "difference_in", refused)
    one = RewardMachine.from_arrows(["0 -a-> 1", "1 -b/1-> 0"], alphabet=("a", "b"))
    other = RewardMachine.from_arrows(["0 -a-> 1", "1 -b/1-> 1"], alphabet=("a", "b"))
    assert apart.told_apart(one, other, mdp) == ("a", "b", "b")
    assert apart.told_apart(one, one, mdp) is None
