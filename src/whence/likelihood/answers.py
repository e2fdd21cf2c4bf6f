"""How likely answers to questions are under a machine.

Who answers errs with probability e, the same for all answers, e ~ Beta(1, 19). Without an error, a
`sequence` is answered with what the machine pays for its last label, and of two sequences of a
`preference` that of total pay v rather than w is named with probability

    1 / (1 + exp(-rationality (v - w))).

With an error, another level is named, each of them equally likely, or the other sequence. So each
answer has a probability (1 - e) right + e wrong, and all of them together

    P = integral of Beta(e; 1, 19) prod_i ((1 - e) right_i + e wrong_i) de,

a polynomial in e, which the nodes of Gauss and Jacobi integrate exactly: nothing is sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from whence._arrays import BLANK, Floats, Ints
from whence.errors import ArgumentError
from whence.model.asking import DEMONSTRATION, PREFERENCE, SEQUENCE, Answer, Question

A, B = 1.0, 19.0  # of the prior of e
MOST_NODES = 64  # enough for 125 answers to the last digit, and for more in all but name
SAME = 1e-9  # pays this close are equal


class ErrorRate(NamedTuple):
    """How often answers are wrong: the mean of e and its standard deviation."""

    mean: float
    deviation: float


class Likely(NamedTuple):
    """How likely each answer to a question is, under K machines.

    Attributes:
        right: float64[K, answers], without an error.
        wrong: float64[K, answers], with one.
    """

    right: Floats
    wrong: Floats

    def at(self, error: Floats) -> Floats:
        """Return float64[K, answers], where each machine expects an error rate, float64[K]."""
        return np.asarray((1 - error[:, None]) * self.right + error[:, None] * self.wrong)


class AnswerTerm:
    """How likely some answers are under machines; demonstrations are no part of it.

    Attributes:
        answers: those of them that are no demonstrations.
    """

    def __init__(self, answers: Sequence[Answer], alphabet: Sequence[str]) -> None:
        """Gather the answers.

        Args:
            answers: in any order; those withdrawn are left out.
            alphabet: the columns of the machines' tables.
        """
        self.answers = tuple(
            each for each in answers
            if not each.withdrawn and each.question.kind != DEMONSTRATION
        )  # fmt: skip
        self._alphabet = tuple(alphabet)
        self._nodes, self._log_weights = beta_nodes(min(len(self.answers) // 2 + 2, MOST_NODES))

    def __call__(self, transitions: Ints, rewards: Floats) -> Floats:
        """Return float64[B], the log probability under machines [B, n, m]."""
        return np.asarray(np.logaddexp.reduce(self._joint(transitions, rewards), axis=1))

    def errors(self, transitions: Ints, rewards: Floats) -> Floats:
        """Return float64[B, 2]: the mean and the mean square of e, given machines [B, n, m]."""
        joint = self._joint(transitions, rewards)
        share = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
        return np.stack([share @ self._nodes, share @ self._nodes**2], axis=1)

    def _joint(self, transitions: Ints, rewards: Floats) -> Floats:
        """Return float64[B, nodes]: the log of weight times likelihood at each error rate."""
        result = np.broadcast_to(self._log_weights, (len(transitions), len(self._nodes))).copy()
        for each in self.answers:
            likely = answers_likely(each.question, self._alphabet, transitions, rewards)
            place = each.question.answers.index(each.value)
            right, wrong = likely.right[:, place, None], likely.wrong[:, place, None]
            result += np.log((1 - self._nodes) * right + self._nodes * wrong)
        return result


def answers_likely(
    question: Question, alphabet: Sequence[str], transitions: Ints, rewards: Floats
) -> Likely:
    """Return how likely each answer to a question is, under machines [K, n, m]."""
    words = [encoded(word, alphabet) for word in question.labels]
    if question.kind == SEQUENCE:
        _, last = paid(words[0], transitions, rewards)
        return levels_likely(last, np.array(question.answers, dtype=np.float64))
    if question.kind == PREFERENCE:
        one, other = (paid(word, transitions, rewards)[0] for word in words)
        return preference_likely(one - other, question.rationality)
    raise ArgumentError("a demonstration is weighed by its steps; add it to the demonstrations")


def levels_likely(pays: Floats, levels: Floats) -> Likely:
    """Return how likely each level is named, where machines pay float64[K]."""
    right = (np.abs(pays[:, None] - levels) <= SAME).astype(np.float64)
    others = len(levels) - right.sum(axis=1, keepdims=True)
    return Likely(right, (1 - right) / others)


def preference_likely(more: Floats, rationality: float) -> Likely:
    """Return how likely the first and the second is named, where the first pays more by [K]."""
    with np.errstate(over="ignore"):
        second = 1 / (1 + np.exp(rationality * more))
    right = np.stack([1 - second, second], axis=1)
    return Likely(right, right[:, ::-1])


def paid(word: Ints, transitions: Ints, rewards: Floats) -> tuple[Floats, Floats]:
    """Return float64[K] twice: what machines pay for a label sequence in all, and at its end."""
    machine = np.arange(len(transitions))
    state = np.zeros(len(transitions), dtype=np.int64)
    total, last = np.zeros(len(transitions)), np.zeros(len(transitions))
    for symbol in word[word != BLANK].tolist():
        last = rewards[machine, state, symbol]
        total = total + last
        state = transitions[machine, state, symbol]
    return total, last


def encoded(word: Sequence[str], alphabet: Sequence[str]) -> Ints:
    """Return int64[len(word)], the columns of labels."""
    for label in word:
        if label not in alphabet:
            raise ArgumentError(
                f"a question names the label {label!r}, which is none of {', '.join(alphabet)}; "
                "ask about those"
            )
    return np.array([list(alphabet).index(label) for label in word], dtype=np.int64)


def beta_nodes(count: int) -> tuple[Floats, Floats]:
    """Return nodes in (0, 1) and the logs of their weights, for means over e ~ Beta(1, 19).

    Polynomials of a degree below 2 count are integrated exactly. Nodes are the eigenvalues of the
    Jacobi matrix (Golub and Welsch, 1969), whose entries belong to Jacobi's polynomials of
    parameters B - 1 and A - 1 on [-1, 1].
    """
    a, b = B - 1, A - 1
    k = np.arange(count, dtype=np.float64)
    sums = 2 * k + a + b
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = (b * b - a * a) / (sums * (sums + 2))
        beside = 4 * k * (k + a) * (k + b) * (k + a + b) / (sums**2 * (sums**2 - 1))
    middle[0] = (b - a) / (a + b + 2)
    if count > 1:
        beside[1] = 4 * (1 + a) * (1 + b) / ((2 + a + b) ** 2 * (3 + a + b))
    matrix = np.diag(middle) + np.diag(np.sqrt(beside[1:]), 1) + np.diag(np.sqrt(beside[1:]), -1)
    nodes, vectors = np.linalg.eigh(matrix)
    return (1 + nodes) / 2, np.log(vectors[0] ** 2)


def error_rate(moments: Floats, weight: Floats) -> ErrorRate:
    """Return the error rate over a sample, from float64[K, 2] and weights float64[K]."""
    mean, square = (weight @ moments / weight.sum()).tolist()
    return ErrorRate(mean, float(np.sqrt(max(square - mean**2, 0.0))))


def of_answers(answers: Sequence[Answer], alphabet: Sequence[str]) -> AnswerTerm | None:
    """Return what answers add to a likelihood, None where there are none."""
    term = AnswerTerm(answers, alphabet)
    return term if term.answers else None
