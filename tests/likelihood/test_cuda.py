"""The engine of cards, its kernels compiled for this computer: see `support.emulated`.

With a card, `test_conformance` asks it the same as every engine; `scripts/cuda` runs both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whence
from support.conformance import Problem, on_card, problems, walks
from support.emulated import COMPILER, EmulatedCard
from support.problems import masked, random_machine, random_world
from whence import Expert, Posterior
from whence.errors import ArgumentError, DeviceError, MissingExtraError
from whence.likelihood import engines, reference
from whence.likelihood import posterior as posterior_module
from whence.likelihood.cuda import card as card_module
from whence.likelihood.cuda import straight, trial
from whence.likelihood.cuda.card import Card, FullError
from whence.likelihood.cuda.engine import CudaEngine
from whence.likelihood.cuda.plan import hub_rows, world_rows
from whence.likelihood.evidence import compile_evidence
from whence.likelihood.hub_map import map_hubs
from whence.paper.worlds import BUILT_IN
from whence.search.settings import Exhaustive

LEVELS = (-1.0, 0.0, 0.5, 1.0, 2.0)
emulated = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler to emulate a card with")


@pytest.fixture(scope="module")
def card() -> Card:
    return EmulatedCard()


@pytest.fixture
def used(card: Card, monkeypatch: pytest.MonkeyPatch) -> Card:
    """Return a card that device="cuda" finds."""
    monkeypatch.setattr(card_module, "first_card", lambda: card)
    return card


def _error(problem: Problem, posterior: Posterior, tolerance: float) -> float:
    tables = problem.machine.transitions[None], problem.machine.rewards[None]
    found = posterior.log_likelihood(*tables, tolerance=tolerance)[0]
    return 0.0 if found == problem.exact else abs(found - problem.exact)


@emulated
@pytest.mark.parametrize("kind", ["any", "deterministic", "masked any", "masked deterministic"])
@pytest.mark.parametrize("engine", ["card rows", "card hubs"])
def test_log_likelihoods_keep_the_promised_tolerance(
    card: Card, monkeypatch: pytest.MonkeyPatch, kind: str, engine: str
) -> None:
    build = on_card(card)[engine]
    monkeypatch.setattr(posterior_module, "engine_for", build)
    taken = 0
    for problem in problems(kind, 0, 100)[:20]:
        if build(problem.mdp, compile_evidence(problem.mdp, problem.demos), 0.5, 1) is None:
            continue
        taken += 1
        one = Posterior(
            problem.mdp, problem.demos, expert=problem.expert, rewards=LEVELS, threads=1
        )
        assert _error(problem, one, 1e-2) <= 1e-2
        if problem.expert.discount <= 0.99:
            assert _error(problem, one, 1e-5) <= 1e-5
    assert taken >= 5


@emulated
@pytest.mark.parametrize("world", ["coffee", "recharge", "multi-coffee"])
def test_straight_code_finds_what_the_cores_find(used: Card, world: str) -> None:
    given = BUILT_IN[world](None)
    demos = given.demonstrations(0).subset(np.arange(10))
    expert = Expert(50.0, 0.92, 0.05)
    rng = np.random.default_rng(1)
    n, m = given.task.n_states, len(given.mdp.alphabet)
    tables = whence.Prior().sample(rng, n, m, given.rewards, 23)
    asked: dict[str, Any] = {"expert": expert, "rewards": given.rewards, "threads": 1}
    one = Posterior(given.mdp, demos, **asked, device="cuda")
    engine = one.engines[0]
    assert isinstance(engine, CudaEngine)
    assert engine.straight
    exact = Posterior(given.mdp, demos, **asked).log_likelihood(*tables, tolerance=1e-8)
    assert np.abs(one.log_likelihood(*tables) - exact).max() <= 1e-2
    fine = one.log_likelihood(*tables, tolerance=1e-6)
    assert np.abs(fine - exact).max() <= 1e-6
    last = one.log_likelihood(tables[0][-1:], tables[1][-1:], tolerance=1e-6, remember=False)
    assert last[0] == fine[-1]


@emulated
@pytest.mark.parametrize(("n", "lacking"), [(1, False), (3, False), (20, False), (3, True)])
def test_numbers_depend_on_the_machine_alone(card: Card, n: int, lacking: bool) -> None:
    rng = np.random.default_rng(n)
    mdp = random_world(rng, states=30, actions=3, symbols=3, successors=3)
    mdp = masked(rng, mdp) if lacking else mdp
    evidence = compile_evidence(mdp, walks(rng, mdp))
    engine = CudaEngine(mdp, evidence, 0.97, 1, card, unrolled=False)
    chosen = [random_machine(rng, mdp.alphabet, n) for _ in range(37)]
    tables = engine.canonical(
        np.array([m.transitions for m in chosen]), np.array([m.rewards for m in chosen])
    )

    def scored(which: slice) -> list[float]:
        some = tables[0][which], tables[1][which], tables[2][which]
        size = len(some[0])
        experts = np.arange(size + 1), np.full(size, 40.0), np.full(size, 0.1)
        return list(engine.log_likelihood(some, *experts, np.full(size, 1e-8))[0])

    together = scored(slice(None))
    assert together == scored(slice(None, None, -1))[::-1]
    assert together == [value for i in range(37) for value in scored(slice(i, i + 1))]


@emulated
def test_several_experts_share_a_machine_and_its_values_can_be_read(used: Card) -> None:
    rng = np.random.default_rng(4)
    mdp = masked(rng, random_world(rng, states=12, actions=3, symbols=2, successors=2))
    demos = walks(rng, mdp)
    one = Posterior(mdp, demos, expert=Expert(20.0, 0.9), rewards=LEVELS, device="cuda")
    machine = random_machine(rng, mdp.alphabet, 3)
    alpha, lapse = np.array([20.0, 25.0, np.inf, 0.0]), np.array([0.0, 0.3, 0.1, 1.0])
    copies = np.tile(machine.transitions, (4, 1, 1)), np.tile(machine.rewards, (4, 1, 1))
    found = one.log_likelihood(*copies, alpha=alpha, lapse=lapse)
    for i, value in enumerate(found):
        expert = Expert(float(alpha[i]), 0.9, float(lapse[i]))
        exact = reference.log_likelihood(mdp, demos, machine.transitions, machine.rewards, expert)
        assert value == exact or abs(value - exact) <= 1e-2
    engine, tables = one.in_world(0, (copies[0][:1], copies[1][:1]))
    q = engine.visited_q(tables, 1e-10)
    same = CudaEngine.at(engine, 0.9).host.visited_q(tables, 1e-10)  # type: ignore[arg-type]
    there = np.isfinite(q)
    assert (mdp.available[one.evidence[0].visited] == there.all(axis=(0, 1)).T).all()
    assert np.abs(q - same)[there].max() <= 1e-8


@emulated
def test_worlds_and_histories_count_on_the_card_too(used: Card) -> None:
    rng = np.random.default_rng(11)
    pairs = []
    for symbols in (2, 3):
        mdp = random_world(rng, states=9, actions=2, symbols=symbols, successors=2)
        pairs.append((mdp, walks(rng, mdp)))
    asked: dict[str, Any] = {
        "states": (1, 2), "expert": Expert(10.0, 0.8, 0.1), "method": "exhaustive",
        "settings": Exhaustive(batch=5),
    }  # fmt: skip
    on_cores, found = whence.infer(pairs, **asked), whence.infer(pairs, **asked, device="cuda")
    assert found.best == on_cores.best
    assert found.evaluations == on_cores.evaluations
    for n, (log_evidence, _) in on_cores.log_evidence.items():
        assert found.log_evidence[n][0] == pytest.approx(log_evidence, abs=1e-4)
    assert found.draws is not None
    assert on_cores.draws is not None
    one, other = (np.sort(draws.weight)[::-1][:20] for draws in (found.draws, on_cores.draws))
    assert np.allclose(one, other, atol=1e-5)


@emulated
def test_a_card_without_much_room_does_less_at_a_time(card: Card) -> None:
    rng = np.random.default_rng(2)
    mdp = random_world(rng, states=40, actions=2, symbols=2, successors=2)
    evidence = compile_evidence(mdp, walks(rng, mdp))
    chosen = [random_machine(rng, mdp.alphabet, 4) for _ in range(40)]
    tables = np.array([m.transitions for m in chosen]), np.array([m.rewards for m in chosen])
    results = []
    for memory in (2**30, 2**18):
        engine = CudaEngine(mdp, evidence, 0.9, 1, EmulatedCard(memory), unrolled=False)
        sent = engine.canonical(*tables), np.arange(41), np.full(40, 9.0), np.zeros(40)
        results.append(engine.log_likelihood(*sent, np.full(40, 1e-8))[0].tolist())
    assert results[0] == results[1]
    full = CudaEngine(mdp, evidence, 0.9, 1, EmulatedCard(2**10), unrolled=False)
    with pytest.raises(FullError, match="memory"):
        full.log_likelihood(*sent, np.full(40, 1e-8))


@emulated
def test_the_cores_score_what_the_card_does_not_take(used: Card) -> None:
    rng = np.random.default_rng(3)
    mdp = random_world(rng, states=6, actions=2, symbols=2, successors=2)
    demos = walks(rng, mdp)
    expert = Expert(5.0, 0.9)
    machine = random_machine(rng, mdp.alphabet, 33)
    tables = machine.transitions[None], machine.rewards[None]
    one = Posterior(mdp, demos, expert=expert, rewards=LEVELS, device="cuda")
    with pytest.warns(whence.WhenceWarning, match="scored by the cores"):
        found = one.log_likelihood(*tables)[0]
    assert found == Posterior(mdp, demos, expert=expert, rewards=LEVELS).log_likelihood(*tables)[0]


@emulated
def test_a_world_that_is_too_large_for_the_card_is_left_to_the_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(card_module, "first_card", lambda: EmulatedCard(2**10))
    world = whence.worlds.recharge()
    demos = world.demonstrations(0).subset(np.arange(2))
    with pytest.warns(whence.WhenceWarning, match="too large for emulated: the cores"):
        one = Posterior(world.mdp, demos, expert=Expert(5.0, 0.9), device="cuda")
    assert not isinstance(one.engines[0], CudaEngine)


@emulated
def test_a_trial_tells_that_a_card_works(card: Card) -> None:
    assert trial.difference(card) <= trial.MOST


@emulated
def test_a_run_goes_on_with_the_device_it_began_with(
    used: Card, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = whence.worlds.recharge()
    demos = world.demonstrations(0).subset(np.arange(3))
    asked: dict[str, Any] = {
        "states": 1, "expert": Expert(20.0, 0.9), "method": "exhaustive", "device": "cuda",
        "settings": Exhaustive(batch=4), "folder": tmp_path / "run",
    }  # fmt: skip
    run = whence.infer(world.mdp, demos, **asked)
    assert run.job.device == "cuda"
    assert '"device": "cuda"' in (tmp_path / "run" / "manifest.json").read_text("utf-8")
    (tmp_path / "run" / "posterior.json").unlink(missing_ok=True)

    def gone() -> Card:
        raise DeviceError("there is no CUDA card")

    assert whence.resume(tmp_path / "run").best == run.best
    monkeypatch.setattr(card_module, "first_card", gone)
    with pytest.raises(DeviceError, match=r"began with device 'cuda'.*no CUDA card"):
        whence.resume(tmp_path / "run")
    assert whence.load(tmp_path / "run").best == run.best


def test_rows_that_can_read_a_label_for_ever_are_found() -> None:
    rows, _ = world_rows(BUILT_IN["multi-coffee"](None).mdp)
    again = straight._again(rows, 0.9)
    after = rows.after.reshape(rows.swept, -1)
    for row in np.flatnonzero(again).tolist():
        ends = set(after[row].tolist())
        if again[row] == 2:
            ends = {end for to in ends if rows.label[to] < 0 for end in after[to].tolist()}
        assert rows.label[row] >= 0
        assert any(rows.label[end] == rows.label[row] and again[end] for end in ends)
    assert set(again[rows.label >= 0].tolist()) == {1, 2}


def test_hubs_as_rows_lead_to_hubs_alone() -> None:
    world = whence.worlds.recharge()
    evidence = compile_evidence(world.mdp, world.demonstrations(0).subset(np.arange(2)))
    hubs = map_hubs(world.mdp, evidence.visited)
    assert hubs is not None
    rows, row = hub_rows(world.mdp, hubs, 0.9)
    assert rows.after.max() < rows.swept == (world.mdp.labels >= 0).sum()
    assert (row[hubs.states] == np.arange(len(hubs.states))).all()


def test_a_device_that_is_not_known_is_refused() -> None:
    with pytest.raises(ArgumentError, match="device is 'gpu'; known are cpu, cuda"):
        engines.checked_device("gpu")


def test_without_cupy_a_card_is_refused_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    card_module.first_card.cache_clear()
    with pytest.raises(MissingExtraError, match=r'pip install "whence\[cuda\]"'):
        card_module.first_card()
