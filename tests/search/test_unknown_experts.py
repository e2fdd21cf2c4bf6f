"""Experts of whom nothing is known: the sampler against the exact posterior, and the choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_t

import whence
from support.problems import random_machine, random_world
from whence import AlphaPrior, Expert, LapsePrior, Posterior, Prior, Run, Tempering
from whence._arrays import Floats
from whence.errors import ArgumentError
from whence.model.episodes import Episode
from whence.search import exhaustive
from whence.search.carrying import FREEDOM, WIDER, Carrier
from whence.search.machines import Machines, uniform
from whence.search.unknowns import Experts, unknowns

MANY = Tempering(ladders=12, rungs=4, warm_up=200, steps=1_000, until_agreed=False, finder=False)
DISCOUNTS = (0.7, 0.9)


def _problem(seed: int) -> tuple[whence.LabeledMDP, whence.Demonstrations]:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=8, actions=3, symbols=2, successors=2, blank=0.3)
    paying = random_machine(rng, mdp.alphabet, 2)
    task = whence.RewardMachine(
        mdp.alphabet, paying.transitions, (paying.rewards > 0.6).astype(np.float64)
    )
    expert = Expert(8.0, 0.9, 0.1)
    return mdp, whence.simulate(mdp, task, expert, episodes=12, length=8, seed=seed)


def _apart(seed: int) -> tuple[float, float]:
    """Return how far what is sampled of sequences' pay, and of log alpha, is from the exact."""
    mdp, demos = _problem(seed)
    exact = whence.infer(mdp, demos, states=2, method="exhaustive", discount=DISCOUNTS)
    sampled = whence.infer(mdp, demos, states=2, settings=MANY, seed=seed, discount=DISCOUNTS)
    assert exact.draws is not None
    assert sampled.draws is not None
    words = [[a] for a in mdp.alphabet] + [[a, b] for a in mdp.alphabet for b in mdp.alphabet]
    gaps = [abs(_pays(exact, word) - _pays(sampled, word)) for word in words]
    means = [float(draws.weight @ np.log(draws.alpha)) for draws in (exact.draws, sampled.draws)]
    return max(gaps), abs(means[0] - means[1])


def _pays(run: Run, word: list[str]) -> float:
    """Return how likely the last label of a sequence is paid."""
    assert run.draws is not None
    draws = run.draws
    row = np.arange(draws.size)
    state = np.zeros(draws.size, dtype=np.int64)
    paid = np.zeros(draws.size)
    for symbol in word:
        column = run.best.alphabet.index(symbol)
        paid = draws.rewards[row, state, column]
        state = draws.transitions[row, state, column]
    return float(draws.weight @ (paid > 0))


@pytest.mark.parametrize("seed", [0, 1])
def test_samples_have_the_exact_posterior_whoever_the_expert(seed: int) -> None:
    gap, alpha = _apart(seed)
    assert gap < 0.03
    assert alpha < 0.15


def _carrier(seed: int) -> tuple[Carrier, Machines, Experts]:
    """Return a carrier, and some machines with experts."""
    rng = np.random.default_rng(seed)
    mdp, demos = _problem(seed)
    known = unknowns(None, None, None, (0.7, 0.9))
    first = Posterior(mdp, demos, expert=Expert(1.0, 0.7))
    posteriors = first, first.of_expert(Expert(1.0, 0.9))
    machines = uniform(rng, 12, 2, 2, (0.0, 1.0))
    experts = Experts(np.exp(rng.normal(1, 1, 12)), rng.beta(2, 8, 12), rng.integers(0, 2, 12))
    return Carrier(known, posteriors), machines, experts


def test_experts_are_carried_along_and_back_with_the_jacobian_of_the_way() -> None:
    carrier, machines, experts = _carrier(0)
    others = machines.rows(np.arange(12)[::-1])
    turned, hot = 1 - experts.discount, np.geomspace(1, 40, 12)
    there, log_there = carrier.changed((machines, experts), others, turned, hot)
    back, log_back = carrier.changed((others, there), machines, experts.discount, hot)
    assert back.alpha == pytest.approx(experts.alpha, rel=1e-9)
    assert back.lapse == pytest.approx(experts.lapse, rel=1e-9)
    assert log_back == pytest.approx(-log_there, abs=1e-9)
    assert np.abs(log_there).max() > 0.5

    def moved(log_alpha: float, lapse: float) -> Floats:
        given = experts._replace(
            alpha=experts.alpha * np.exp(log_alpha), lapse=experts.lapse + lapse
        )
        found, _ = carrier.changed((machines, given), others, turned, hot)
        return np.stack([np.log(found.alpha), found.lapse], axis=1)

    h = 1e-6
    by_alpha = (moved(h, 0) - moved(-h, 0)) / (2 * h)
    by_lapse = (moved(0, h) - moved(0, -h)) / (2 * h)
    wanted = np.abs(by_alpha[:, 0] * by_lapse[:, 1] - by_alpha[:, 1] * by_lapse[:, 0])
    assert log_there == pytest.approx(np.log(wanted), abs=1e-4)


def test_lapses_are_carried_there_and_back_however_small_they_are() -> None:
    carrier, machines, experts = _carrier(0)
    experts = experts._replace(lapse=np.geomspace(1e-40, 0.1, 12))
    others, hot = machines.rows(np.arange(12)[::-1]), np.ones(12)
    there, log_there = carrier.changed((machines, experts), others, experts.discount, hot)
    back, log_back = carrier.changed((others, there), machines, experts.discount, hot)
    assert np.log(back.lapse) == pytest.approx(np.log(experts.lapse), rel=1e-9)
    assert log_back == pytest.approx(-log_there, abs=1e-7)


