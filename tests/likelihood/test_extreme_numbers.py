"""Numbers at their ends: right to what is promised, or refused by name, and never a warning.

What is right comes from `exact`, an evaluator of 60 digits that shares no code with whence.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import mpmath
import numpy as np
import pytest

import whence
from support import exact
from support.problems import random_machine, random_world
from whence import Annealing, Expert, Posterior, RewardMachine, Tempering, cli
from whence.errors import ArgumentError, MachineError, WhenceError
from whence.model.product import SHARPEST

ALPHAS = (0.0, 1e-9, 1.0, 50.0, 1e6, math.inf)
LAPSES = (0.0, 1e-12, 0.1, 1.0)
DISCOUNTS = (0.0, 0.5, 0.99, 0.99999)
SIZES = (1e-9, 1.0, 1e9, -1e9)
ROUNDING = 4 * 2.2e-16


def problem(seed: int, size: float) -> tuple[whence.LabeledMDP, RewardMachine]:
    rng = np.random.default_rng(seed)
    world = random_world(rng, states=4, actions=3, symbols=2, successors=2, blank=0.3)
    machine = random_machine(rng, world.alphabet, 2)
    return world, RewardMachine(world.alphabet, machine.transitions, machine.rewards * size)


def demonstrations(world: whence.LabeledMDP, seed: int) -> whence.Demonstrations:
    return whence.simulate(
        world, random_machine(np.random.default_rng(seed), world.alphabet, 2),
        Expert(2, 0.9), episodes=4, length=6, seed=seed,
    )  # fmt: skip


def allowed(machine: RewardMachine, expert: Expert, steps: int, result: float) -> float:
    """Return the error that `Posterior.finest` may have."""
    if not math.isfinite(result):
        return 0.0
    alpha = expert.alpha if math.isfinite(expert.alpha) else 0.0
    largest = float(np.abs(machine.rewards).max()) / (1 - expert.discount)
    return max(1e-8, 1e-12 * abs(result)) + ROUNDING * alpha * largest * steps


def close(found: float, expected: float, error: float) -> bool:
    return found == expected or abs(found - expected) <= error


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("size", SIZES)
def test_log_likelihoods_are_exact_or_refused(size: float, discount: float) -> None:
    answered = 0
    for seed in range(2):
        world, machine = problem(seed, size)
        demos = demonstrations(world, seed)
        q = exact.Product(world, machine, discount).solved()
        alphas = ALPHAS[:-1] if exact.on_the_edge(q) else ALPHAS
        for alpha in alphas:
            for lapse in LAPSES:
                expert = Expert(alpha, discount, lapse)
                posterior = Posterior(world, demos, expert=expert, threads=1)
                try:
                    found = posterior.finest(machine)
                except MachineError as error:
                    assert alpha * abs(machine.rewards).max() > SHARPEST * (1 - discount)
                    assert "give a smaller alpha, or inf" in str(error)  # noqa: PT017
                    continue
                expected = float(exact.log_likelihood(world, demos, machine, expert, q))
                error_allowed = allowed(machine, expert, demos.n_steps, expected)
                assert close(found, expected, error_allowed), (alpha, lapse, found, expected)
                answered += 1
    assert answered >= 2 * 3 * len(LAPSES)


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("size", SIZES)
def test_plans_and_returns_are_exact(size: float, discount: float) -> None:
    for seed in range(3):
        world, machine = problem(seed, size)
        solved = exact.Product(world, machine, discount)
        q = solved.solved()
        policy = whence.plan(world, machine, discount)
        chances = policy.probabilities.reshape(-1, world.n_actions)
        largest = float(np.abs(machine.rewards).max()) / (1 - discount)
        for values, chance in zip(q, chances, strict=True):
            worst = min(v for v, p in zip(values, chance, strict=True) if p > 0)
            assert max(values) - worst <= 1e-9 + 1e-12 * largest
        exactly = [[mpmath.mpf(p) for p in chance] for chance in chances.tolist()]
        starts = dict(
            zip(world.initial_states.tolist(), world.initial_probabilities.tolist(), strict=True)
        )
        found = whence.evaluate(world, policy, truth=machine, length=7)
        expected = float(solved.earned(exactly, starts, 7))
        assert found.expected_return == pytest.approx(expected, rel=1e-12, abs=1e-12 * abs(size))
        assert found.horizon_optimum >= found.reference - 1e-9 * abs(size)


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_simulated_actions_have_the_exact_chances(alpha: float, discount: float) -> None:
    world, machine = problem(0, 1.0)
    for lapse in LAPSES:
        expert = Expert(alpha, discount, lapse)
        found = whence.expert_policy(world, machine, expert).probabilities.reshape(-1, 3)
        q = exact.Product(world, machine, discount).solved()
        expected = [[float(mpmath.exp(p)) for p in exact.log_probabilities(v, expert)] for v in q]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
        demos = whence.simulate(world, machine, expert, episodes=3, length=5, seed=0)
        assert not demos.check(world).problems


def test_impossible_demonstrations_are_impossible_and_no_more() -> None:
    world = whence.LabeledMDP.from_dense(
        [[[0, 1], [1, 0]], [[0, 1], [1, 0]]], labels=[None, "a"], actions=("go", "back")
    )
    machine = RewardMachine(["a"], [[0]], [[1]])
    demos = whence.Demonstrations.from_episodes([([0, 0], [1])])
    for lapse, expected in ((0.0, -math.inf), (1.0, -math.log(2)), (0.5, math.log(0.25))):
        posterior = Posterior(world, demos, expert=Expert(math.inf, 0.9, lapse))
        assert posterior.finest(machine) == pytest.approx(expected, abs=1e-12)


def test_a_hundred_thousand_actions() -> None:
    count = 10**5
    rows = [(0, a, int(a == 7), 1.0) for a in range(count)] + [
        (1, a, 1, 1.0) for a in range(count)
    ]
    world = whence.LabeledMDP.from_triples(rows, states=2, actions=count, labels=[None, "a"])
    machine = RewardMachine.from_arrows(["a -a/1-> b"])
    demos = whence.Demonstrations.from_episodes([([0, 0, 1, 1], [0, 7, 99_999])])
    posterior = Posterior(world, demos, expert=Expert(5.0, 0.5))
    # In state 0, action 7 is worth 1 and every other one half of it; then nothing is paid.
    total = math.log(math.exp(0.0) + (count - 1) * math.exp(5 * (0.5 - 1)))
    expected = (-2.5 - total) + (0.0 - total) - math.log(count)
    assert posterior.finest(machine) == pytest.approx(expected, abs=1e-7)
    policy = whence.plan(world, machine, 0.5)
    assert policy.actions[0, 0] == 7
    assert whence.evaluate(world, policy, truth=machine, length=3).expected_return == 1.0
    drawn = whence.simulate(world, machine, Expert(math.inf, 0.5), episodes=2, length=1, seed=0)
    assert drawn.actions.tolist() == [7, 7]


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("label", [None, "a"])
def test_a_world_of_one_state(label: str | None, discount: float) -> None:
    world = (
        whence.LabeledMDP.from_dense(np.ones((1, 4, 1)), labels=[label], alphabet=("a",))
        if label
        else _blank_world()
    )
    machine = RewardMachine(["a"], [[0]], [[1.0]])
    demos = whence.simulate(world, machine, Expert(1e3, discount), episodes=2, length=5, seed=0)
    for alpha in (0.0, 1.0, 1e5, math.inf):
        posterior = Posterior(world, demos, expert=Expert(alpha, discount))
        assert posterior.finest(machine) == pytest.approx(-10 * math.log(4), abs=1e-6)
    found = whence.evaluate(world, whence.plan(world, machine, discount), machine, length=3)
    assert found.expected_return == pytest.approx(3.0 if label else 0.0)


def _blank_world() -> whence.LabeledMDP:
    with pytest.warns(whence.WhenceWarning, match="never read"):
        return whence.LabeledMDP.from_dense(np.ones((1, 4, 1)), labels=[None], alphabet=("a",))


def test_episodes_of_no_step_and_of_one() -> None:
    world, machine = problem(0, 1.0)
    empty = whence.Demonstrations.from_episodes([([], []), ([1], [])])
    one = whence.Demonstrations.from_episodes([([], []), ([1], [2]), ([0], [])])
    expert = Expert(3.0, 0.9)
    assert Posterior(world, empty, expert=expert).finest(machine) == 0.0
    found = Posterior(world, one, expert=expert).finest(machine)
    assert found == pytest.approx(float(exact.log_likelihood(world, one, machine, expert)))
    assert len(whence.simulate(world, machine, expert, episodes=3, length=0, seed=0)) == 3
    earned = whence.evaluate(world, whence.plan(world, machine, 0.9), machine, length=0)
    assert earned.expected_return == earned.horizon_optimum == 0.0


@pytest.mark.parametrize(
    ("expert", "rewards"),
    [
        (Expert(0.0, 0.9), (0.0, 1.0)),
        (Expert(1e6, 0.999), (0.0, 1.0)),
        (Expert(math.inf, 0.9), (0.0, 1.0)),
        (Expert(1.0, 0.9, 1.0), (0.0, 1.0)),
        (Expert(1e-9, 0.0), (0.0, 1e9, -1e9)),
        (Expert(1e9, 0.5), (0.0, 1e-9)),
    ],
)
@pytest.mark.parametrize("method", ["tempering", "annealing", "exhaustive"])
def test_inference_ends_with_finite_weights(
    method: str, expert: Expert, rewards: tuple[float, ...]
) -> None:
    world, machine = problem(1, 1.0)
    demos = whence.simulate(world, machine, Expert(2.0, 0.5), episodes=2, length=3, seed=1)
    settings = {
        "tempering": Tempering(steps=60, warm_up=20, pace=10, every=10),
        "annealing": Annealing(steps=30),
        "exhaustive": None,
    }
    run = whence.infer(
        world, demos, states=2, rewards=rewards, expert=expert, method=method,
        settings=settings[method],
    )  # fmt: skip
    assert run.best.n_states == 2
    exactly = float(exact.log_likelihood(world, demos, run.best.over(world.alphabet), expert))
    assert close(run.log_likelihood, exactly, allowed(run.best, expert, demos.n_steps, exactly))
    assert (run.posterior is None) == (method == "annealing")
    if run.posterior is not None:
        assert np.isfinite(run.posterior.weights).all()
        assert run.posterior.weights.sum() == pytest.approx(1.0)


def test_machines_that_are_all_equally_likely_share_the_prior() -> None:
    """With alpha 0 the demonstrations say nothing: weights are those of the prior."""
    world, machine = problem(1, 1.0)
    demos = whence.simulate(world, machine, Expert(2.0, 0.5), episodes=2, length=3, seed=1)
    run = whence.infer(world, demos, states=1, expert=Expert(0.0, 0.5), method="exhaustive")
    assert run.posterior is not None
    weights = np.sort(run.posterior.weights)
    # Two symbols, rewards 0 or 1, one of them at least 1: odds 1 : 3 : 3.
    np.testing.assert_allclose(weights, [1 / 7, 3 / 7, 3 / 7], rtol=1e-9)


@pytest.mark.parametrize(
    "expert",
    [(-1.0, 0.9, 0.0), (math.nan, 0.9, 0.0), (1.0, 1.0, 0.0), (1.0, math.nan, 0.0),
     (1.0, -0.1, 0.0), (1.0, 0.9, 1.1), (1.0, 0.9, math.nan), (1.0, 0.9, -math.inf)],
)  # fmt: skip
def test_what_is_no_expert_is_refused(expert: tuple[float, float, float]) -> None:
    with pytest.raises(ArgumentError, match="give a number"):
        Expert(*expert)


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf])
def test_what_is_no_reward_is_refused(reward: float) -> None:
    world, _ = problem(0, 1.0)
    demos = demonstrations(world, 0)
    with pytest.raises(WhenceError, match="reward"):
        Posterior(world, demos, expert=Expert(1, 0.9), rewards=(0.0, reward))
    with pytest.raises(MachineError, match="finite"):
        RewardMachine(world.alphabet, [[0, 0]], [[0, reward]])


def test_an_expert_sharper_than_floating_point_is_refused_everywhere() -> None:
    world, machine = problem(0, 1e9)
    expert = Expert(1e6, 0.9)
    demos = demonstrations(world, 0)
    with pytest.raises(MachineError, match=r"alpha 1e\+06 with a reward of size .*give a smaller"):
        whence.simulate(world, machine, expert, episodes=1, length=1, seed=0)
    with pytest.raises(MachineError, match="give a smaller alpha, or inf"):
        whence.infer(world, demos, states=2, rewards=(0.0, 1e9), expert=expert, steps=5)


def test_score_prints_numbers_at_their_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world, machine = problem(0, 1e-9)
    demos = demonstrations(world, 0)
    world.save(tmp_path / "w.json")
    demos.save(tmp_path / "d.jsonl")
    machine.save(tmp_path / "m.json")
    files = [str(tmp_path / name) for name in ("w.json", "d.jsonl", "m.json")]
    for alpha, discount in (("0", "0"), ("1e6", "0.99999"), ("inf", "0.99999")):
        said = ["--alpha", alpha, "--discount", discount, "--json"]
        assert cli.run(["score", *files, *said]) == 0
        shown = json.loads(capsys.readouterr().out)["scores"][0]["log_likelihood"]
        expert = Expert(float(alpha), float(discount))
        expected = float(exact.log_likelihood(world, demos, machine, expert))
        error = 1e-2 + allowed(machine, expert, demos.n_steps, expected)
        assert shown is None if math.isinf(expected) else close(shown, expected, error)
