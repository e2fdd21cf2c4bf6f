"""Machines drawn from a posterior, or all that matter with their exact weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.model.expert import BOLTZMANN, SOFT, Expert


@dataclass(frozen=True, eq=False, repr=False)
class Draws:
    """N machines with the experts they were drawn with; n is the largest number of states.

    Attributes:
        transitions: int64[N, n, m]; rows from `n_states` on are unreachable.
        rewards: float64[N, n, m].
        n_states: int64[N].
        alpha: float64[N].
        lapse: float64[N].
        discount: float64[N].
        log_likelihood: float64[N].
        log_prior: float64[N].
        weight: float64[N], sums to 1; all the same where they are samples. Where they are
            exact, the probabilities among the machines kept.
        ladder: int64[N], which independent sampler made each, in order of time within one; all
            0 and `exact` where the weights are computed.
        exact: whether the weights are the posterior probabilities themselves.
        soft: bool[N], which experts plan softly; None where none was allowed to.
    """

    transitions: Ints
    rewards: Floats
    n_states: Ints
    alpha: Floats
    lapse: Floats
    discount: Floats
    log_likelihood: Floats
    log_prior: Floats
    weight: Floats
    ladder: Ints
    exact: bool = False
    soft: Bools | None = None

    @property
    def softly(self) -> Bools:
        """bool[N]: which experts plan softly."""
        return np.zeros(self.size, dtype=np.bool_) if self.soft is None else self.soft

    def expert(self, row: int) -> Expert:
        """Return the expert of a draw."""
        return Expert(
            float(self.alpha[row]),
            float(self.discount[row]),
            float(self.lapse[row]),
            SOFT if self.softly[row] else BOLTZMANN,
        )

    @property
    def kinds(self) -> dict[str, float]:
        """How likely each kind of expert is that was drawn."""
        if self.soft is None:
            return {BOLTZMANN: 1.0}
        share = float(self.weight[self.soft].sum() / self.weight.sum())
        return {kind: p for kind, p in ((BOLTZMANN, 1 - share), (SOFT, share)) if p > 0}

    @property
    def size(self) -> int:
        """The number of machines, N."""
        return len(self.weight)

    @property
    def first_rows(self) -> Ints:
        """int64[machines]: where each of a row of equal machines with several experts begins."""
        if not self.size:
            return np.zeros(0, dtype=np.int64)
        tables = (self.transitions, self.rewards)
        new = np.zeros(self.size, dtype=np.bool_)
        new[0] = True
        for table in tables:
            new[1:] |= (table[1:] != table[:-1]).any(axis=(1, 2))
        return np.flatnonzero(new)

    def __repr__(self) -> str:
        kind = "exact weights" if self.exact else f"{len(np.unique(self.ladder))} samplers"
        return f"<Draws: {self.size} machines, {kind}>"


@dataclass(frozen=True, eq=False, repr=False)
class Exact:
    """What is known of all machines of some sizes together, where every one was scored.

    Attributes:
        sizes: the numbers of states that a machine may have.
        machines: how many valid canonical machines there are of each size.
        log_evidence: float64[sizes], log P(D | n): likelihoods to the power of 1/T, averaged over
            the prior of each size.
        probability: float64[sizes], P(n | D).
        minimal: float64[n], how likely the smallest machine that pays the same has 1, 2, ... n
            states, n the largest size; of the machines kept.
        dropped: the share of all weight that machines have which are not kept.
    """

    sizes: range
    machines: tuple[int, ...]
    log_evidence: Floats
    probability: Floats
    minimal: Floats
    dropped: float

    def __repr__(self) -> str:
        return (
            f"<Exact: {sum(self.machines):,} machines, {self.dropped:.1e} of the weight dropped>"
        )