def test_a_prior_that_rises_to_infinity_holds_nothing_at_0() -> None:
    found = LapsePrior(0.05, 1).log_density(np.array([0.0, 1e-300, 0.5]))
    assert found[0] == -np.inf
    assert np.isfinite(found[1:]).all()


def test_experts_are_drawn_anew_with_the_ratio_of_their_densities() -> None:
    carrier, machines, experts = _carrier(1)
    hot = np.geomspace(1, 40, 12)
    drawn, log_q = carrier.drawn(np.random.default_rng(0), machines, experts, hot)
    expected = carrier.normals(machines, experts.discount, hot)
    for row in range(12):
        student = multivariate_t(
            expected.mean[row], WIDER**2 * expected.root[row] @ expected.root[row].T, df=FREEDOM
        )

        def density(alpha: float, lapse: float, student: Any = student) -> float:
            place = [np.log(alpha), np.log(lapse / (1 - lapse))]
            return float(student.logpdf(place) - np.log(lapse * (1 - lapse)))

        old = density(experts.alpha[row], experts.lapse[row])
        new = density(drawn.alpha[row], drawn.lapse[row])
        assert log_q[row] == pytest.approx(old - new, abs=1e-8)


def test_all_is_inferred_where_nothing_is_said() -> None:
    mdp, demos = _problem(0)
    run = whence.infer(mdp, demos, states=2, method="tempering", steps=60)
    assert run.inferred == ("alpha", "lapse", "discount")


@pytest.mark.parametrize("level", [0.01, 100.0])
def test_rewards_in_other_units_say_the_same(level: float) -> None:
    mdp, demos = _problem(2)
    usual = whence.infer(mdp, demos, states=2, discount=0.9)
    scaled = whence.infer(mdp, demos, states=2, discount=0.9, rewards=(0.0, level))
    assert usual.job.method == scaled.job.method == "exhaustive"
    assert usual.posterior is not None
    assert scaled.posterior is not None
    assert scaled.posterior.weights[:5] == pytest.approx(usual.posterior.weights[:5], abs=1e-5)
    assert scaled.expert.alpha * level == pytest.approx(usual.expert.alpha, rel=1e-3)


def test_few_machines_are_all_scored_and_many_are_sampled() -> None:
    mdp, demos = _problem(0)
    expert = Expert(8.0, 0.9)
    assert whence.infer(mdp, demos, states=2, expert=expert).job.method == "exhaustive"
    assert (
        whence.infer(mdp, demos, states=6, expert=expert, minutes=1e-3).job.method == "tempering"
    )
    fixed = whence.infer(mdp, demos, states=2, expert=expert, steps=5)
    assert fixed.job.method == "tempering"
    again = whence.infer(mdp, demos, states=2, expert=expert, settings=whence.Exhaustive())
    assert again.exact is not None


def test_priors_are_the_users() -> None:
    mdp, demos = _problem(0)
    even = whence.infer(mdp, demos, states=(1, 2), expert=Expert(8.0, 0.9), sizes_prior=1)
    tilted = whence.infer(mdp, demos, states=(1, 2), expert=Expert(8.0, 0.9), sizes_prior=(9, 1))
    assert even.exact is not None
    assert tilted.exact is not None
    odds = [exact.probability[0] / exact.probability[1] for exact in (even.exact, tilted.exact)]
    assert odds[1] == pytest.approx(9 * odds[0], rel=1e-6)
    with pytest.raises(ArgumentError, match="sizes_prior has 3 weights"):
        whence.infer(mdp, demos, states=(1, 2), expert=Expert(8.0, 0.9), sizes_prior=(1, 2, 3))
    with pytest.raises(ArgumentError, match="sizes_prior is -1"):
        Prior(sizes=-1)
    with pytest.raises(ArgumentError, match="alpha_prior is 5; give centre and spread"):
        whence.infer(mdp, demos, states=2, alpha_prior=5)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="lapse_prior is"):
        LapsePrior(0, 1)
    with pytest.raises(ArgumentError, match="alpha_prior is centred at"):
        AlphaPrior(centre=1e9)


def test_light_machines_together_have_the_experts_that_are_likely(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One episode says so little that no machine holds much of the weight."""
    mdp = whence.LabeledMDP.from_triples(
        [(s, a, (s + step) % 4, 1.0) for s in range(4) for a, step in enumerate((-1, 1))],
        states=4, actions=2, labels=[None, "a", "b", None],
    )  # fmt: skip
    demos = whence.Demonstrations.from_episodes([Episode([0, 1], [1])])
    found = []
    for most, nearly_all in ((10**6, 1.0), (20, 0.999)):
        monkeypatch.setattr(exhaustive, "MOST_WITH_EXPERTS", most)
        monkeypatch.setattr(exhaustive, "NEARLY_ALL", nearly_all)
        run = whence.infer(mdp, demos, states=2, method="exhaustive", discount=(0.8, 0.99))
        draws = run.draws
        assert draws is not None
        found.append(
            [
                float(draws.weight @ values)
                for values in (draws.discount == 0.8, np.log(draws.alpha), draws.lapse)
            ]
        )
    assert found[1] == pytest.approx(found[0], abs=0.05)
