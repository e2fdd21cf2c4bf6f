"""Experts fitted to machines, and integrated out, against the readable engine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import simpson

import whence
from support.problems import masked, random_machine, random_world
from whence import Expert, Posterior
from whence._arrays import Floats, Ints
from whence.likelihood import integrating
from whence.likelihood.fitting import Fitter
from whence.likelihood.integrating import Integrated
from whence.likelihood.kernels.fitting import SCANNED
from whence.likelihood.reference import optimal_q
from whence.model.expert_prior import AlphaPrior, LapsePrior
from whence.model.product import product

PRIORS = AlphaPrior(), LapsePrior()


def _problem(
    seed: int, successors: int = 2, episodes: int = 30, closed: bool = False, states: int = 10
) -> tuple[Posterior, tuple[Ints, Floats]]:
    """Return a posterior, and tables of some machines, the task first."""
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=states, actions=3, symbols=2, successors=successors, blank=0.3)
    mdp = masked(rng, mdp) if closed else mdp
    drawn = [random_machine(rng, mdp.alphabet, 2) for _ in range(4)]
    transitions = np.stack([each.transitions for each in drawn])
    rewards = np.stack([2.0 * (each.rewards > 0.6) for each in drawn])
    task = whence.RewardMachine(mdp.alphabet, transitions[0], rewards[0])
    expert = Expert(4.0, 0.8, 0.1)
    demos = whence.simulate(mdp, task, expert, episodes=episodes, length=12, seed=seed)
    return Posterior(mdp, demos, expert=expert, rewards=(0.0, 2.0)), (transitions, rewards)


@pytest.mark.parametrize("successors", [1, 2])
def test_q_of_visited_states_is_that_of_the_readable_engine(successors: int) -> None:
    posterior, tables = _problem(0, successors)
    engine, own = posterior.in_world(0, tables)
    found = engine.visited_q(own, 1e-9)
    visited = posterior.evidence[0].visited
    mdp = posterior.worlds[0][0]
    for number, count in enumerate(own[2]):
        machine = whence.RewardMachine(
            posterior.alphabet, own[0][number, :count], own[1][number, :count]
        )
        if not machine.rewards.any():
            continue
        wanted = optimal_q(product(mdp, machine), posterior.expert.discount)[:, visited]
        assert np.abs(found[number, :count].transpose(0, 2, 1) - wanted).max() < 1e-6


def _log_posterior(posterior: Posterior, tables: tuple[Ints, Floats], place: Floats) -> float:
    alpha, lapse = math.exp(place[0]), 1 / (1 + math.exp(-place[1]))
    likelihood = posterior.log_likelihood(*tables, alpha=alpha, lapse=lapse, tolerance=1e-6)[0]
    prior = PRIORS[0].log_density(np.log(np.array([2 * alpha])))[0]
    prior += PRIORS[1].log_density(np.array([lapse]))[0] + math.log(lapse * (1 - lapse))
    return float(likelihood + prior)


@pytest.mark.parametrize(
    ("seed", "states", "episodes"), [(0, 10, 30), (1, 10, 30), (2, 10, 30), (0, 400, 100)]
)
def test_no_expert_nearby_fits_better(seed: int, states: int, episodes: int) -> None:
    posterior, tables = _problem(seed, states=states, episodes=episodes)
    visited = len(posterior.evidence[0].visited)
    assert (visited >= 2 * SCANNED) == (states == 400)  # where a few rows lead the way
    fits = Fitter([posterior], *PRIORS).fits(*tables, np.zeros(4, dtype=np.int64))
    for number in range(4):
        one = tables[0][number : number + 1], tables[1][number : number + 1]
        best = _log_posterior(posterior, one, fits.place[number])
        for away in ((0.1, 0), (-0.1, 0), (0, 0.2), (0, -0.2), (1, 0), (-1, 0), (0, 1), (0, -1)):
            other = _log_posterior(posterior, one, fits.place[number] + np.array(away))
            assert other < best + 0.01


def test_slopes_and_curvatures_are_those_of_the_likelihood() -> None:
    posterior, tables = _problem(1)
    fits = Fitter([posterior], *PRIORS).fits(*tables, np.zeros(4, dtype=np.int64))
    one = tables[0][:1], tables[1][:1]

    def value(a: float, z: float) -> float:
        place = fits.place[0] + np.array([a, z])
        alpha, lapse = math.exp(place[0]), 1 / (1 + math.exp(-place[1]))
        found = posterior.log_likelihood(*one, alpha=alpha, lapse=lapse, tolerance=1e-8)
        return float(found[0])

    h = 1e-3
    assert fits.log_likelihood[0] == pytest.approx(value(0, 0), abs=1e-4)
    slopes = [(value(h, 0) - value(-h, 0)) / (2 * h), (value(0, h) - value(0, -h)) / (2 * h)]
    assert fits.slope[0] == pytest.approx(slopes, abs=1e-3)
    curves = [
        (value(h, 0) - 2 * value(0, 0) + value(-h, 0)) / h**2,
        (value(h, h) - value(h, -h) - value(-h, h) + value(-h, -h)) / (4 * h**2),
        (value(0, h) - 2 * value(0, 0) + value(0, -h)) / h**2,
    ]
    assert fits.curvature[0] == pytest.approx(curves, abs=0.05)


def test_a_fit_does_not_depend_on_the_company() -> None:
    posterior, tables = _problem(2)
    none = np.zeros(4, dtype=np.int64)
    together = Fitter([posterior], *PRIORS).fits(*tables, none)
    alone = Fitter([posterior], *PRIORS).fits(tables[0][2:3], tables[1][2:3], none[:1])
    assert together.place[2].tobytes() == alone.place[0].tobytes()


def _summed(posterior: Posterior, table: tuple[Ints, Floats]) -> float:
    """Return the log mean likelihood over experts, by Simpson's rule on a fine grid."""
    machine = whence.RewardMachine(posterior.alphabet, *table)
    mdp, demos = posterior.worlds[0]
    q = optimal_q(product(mdp, machine), posterior.expert.discount)
    chances = []
    for episode in demos:
        memory = machine.run([mdp.label(state) for state in episode.states[1:]]).states
        for place, action in enumerate(episode.actions):
            chances.append((q[memory[place], episode.states[place]], action))
    a = np.linspace(*PRIORS[0].bounds, 701) - math.log(2)
    z = np.linspace(-25, 8, 501)
    lapse = 1 / (1 + np.exp(-z))
    total = np.zeros((len(a), len(z)))
    for values, action in chances:
        odds = np.exp(np.exp(a)[:, None] * (values - values.max()))
        p = odds[:, action] / odds.sum(axis=1)
        total += np.log((1 - lapse) * p[:, None] + lapse / len(values))
    total += PRIORS[0].log_density(a + math.log(2))[:, None]
    total += PRIORS[1].log_density(lapse) + np.log(lapse) + np.log1p(-lapse)
    top = total.max()
    area = simpson(simpson(np.exp(total - top), x=z, axis=1), x=a)
    return float(top + math.log(area) - PRIORS[0].log_normaliser - PRIORS[1].log_normaliser)


