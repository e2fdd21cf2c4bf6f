from __future__ import annotations

import itertools

import numpy as np
import pytest

import whence
from support.draws import draws_of
from support.problems import random_machine, random_world
from whence import Expert, LabeledMDP, RewardMachine
from whence.analysis import design
from whence.analysis.design import best_start, information, settling
from whence.analysis.language import language
from whence.analysis.questions import differences, open_questions
from whence.analysis.sample import PosteriorSample
from whence.errors import ArgumentError
from whence.model.part import nearest

USUAL = whence.worlds.coffee(start=(2, 1))
OFFICE = RewardMachine.from_arrows(
    ["before -o/1-> over", "before -*-> over"], alphabet=("c", "o", "*")
)


def _sample(
    mdp: LabeledMDP | list[LabeledMDP],
    machines: list[RewardMachine],
    weight: list[float] | None = None,
) -> PosteriorSample:
    draws = draws_of(machines, weight=weight, exact=True)
    return PosteriorSample.from_draws(mdp, draws, machines[0].alphabet)


def test_coffee_or_not_is_told_by_the_office_alone() -> None:
    sample = _sample(USUAL.mdp, [USUAL.task, OFFICE])
    (question,) = open_questions(sample, expert=USUAL.expert)
    assert question.labels == ("o",)
    assert question.outcomes == {0.0: 0.5, 1.0: 0.5}
    assert sorted(question.between) == [0, 1]
    assert question.start.nats > 5.4
    first = information(USUAL.mdp, USUAL.task, OFFICE, USUAL.expert)
    usual = int(USUAL.mdp.initial_states[0])
    assert first[question.start.state] > 1000 * first[usual]


@pytest.mark.parametrize(("start", "nats"), [((2, 1), 0.001), ((10, 3), 3.5), ((7, 4), 5.4)])
def test_what_an_episode_of_the_coffee_expert_tells(start: tuple[int, int], nats: float) -> None:
    assert USUAL.mdp.grid is not None
    found = information(USUAL.mdp, USUAL.task, OFFICE, Expert(30, 0.92), 100)
    digits = 3 if nats < 1 else 1
    assert round(float(found[USUAL.mdp.grid.state(*start)]), digits) == nats


def _by_enumeration(
    mdp: LabeledMDP, a: RewardMachine, b: RewardMachine, expert: Expert, start: int, length: int
) -> float:
    """Expected log Bayes factor: the sum over all episodes, one by one."""
    p = whence.expert_policy(mdp, a, expert).probabilities
    q = whence.expert_policy(mdp, b, expert).probabilities
    paths = [(start, 0, 0, 1.0, 0.0)]
    for _ in range(length):
        grown = []
        for (s, y, z, chance, factor), action in itertools.product(paths, range(mdp.n_actions)):
            gained = factor + float(np.log(p[y, s, action]) - np.log(q[z, s, action]))
            for following, weight in zip(*mdp.row(s, action), strict=True):
                label = mdp.label(int(following))
                after = a.step(y, label)[0], b.step(z, label)[0]
                share = chance * float(p[y, s, action]) * float(weight)
                grown.append((int(following), *after, share, gained))
        paths = grown
    return sum(chance * factor for *_, chance, factor in paths)


@pytest.mark.parametrize("seed", range(8))
def test_information_is_the_expected_log_bayes_factor(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=4, actions=2, symbols=2, successors=2)
    a, b = (random_machine(rng, mdp.alphabet, 2) for _ in range(2))
    expert = Expert(2.0, 0.8, 0.05)
    found = information(mdp, a, b, expert, 4)
    brute = [_by_enumeration(mdp, a, b, expert, s, 4) for s in range(4)]
    np.testing.assert_allclose(found, brute, atol=1e-12)
    start = best_start([mdp], (a, b), (1.0, 0.0), expert, 4)
    assert start.nats == pytest.approx(max(brute))


def test_a_start_settles_the_matter_whichever_machine_it_is() -> None:
    there, back = np.array([35.0, 6.0, 7.0, 0.1]), np.array([3.0, 8.0, 9.0, 90.0])
    assert (0.9 * there + 0.1 * back).argmax() == 0  # which the second machine would hardly show
    assert settling(there, back, 0.9).argmax() == 2  # the most of those that settle it
    little = np.array([0.1, 0.3, 0.2, 0.0])
    np.testing.assert_allclose(settling(little, 2 * little, 0.5), 1.5 * little, rtol=1e-5)


def test_infinite_information_stays_finite() -> None:
    perfect = Expert(float("inf"), 0.92)
    found = information(USUAL.mdp, USUAL.task, OFFICE, perfect, 20)
    assert np.isfinite(found).all()
    assert found.max() > 500


