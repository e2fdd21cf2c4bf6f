from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whence
import whence.analysis.grouping
from support.draws import draws_of
from support.problems import random_machine, random_world
from whence import LabeledMDP, Prior, RewardMachine
from whence._arrays import Ints
from whence.analysis.language import Language
from whence.analysis.sample import PosteriorSample
from whence.errors import ArgumentError

COFFEE = whence.worlds.coffee()
TASK = COFFEE.task
LEVELS = np.array([1.0])


def _copy(machine: RewardMachine, order: list[int]) -> RewardMachine:
    """Return the same machine with its states numbered otherwise, 0 first."""
    place = np.argsort(order)
    return RewardMachine(
        machine.alphabet, place[machine.transitions[order]], machine.rewards[order]
    )


def _padded(machine: RewardMachine) -> RewardMachine:
    """Return the same machine with a second copy of its last state, which can be reached."""
    transitions = np.vstack([machine.transitions, machine.transitions[-1:]])
    last = machine.n_states
    into = np.argwhere(machine.transitions[:-1] == last - 1)[0]
    transitions[tuple(into)] = last
    return RewardMachine(
        machine.alphabet, transitions, np.vstack([machine.rewards, machine.rewards[-1:]])
    )


def test_copies_of_one_machine_are_one_class() -> None:
    other = RewardMachine(TASK.alphabet, [[0, 0, 0]], [[0, 1, 0]])
    drawn = [TASK, _copy(TASK, [0, 2, 1]), _padded(TASK), other]
    assert _padded(TASK).is_valid
    sample = PosteriorSample.from_draws(COFFEE.mdp, draws_of(drawn), TASK.alphabet)
    assert sample.weights.tolist() == [0.75, 0.25]
    assert sample.machines == (TASK.minimised(), other)
    assert sample.n_states == {1: 0.25, 3: 0.75}
    assert [machine for machine, _ in sample] == list(sample.machines)
    assert len(sample) == 2


@pytest.mark.parametrize("seed", range(12))
def test_classes_are_those_that_comparing_all_pairs_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=6, actions=2, symbols=3, successors=2, blank=0.4)
    machines = [
        random_machine(rng, mdp.alphabet, int(rng.integers(1, 4)), LEVELS) for _ in range(60)
    ]
    weight = rng.dirichlet(np.ones(len(machines)))
    sample = PosteriorSample.from_draws(
        mdp, draws_of(machines, weight=weight, exact=True), mdp.alphabet
    )
    classes: list[list[int]] = []
    for i, machine in enumerate(machines):
        mine = next((c for c in classes if machine.same_in(machines[c[0]], mdp)), None)
        if mine is None:
            classes.append(mine := [])
        mine.append(i)
    masses = sorted((weight[c].sum() for c in classes), reverse=True)
    np.testing.assert_allclose(sample.weights, masses, atol=1e-12)
    for machine, mass in sample:
        own = next(c for c in classes if machine.same_in(machines[c[0]], mdp))
        assert mass == pytest.approx(weight[own].sum())
        assert machine == machine.minimised()
        by_form: dict[RewardMachine, float] = {}
        for i in own:
            form = machines[i].minimised()
            by_form[form] = by_form.get(form, 0.0) + weight[i]
        assert by_form[machine] == pytest.approx(max(by_form.values()))


def test_a_colliding_fingerprint_merges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    machines = [random_machine(rng, TASK.alphabet, 3, LEVELS) for _ in range(40)]
    honest = PosteriorSample.from_draws(COFFEE.mdp, draws_of(machines), TASK.alphabet)
    for name in ("fingerprints", "deep_fingerprints"):
        monkeypatch.setattr(
            whence.analysis.grouping, name, lambda language, tables: np.zeros(len(tables[0]))
        )
        blind = PosteriorSample.from_draws(COFFEE.mdp, draws_of(machines), TASK.alphabet)
        assert len(honest) > 30
        assert blind.machines == honest.machines
        assert blind.weights.tolist() == honest.weights.tolist()