@pytest.mark.parametrize(("seed", "episodes"), [(0, 2), (1, 2), (2, 12)])
def test_an_unknown_expert_is_integrated_out(seed: int, episodes: int) -> None:
    posterior, tables = _problem(seed, episodes=episodes)
    marginal = Integrated([posterior], *PRIORS)
    fine = marginal.log_likelihood(*tables, tolerance=1e-6)
    coarse = marginal.log_likelihood(*tables)
    for number in range(4):
        wanted = _summed(posterior, (tables[0][number], tables[1][number]))
        assert fine[number] == pytest.approx(wanted, abs=1e-6)
        assert coarse[number] == pytest.approx(wanted, abs=0.1)


@pytest.mark.parametrize(("successors", "closed"), [(2, False), (2, True), (1, True)])
def test_what_is_known_of_the_expert_is_not_integrated(successors: int, closed: bool) -> None:
    posterior, tables = _problem(3, successors, closed=closed)
    sure = posterior.log_likelihood(*tables, alpha=4.0, lapse=0.1, tolerance=1e-6)
    narrow = AlphaPrior(centre=8.0, spread=1e-4, low=7.999, high=8.001)  # in units of the level, 2
    found = Integrated([posterior], narrow, 0.1).log_likelihood(*tables, tolerance=1e-6)
    assert found == pytest.approx(sure, abs=1e-3)
    both = Integrated([posterior], 4.0, 0.1).log_likelihood(*tables, tolerance=1e-6)
    assert both == pytest.approx(sure, abs=1e-5)
    beta = LapsePrior(1e7, 9e7)
    found = Integrated([posterior], 4.0, beta).log_likelihood(*tables, tolerance=1e-6)
    assert found == pytest.approx(sure, abs=2e-3)


