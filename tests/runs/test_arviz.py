from __future__ import annotations

import sys

import numpy as np
import pytest

import whence
from whence.errors import ArgumentError, MissingExtraError

WORLD = whence.worlds.coffee()


@pytest.fixture(scope="module")
def run() -> whence.Run:
    demos = whence.simulate(WORLD.mdp, WORLD.task, WORLD.expert, episodes=5, length=50, seed=0)
    return whence.infer(WORLD.mdp, demos, states=(1, 2), discount=0.92, seed=0, steps=60)


def test_ladders_are_chains_and_draws_come_back(run: whence.Run) -> None:
    data = run.to_arviz()
    found = data["posterior"]
    assert run.draws is not None
    assert run.posterior is not None
    ladders = np.unique(run.draws.ladder)
    assert found["alpha"].dims == ("chain", "draw")
    assert found["alpha"].shape[0] == len(ladders) == 2
    for name in ("n_states", "alpha", "lapse", "discount", "log_likelihood", "log_prior"):
        values = np.asarray(found[name])
        for chain, ladder in enumerate(ladders):
            mine = getattr(run.draws, name)[run.draws.ladder == ladder]
            assert np.array_equal(values[chain], mine[: values.shape[1]])
    share = np.bincount(np.asarray(found["machine"]).ravel(), minlength=len(run.posterior))
    assert share / share.sum() == pytest.approx(run.posterior.weights, abs=2 / share.sum())


def test_methods_without_chains_are_refused() -> None:
    demos = whence.simulate(WORLD.mdp, WORLD.task, WORLD.expert, episodes=2, length=9, seed=0)
    run = whence.infer(WORLD.mdp, demos, states=1, expert=WORLD.expert, method="exhaustive")
    with pytest.raises(ArgumentError, match="draws no chains"):
        run.to_arviz()


def test_a_missing_arviz_is_named(run: whence.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'whence\[arviz\]'"):
        run.to_arviz()