def test_machines_that_pay_at_the_end_of_a_long_way_are_told_apart_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No sequence drawn by chance pays, so that all of them have one fingerprint."""
    alphabet = tuple("abcdefgh")
    mdp = LabeledMDP.from_dense(np.full((8, 1, 8), 1 / 8), labels=list(alphabet))
    rng = np.random.default_rng(0)
    machines = [_long_way(rng.integers(0, 8, size=9), alphabet) for _ in range(60)]
    compared = []
    exactly = whence.analysis.grouping.same_in_worlds

    def counted(language: Language, first: Any, second: Any) -> Any:
        compared.append(len(first[0]))
        return exactly(language, first, second)

    monkeypatch.setattr(whence.analysis.grouping, "same_in_worlds", counted)
    sample = PosteriorSample.from_draws(mdp, draws_of([*machines, *machines]), alphabet)
    assert len(sample) == 60
    assert len(compared) == 2  # not one round for each machine


def _long_way(labels: Ints, alphabet: tuple[str, ...]) -> RewardMachine:
    """Return a machine that pays once the last of some labels is read, one after the other."""
    n = len(labels) + 1
    targets, pays = np.tile(np.arange(n)[:, None], (1, len(alphabet))), np.zeros((n, 8))
    targets[np.arange(n - 1), labels] = np.arange(1, n)
    pays[n - 2, labels[-1]] = 1.0
    return RewardMachine(alphabet, targets, pays)


def test_several_worlds_tell_what_one_cannot() -> None:
    first = LabeledMDP.from_dense([[[0, 1]], [[0, 1]]], labels=[None, "c"])
    second = LabeledMDP.from_dense([[[0, 1]], [[0, 1]]], labels=[None, "o"])
    lazy = RewardMachine(("c", "o"), [[0, 0]], [[1, 0]])
    keen = RewardMachine(("c", "o"), [[0, 0]], [[1, 1]])
    draws = draws_of([lazy, keen])
    assert len(PosteriorSample.from_draws(first, draws, ("c", "o"))) == 1
    assert len(PosteriorSample.from_draws([first, second], draws, ("c", "o"))) == 2


def test_pays_is_what_every_machine_pays_itself() -> None:
    rng = np.random.default_rng(4)
    mdp = random_world(rng, states=5, actions=2, symbols=3, successors=2)
    machines = [random_machine(rng, mdp.alphabet, 3) for _ in range(50)]
    weight = rng.dirichlet(np.ones(50))
    sample = PosteriorSample.from_draws(mdp, draws_of(machines, weight=weight), mdp.alphabet)
    for _ in range(20):
        word = [str(s) for s in rng.choice(mdp.alphabet, size=5)]
        expected: dict[float, float] = {}
        for machine, mass in zip(machines, weight, strict=True):
            total = sum(machine.run(word).rewards)
            expected[total] = expected.get(total, 0.0) + mass
        assert sample.pays(*word) == pytest.approx(expected)
        masses = list(sample.pays(*word).values())
        assert masses == sorted(masses, reverse=True)
        assert sample.pays(None, *word, None) == sample.pays(*word)
        assert max(masses) <= 1.0
    assert sample.pays() == pytest.approx({0.0: 1.0})


def test_top_keeps_weights_and_the_heaviest_hold_a_share() -> None:
    machines = [RewardMachine(("a", "b"), [[0, 0]], [[i, 1]]) for i in range(4)]
    mdp = LabeledMDP.from_dense([[[0.5, 0.5]], [[0.5, 0.5]]], labels=["a", "b"])
    draws = draws_of(machines, weight=[0.1, 0.5, 0.1, 0.3], exact=True)
    sample = PosteriorSample.from_draws(mdp, draws, ("a", "b"))
    assert sample.top(2).weights.tolist() == [0.5, 0.3]
    assert sample.top(2).pays("a") == {1.0: 0.5, 3.0: 0.3}
    assert sample.top(99).weights.tolist() == sample.weights.tolist()
    assert len(sample.heaviest(0.8)) == 2
    assert len(sample.heaviest(0.81)) == 3
    assert len(sample.heaviest(1)) == 4
    assert sample.best == machines[1]


def test_exact_weights_have_no_error() -> None:
    sample = PosteriorSample.from_draws(
        COFFEE.mdp, draws_of([TASK, RewardMachine(TASK.alphabet, [[0] * 3], [[0, 1, 0]])],
                             weight=[0.9, 0.1], exact=True), TASK.alphabet)  # fmt: skip
    assert sample.errors.tolist() == [0, 0]
    assert sample.ess == np.inf
    assert sample.agreement is None
    assert repr(sample) == "<PosteriorSample: 2 machines, the best 90.0%, exact>"


def _chains(
    rng: np.random.Generator, ladders: int, length: int, stay: float, p: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return a two-state chain a ladder: kept with probability `stay`, else drawn anew."""
    fresh = rng.random((ladders, length)) < p
    kept = rng.random((ladders, length)) < stay
    kept[:, 0] = False
    last = np.maximum.accumulate(np.where(kept, 0, np.arange(length)), axis=1)
    state = np.take_along_axis(fresh, last, axis=1)
    return state.reshape(-1).astype(np.int64), np.repeat(np.arange(ladders), length)


