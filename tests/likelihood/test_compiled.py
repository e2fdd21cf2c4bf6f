"""The compiled engine against the readable one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import whence
from support.problems import random_machine, random_world
from whence import Expert, LabeledMDP, Posterior, RewardMachine
from whence._arrays import Floats
from whence.likelihood import compiled, layouts, reference
from whence.likelihood.evidence import compile_evidence
from whence.model.product import product
from whence.planning.policies import optimal_q

LEVELS = (-1.0, 0.0, 0.5, 1.0, 2.0)


def _swept(mdp: LabeledMDP, machine: RewardMachine, discount: float) -> Floats:
    """Return float64[n, S], values to the last digits, by sweeps over the whole world."""
    largest = float(np.abs(machine.rewards).max()) / (1 - discount)
    tables = machine.transitions[None], machine.rewards[None], np.array([machine.n_states])
    tolerance = compiled.FINEST_VALUE * max(1.0, largest)
    return np.asarray(compiled.swept_values(mdp, tables, discount, tolerance)[0])


def _problem(
    rng: np.random.Generator,
) -> tuple[LabeledMDP, whence.Demonstrations, RewardMachine, Expert]:
    symbols = int(rng.integers(1, 7))
    mdp = random_world(
        rng,
        states=int(rng.integers(2, 61)),
        actions=int(rng.integers(1, 5)),
        symbols=symbols,
        successors=int(rng.choice([1, 1, 2, 3, 6])),
        blank=float(rng.choice([0, 0.5, 0.9])),
    )
    expert = Expert(
        alpha=float(rng.choice([0.5, 5, 50, 500])),
        discount=float(rng.choice([0, 0.3, 0.9, 0.92, 0.99, 0.999])),
        lapse=float(rng.choice([0, 0, 0.1, 0.5])),
    )
    n = int(rng.integers(1, 7))
    demos = whence.simulate(
        mdp,
        random_machine(rng, mdp.alphabet, n),
        expert,
        episodes=int(rng.integers(1, 20)),
        length=int(rng.integers(1, 30)),
        seed=int(rng.integers(1000)),
    )
    return mdp, demos, random_machine(rng, mdp.alphabet, n), expert


@pytest.mark.parametrize("seed", range(15))
def test_values_are_exact_to_the_last_digits(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    mdp, _, machine, expert = _problem(rng)
    values = _swept(mdp, machine, expert.discount)
    exact = reference.policy_iteration(product(mdp, machine), expert.discount).max(axis=2)
    scale = max(1.0, float(np.abs(exact).max()))
    assert np.abs(values - exact).max() <= 1e-11 * scale / (1 - expert.discount) ** 0.5


AWKWARD = {
    "pays for ever": ([[0, 0, 0]], [[1.0, 0.0, 0.0]]),
    "only loses": ([[0, 0, 0]], [[0.0, 0.0, -1.0]]),
    "never pays": ([[0, 0, 0]], [[0.0, 0.0, 0.0]]),
    "always pays": ([[1, 1, 1], [0, 0, 0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),
    "a cycle": (
        [[1, 0, 0], [1, 2, 1], [0, 2, 2]],
        [[0.0, 0.0, 0.0], [0.0, 1.0, -1.0], [2.0, 0.0, 0.0]],
    ),
    "huge rewards": ([[0, 0, 0], [0, 1, 1]], [[1e9, -1e9, 0.0], [0.0, 1.0, 0.0]]),
}


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("discount", [0.0, 0.92, 0.999])
def test_awkward_machines_are_solved(name: str, discount: float) -> None:
    mdp = whence.worlds.coffee().mdp
    machine = RewardMachine(mdp.alphabet, *AWKWARD[name])
    values = _swept(mdp, machine, discount)
    exact = reference.policy_iteration(product(mdp, machine), discount).max(axis=2)
    scale = max(1.0, float(np.abs(exact).max()))
    assert np.abs(values - exact).max() <= 1e-10 * scale


def test_large_worlds_plan_as_small_ones_do() -> None:
    rng = np.random.default_rng(5)
    mdp = random_world(rng, states=1200, actions=3, symbols=4, successors=3)
    machine = random_machine(rng, mdp.alphabet, 2)
    assert mdp.n_states * machine.n_states > reference.DENSE_LIMIT
    found = optimal_q(mdp, machine, 0.95)
    swept = reference.value_iteration(product(mdp, machine), 0.95)
    assert np.abs(found - swept).max() < 1e-10


def test_padded_and_ragged_rows_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    world = whence.worlds.coffee()
    monkeypatch.setattr(layouts, "compass", lambda mdp: None)
    padded = _swept(world.mdp, world.task, 0.92)
    monkeypatch.setattr(layouts, "PADDED_MOST", 0)
    assert layouts.layout(world.mdp).width == 0
    ragged = _swept(world.mdp, world.task, 0.92)
    assert np.abs(padded - ragged).max() < 1e-13


def test_infinite_alpha_counts_ties() -> None:
    world = whence.worlds.recharge()
    expert = Expert(math.inf, 0.92, 0.1)
    demos = whence.simulate(world.mdp, world.task, expert, episodes=20, length=25, seed=0)
    posterior = Posterior(world.mdp, demos, expert=expert)
    found = posterior.log_likelihood(world.task.transitions[None], world.task.rewards[None])[0]
    exact = reference.log_likelihood(
        world.mdp, demos, world.task.transitions, world.task.rewards, expert
    )
    assert found == pytest.approx(exact, abs=1e-9)


def test_an_impossible_action_has_likelihood_zero() -> None:
    world = whence.worlds.recharge()
    careful = Expert(math.inf, 0.92)
    wrong = whence.Demonstrations.from_episodes([([26, 27], [1])])
    posterior = Posterior(world.mdp, wrong, expert=careful)
    tables = world.task.transitions[None], world.task.rewards[None]
    assert posterior.log_likelihood(*tables)[0] == -math.inf
    assert posterior.finest(world.task) == -math.inf


@pytest.mark.parametrize("discount", [0.5, 0.92, 0.99])
@pytest.mark.parametrize("seed", range(4))
def test_worlds_of_several_tiles_are_solved(
    monkeypatch: pytest.MonkeyPatch, seed: int, discount: float
) -> None:
    monkeypatch.setattr(layouts, "TILE", 64)
    rng = np.random.default_rng(seed)
    mdp = random_world(
        rng, states=300, actions=3, symbols=4, successors=(1, 3, 5, 2)[seed], blank=0.9
    )
    assert len(layouts.layout(mdp).tiles) == 6
    machine = random_machine(rng, mdp.alphabet, 3)
    values = _swept(mdp, machine, discount)
    exact = reference.policy_iteration(product(mdp, machine), discount).max(axis=2)
    assert np.abs(values - exact).max() <= 1e-10 * max(1.0, float(np.abs(exact).max()))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_log_likelihoods_in_tiles_keep_the_promised_tolerance(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(layouts, "TILE", 7)
    rng = np.random.default_rng(100 + seed)
    for _ in range(15):
        mdp, demos, machine, expert = _problem(rng)
        posterior = Posterior(mdp, demos, expert=expert, rewards=LEVELS, threads=1)
        tables = machine.transitions[None], machine.rewards[None]
        exact = reference.log_likelihood(mdp, demos, machine.transitions, machine.rewards, expert)
        assert abs(posterior.log_likelihood(*tables)[0] - exact) <= 1e-2
        if expert.discount <= 0.99:
            assert abs(posterior.log_likelihood(*tables, tolerance=1e-5)[0] - exact) <= 1e-5


@pytest.mark.parametrize("n", [3, 6, 20])
@pytest.mark.parametrize("discount", [0.9, 0.98])
@pytest.mark.parametrize("tile", [16, 100])
def test_numbers_do_not_depend_on_the_company(
    monkeypatch: pytest.MonkeyPatch, n: int, discount: float, tile: int
) -> None:
    monkeypatch.setattr(layouts, "TILE", tile)
    rng = np.random.default_rng(n)
    mdp = random_world(rng, states=100, actions=2, symbols=2, successors=3, blank=0.8)
    machines = [random_machine(rng, mdp.alphabet, n) for _ in range(12)]
    expert = Expert(20.0, discount)
    demos = whence.simulate(mdp, machines[0], expert, episodes=10, length=20, seed=0)
    posterior = Posterior(mdp, demos, expert=expert, threads=1)
    transitions = np.array([each.transitions for each in machines])
    rewards = np.array([each.rewards for each in machines])

    def scored(chosen: slice) -> list[float]:
        parts = transitions[chosen], rewards[chosen]
        return list(map(float, posterior.log_likelihood(*parts, remember=False)))

    together = scored(slice(None))
    backwards = scored(slice(None, None, -1))[::-1]
    alone = [value for i in range(12) for value in scored(slice(i, i + 1))]
    assert together == alone == backwards


@pytest.mark.parametrize("largest", [1e-44, 1e-30, 1.0, 1e30, 1e40])
def test_rewards_of_any_size_are_solved_in_tiles(
    monkeypatch: pytest.MonkeyPatch, largest: float
) -> None:
    monkeypatch.setattr(layouts, "TILE", 16)
    rng = np.random.default_rng(0)
    mdp = random_world(rng, states=100, actions=2, symbols=2, successors=3, blank=0.8)
    machine = random_machine(rng, mdp.alphabet, 3)
    unit = _swept(mdp, machine, 0.9)
    scaled = RewardMachine(mdp.alphabet, machine.transitions, machine.rewards * largest)
    nothing = compile_evidence(mdp, whence.Demonstrations.from_episodes([]))
    engine = compiled.CompiledEngine(mdp, nothing, 0.9, threads=1)
    tables = scaled.transitions[None].astype(np.int64), scaled.rewards[None].copy(), np.array([3])
    found = engine.values(tables, 1e-12 * largest)[0]
    assert np.abs(found / largest - unit).max() <= 1e-10
