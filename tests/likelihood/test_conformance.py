"""Every engine against the readable one, and every promise that does not depend on which."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import whence
from support.conformance import (
    ENGINES,
    Builder,
    Problem,
    deterministic_world,
    endless_problem,
    problems,
    table_world,
    walks,
)
from support.problems import masked, random_machine, random_world
from whence import Demonstrations, Expert, LabeledMDP, Posterior, RewardMachine
from whence.likelihood import posterior as posterior_module
from whence.likelihood import reference
from whence.likelihood.evidence import compile_evidence
from whence.model.prior import Prior

LEVELS = (-1.0, 0.0, 0.5, 1.0, 2.0)

Make = Callable[..., Posterior | None]


@pytest.fixture(params=ENGINES)
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Return a function that makes a posterior with one engine, None where it does not apply."""
    return _maker(ENGINES[request.param], monkeypatch)


def _maker(build: Builder, monkeypatch: pytest.MonkeyPatch) -> Make:
    def posterior(mdp: LabeledMDP, demos: Demonstrations, **options: Any) -> Posterior | None:
        evidence = compile_evidence(mdp, demos)
        if build(mdp, evidence, 0.5, 1) is None:
            return None
        monkeypatch.setattr(posterior_module, "engine_for", build)
        return Posterior(mdp, demos, rewards=LEVELS, **{"threads": 1, **options})

    return posterior


