"""Machines weighed over all dynamics that a log allows for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whence
from support.draws import draws_of
from whence import Demonstrations, Episode, Expert, LabeledMDP, Posterior
from whence._arrays import Floats
from whence.analysis import rough_chains, roughness
from whence.likelihood.redrawn import Redrawn
from whence.model.rough import rough_dynamics
from whence.search.problem import Problem
from whence.search.unknowns import unknowns

EXPERT = Expert(alpha=4, discount=0.8)
LABEL = [None, "a", "b"]


def shown() -> Demonstrations:
    """From state 0, `0` led to a twice and to b once, and `1` to b once: hardly anything."""
    ways = [(0, 0, 1), (0, 0, 1), (0, 0, 2), (0, 1, 2), (1, 0, 0), (2, 1, 0), (1, 1, 1)]
    return Demonstrations.from_episodes(
        [Episode([s, t], [a], [LABEL[s], LABEL[t]]) for s, a, t in ways]
        + [Episode([0, 1, 0], [0, 0], [None, "a", None])] * 2
    )


@pytest.fixture(scope="module")
def run() -> whence.Run:
    demos = shown()
    mdp = LabeledMDP.from_demonstrations(demos)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roughness, "STEPS", 2_000)
        return whence.infer(mdp, demos, states=1, rewards=(0, 1), expert=EXPERT, seed=0,
                            method="exhaustive")  # fmt: skip


def averaged(run: whence.Run, draws: int) -> tuple[Floats, Floats]:
    """Return the weights of the three machines of one state, and their errors.

    Likelihoods are averaged over dynamics drawn row by row from their Dirichlets.
    """
    mdp, demos = run.job.pairs[0]
    rough = rough_dynamics(mdp, demos)
    assert rough is not None
    rng = np.random.default_rng(5)
    pays = np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 1.0]]])
    stays = np.zeros((3, 1, 2), dtype=np.int64)
    posterior = Posterior(mdp, demos, expert=EXPERT)
    found = np.empty((draws, 3))
    for draw in range(draws):
        rows = []
        for pair in range(6):
            at = rough.pair == pair
            chances = rng.dirichlet(rough.shape[at])
            rows += [(pair // 2, pair % 2, t, p)
                     for t, p in zip(rough.mdp.successors[at], chances, strict=True)]  # fmt: skip
        world = LabeledMDP.from_triples(rows, states=3, actions=2, labels=LABEL)
        found[draw] = posterior.in_worlds([world]).log_likelihood(stays, pays)
    each = np.exp(found - found.max()) * np.exp(posterior.log_prior(stays, pays))
    mean = each.mean(axis=0)
    return mean / mean.sum(), each.std(axis=0) / np.sqrt(draws) / mean.sum()


def test_weights_are_those_of_likelihoods_averaged_over_dynamics(run: whence.Run) -> None:
    """The control, the posterior that takes the estimate for the truth, must be further off."""
    assert run.posterior is not None
    assert run.rough is not None
    wanted, error = averaged(run, 1_500)
    machines = [
        whence.RewardMachine(("a", "b"), [[0, 0]], [pay]) for pay in ([1, 0], [0, 1], [1, 1])
    ]

    def weights(sample: whence.PosteriorSample) -> Floats:
        each = dict(zip(map(str, sample.machines), sample.weights, strict=True))
        return np.array([each.get(str(machine), 0.0) for machine in machines])

    exact = np.hypot(error, run.posterior.errors.max())
    assert (np.abs(weights(run.posterior) - wanted) < 4 * exact).all()
    assert (np.abs(weights(run.rough.as_estimated) - wanted) > 4 * exact).any()


def test_the_run_says_so(run: whence.Run) -> None:
    assert run.rough is not None
    assert run.exact is None
    assert any("probabilities take that into account" in note for note in run.notes)


def test_a_redrawn_world_scores_as_one_built_anew() -> None:
    demos = shown()
    mdp = LabeledMDP.from_demonstrations(demos)
    rough = rough_dynamics(mdp, demos)
    assert rough is not None
    posterior = Posterior(mdp, demos, expert=EXPERT)
    redrawn = Redrawn(posterior, [rough.mdp])
    rng = np.random.default_rng(1)
    transitions = rng.integers(0, 2, (20, 2, 2))
    rewards = rng.integers(0, 2, (20, 2, 2)).astype(float)
    for _ in range(5):
        chances = rough.probabilities(rough.sample(rng))
        columns = [rough.pair // 2, rough.pair % 2, rough.mdp.successors, chances]
        world = LabeledMDP.from_triples(
            np.column_stack(columns), states=3, actions=2, labels=LABEL
        )
        anew = posterior.in_worlds([world]).log_likelihood(transitions, rewards, tolerance=1e-9)
        found = redrawn.at([chances]).log_likelihood(transitions, rewards, tolerance=1e-9)
        assert found == pytest.approx(anew, abs=1e-8)


def test_unknown_experts_and_sizes_are_sampled_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roughness, "STEPS", 500)
    demos = shown()
    mdp = LabeledMDP.from_demonstrations(demos)
    settings = whence.Tempering(steps=300, warm_up=100, rungs=4)
    run = whence.infer(mdp, demos, states=(1, 2), seed=0, settings=settings)
    assert run.posterior is not None
    assert run.draws is not None
    assert set(run.posterior.n_states) == {1, 2}
    assert len(np.unique(run.draws.alpha)) > 20
    assert len(np.unique(run.draws.discount)) > 1


def test_a_folder_keeps_what_was_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roughness, "STEPS", 500)
    demos = shown()
    mdp = LabeledMDP.from_demonstrations(demos)
    run = whence.infer(mdp, demos, states=1, expert=EXPERT, seed=0, method="exhaustive",
                       folder=tmp_path / "run")  # fmt: skip
    kept = (tmp_path / "run/draws.npz").read_bytes()
    drawn = []
    usual = roughness.weighed_anew

    def counted(*given: Any) -> Any:
        drawn.append(given)
        return usual(*given)

    monkeypatch.setattr(roughness, "weighed_anew", counted)
    again = whence.load(tmp_path / "run")
    assert not drawn
    assert run.posterior is not None
    assert again.posterior is not None
    assert again.posterior.weights.tolist() == run.posterior.weights.tolist()
    (tmp_path / "run/draws.npz").write_bytes(kept[:-40])
    anew = whence.load(tmp_path / "run")
    assert drawn
    assert anew.posterior is not None
    assert anew.posterior.weights.tolist() == run.posterior.weights.tolist()


def test_worlds_that_are_too_large_are_left_as_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roughness, "WORK", 1_000)
    demos = shown()
    mdp = LabeledMDP.from_demonstrations(demos)
    run = whence.infer(mdp, demos, states=1, expert=EXPERT, seed=0, method="exhaustive")
    assert run.rough is None
    assert run.exact is not None
    assert any("known roughly" in doubt for doubt in run.doubts)


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "control"])
def test_dynamics_changed_for_all_machines_leave_exact_samples_exact(
    run: whence.Run, monkeypatch: pytest.MonkeyPatch, exact: bool
) -> None:
    """Machine and dynamics drawn exactly, moved once: nothing may change but by chance.

    Plain draws of the dynamics count by their weight. The control accepts all moves.
    """
    problem = run.job.problem(1)
    rough = [rough_dynamics(mdp, demos) for mdp, demos in problem.posteriors[0].worlds]
    worlds = rough_chains.Worlds(problem, rough)
    target = replace(problem.target(), temperature=4.0)  # plain draws are worth enough there
    assert run.draws is not None
    listed = rough_chains.listed_of(target, run.draws)
    chain = rough_chains.Chain(target, worlds, listed, 0, 0)
    weigh = rough_chains.Chain._weighed
    if not exact:
        monkeypatch.setattr(
            rough_chains.Chain, "_weighed", lambda *given: weigh(*given)._replace(total=0.0)
        )
    rng = np.random.default_rng(2)
    weights, changes = [], []
    for _ in range(900):
        dynamics = worlds.sample(rng)
        known = weigh(chain, worlds.under(dynamics), listed)
        mass = np.exp(known.log_mass - known.total)
        chosen = np.array([rng.choice(len(mass), p=mass / mass.sum())])
        chain._dynamics, chain._score, chain._now = (
            dynamics,
            known.score,
            known.chains.rows(chosen),
        )
        before = float(chain._now.log_likelihood[0])
        chain._change_dynamics_for_all(listed)
        weights.append(known.total)
        changes.append(float(chain._now.log_likelihood[0]) - before)
    weight = np.exp(np.array(weights) - max(weights))
    mean = weight @ np.array(changes) / weight.sum()
    error = np.sqrt((weight**2 * (np.array(changes) - mean) ** 2).sum()) / weight.sum()
    assert bool(abs(mean) < 4 * error) is exact


def test_chains_start_with_the_known_arrows_and_jump_to_no_list_then() -> None:
    demos = shown()
    posterior = Posterior(LabeledMDP.from_demonstrations(demos), demos, expert=EXPERT)
    machine = whence.RewardMachine(("a", "b"), [[1, 2], [1, 1], [2, 2]], [[0, 0], [1, 0], [0, 0]])
    known = unknowns(EXPERT, None, None, None)
    for fixed in ({}, {(0, 1): (1, 0.0)}):  # by b to the second state, which is its third
        target = Problem((posterior,), known, range(3, 4), fixed).target()
        listed = rough_chains.listed_of(target, draws_of([machine]))
        assert np.isfinite(listed.log_prior).all()
        assert bool(listed.place) == (not fixed)
