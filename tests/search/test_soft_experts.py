"""Soft experts in inference: the exact posterior, the sampler beside it, and kinds compared."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whence
from support.problems import random_machine, random_world, valid_machines
from whence import (
    AlphaPrior,
    Exhaustive,
    Expert,
    LapsePrior,
    Posterior,
    Prior,
    RewardMachine,
    Tempering,
)
from whence._arrays import Floats
from whence.errors import ArgumentError
from whence.likelihood import reference
from whence.likelihood.fitting import Fitter
from whence.runs import manifest, searching
from whence.runs.events import Event

MANY = Tempering(ladders=8, rungs=4, warm_up=100, steps=500, until_agreed=False, finder=False)
PRIOR = AlphaPrior(centre=8.0, spread=0.7, low=0.5, high=100.0)
TRUTH = Expert(8.0, 0.8, 0.05, "soft")


def _problem(seed: int) -> tuple[whence.LabeledMDP, whence.Demonstrations]:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=5, actions=3, symbols=2, successors=2, blank=0.3)
    paying = random_machine(rng, mdp.alphabet, 2)
    task = whence.RewardMachine(
        mdp.alphabet, paying.transitions, (paying.rewards > 0.6).astype(np.float64)
    )
    return mdp, whence.simulate(mdp, task, TRUTH, episodes=8, length=6, seed=seed)


def _enumerated(
    mdp: whence.LabeledMDP, demos: whence.Demonstrations, kind: str
) -> dict[tuple[float, ...], float]:
    """Return the posterior of what machines pay on all sequences of three labels.

    Every labelled machine of two states, and a trapezoidal rule over log alpha.
    """
    transitions, rewards = valid_machines(2, 2, (0.0, 1.0))
    grid = np.linspace(*PRIOR.bounds, 61)
    log_weight = Prior().log_prior(transitions, rewards, (0.0, 1.0))
    prior = PRIOR.log_density(grid)
    each = []
    for log_alpha in grid.tolist():
        posterior = Posterior(mdp, demos, expert=Expert(math.exp(log_alpha), 0.8, 0.05, kind))
        each.append(posterior.log_likelihood(transitions, rewards, tolerance=1e-6))
    total = log_weight + np.logaddexp.reduce(np.array(each) + prior[:, None], axis=0)
    share = np.exp(total - np.logaddexp.reduce(total))
    result: dict[tuple[float, ...], float] = {}
    for t, r, p in zip(transitions, rewards, share, strict=True):
        key = _pays(t, r)
        result[key] = result.get(key, 0.0) + float(p)
    return result


def _pays(transitions: Floats, rewards: Floats) -> tuple[float, ...]:
    found = []
    for word in np.ndindex(2, 2, 2):
        state = 0
        for symbol in word:
            found.append(float(rewards[state, symbol]))
            state = int(transitions[state, symbol])
    return tuple(found)


def _drawn(run: whence.Run) -> dict[tuple[float, ...], float]:
    assert run.draws is not None
    result: dict[tuple[float, ...], float] = {}
    for t, r, p in zip(run.draws.transitions, run.draws.rewards, run.draws.weight, strict=True):
        key = _pays(t, r)
        result[key] = result.get(key, 0.0) + float(p)
    return result


def _gap(one: dict[tuple[float, ...], float], other: dict[tuple[float, ...], float]) -> float:
    """Return the total variation distance."""
    return sum(abs(one.get(k, 0.0) - other.get(k, 0.0)) for k in {*one, *other}) / 2


def test_the_posterior_is_that_of_all_machines_and_alphas() -> None:
    mdp, demos = _problem(1)
    asked: dict[str, Any] = {
        "discount": 0.8,
        "lapse": 0.05,
        "alpha_prior": PRIOR,
        "expert_kind": "soft",
    }
    exact = whence.infer(mdp, demos, states=2, method="exhaustive", **asked)
    brute = _enumerated(mdp, demos, "soft")
    assert _gap(_drawn(exact), brute) < 1e-4
    assert _gap(_enumerated(mdp, demos, "boltzmann"), brute) > 0.01  # would be noticed
    sampled = whence.infer(mdp, demos, states=2, settings=MANY, seed=1, **asked)
    assert _gap(_drawn(sampled), brute) < 0.04
    (found, error), (value, _) = sampled.log_evidence[2], exact.log_evidence[2]
    assert abs(found - value) < 4 * error + 0.01
    assert exact.draws is not None
    assert sampled.draws is not None
    means = [float(each.weight @ np.log(each.alpha)) for each in (exact.draws, sampled.draws)]
    assert means[0] == pytest.approx(means[1], abs=0.1)


def test_kinds_are_compared_by_their_evidence() -> None:
    mdp, demos = _problem(2)
    asked: dict[str, Any] = {
        "discount": 0.8,
        "lapse": 0.05,
        "alpha_prior": PRIOR,
        "states": (1, 2),
    }
    each = {
        kind: whence.infer(mdp, demos, method="exhaustive", expert_kind=kind, **asked)
        for kind in ("boltzmann", "soft", "infer")
    }
    both = each.pop("infer")
    assert both.posterior is not None
    for (n, kind), (value, _) in both.log_evidence.items():  # type: ignore[misc]
        assert value == pytest.approx(each[kind].log_evidence[n][0], abs=1e-4)
    weight = {
        kind: sum(
            math.exp(value + Prior().log_size(n, range(1, 3)))
            for n, (value, _) in run.log_evidence.items()
            if isinstance(n, int)
        )
        for kind, run in each.items()
    }
    exact = weight["soft"] / sum(weight.values())
    assert 0.05 < exact < 0.95
    assert both.posterior.kinds["soft"] == pytest.approx(exact, abs=2e-3)
    sampled = whence.infer(mdp, demos, settings=MANY, seed=2, expert_kind="infer", **asked)
    assert sampled.posterior is not None
    assert sampled.posterior.kinds["soft"] == pytest.approx(exact, abs=0.05)
    for (n, kind), (value, error) in sampled.log_evidence.items():  # type: ignore[misc]
        assert abs(value - each[kind].log_evidence[n][0]) < 4 * error + 0.05
    assert "expert (" in sampled.answer
    assert sampled.inferred == ("alpha", "kind")


def test_the_evidence_of_a_kind_is_as_exact_as_its_error_says() -> None:
    mdp = whence.LabeledMDP.from_triples(
        [(s, a, (s + step) % 5, 1.0) for s in range(5) for a, step in enumerate((-1, 1))],
        states=5, actions=2, labels=[None, "a", None, "b", None],
    )  # fmt: skip
    task = RewardMachine(mdp.alphabet, [[1, 0], [1, 0]], [[0.0, 0.0], [0.0, 1.0]])
    demos = whence.simulate(mdp, task, Expert(6.0, 0.9), episodes=40, length=30, seed=0)
    asked: dict[str, Any] = {"discount": 0.9, "lapse": 0.0, "alpha": 6.0}

    def found(kind: str, states: Any, nats: float) -> dict[Any, tuple[float, float]]:
        settings = Exhaustive(nats=nats)
        run = whence.infer(mdp, demos, states=states, expert_kind=kind, settings=settings, **asked)
        return dict(run.log_evidence)

    alone = {
        (n, kind): found(kind, n, 700)[n][0] for n in (1, 2) for kind in ("boltzmann", "soft")
    }
    for nats in (1, 40, 700):  # a state alone explains 500 nats less
        both = found("infer", (1, 2), nats)
        assert both.keys() == alone.keys() if nats == 700 else both.keys() < alone.keys()
        for key, (value, error) in both.items():
            assert abs(value - alone[key]) <= error + 1e-6
            assert error < (1e-5 if nats > 1 else 5.0)
    for kind in ("boltzmann", "soft"):
        for n, (value, error) in found(kind, (1, 2), 40).items():
            assert abs(value - alone[n, kind]) <= error
            assert error < 1e-5 or n == 1


def test_fits_lie_where_the_posterior_of_an_expert_does() -> None:
    mdp, demos = _problem(3)
    posterior = Posterior(mdp, demos, expert=TRUTH, tolerance=1e-5)
    rng = np.random.default_rng(0)
    chosen = [random_machine(rng, mdp.alphabet, 2, np.array([1.0])) for _ in range(6)]
    tables = np.array([m.transitions for m in chosen]), np.array([m.rewards for m in chosen])
    fitter = Fitter([posterior], PRIOR, LapsePrior())
    expected = fitter.tempered(fitter.fits(*tables, np.zeros(6, dtype=np.int64)), np.ones(6))

    def density(place: Floats) -> Floats:
        lapse = 1 / (1 + np.exp(-place[:, 1]))
        found = posterior.log_likelihood(*tables, alpha=np.exp(place[:, 0]), lapse=lapse)
        prior = PRIOR.log_density(place[:, 0]) + LapsePrior().log_density(lapse)
        return np.asarray(found + prior + np.log(lapse * (1 - lapse)))

    middle = density(expected.mean)
    for axis in range(2):
        for sign in (-1.0, 1.0):
            step = np.zeros((6, 2))
            step[:, axis] = 2 * sign
            assert (density(expected.at(step)) < middle + 0.1).all()


def _broken(event: Event) -> None:
    if event.step >= 30:
        raise KeyboardInterrupt


def test_a_broken_run_ends_as_an_unbroken_one_with_its_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "EVENT_SECONDS", 0.0)
    mdp, demos = _problem(4)
    quick = Tempering(ladders=2, rungs=3, warm_up=20, steps=60, until_agreed=False, finder=False)
    asked: dict[str, Any] = {
        "states": 2,
        "settings": quick,
        "seed": 5,
        "discount": 0.8,
        "expert_kind": "infer",
    }
    whole = whence.infer(mdp, demos, threads=1, **asked)
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        whence.infer(
            mdp, demos, threads=2, folder=folder, checkpoint=0.0, on_event=_broken, **asked
        )
    resumed = whence.resume(folder, threads=2)
    again = whence.load(folder)
    assert manifest.read(folder).format == "whence/run/2"
    with np.load(folder / "draws.npz") as kept:
        assert str(kept["format"]) == "whence/draws/3"
        assert whole.draws is not None
        assert (kept["soft"] == whole.draws.soft).all()
    for other in (resumed, again):
        assert other.draws is not None
        assert (other.draws.alpha == whole.draws.alpha).all()
        assert (other.draws.softly == whole.draws.softly).all()
        assert other.expert == whole.expert
        assert other.log_evidence == whole.log_evidence


def test_a_known_expert_takes_one_solve_a_machine() -> None:
    mdp, demos = _problem(1)
    exact = whence.infer(mdp, demos, states=2, method="exhaustive", expert=TRUTH)
    sampled = whence.infer(mdp, demos, states=2, settings=MANY, expert=TRUTH)
    assert _gap(_drawn(exact), _drawn(sampled)) < 0.04
    assert exact.expert == TRUTH
    tables = exact.best.transitions, exact.best.rewards
    found = reference.log_likelihood(mdp, demos, *tables, TRUTH)
    assert exact.log_likelihood == pytest.approx(found, abs=1e-7)


def test_unknown_kinds_are_refused_by_name() -> None:
    mdp, demos = _problem(1)
    with pytest.raises(ArgumentError, match="expert_kind is 'hard'; known are boltzmann, soft"):
        whence.infer(mdp, demos, states=2, expert_kind="hard")