@pytest.mark.parametrize("stay", [0.0, 0.9])
def test_errors_are_those_of_correlated_draws(stay: float) -> None:
    """A chain kept with probability r has the variance p (1 - p) / N (1 + r) / (1 - r)."""
    from whence.search.diagnostics import frequencies

    rng = np.random.default_rng(1)
    p, ladders, length = 0.3, 8, 2000
    found, frequency, worth = [], [], []
    for _ in range(60):
        state, ladder = _chains(rng, ladders, length, stay, p)
        result = frequencies(state, ladder, 2)
        found.append(result.errors[1])
        frequency.append(state.mean())
        worth.append(result.ess)
        assert result.agreement is not None
        assert result.agreement.largest < 5
        assert result.agreement.total_variation < 0.2
    slowness = (1 + stay) / (1 - stay)
    truth = np.sqrt(p * (1 - p) / (ladders * length) * slowness)
    assert np.mean(found) == pytest.approx(truth, rel=0.2)
    assert np.std(frequency) == pytest.approx(truth, rel=0.3)
    assert np.median(worth) == pytest.approx(ladders * length / slowness, rel=0.35)


def test_ladders_that_never_mixed_are_found_out() -> None:
    from whence.search.diagnostics import frequencies

    state = np.repeat([0, 0, 1, 1], 500)
    result = frequencies(state, np.repeat(np.arange(4), 500), 2)
    assert result.errors[0] > 0.2
    assert result.ess < 5
    assert result.agreement is not None
    assert result.agreement.total_variation == 1
    assert result.agreement.largest > 10


def test_interleaved_ladders_count_as_sorted_ones() -> None:
    from whence.search.diagnostics import frequencies

    rng = np.random.default_rng(2)
    state, ladder = _chains(rng, 4, 300, 0.8, 0.5)
    order = np.arange(1200).reshape(4, 300).T.reshape(-1)
    first, second = frequencies(state, ladder, 2), frequencies(state[order], ladder[order], 2)
    assert first.errors.tolist() == second.errors.tolist()
    assert first.agreement == second.agreement


def test_the_expert_is_summarised_by_mean_and_quantiles() -> None:
    alpha = np.arange(1, 1001, dtype=float)
    sample = PosteriorSample.from_draws(
        COFFEE.mdp, draws_of([TASK] * 1000, alpha=alpha), TASK.alphabet
    )
    assert sample.alpha.mean == pytest.approx(500.5)
    assert (sample.alpha.low, sample.alpha.high) == (25, 975)
    assert sample.lapse == (0, 0, 0)
    assert sample.discount == pytest.approx((0.92, 0.92, 0.92))
    assert sample.expert.alpha == pytest.approx(500.5)
    assert sample.weights.tolist() == pytest.approx([1.0])
    assert sample.ess == 1000


def test_a_sample_is_frozen() -> None:
    sample = PosteriorSample.from_draws(COFFEE.mdp, draws_of([TASK]), TASK.alphabet)
    with pytest.raises(dataclasses.FrozenInstanceError):
        sample.size = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        sample.weights[0] = 2.0


def test_bad_input_is_refused_by_name() -> None:
    sample = PosteriorSample.from_draws(COFFEE.mdp, draws_of([TASK]), TASK.alphabet)
    with pytest.raises(ArgumentError, match=r"label 2 is 'x'.*\(c, o, \*\)"):
        sample.pays("c", "x")
    with pytest.raises(ArgumentError, match="k is 0"):
        sample.top(0)
    with pytest.raises(ArgumentError, match="share is 0"):
        sample.heaviest(0)
    with pytest.raises(ArgumentError, match=r"3 symbols for the alphabet \(c, o\)"):
        PosteriorSample.from_draws(COFFEE.mdp, draws_of([TASK]), ("c", "o"))
    with pytest.raises(ArgumentError, match="shows 't'"):
        PosteriorSample.from_draws(whence.worlds.recharge().mdp, draws_of([TASK]), TASK.alphabet)
    with pytest.raises(ArgumentError, match="no world"):
        PosteriorSample.from_draws([], draws_of([TASK]), TASK.alphabet)
    empty = dataclasses.replace(draws_of([TASK]), weight=np.zeros(0))
    with pytest.raises(ArgumentError, match="no draws"):
        PosteriorSample.from_draws(COFFEE.mdp, empty, TASK.alphabet)


def test_many_draws_take_seconds() -> None:
    rng = np.random.default_rng(0)
    transitions, rewards = Prior().sample(rng, 5, 4, (0.0, 1.0, 2.0), 10_000)
    which = rng.integers(0, 10_000, size=100_000)
    alphabet = ("t", "w", "l", "r")
    one = draws_of([RewardMachine(alphabet, [[0] * 4], [[0] * 4])] * 100_000)
    draws = dataclasses.replace(one, transitions=transitions[which], rewards=rewards[which])
    began = time.perf_counter()
    sample = PosteriorSample.from_draws(whence.worlds.recharge().mdp, draws, alphabet)
    assert time.perf_counter() - began < 15
    assert 9_000 < len(sample) <= 10_000


def test_the_example_of_the_page_runs_as_it_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "posterior.md").read_text(encoding="utf-8")
    block = page.split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(block, names)
    assert names["question"].labels == ("o",)
    assert names["world"].mdp.state_name(names["question"].start.state) == "(4, 5)"
    assert round(names["question"].start.nats, 1) == 26.5
