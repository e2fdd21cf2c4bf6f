from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import whence
from whence import Annealing, Expert, Posterior
from whence._arrays import Floats
from whence.errors import ArgumentError
from whence.search import annealing, neighbours
from whence.search.annealing import scored
from whence.search.machines import of_one_size, uniform
from whence.search.target import Chains
from whence.search.unknowns import Experts

SHORT = Annealing(t0=2_000, t_min=40, beta_t=0.7, p0=0.5, p_min=0.2, beta_p=0.8, every=3, steps=40)


@pytest.fixture(scope="module")
def posterior() -> Posterior:
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=20, length=40, seed=0)
    return Posterior(world.mdp, demos, expert=Expert(50, 0.92))


def _population(likelihood: list[float], prior: list[float]) -> Chains:
    machines = of_one_size(*np.zeros((2, len(prior), 1, 1), dtype=int))
    experts = Experts(np.ones(len(prior)), np.zeros(len(prior)), np.zeros(len(prior), dtype=int))
    return Chains(machines, experts, np.array(likelihood), np.array(prior))


def test_the_score_at_a_temperature_by_hand() -> None:
    score = _population([-100.0, -50.0], [-3.0, -4.0]).score(20.0)
    assert score.tolist() == [-100 / 20 - 3, -50 / 20 - 4]


def test_the_acceptance_ratios_by_hand() -> None:
    old, new = _population([-100.0], [-3.0]), _population([-130.0], [-2.0])
    assert annealing.log_ratio(old, new, 10.0, "modified")[0] == pytest.approx(-30 / 10 + 1)
    assert annealing.log_ratio(old, new, 10.0, "standard")[0] == pytest.approx((-30 + 1) / 10)
    hot = annealing.log_ratio(old, new, 1e12, "modified")[0]
    assert hot == pytest.approx(1)  # heat leaves the prior as it is


def test_impossible_machines_can_be_left_and_are_not_entered() -> None:
    possible, impossible = _population([-5.0], [-1.0]), _population([-math.inf], [-1.0])
    for rule in ("modified", "standard"):
        assert annealing.log_ratio(impossible, possible, 2.0, rule)[0] == math.inf
        assert annealing.log_ratio(possible, impossible, 2.0, rule)[0] == -math.inf
        assert annealing.log_ratio(impossible, impossible, 2.0, rule)[0] == 0


def test_proposals_are_accepted_as_often_as_the_ratio_says() -> None:
    size = 40_000
    for ratio in (-math.inf, -2.0, -0.5, 0.0, 3.0):
        share = annealing.accept(np.random.default_rng(0), np.full(size, ratio)).mean()
        expected = min(1.0, math.exp(ratio))
        error = math.sqrt(expected * (1 - expected) / size)
        assert abs(share - expected) <= 4.5 * error


def test_both_schedules_by_hand() -> None:
    settings = replace(SHORT, t0=100, t_min=30, beta_t=0.5, p0=0.4, p_min=0.15, beta_p=0.5)
    seen = []
    temperature, p = settings.t0, settings.p0
    for done in range(1, 10):
        temperature, p = annealing.scheduled(done, temperature, p, settings)
        seen.append((temperature, p))
    assert seen[:2] == [(100, 0.4)] * 2
    assert seen[2:5] == [(50.0, 0.2)] * 3
    assert seen[5:] == [(30, 0.15)] * 4


@pytest.mark.parametrize("rule", ["modified", "standard"])
@pytest.mark.parametrize("kind", ["several", "one"])
def test_a_recorded_run_recomputed_step_by_step(
    posterior: Posterior, rule: str, kind: str
) -> None:
    settings = replace(SHORT, rule=rule, neighbours=kind)
    rng, again = np.random.default_rng(5), np.random.default_rng(5)
    state = annealing.init(rng, posterior, 3, settings)
    assert annealing.init(again, posterior, 3, settings).current.score(1.0).tolist() == (
        state.current.score(1.0).tolist()
    )
    best = state.current.score(settings.t_min)
    accepted = rejected = 0
    for i in range(1, settings.steps + 1):
        before = state
        state, info = annealing.step(rng, before, posterior, settings)
        decays = (i - 1) // settings.every
        assert info.temperature == pytest.approx(
            max(settings.t0 * settings.beta_t**decays, settings.t_min)
        )
        assert info.p == pytest.approx(max(settings.p0 * settings.beta_p**decays, settings.p_min))
        here = before.current
        proposed = neighbours.KINDS[kind](again, here.machines, posterior.levels, info.p)
        tables = proposed.tables(posterior.levels)
        uniforms = again.random(settings.runs)
        for run in range(settings.runs):
            machine = whence.RewardMachine(posterior.alphabet, tables[0][run], tables[1][run])
            likelihood, prior = _scores(posterior, machine)
            assert info.proposed.log_likelihood[run] == pytest.approx(likelihood, abs=0.02)
            assert info.proposed.log_prior[run] == pytest.approx(prior, abs=1e-12)
            ratio = _ratio(here, info.proposed, run, info.temperature, rule)
            assert info.accepted[run] == (uniforms[run] < min(1.0, math.exp(min(ratio, 0.0))))
            kept = proposed if info.accepted[run] else here.machines
            for now, then in zip(state.current.machines, kept, strict=True):
                assert (now[run] == then[run]).all()
            accepted += int(info.accepted[run])
            rejected += int(not info.accepted[run])
        best = np.maximum(best, info.proposed.score(settings.t_min))
        assert state.best.score(settings.t_min).tolist() == best.tolist()
        assert state.step == i
    assert accepted > 10
    assert rejected > 10


