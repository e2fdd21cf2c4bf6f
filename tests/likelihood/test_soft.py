"""Soft experts: closed forms, a solver of its own, and the compiled engine beside the readable."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.optimize import root
from scipy.special import logsumexp

import whence
from support.conformance import Problem, problems, table_world, walks
from support.problems import masked, random_machine, random_world
from whence import Demonstrations, Episode, Expert, LabeledMDP, Posterior, RewardMachine
from whence._arrays import Floats
from whence.errors import ArgumentError
from whence.likelihood import reference
from whence.likelihood.episodes import log_likelihood_by_episode
from whence.likelihood.evidence import compile_evidence
from whence.likelihood.soft import SoftEngine, compiled_soft_q, compiled_soft_qs
from whence.likelihood.soft_planning import log_sum, paid_nats, soft_q
from whence.likelihood.values import expert_q
from whence.model.expert import KINDS
from whence.model.product import Product, product
from whence.planning.policies import expert_policy

ONCE = RewardMachine(("a",), [[1], [1]], [[1.0], [0.0]])


def _fork(unavailable: list[tuple[int, int]]) -> LabeledMDP:
    """Return a world of one choice: to a state that is paid for, or to one that is not."""
    after = [(0, 0, 1), (0, 1, 2), (1, 0, 1), (1, 1, 1), (2, 0, 2), (2, 1, 2)]
    return LabeledMDP.from_triples(
        [(s, a, t, 1.0) for s, a, t in after if (s, a) not in unavailable],
        states=3,
        actions=2,
        labels=[None, "a", None],
        alphabet=["a"],
        initial=0,
        unavailable=unavailable,
    )


@pytest.mark.parametrize("discount", [0.0, 0.9])
def test_at_a_fork_the_odds_are_those_of_the_pay(discount: float) -> None:
    policy = expert_policy(_fork([]), ONCE, Expert(2.0, discount, kind="soft"))
    assert policy.probabilities[0, 0, 0] == pytest.approx(1 / (1 + math.exp(-2)), abs=1e-12)
    assert policy.probabilities[1] == pytest.approx(0.5, abs=1e-12)
    lapsing = expert_policy(_fork([]), ONCE, Expert(2.0, discount, 0.3, "soft"))
    assert lapsing.probabilities == pytest.approx(0.7 * policy.probabilities + 0.15, abs=1e-12)


def test_states_with_more_actions_are_worth_more() -> None:
    world = _fork([(1, 1)])
    for alpha in (0.0, 3.0):
        policy = expert_policy(world, ONCE, Expert(alpha, 0.9, kind="soft"))
        odds = math.exp(alpha - 0.9 * math.log(2) / (1 - 0.9))
        assert policy.probabilities[0, 0, 0] == pytest.approx(odds / (1 + odds), abs=1e-12)
        assert policy.probabilities[:, 1].tolist() == [[1.0, 0.0]] * 2


def test_along_a_chain_values_are_those_of_a_recursion() -> None:
    length, alpha, discount = 6, 5.0, 0.8
    pit = length + 1
    after = np.array([[k + 1, pit] for k in range(length)] + [[length] * 2, [pit] * 2])
    labels = np.full(length + 2, -1)
    labels[length] = 0
    world = table_world(after, labels, 1)
    over = math.log(2) / (1 - discount)
    value, expected = math.log(math.exp(alpha) + 1) + discount * over, []
    for _ in range(length):
        expected.append(value)
        value = np.logaddexp(discount * value, discount * over)
    for q in (
        compiled_soft_q(world, ONCE, alpha, discount),
        soft_q(product(world, ONCE), alpha, discount),
    ):
        assert log_sum(q[0, :length]) == pytest.approx(expected[::-1], rel=1e-12)
        assert log_sum(q[1]) == pytest.approx(over, rel=1e-12)


def _dense_q(mdp: LabeledMDP, machine: RewardMachine, expert: Expert) -> Floats:
    """Return the soft Q by a root finder over dense tables of transitions and pay."""
    n, states, actions = machine.n_states, mdp.n_states, mdp.n_actions
    moves = np.zeros((n, states, actions, n, states))
    pay = np.where(mdp.available, 0.0, -np.inf) + np.zeros((n, 1, 1))
    for s, a in np.argwhere(mdp.available).tolist():
        pair = s * actions + a
        for e in range(mdp.offsets[pair], mdp.offsets[pair + 1]):
            t, p = int(mdp.successors[e]), float(mdp.probabilities[e])
            for y in range(n):
                label = int(mdp.labels[t])
                z = y if label < 0 else int(machine.transitions[y, label])
                moves[y, s, a, z, t] += p
                pay[y, s, a] += 0.0 if label < 0 else expert.alpha * p * machine.rewards[y, label]

    def backed(values: Floats) -> Floats:
        follow = np.tensordot(moves, values.reshape(n, states), axes=2)
        return np.asarray(pay + expert.discount * follow)

    def residual(values: Floats) -> Floats:
        return np.asarray(logsumexp(backed(values), axis=2).reshape(-1) - values)

    start = np.zeros(n * states)
    found = root(residual, start, method="krylov", options={"fatol": 1e-11, "maxiter": 500})
    assert found.success
    return backed(found.x)


@pytest.mark.parametrize("seed", range(6))
def test_q_is_that_of_a_root_finder(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=6, actions=3, symbols=2, successors=3)
    mdp = masked(rng, mdp) if seed % 2 else mdp
    machine = random_machine(rng, mdp.alphabet, 2)
    expert = Expert(float(rng.choice([0.0, 1.0, 20.0])), 0.8, kind="soft")
    dense = _dense_q(mdp, machine, expert)
    open_ = np.isfinite(dense)
    for q in (expert_q(mdp, machine, expert), reference.expert_q(product(mdp, machine), expert)):
        assert (np.isfinite(q) == open_).all()
        assert q[open_] == pytest.approx(dense[open_], abs=1e-8)


def _soft(expert: Expert) -> Expert:
    alpha = expert.alpha if math.isfinite(expert.alpha) else 2000.0
    return Expert(alpha, min(expert.discount, 0.99), expert.lapse, "soft")


def _check(problem: Problem) -> None:
    expert = _soft(problem.expert)
    tables = problem.machine.transitions, problem.machine.rewards
    exact = reference.log_likelihood(problem.mdp, problem.demos, *tables, expert)
    posterior = Posterior(problem.mdp, problem.demos, expert=expert, threads=1)
    one = tables[0][None], tables[1][None]
    assert abs(posterior.log_likelihood(*one)[0] - exact) <= 1e-2
    assert abs(posterior.log_likelihood(*one, tolerance=1e-5)[0] - exact) <= 1e-5
    assert posterior.finest(problem.machine) == pytest.approx(exact, abs=1e-7, rel=1e-10)
    each = posterior.log_likelihood_by_episode(problem.machine)
    assert each.sum() == pytest.approx(exact, abs=1e-7, rel=1e-10)


@pytest.mark.parametrize("kind", ["any", "deterministic", "masked any", "masked deterministic"])
def test_log_likelihoods_keep_the_promised_tolerance(kind: str) -> None:
    for problem in problems(kind, 0, 20):
        _check(problem)


def test_rounding_that_goes_around_in_a_circle_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, usual = problems("deterministic", 1004, 9)[8], Product.discounted
    calls: list[Any] = []

    def counted(self: Product, *given: Any) -> Floats:
        calls.append(given)
        assert len(calls) < 5_000
        return usual(self, *given)

    monkeypatch.setattr(Product, "discounted", counted)
    both = product(problem.mdp, problem.machine)
    found = soft_q(both, 50.0, 0.99)
    assert log_sum(found) == pytest.approx(
        log_sum(usual(both, log_sum(found), 0.99, paid_nats(both, 50.0))), rel=1e-13
    )


def test_a_large_world_is_solved_tile_by_tile() -> None:
    states = 4_200
    here = np.arange(states)
    after = np.stack([(here + 1) % states, (here - 1) % states], axis=1)
    labels = np.where(here % 700 == 0, 0, -1)
    world = table_world(after, labels, 1)
    machine = RewardMachine(("a",), [[1], [0]], [[1.0], [-0.5]])
    expert = Expert(4.0, 0.7, kind="soft")
    q = expert_q(world, machine, expert)
    nothing = compile_evidence(world, Demonstrations.from_episodes([]))
    assert len(SoftEngine(world, nothing, 0.7).world.tiles) > 2
    exact = reference.expert_q(product(world, machine), expert)
    assert q == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("lacking", [False, True])
def test_numbers_depend_on_machine_and_expert_alone(lacking: bool) -> None:
    rng = np.random.default_rng(3)
    mdp = random_world(rng, states=30, actions=3, symbols=3, successors=3)
    mdp = masked(rng, mdp) if lacking else mdp
    demos = walks(rng, mdp)
    chosen = [random_machine(rng, mdp.alphabet, 3) for _ in range(30)]
    transitions = np.array([m.transitions for m in chosen])
    rewards = np.array([m.rewards for m in chosen])
    rewards[::7] = 0.0
    alpha, lapse = rng.choice([0.0, 0.7, 33.0, 40.0], 30), rng.choice([0.0, 0.2], 30)
    experts = Expert(40.0, 0.95, kind="soft")
    one = Posterior(mdp, demos, expert=experts, threads=1)
    several = Posterior(mdp, demos, expert=experts, threads=3)

    def scored(posterior: Posterior, rows: slice, **how: bool) -> list[float]:
        parts = transitions[rows], rewards[rows]
        return list(
            map(
                float,
                posterior.log_likelihood(*parts, alpha=alpha[rows], lapse=lapse[rows], **how),
            )
        )

    together = scored(one, slice(None), remember=False)
    assert together == scored(several, slice(None), remember=False)
    assert together == scored(one, slice(None, None, -1))[::-1]
    assert together == [scored(one, slice(i, i + 1), remember=False)[0] for i in range(30)]
    for i in range(0, 30, 6):
        expert = Expert(float(alpha[i]), 0.95, float(lapse[i]), "soft")
        exact = reference.log_likelihood(mdp, demos, transitions[i], rewards[i], expert)
        assert abs(together[i] - exact) <= 1e-2


def test_several_worlds_histories_and_endings_add_up() -> None:
    rng = np.random.default_rng(5)
    worlds = [random_world(rng, states=7, actions=2, symbols=2, successors=2) for _ in range(2)]
    expert = Expert(3.0, 0.8, 0.1, "soft")
    pairs = [(mdp, walks(rng, mdp)) for mdp in worlds]
    machine = random_machine(rng, worlds[0].alphabet, 2)
    tables = machine.transitions, machine.rewards
    exact = sum(reference.log_likelihood(mdp, seen, *tables, expert) for mdp, seen in pairs)
    assert Posterior(pairs, expert=expert).finest(machine) == pytest.approx(exact, abs=1e-7)
    ended = [(mdp, Demonstrations.from_episodes(_half_ended(seen))) for mdp, seen in pairs]
    found = Posterior(ended, expert=expert, endings="task").finest(machine)
    more = reference.log_likelihood_of_endings(ended, machine)
    assert found == pytest.approx(exact + more, abs=1e-7)


def _half_ended(demos: Demonstrations) -> list[Episode]:
    return [episode._replace(ended=bool(i % 2)) for i, episode in enumerate(demos)]


def test_who_is_infinitely_rational_is_refused() -> None:
    with pytest.raises(ArgumentError, match="a soft expert plans with its own errors in mind"):
        Expert(math.inf, 0.9, kind="soft")
    with pytest.raises(ArgumentError, match="kind of expert is 'sof'; known are boltzmann, soft"):
        Expert(1.0, 0.9, kind="sof")
    world = _fork([])
    demos = whence.simulate(
        world, ONCE, Expert(1.0, 0.9, kind="soft"), episodes=2, length=3, seed=0
    )
    posterior = Posterior(world, demos, expert=Expert(1.0, 0.9, kind="soft"))
    with pytest.raises(ArgumentError, match="a soft expert"):
        posterior.log_likelihood(ONCE.transitions[None], ONCE.rewards[None], alpha=math.inf)
    with pytest.raises(ArgumentError, match="a soft expert"):
        whence.infer(world, demos, states=2, alpha=math.inf, expert_kind="soft")


def test_a_soft_expert_has_a_posterior_of_its_own() -> None:
    world = _fork([(1, 1)])
    plain, soft = (Expert(3.0, 0.9, kind=kind) for kind in ("boltzmann", "soft"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        demos = whence.simulate(world, ONCE, soft, episodes=40, length=2, seed=1)
    first = Posterior(world, demos, expert=plain)
    turned = first.of_expert(soft)
    again = turned.of_expert(plain)
    fresh = Posterior(world, demos, expert=soft)
    assert turned.finest(ONCE) == fresh.finest(ONCE)
    assert again.finest(ONCE) == first.finest(ONCE)
    assert fresh.finest(ONCE) > first.finest(ONCE) + 5


def test_experts_of_both_kinds_read_the_same_episodes() -> None:
    rng = np.random.default_rng(9)
    mdp = masked(rng, random_world(rng, states=8, actions=3, symbols=2, successors=2))
    machine, demos = random_machine(rng, mdp.alphabet, 2), walks(rng, mdp)
    experts = [Expert(a, 0.8, 0.1, kind) for kind in KINDS for a in (2.0, 7.0)]
    found = log_likelihood_by_episode([(mdp, demos)], machine, experts)
    for row, expert in zip(found, experts, strict=True):
        exact = reference.log_likelihood(mdp, demos, machine.transitions, machine.rewards, expert)
        assert row.sum() == pytest.approx(exact, abs=1e-7)


def test_plans_of_several_alphas_are_those_of_each_alone() -> None:
    rng = np.random.default_rng(8)
    mdp = masked(rng, random_world(rng, states=8, actions=3, symbols=2, successors=2))
    machine, alphas = random_machine(rng, mdp.alphabet, 2), np.array([0.5, 3.0, 40.0])
    found = compiled_soft_qs(mdp, machine, alphas, 0.8)
    for q, alpha in zip(found, alphas.tolist(), strict=True):
        exact = reference.expert_q(product(mdp, machine), Expert(alpha, 0.8, kind="soft"))
        assert np.allclose(q, exact, atol=1e-8)
