"""What an answer is expected to tell: in nats about the facts.

With P(a | k) the probability of an answer under machine k, of weight w_k, and f the facts,

    gain = H(a) - sum over f of P(f) H(a | f),

the mutual information of answer and facts: an exact sum over answers and machines.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats, Ints


def information(chance: Floats, weight: Floats, fact: Ints) -> float:
    """Return the expected information about the facts, in nats.

    Args:
        chance: float64[K, answers], P(a | k).
        weight: float64[K], which sums to 1.
        fact: int64[K].
    """
    _, owner = np.unique(fact, return_inverse=True)
    joint = np.zeros((int(owner.max()) + 1, chance.shape[1]))
    np.add.at(joint, owner.reshape(-1), weight[:, None] * chance)
    gain = entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint.reshape(-1))
    return max(gain, 0.0)


def entropy(chance: Floats) -> float:
    """Return the entropy of a distribution, in nats."""
    some = chance[chance > 0]
    return float(-(some * np.log(some)).sum())
