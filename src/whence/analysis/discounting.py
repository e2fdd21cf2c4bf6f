"""Whether another discount explains the demonstrations much better than the one that was assumed.

A wrong discount bends every conclusion: a nearby machine may imitate what a machine would make
an expert do who looks less far ahead. So, where alpha was inferred but the discount was not, the
best machine is scored again at other discounts, each with the alpha that suits it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whence.likelihood.posterior import Posterior
from whence.model.machine import RewardMachine
from whence.search.unknowns import ALPHAS, DISCOUNTS

CLEARLY = 10.0  # nats
ALPHAS_TRIED = 61


def doubts(posterior: Posterior, machine: RewardMachine, inferred: Sequence[str]) -> list[str]:
    """Return, in words, whether another discount does better by far; `posterior` has the expert's.

    Args:
        posterior: of the expert that was found.
        machine: the best one.
        inferred: what of the expert was.
    """
    if "alpha" not in inferred or "discount" in inferred or not posterior.n_steps:
        return []
    assumed = posterior.expert.discount
    found = {
        discount: best_log_likelihood(posterior, machine, discount)
        for discount in (assumed, *DISCOUNTS)
    }
    other = max(found, key=lambda discount: found[discount])
    gain = (found[other] - found[assumed]) / posterior.temperature
    if not gain > CLEARLY:
        return []
    return [
        f"the discount was taken to be {assumed:g}, but with {other:g} this machine explains the "
        f"demonstrations {gain:,.0f} nats better, and others may do better still: give the right "
        "discount, or have it inferred: --discount infer"
    ]


def best_log_likelihood(posterior: Posterior, machine: RewardMachine, discount: float) -> float:
    """Return the log likelihood at a discount, with the best of many alphas."""
    there = posterior.of_expert(replace(posterior.expert, discount=discount))
    table = machine.over(posterior.alphabet)
    low, high = ALPHAS
    best = -np.inf
    for _ in range(2):  # once over all, then more finely around the best
        alphas = np.geomspace(low, high, ALPHAS_TRIED)
        many = (len(alphas), *table.transitions.shape)
        found = there.log_likelihood(
            np.broadcast_to(table.transitions, many),
            np.broadcast_to(table.rewards, many),
            alpha=alphas,
        )
        at = int(found.argmax())
        best = max(best, float(found[at]))
        low, high = alphas[max(at - 1, 0)], alphas[min(at + 1, len(alphas) - 1)]
    return best