def _scores(posterior: Posterior, machine: whence.RewardMachine) -> tuple[float, float]:
    """Return log likelihood and log prior: the latter by the paper's formula, by hand."""
    n, m = machine.transitions.shape
    i = int((machine.rewards == 0).sum())
    j = int((machine.transitions == np.arange(n)[:, None]).sum())
    prior = i * math.log(3 / 4) + (n * m - i) * math.log(1 / 4)
    prior += j * math.log(3 / 5) + (n * m - j) * math.log((2 / 5) / (n - 1))
    return posterior.finest(machine), prior


def _ratio(old: Chains, new: Chains, run: int, temperature: float, rule: str) -> float:
    likelihood = float(new.log_likelihood[run] - old.log_likelihood[run])
    prior = float(new.log_prior[run] - old.log_prior[run])
    if rule == "standard":
        return (likelihood + prior) / temperature
    return likelihood / temperature + prior


def test_state_and_generator_are_all_that_the_next_step_needs(posterior: Posterior) -> None:
    rng = np.random.default_rng(8)
    state = annealing.init(rng, posterior, 3, SHORT)
    for _ in range(10):
        state, _ = annealing.step(rng, state, posterior, SHORT)
    saved, middle = rng.bit_generator.state, state
    straight = _rest(rng, state, posterior)
    other = np.random.default_rng(0)
    other.bit_generator.state = saved
    assert _rest(other, middle, posterior).tobytes() == straight.tobytes()


def _rest(rng: np.random.Generator, state: annealing.State, posterior: Posterior) -> Floats:
    scores = []
    for _ in range(10):
        state, info = annealing.step(rng, state, posterior, SHORT)
        scores.append(info.proposed.score(1.0))
    return np.array(scores)


def test_replaced_mixes_two_populations(posterior: Posterior) -> None:
    rng = np.random.default_rng(9)
    first, second = (scored(posterior, uniform(rng, 4, 3, 3, posterior.levels)) for _ in range(2))
    mixed = first.replaced(second, np.array([True, False, True, False]))
    for run, source in enumerate((second, first, second, first)):
        assert (mixed.machines.transitions[run] == source.machines.transitions[run]).all()
        assert mixed.score(3.0)[run] == source.score(3.0)[run]
    assert mixed.size == 4


def test_the_presets_are_table_1() -> None:
    columns = {
        "recharge": (2_000, 500_000, 200, 0.98, 0.5, 1 / 16, 0.99, 5),
        "coffee": (1_000, 100_000, 300, 0.96, 0.5, 1 / 12, 0.99, 5),
        "multi-coffee": (10_000, 1_000_000, 50, 0.99, 0.5, 1 / 16, 0.995, 10),
    }
    for name, column in columns.items():
        s = Annealing.preset(name)
        assert (s.steps, s.t0, s.t_min, s.beta_t, s.p0, s.p_min, s.beta_p, s.every) == column
        assert (s.runs, s.rule, s.neighbours) == (3, "modified", "several")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t_min": 0}, "t_min is 0"),
        ({"t0": 1}, "t0 is 1; give a finite number of at least t_min"),
        ({"t0": math.inf}, "t0 is inf"),
        ({"p_min": 0}, "p_min is 0"),
        ({"p0": 1}, "p0 is 1; give a number from p_min"),
        ({"p0": 0.01}, "p0 is 0.01"),
        ({"beta_t": 0}, "beta_t is 0"),
        ({"beta_p": 1.5}, "beta_p is 1.5"),
        ({"every": 0}, "every is 0"),
        ({"steps": 2.5}, "steps is 2.5"),
        ({"runs": True}, "runs is True"),
        ({"rule": "cold"}, "known are modified, standard"),
        ({"neighbours": "two"}, "known are several, one"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        replace(SHORT, **change)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="known are recharge"):
        Annealing.preset("tea")
