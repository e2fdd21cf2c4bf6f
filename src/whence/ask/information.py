"""What an answer is expected to tell: in nats about the facts, or in regret that it saves.

With P(a | k) the probability of an answer under machine k, of weight w_k, and f the facts,

    gain = H(a) - sum over f of P(f) H(a | f),

the mutual information of answer and facts. With loss_ik what the policy i loses where k is the
truth, one deploys the policy of the least expected loss, and an answer saves on average

    gain = min_i sum_k w_k loss_ik - sum over a of min_i sum_k w_k P(a | k) loss_ik.

Both are exact sums where answers are finite. A demonstration has too many: the mean over episodes,
drawn from the machines by their weights, comes with its standard error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints


class Estimate(NamedTuple):
    """A mean, and its Monte-Carlo standard error."""

    mean: float
    error: float


@dataclass(frozen=True, eq=False)
class Aim:
    """What answers should tell about; K machines.

    Attributes:
        weight: float64[K], which sums to 1.
        fact: int64[K], what holds for each.
        loss: float64[L, K], what each of L policies loses where each machine is the truth; None
            where the facts count.
    """

    weight: Floats
    fact: Ints
    loss: Floats | None = None

    def of_answers(self, chance: Floats) -> float:
        """Return the expected gain of a question, from P(a | k), float64[K, answers]."""
        return float(self.of_questions(chance[None])[0])

    def of_questions(self, chance: Floats) -> Floats:
        """Return the expected gains of Q questions, from P(a | k), float64[Q, K, answers]."""
        count, size, answers = chance.shape
        joint = (chance.transpose(0, 2, 1) * self.weight).reshape(count * answers, size)
        if self.loss is not None:
            left = (joint @ self.loss.T).min(axis=1).reshape(count, answers).sum(axis=1)
            return np.asarray(np.maximum(self._regret - left, 0.0))
        together = (joint @ self._by_fact.T).reshape(count, answers, -1)
        told = entropies(together.sum(axis=2)) - entropies(together.reshape(count, -1))
        return np.asarray(np.maximum(self._open + told, 0.0))

    def of_episodes(self, log_likelihood: Floats) -> Estimate:
        """Return the expected gain of a demonstration.

        Args:
            log_likelihood: float64[N, K], of episodes, each drawn with a machine by its weight;
                one that no machine explains tells nothing.
        """
        best = log_likelihood.max(axis=1, keepdims=True)
        joint = self.weight * np.exp(log_likelihood - np.where(np.isfinite(best), best, 0.0))
        total = joint.sum(axis=1, keepdims=True)
        joint = np.where(total > 0, joint / np.where(total > 0, total, 1.0), self.weight)
        if self.loss is not None:
            gains = self._regret - (joint @ self.loss.T).min(axis=1)
        else:
            after = joint @ self._by_fact.T
            before = self._by_fact @ self.weight
            ratio = np.where(after > 0, after, 1.0) / np.where(before > 0, before, 1.0)
            gains = (after * np.log(ratio)).sum(axis=1)
        return Estimate(float(gains.mean()), float(gains.std(ddof=1)) / math.sqrt(len(gains)))

    @cached_property
    def _by_fact(self) -> Floats:
        """float64[facts, K]: 1 where a machine has the fact."""
        _, owner = np.unique(self.fact, return_inverse=True)
        owner = owner.reshape(-1)
        return np.asarray((owner == np.arange(owner.max() + 1)[:, None]).astype(np.float64))

    @cached_property
    def _open(self) -> float:
        """The entropy of the facts as they are."""
        return entropy(self._by_fact @ self.weight)

    @cached_property
    def _regret(self) -> float:
        """What the policy that one would deploy now is expected to lose."""
        assert self.loss is not None
        return float((self.loss @ self.weight).min())


def entropy(chance: Floats) -> float:
    """Return the entropy of a distribution, in nats."""
    return float(entropies(chance[None])[0])


def entropies(chance: Floats) -> Floats:
    """Return float64[Q], the entropies of distributions, float64[Q, outcomes], in nats."""
    some = np.where(chance > 0, chance, 1.0)
    return np.asarray(-(some * np.log(some)).sum(axis=1))