@pytest.mark.parametrize("seed", range(15))
def test_sequences_are_the_shortest_open_ones_by_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=6, actions=1, symbols=2, successors=2, blank=0.3)
    machines = [random_machine(rng, mdp.alphabet, 3, np.array([1.0])) for _ in range(4)]
    sample = _sample(mdp, machines, rng.dirichlet(np.ones(4)).tolist())
    possible = language([mdp], mdp.alphabet)
    words: list[tuple[tuple[int, ...], int]] = [((), possible.start)]
    open_ones: list[tuple[str, ...]] = []
    for word, nodes in words:
        for symbol, after in possible.after(nodes).items():
            longer = (*word, symbol)
            labels = tuple(mdp.alphabet[i] for i in longer)
            if max(sample.pays(*labels).values()) < 0.95:
                open_ones.append(labels)
            elif len(longer) < 5:
                words.append((longer, after))
    found = open_questions(sample, expert=Expert(5, 0.9), most=50, longest=5, length=5)
    assert (not found) == (not open_ones)
    assert {t.labels for t in found} <= set(open_ones)
    if open_ones:
        shortest = min(len(labels) for labels in open_ones)
        assert len(found[0].labels) == shortest
        assert [len(t.labels) for t in found] == sorted(len(t.labels) for t in found)
    for question in found:
        assert question.outcomes == sample.pays(*question.labels)
        i, j = question.between
        paid = [sum(sample.machines[k].run(question.labels).rewards) for k in (i, j)]
        assert paid == list(question.outcomes)[:2]


def test_a_settled_sample_has_no_open_sequence() -> None:
    assert open_questions(_sample(USUAL.mdp, [USUAL.task, OFFICE], [0.96, 0.04])) == ()


def test_a_sequence_that_no_world_produces_is_not_asked() -> None:
    mdp = LabeledMDP.from_dense([[[0, 1]], [[0, 1]]], labels=[None, "c"], alphabet=("c",))
    one = RewardMachine(("c", "o"), [[0, 0]], [[1, 0]])
    two = RewardMachine(("c", "o"), [[1, 0], [1, 0]], [[1, 1], [0, 0]])
    (question,) = open_questions(_sample(mdp, [one, two]), expert=Expert(1, 0.9))
    assert question.labels == ("c", "c")


def test_pairs_are_told_apart_by_their_shortest_difference() -> None:
    careless = RewardMachine.from_arrows(
        ["before -c-> holding", "holding -o/1-> over"], alphabet=("c", "o", "*")
    )
    sample = _sample(USUAL.mdp, [USUAL.task, OFFICE, careless], [0.5, 0.3, 0.2])
    found = differences(sample, 3)
    assert [(d.first, d.second) for d in found] == [(0, 1), (0, 2), (1, 2)]
    for d in found:
        a, b = sample.machines[d.first], sample.machines[d.second]
        assert d.labels == a.difference(b, USUAL.mdp)
    assert found[0].labels == ("o",)
    assert len(differences(sample, 2)) == 1


def test_the_world_that_tells_is_named() -> None:
    first = LabeledMDP.from_dense([[[0, 1]], [[0, 1]]], labels=[None, "c"])
    second = LabeledMDP.from_dense([[[0, 1]], [[0, 1]]], labels=[None, "o"])
    lazy = RewardMachine(("c", "o"), [[0, 0]], [[1, 0]])
    keen = RewardMachine(("c", "o"), [[0, 0]], [[1, 1]])
    sample = _sample([first, second], [lazy, keen])
    (told,) = differences(sample)
    assert (told.labels, told.world) == (("o",), 1)
    (question,) = open_questions(sample, expert=Expert(1, 0.9))
    assert question.labels == ("o",)


def test_bad_bounds_are_refused() -> None:
    with pytest.raises(ArgumentError, match="longest is 0"):
        open_questions(_sample(USUAL.mdp, [USUAL.task]), longest=0)


def test_starts_of_a_large_world_are_sought_near_its_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    mdp = random_world(rng, states=200, actions=2, symbols=2, successors=2, blank=0.97)
    one, other = (random_machine(rng, mdp.alphabet, 2, np.array([1.0])) for _ in range(2))
    expert = Expert(5.0, 0.9)
    whole = best_start([mdp], (one, other), (0.5, 0.5), expert, 12)
    monkeypatch.setattr(design, "MOST_PLACES", 60 * 2 * 4)
    part = best_start([mdp], (one, other), (0.5, 0.5), expert, 12)
    near = nearest(mdp, 60)
    told = [information(mdp, *pair, expert, 12) for pair in ((one, other), (other, one))]
    mean = (told[0] + told[1]) / 2
    assert len(near) == 60
    assert part.state in near
    assert 0 < part.nats <= mean[part.state] + 1e-9 <= whole.nats + 1e-9
    assert part.nats > 0.5 * mean[near].max()