def _check(make: Make, problem: Problem) -> bool:
    """Compare with the readable engine; return whether this engine takes on the world."""
    posterior = make(problem.mdp, problem.demos, expert=problem.expert)
    if posterior is None:
        return False
    tables = problem.machine.transitions[None], problem.machine.rewards[None]
    exact = problem.exact
    found = posterior.log_likelihood(*tables)[0]
    assert found == exact or abs(found - exact) <= 1e-2
    if problem.expert.discount <= 0.99:
        fine = posterior.log_likelihood(*tables, tolerance=1e-5)[0]
        assert fine == exact or abs(fine - exact) <= 1e-5
    return True


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("any", 0),
        ("any", 1),
        ("deterministic", 0),
        ("deterministic", 1),
        ("masked any", 0),
        ("masked deterministic", 0),
    ],
)
def test_log_likelihoods_keep_the_promised_tolerance(
    kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`benchmarks/engine_problems.py` asks for thousands."""
    _agree(kind, seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
@pytest.mark.parametrize("kind", ["any", "deterministic", "masked any", "masked deterministic"])
def test_many_log_likelihoods_keep_the_promised_tolerance(
    kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _agree(kind, seed, monkeypatch)


def _agree(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask all engines for the same problems: the readable one takes longest."""
    every = problems(kind, seed, 100)
    for name, build in ENGINES.items():
        make = _maker(build, monkeypatch)
        taken = [_check(make, problem) for problem in every]
        assert sum(taken) >= 30 if kind.endswith("any") else all(taken), name


@pytest.mark.parametrize("seed", [161, 207])
def test_ties_between_large_values_are_counted(make: Make, seed: int) -> None:
    """Rounding comes back 1 / (1 - discount) times: it must not tell equal values apart."""
    assert _check(make, endless_problem(seed))


def _machines(rng: np.random.Generator, mdp: LabeledMDP, n: int, count: int) -> tuple[Any, Any]:
    chosen = [random_machine(rng, mdp.alphabet, n) for _ in range(count)]
    return np.array([m.transitions for m in chosen]), np.array([m.rewards for m in chosen])


def _world(
    seed: int, deterministic: bool, lacking: bool = False
) -> tuple[LabeledMDP, Demonstrations]:
    rng = np.random.default_rng(seed)
    if deterministic:
        mdp = deterministic_world(rng)
    else:
        mdp = random_world(rng, states=30, actions=3, symbols=3, successors=3)
    mdp = masked(rng, mdp) if lacking else mdp
    return mdp, walks(rng, mdp)


@pytest.mark.parametrize(
    ("n", "lacking"), [(1, False), (3, False), (5, False), (16, False), (20, False), (3, True)]
)
@pytest.mark.parametrize("deterministic", [False, True])
def test_numbers_depend_on_the_machine_alone(
    make: Make, n: int, lacking: bool, deterministic: bool
) -> None:
    rng = np.random.default_rng(n)
    mdp, demos = _world(40 + n, deterministic, lacking)
    assert mdp.is_masked == lacking
    one = make(mdp, demos, expert=Expert(40.0, 0.97, 0.1))
    if one is None:
        return
    several = make(mdp, demos, expert=Expert(40.0, 0.97, 0.1), threads=3)
    assert several is not None
    transitions, rewards = _machines(rng, mdp, n, 37)
    rewards[::7] = 0.0  # never pay
    rewards[::5] *= 1e4  # odds that are far apart

    def scored(posterior: Posterior, chosen: slice) -> list[float]:
        parts = transitions[chosen], rewards[chosen]
        return list(map(float, posterior.log_likelihood(*parts, remember=False)))

    together = scored(one, slice(None))
    assert together == scored(several, slice(None))
    assert together == scored(one, slice(None, None, -1))[::-1]
    assert together == [value for i in range(37) for value in scored(one, slice(i, i + 1))]


def test_numbers_do_not_depend_on_who_is_done_first(make: Make) -> None:
    """Of many machines, several are often done at once and wait for each other to be read."""
    world = whence.worlds.coffee()
    posterior = make(world.mdp, world.demonstrations(1), expert=Expert(40.0, 0.5))
    if posterior is None:
        return
    tables = Prior().sample(np.random.default_rng(3), 3, len(posterior.alphabet), (0.0, 1.0), 120)

    def scored(chosen: slice) -> list[float]:
        parts = tables[0][chosen], tables[1][chosen]
        return list(map(float, posterior.log_likelihood(*parts, remember=False)))

    together = scored(slice(None))
    assert together == scored(slice(None, None, -1))[::-1]
    assert together == [value for i in range(120) for value in scored(slice(i, i + 1))]


@pytest.mark.parametrize("deterministic", [False, True])
def test_several_experts_share_a_machine(make: Make, deterministic: bool) -> None:
    rng = np.random.default_rng(8)
    mdp, demos = _world(50, deterministic)
    posterior = make(mdp, demos, expert=Expert(33.0, 0.9))
    if posterior is None:
        return
    transitions, rewards = _machines(rng, mdp, 3, 4)
    alpha = np.array([33.0, 40.0, 64.0, math.inf, 0.0, 2000.0])
    lapse = np.array([0.0, 0.2, 0.0, 0.1, 0.5, 0.0])
    copies = np.repeat(transitions, 6, axis=0), np.repeat(rewards, 6, axis=0)
    found = posterior.log_likelihood(*copies, alpha=np.tile(alpha, 4), lapse=np.tile(lapse, 4))
    for i, value in enumerate(found.tolist()):
        expert = Expert(float(alpha[i % 6]), 0.9, float(lapse[i % 6]))
        tables = transitions[i // 6], rewards[i // 6]
        exact = reference.log_likelihood(mdp, demos, *tables, expert)
        assert value == exact or abs(value - exact) <= 1e-2


@pytest.mark.parametrize("deterministic", [False, True])
def test_where_nothing_can_be_paid_every_action_is_as_likely(
    make: Make, deterministic: bool
) -> None:
    mdp, demos = _world(60, deterministic)
    posterior = make(mdp, demos, expert=Expert(50.0, 0.9))
    if posterior is None:
        return
    m = len(mdp.alphabet)
    nothing = np.zeros((1, 2, m), dtype=np.int64), np.zeros((1, 2, m))
    uniform = -demos.n_steps * math.log(mdp.n_actions)
    assert posterior.log_likelihood(*nothing)[0] == pytest.approx(uniform, rel=1e-14)
    once = np.ones((1, 2, m), dtype=np.int64), np.array([[[1.0] * m, [0.0] * m]])
    exact = reference.log_likelihood(mdp, demos, once[0][0], once[1][0], posterior.expert)
    assert posterior.log_likelihood(*once, tolerance=1e-9)[0] == pytest.approx(exact, abs=1e-8)


@pytest.mark.parametrize("deterministic", [False, True])
def test_where_nothing_can_be_paid_the_actions_that_a_state_has_are_as_likely(
    make: Make, deterministic: bool
) -> None:
    mdp, demos = _world(61, deterministic, lacking=True)
    posterior = make(mdp, demos, expert=Expert(50.0, 0.9, 0.2))
    if posterior is None:
        return
    m = len(mdp.alphabet)
    has = [int(mdp.available[s].sum()) for e in demos for s in e.states[: len(e.actions)]]
    assert min(has) < mdp.n_actions
    nothing = np.zeros((1, 2, m), dtype=np.int64), np.zeros((1, 2, m))
    uniform = -sum(map(math.log, has))
    assert posterior.log_likelihood(*nothing)[0] == pytest.approx(uniform, rel=1e-13)
    once = np.ones((1, 2, m), dtype=np.int64), np.array([[[1.0] * m, [0.0] * m]])
    exact = reference.log_likelihood(mdp, demos, once[0][0], once[1][0], posterior.expert)
    assert posterior.log_likelihood(*once, tolerance=1e-9)[0] == pytest.approx(exact, abs=1e-8)


@pytest.mark.parametrize("deterministic", [False, True])
def test_no_demonstrations_have_likelihood_one(make: Make, deterministic: bool) -> None:
    mdp, _ = _world(70, deterministic)
    posterior = make(mdp, whence.Demonstrations.from_episodes([]), expert=Expert(50.0, 0.9))
    if posterior is not None:
        rng = np.random.default_rng(0)
        assert posterior.log_likelihood(*_machines(rng, mdp, 3, 5)).tolist() == [0.0] * 5


@pytest.mark.parametrize("lapse", [1e-310, 1e-200, 1.0])
def test_lapses_of_any_size_are_counted(make: Make, lapse: float) -> None:
    mdp, demos = _world(81, deterministic=True)
    expert = Expert(5.0, 0.9, lapse)
    posterior = make(mdp, demos, expert=expert)
    assert posterior is not None
    transitions, rewards = _machines(np.random.default_rng(1), mdp, 2, 5)
    for i, found in enumerate(posterior.log_likelihood(transitions, rewards).tolist()):
        exact = reference.log_likelihood(mdp, demos, transitions[i], rewards[i], expert)
        assert abs(found - exact) <= 1e-2


def test_an_impossible_action_has_likelihood_zero(make: Make) -> None:
    world = whence.worlds.recharge()
    wrong = whence.Demonstrations.from_episodes([([26, 27], [1])])
    posterior = make(world.mdp, wrong, expert=Expert(math.inf, 0.92))
    assert posterior is not None
    tables = world.task.transitions[None], world.task.rewards[None]
    assert posterior.log_likelihood(*tables)[0] == -math.inf


def test_the_finest_numbers_are_those_of_the_readable_engine(make: Make) -> None:
    world = whence.worlds.recharge()
    expert = Expert(30.0, 0.92, 0.05)
    demos = walks(np.random.default_rng(3), world.mdp)
    posterior = make(world.mdp, demos, expert=expert)
    assert posterior is not None
    tables = world.task.transitions, world.task.rewards
    exact = reference.log_likelihood(world.mdp, demos, *tables, expert)
    assert posterior.finest(world.task) == pytest.approx(exact, abs=1e-8)


def _line(labels: list[int]) -> LabeledMDP:
    """Return a line of states; one action goes on, one stays, the last state leads to itself."""
    here = np.arange(len(labels))
    after = np.column_stack([np.minimum(here + 1, here[-1]), here])
    return table_world(after, np.array(labels), symbols=2)


@pytest.mark.parametrize("labels", [[-1, 0, 1, -1], [0, 0, 0], [-1, -1, -1, 1], [-1, -1]])
@pytest.mark.parametrize("discount", [0.0, 0.9, 0.9999])
@pytest.mark.parametrize("paid", [1.0, -1.0])
def test_a_label_is_read_again_where_one_stays(
    make: Make, labels: list[int], discount: float, paid: float
) -> None:
    mdp = _line(labels)
    demos = whence.Demonstrations.from_episodes([([0, 1, 1, 1], [0, 1, 1, 0]), ([0, 0], [1, 0])])
    machine = RewardMachine(mdp.alphabet, [[1, 0], [0, 1]], [[paid, 0.0], [0.0, -paid]])
    expert = Expert(0.01 if discount > 0.99 else 3.0, discount)
    posterior = make(mdp, demos, expert=expert)
    assert posterior is not None
    exact = reference.log_likelihood(mdp, demos, machine.transitions, machine.rewards, expert)
    assert posterior.finest(machine) == pytest.approx(exact, abs=1e-8)