def test_priors_are_densities() -> None:
    for prior in (AlphaPrior(), AlphaPrior(10, math.inf, 0.1, 1000), AlphaPrior(5, 0.5, 1, 9)):
        a = np.linspace(*prior.bounds, 200_001)
        mass = np.exp(prior.log_density(a) - prior.log_normaliser).sum() * (a[1] - a[0])
        assert mass == pytest.approx(1, abs=1e-4)
        drawn = np.sort(prior.sample(np.random.default_rng(0), 20_000))
        running = np.cumsum(np.exp(prior.log_density(a) - prior.log_normaliser)) * (a[1] - a[0])
        apart = np.abs(np.interp(drawn, a, running) - np.arange(20_000) / 20_000).max()
        assert apart < 0.015


@pytest.mark.parametrize("seed", range(6))
def test_integrals_are_as_exact_as_probabilities_to_a_millionth_need(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    posterior, tables = _problem(seed, successors=1, episodes=4)
    more = [random_machine(rng, posterior.alphabet, 2) for _ in range(40)]
    tables = (
        np.concatenate([tables[0], np.stack([each.transitions for each in more])]),
        np.concatenate([tables[1], np.stack([2.0 * (each.rewards > 0.6) for each in more])]),
    )
    marginal = Integrated([posterior], *PRIORS)
    found = marginal.log_likelihood(*tables, tolerance=1e-6)
    monkeypatch.setattr(integrating, "LITTLE", 0.0)
    monkeypatch.setattr(integrating, "FINE", (0.1,))
    assert np.abs(marginal.log_likelihood(*tables, tolerance=1e-6) - found).max() < 1e-6
    monkeypatch.setattr(integrating, "FINE", (0.04,))
    assert np.abs(marginal.log_likelihood(*tables, tolerance=1e-6) - found).max() < 1e-6


def test_discounts_that_add_nothing_are_integrated_roughly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    posterior, tables = _problem(0, episodes=300)
    grid = [posterior.of_expert(Expert(4.0, discount)) for discount in (0.1, 0.78, 0.8)]
    refined = []
    at_discount = Integrated._at_discount

    def watched(
        self: Integrated, number: int, some: tuple[Ints, Floats], tolerance: float, *rest: Any
    ) -> Floats:
        refined.append((tolerance < integrating.FINE_TOLERANCE) * len(some[0]))
        return at_discount(self, number, some, tolerance, *rest)

    monkeypatch.setattr(Integrated, "_at_discount", watched)
    marginal = Integrated(grid, *PRIORS)
    found = marginal.log_likelihood(*tables, tolerance=1e-6)
    assert 0 < sum(refined) < len(grid) * len(tables[0])
    monkeypatch.setattr(integrating, "NEGLIGIBLE", math.inf)
    wanted = marginal.log_likelihood(*tables, tolerance=1e-6)
    assert np.abs(found - wanted).max() < 1e-9
    monkeypatch.setattr(integrating, "NEGLIGIBLE", -1.0)
    assert np.abs(marginal.log_likelihood(*tables, tolerance=1e-6) - wanted).max() > 1e-9


@pytest.mark.parametrize("kind", ["boltzmann", "soft"])
def test_who_never_lapses_may_do_what_hardly_anybody_does(kind: str) -> None:
    world = np.zeros((6, 2, 6))
    for state in range(6):
        world[state, 0, max(state - 1, 0)] = world[state, 1, min(state + 1, 5)] = 1.0
    mdp = whence.LabeledMDP.from_dense(
        world, actions=("left", "right"), labels=[None] * 5 + ["a"], initial=0
    )
    steps = [whence.Episode([0], [1])] * 2_000 + [whence.Episode([4], [0])]
    demos = whence.Demonstrations.from_episodes(steps)
    tables = np.array([[[1], [1]]]), np.array([[[1.0], [0.0]]])
    posterior = Posterior(mdp, demos, expert=Expert(1.0, 0.1, kind=kind))
    found = Integrated([posterior], AlphaPrior(), 0.0).log_likelihood(*tables, tolerance=1e-6)
    places = np.linspace(*AlphaPrior().bounds, 4_001)
    some = places[places < math.log(5e3)]  # beyond, the one step to the left alone is 4,000 nats
    many = np.repeat(tables[0], len(some), axis=0), np.repeat(tables[1], len(some), axis=0)
    values = posterior.log_likelihood(*many, alpha=np.exp(some), lapse=0.0, tolerance=1e-6)
    values = values + AlphaPrior().log_density(some)
    top = values.max()
    wanted = top + math.log(simpson(np.exp(values - top), x=some)) - AlphaPrior().log_normaliser
    assert found[0] == pytest.approx(wanted, abs=1e-3)
