"""Whether a card scores machines as the cores do: a small problem, both ways."""

from __future__ import annotations

import numpy as np

from whence.likelihood.compiled import CompiledEngine
from whence.likelihood.cuda.card import Card
from whence.likelihood.cuda.engine import CudaEngine
from whence.likelihood.evidence import compile_evidence
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

DISCOUNT = 0.9
EXACT = 1e-9  # of values
MOST = 1e-5  # nats that the two may differ by


def difference(card: Card) -> float:
    """Return by how many nats the card and the cores differ on a ring with two labels."""
    mdp = _ring(8)
    demos = Demonstrations.from_episodes([([0, 1, 2, 3, 2, 1, 0], [0, 0, 0, 1, 1, 1])])
    evidence = compile_evidence(mdp, demos)
    tables = np.array([[[1, 0], [1, 0]]]), np.array([[[0.0, 0.0], [0.0, 1.0]]]), np.array([2])
    asked = np.array([0, 1]), np.array([5.0]), np.array([0.1]), np.array([EXACT])
    found = [
        engine.log_likelihood(tables, *asked)[0][0]
        for engine in (
            CompiledEngine(mdp, evidence, DISCOUNT, 1),
            CudaEngine(mdp, evidence, DISCOUNT, 1, card, unrolled=False),
        )
    ]
    return float(abs(found[0] - found[1]))


def _ring(states: int) -> LabeledMDP:
    """Return a ring in which a step goes on or back, and one in ten stays."""
    triples = [
        (s, a, to % states, p)
        for s in range(states)
        for a, by in enumerate((1, -1))
        for to, p in ((s + by, 0.9), (s, 0.1))
    ]
    labels = np.full(states, -1)
    labels[states // 2 - 1], labels[0] = 0, 1
    return LabeledMDP.from_triples(
        triples, states=states, actions=2, labels=labels, alphabet=["a", "b"]
    )
