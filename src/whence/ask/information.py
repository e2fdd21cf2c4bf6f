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
        joint = self.weight[:, None] * chance
        if self.loss is not None:
            return max(self._regret - float((self.loss @ joint).min(axis=0).sum()), 0.0)
        together = self._by_fact @ joint
        gain = entropy(together.sum(axis=0)) + self._open - entropy(together.reshape(-1))
        return max(gain, 0.0)

    def of_episodes(self, log_likelihood: Floats) -> Estimate:
        """Return the expected gain of a demonstration.

        Args:
            log_likelihood: float64[N, K], of episodes, each drawn with a machine by its weight.
        """
        scaled = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
        joint = scaled * self.weight
        joint /= joint.sum(axis=1, keepdims=True)
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
    some = chance[chance > 0]
    return float(-(some * np.log(some)).sum())
