from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import whence
from whence.errors import ArgumentError, MissingExtraError
from whence.search import diagnostics

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


def test_episodes_add_up_to_the_log_likelihood_of_each_draw(run: whence.Run) -> None:
    data = run.to_arviz(predicted=0)
    by_episode = np.asarray(data["log_likelihood"]["episodes"])
    assert by_episode.shape[2] == 5
    whole = np.asarray(data["posterior"]["log_likelihood"])
    assert by_episode.sum(axis=2) == pytest.approx(whole, abs=0.02)
    assert run.draws is not None
    at = int(np.flatnonzero(run.draws.ladder == 1)[3])
    n = int(run.draws.n_states[at])
    machine = whence.RewardMachine(
        WORLD.mdp.alphabet, run.draws.transitions[at, :n], run.draws.rewards[at, :n]
    )
    alpha, discount, lapse = (float(getattr(run.draws, name)[at]) for name in EXPERT)
    expert = whence.Expert(alpha, discount, lapse)
    posterior = whence.Posterior(WORLD.mdp, run.job.pairs[0][1], expert=expert)
    assert by_episode[1, 3] == pytest.approx(posterior.log_likelihood_by_episode(machine))


EXPERT = ("alpha", "discount", "lapse")


def test_priors_of_machine_and_expert_add_up(run: whence.Run) -> None:
    data = run.to_arviz(predicted=0)
    parts = data["log_prior"]
    both = np.asarray(parts["machine"]) + np.asarray(parts["expert"])
    assert both == pytest.approx(np.asarray(data["posterior"]["log_prior"]))


def test_the_ladders_and_the_minimised_size_are_there(run: whence.Run) -> None:
    data = run.to_arviz(predicted=0)
    rates = np.asarray(data["sample_stats"]["swap_rate"])
    assert len(rates) + 1 == len(data["sample_stats"]["temperatures"]) > 2
    assert float(data["sample_stats"]["Lambda"]) == pytest.approx((1 - rates).sum())
    assert run.posterior is not None
    smallest = np.asarray(data["posterior"]["n_minimal"]).ravel()
    found = {n: float((smallest == n).mean()) for n in np.unique(smallest).tolist()}
    assert found == pytest.approx(run.posterior.n_states, abs=2 / len(smallest))


def test_what_draws_make_is_beside_what_was_seen(run: whence.Run) -> None:
    data = run.to_arviz(predicted=4)
    seen = data["observed_data"]["label_counts"]
    assert seen.dims == ("episode", "symbol")
    demos = run.job.pairs[0][1]
    labels = [WORLD.mdp.label(s) for s in demos[0].states[1:]]
    assert np.asarray(seen)[0].tolist() == [labels.count(s) for s in WORLD.mdp.alphabet]
    made = data["posterior_predictive"]["label_counts"]
    assert made.shape == (2, 4, 5, 3)
    assert data["posterior_predictive"]["turns_back"].shape == (2, 4, 5)
    again = run.to_arviz(predicted=4)["posterior_predictive"]["label_counts"]
    assert np.array_equal(np.asarray(made), np.asarray(again))


def test_arviz_can_do_what_statisticians_ask_for(run: whence.Run) -> None:
    data = run.to_arviz(predicted=0, every=2)
    assert data["posterior"]["alpha"].shape[1] == -(-run.draws.size // 2 // 2)  # type: ignore[union-attr]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few draws make importance weights heavy
        import arviz

        loo = arviz.loo(data)
        assert loo.n_data_points == 5
        ranks = arviz.compare({"one": data, "other": run.to_arviz(predicted=0)})
        assert set(ranks.index) == {"one", "other"}
        if hasattr(arviz, "psense"):  # from ArviZ 1.0 on
            shift = arviz.psense(data, group="prior", group_var_names=["expert"])
        else:
            shift = arviz.psens(data, component="prior", component_var_names=["expert"])
        assert np.isfinite(float(shift["alpha"]))
        chains = np.asarray(data["posterior"]["alpha"])
        assert float(arviz.rhat(chains)) == pytest.approx(diagnostics.rhat(chains))
        assert float(arviz.ess(chains, method="mean")) == pytest.approx(diagnostics.ess(chains))


def test_methods_without_chains_are_refused() -> None:
    demos = whence.simulate(WORLD.mdp, WORLD.task, WORLD.expert, episodes=2, length=9, seed=0)
    run = whence.infer(WORLD.mdp, demos, states=1, expert=WORLD.expert, method="exhaustive")
    with pytest.raises(ArgumentError, match="draws no chains"):
        run.to_arviz()


def test_a_missing_arviz_is_named(run: whence.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'whence\[arviz\]'"):
        run.to_arviz()
