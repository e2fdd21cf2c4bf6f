"""What a user of QuantEcon would write to score a machine, written as well as we can.

The product is built with vectorised NumPy as a sparse matrix, `DiscreteDP` solves it by modified
policy iteration, and the likelihood is summed over the cells of the same evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from whence._arrays import Floats, Ints
from whence.errors import MissingExtraError
from whence.likelihood.evidence import Evidence
from whence.model.mdp import LabeledMDP
from whence.model.product import product_of_tables, with_blank

EPSILON = 1e-5  # coarser than what whence promises


class QuantEconPeer:
    """Scores machines one at a time with `quantecon.markov.DiscreteDP`."""

    def __init__(self, mdp: LabeledMDP, evidence: Evidence, discount: float, alpha: float) -> None:
        try:
            import quantecon.markov
            import scipy.sparse
        except ImportError:
            raise _missing("quantecon") from None
        self.solver: Any = quantecon.markov.DiscreteDP
        self.sparse: Any = scipy.sparse.csr_matrix
        self.mdp, self.evidence = mdp, evidence
        self.discount, self.alpha = discount, alpha
        self.levels = _by_depth(evidence)
        self.owner = np.repeat(np.arange(evidence.n_histories), np.diff(evidence.first_cell))

    def log_likelihood(self, transitions: Ints, rewards: Floats) -> float:
        """Return the log likelihood of one machine, int[n, m] and float[n, m]."""
        n, pairs = len(transitions), self.mdp.n_states * self.mdp.n_actions
        both = product_of_tables(self.mdp, transitions, rewards)
        paid = both.expected_rewards().reshape(-1)
        starts = np.concatenate([[0], np.cumsum(np.tile(np.diff(self.mdp.offsets), n))])
        weights = np.tile(self.mdp.probabilities, n)
        shape = (n * pairs, n * self.mdp.n_states)
        matrix = self.sparse((weights, both.targets.reshape(-1), starts), shape=shape)
        states = np.repeat(np.arange(shape[1]), self.mdp.n_actions)
        actions = np.tile(np.arange(self.mdp.n_actions), shape[1])
        problem = self.solver(paid, matrix, self.discount, states, actions)
        values = problem.solve(method="modified_policy_iteration", epsilon=EPSILON).v
        q = (paid + self.discount * (matrix @ values)).reshape(n, -1, self.mdp.n_actions)
        return self._sum(q, transitions, rewards)

    def _sum(self, q: Floats, transitions: Ints, rewards: Floats) -> float:
        scaled = self.alpha * (q - q.max(axis=2, keepdims=True))
        log_p = scaled - np.log(np.exp(scaled).sum(axis=2, keepdims=True))
        seen = log_p[:, self.evidence.visited].reshape(len(q), -1)
        following, _ = with_blank(transitions, rewards)
        memory = np.zeros(self.evidence.n_histories, dtype=np.int64)
        for level in self.levels:
            above = memory[self.evidence.parent[level]]
            memory[level] = following[above, self.evidence.symbol[level]]
        taken = seen[memory[self.owner], self.evidence.cell_key]
        return float(self.evidence.cell_count @ taken)


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Keep the linear algebra of NumPy and SciPy, as far as imported, to one thread."""
    try:
        import threadpoolctl
    except ImportError:
        raise _missing("threadpoolctl") from None
    with threadpoolctl.threadpool_limits(limits=1):
        yield


def _missing(package: str) -> MissingExtraError:
    return MissingExtraError(
        f"the benchmark needs the package {package}; install it with: pip install 'whence[bench]'"
    )


def _by_depth(evidence: Evidence) -> list[Ints]:
    """Return the histories of length 1, of length 2, and so on."""
    depth = np.zeros(evidence.n_histories, dtype=np.int64)
    for node in range(1, evidence.n_histories):
        depth[node] = depth[evidence.parent[node]] + 1
    return [np.flatnonzero(depth == d) for d in range(1, int(depth.max(initial=0)) + 1)]
