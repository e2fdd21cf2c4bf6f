"""What questions are expected to tell, against sums over everything that may happen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.polynomial import Polynomial

import whence
from whence.ask import Answer, Question
from whence.ask.demonstrating import Crowd
from whence.ask.information import Aim
from whence.likelihood.answers import A, AnswerTerm, B, answers_likely, beta_nodes

LEVELS = (0.0, 1.0, 2.0)
Machine = tuple[np.ndarray, np.ndarray]


def _machines(rng: np.random.Generator, count: int) -> Machine:
    n, m = int(rng.integers(1, 4)), 2
    return rng.integers(n, size=(count, n, m)), rng.choice(LEVELS, size=(count, n, m))


def _question(rng: np.random.Generator) -> Question:
    words = [tuple(rng.choice(["a", "b"], size=rng.integers(1, 5)).tolist()) for _ in range(2)]
    if rng.random() < 0.5:
        return Question("sequence", "?", 0.0, 1.0, answers=LEVELS, labels=(words[0],))
    both = ("first", "second")
    rate = float(rng.uniform(0.2, 4))
    return Question("preference", "?", 0, 1, answers=both, labels=tuple(words), rationality=rate)


def _pays(machine: Machine, word: Sequence[str]) -> list[float]:
    """Return what one machine pays for each label of a word."""
    state, found = 0, []
    for label in word:
        column = "ab".index(label)
        found.append(float(machine[1][state, column]))
        state = int(machine[0][state, column])
    return found


def _polynomial(machine: Machine, question: Question, answer: object) -> Polynomial:
    """Return the probability of an answer as a polynomial of the error rate."""
    if question.kind == "sequence":
        if _pays(machine, question.labels[0])[-1] == answer:
            return Polynomial([1.0, -1.0])
        return Polynomial([0.0, 1 / (len(question.answers) - 1)])
    one, other = (sum(_pays(machine, word)) for word in question.labels)
    first = 1 / (1 + math.exp(-question.rationality * (one - other)))
    right = first if answer == "first" else 1 - first
    return Polynomial([right, 1 - 2 * right])


def _mean(polynomial: Polynomial) -> float:
    """Return the mean over e ~ Beta(A, B), from the moments of that distribution."""
    moments = [math.prod((A + i) / (A + B + i) for i in range(k)) for k in range(30)]
    return float(np.dot(polynomial.coef, moments[: len(polynomial.coef)]))


def _information(joint: dict[tuple[int, object], float]) -> float:
    """Return the mutual information of a table of probabilities by (fact, answer)."""
    fact, answer = {f for f, _ in joint}, {a for _, a in joint}
    total = math.fsum(joint.values())
    of_fact = {f: math.fsum(joint[f, a] for a in answer) for f in fact}
    of_answer = {a: math.fsum(joint[f, a] for f in fact) for a in answer}
    return math.fsum(
        p / total * math.log(p * total / (of_fact[f] * of_answer[a]))
        for (f, a), p in joint.items()
        if p > 0
    )


@pytest.mark.parametrize("seed", range(200))
def test_finite_questions_tell_what_a_sum_over_all_answers_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9))
    tables = _machines(rng, count)
    weight = rng.dirichlet(np.ones(count))
    fact = rng.integers(1 + rng.integers(3), size=count)
    told = []
    for number in range(int(rng.integers(4))):
        question = _question(rng)
        value = question.answers[rng.integers(len(question.answers))]
        told.append(Answer(str(number + 1), question, value))
    question = _question(rng)
    term = AnswerTerm(told, ("a", "b"))
    posterior = weight * np.exp(term(*tables))
    posterior /= posterior.sum()
    chance = answers_likely(question, ("a", "b"), *tables).at(term.errors(*tables)[:, 0])
    found = Aim(posterior, fact).of_answers(chance)

    joint: dict[tuple[int, object], float] = {
        (f, a): 0.0 for f in set(fact.tolist()) for a in question.answers
    }
    for k in range(count):
        machine = tables[0][k], tables[1][k]
        before = math.prod(
            (_polynomial(machine, each.question, each.value) for each in told),
            start=Polynomial([1.0]),
        )
        for answer in question.answers:
            both = before * _polynomial(machine, question, answer)
            joint[int(fact[k]), answer] += weight[k] * _mean(both)
    assert found == pytest.approx(_information(joint), abs=1e-9)
    loss = rng.random((3, count))
    saved = Aim(posterior, fact, loss).of_answers(chance)
    now = (loss * posterior).sum(axis=1).min()
    after = sum(
        (loss * posterior * chance[:, a]).sum(axis=1).min() for a in range(chance.shape[1])
    )
    assert saved == pytest.approx(now - after, abs=1e-9)


def test_the_error_rate_is_integrated_exactly() -> None:
    for count in (1, 2, 5, 20):
        nodes, log_weights = beta_nodes(count)
        for power in range(2 * count):
            moment = math.prod((A + i) / (A + B + i) for i in range(power))
            assert float(np.exp(log_weights) @ nodes**power) == pytest.approx(moment, rel=1e-10)


def _crowd(rng: np.random.Generator, count: int) -> Crowd:
    """Return experts of random machines in a random world of three states and two actions."""
    triples = []
    for state, action in itertools.product(range(3), range(2)):
        one, other = rng.permutation(3)[:2].tolist()
        triples += [(state, action, one, 0.7), (state, action, other, 0.3)]
    mdp = whence.LabeledMDP.from_triples(
        triples, states=3, actions=("l", "r"), labels=["a", None, "b"], alphabet=("a", "b"),
        initial=0,
    )  # fmt: skip
    following = np.concatenate(
        [rng.integers(2, size=(count, 2, 2)), np.tile([[[0], [1]]], (count, 1, 1))], axis=2
    )
    log_p = np.log(rng.dirichlet(np.ones(2), size=(count, 2, 3)))
    return Crowd(mdp, following, log_p)


def _exact(crowd: Crowd, aim: Aim, length: int) -> float:
    """Return the mutual information of facts and episodes, by going through all of them."""
    mdp, count = crowd.mdp, len(crowd.following)
    joint: dict[tuple[int, object], float] = {}
    facts = sorted(set(aim.fact.tolist()))

    def walk(path: tuple[int, ...], chance: float, likely: np.ndarray, memory: np.ndarray) -> None:
        if len(path) == 2 * length + 1:
            for f in facts:
                mass = aim.weight[aim.fact == f] @ likely[aim.fact == f]
                joint[f, path] = joint.get((f, path), 0.0) + chance * mass
            return
        state = path[-1]
        for action in range(2):
            pair = state * 2 + action
            taken = np.exp(crowd.log_p[np.arange(count), memory, state, action])
            for entry in range(mdp.offsets[pair], mdp.offsets[pair + 1]):
                after = int(mdp.successors[entry])
                following = crowd.following[np.arange(count), memory, mdp.labels[after]]
                p = chance * mdp.probabilities[entry]
                walk((*path, action, after), p, likely * taken, following)

    walk((0,), 1.0, np.ones(count), np.zeros(count, dtype=np.int64))
    return _information(joint)


def test_demonstrations_tell_what_a_sum_over_all_episodes_says() -> None:
    away, wrong = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        crowd = _crowd(rng, 4)
        aim = Aim(rng.dirichlet(np.ones(4)), np.array([0, 0, 1, 2]))
        actor = rng.choice(4, size=1500, p=aim.weight)
        memory = np.zeros(4, dtype=np.int64)
        found = aim.of_episodes(crowd.episodes(rng, actor, 0, memory, 3))
        exact = _exact(crowd, aim, 3)
        away.append(abs(found.mean - exact) / found.error)
        even = rng.choice(4, size=1500)  # a control: the actors are not drawn by their weights
        other = aim.of_episodes(crowd.episodes(rng, even, 0, memory, 3))
        wrong.append(abs(other.mean - exact) / other.error)
    assert sum(z > 3 for z in away) <= 1  # one of 400 is by chance; two of 40 one time in 200
    assert math.fsum(z * z for z in away) < 90  # chi squared of 40 degrees: one time in 100,000
    assert math.fsum(z * z for z in wrong) > 400


def test_an_episode_that_no_machine_explains_tells_nothing() -> None:
    aim = Aim(np.array([0.5, 0.5]), np.array([0, 1]))
    found = aim.of_episodes(np.array([[0.0, -np.inf], [-np.inf, -np.inf]]))
    assert found.mean == pytest.approx(math.log(2) / 2)
