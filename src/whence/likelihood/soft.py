"""The fast engine of soft experts: every alpha is a solve of its own.

A machine that pays r, watched with rationality alpha, is one that pays alpha r nats. The kernels
score such machines, so that what is solved is a pair of machine and alpha; lapses share it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from whence._arrays import Floats, Ints, frozen_own
from whence.errors import ArgumentError
from whence.likelihood.compiled import FINEST_VALUE, CompiledEngine
from whence.likelihood.evidence import Evidence, compile_evidence
from whence.likelihood.kernels.arguments import World
from whence.likelihood.layouts import Layout, layout
from whence.likelihood.soft_planning import paid_nats
from whence.model.demos import Demonstrations
from whence.model.expert import INFINITE
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import product

Tables = tuple[Ints, Floats, Ints]


class SoftEngine(CompiledEngine):
    """Scores batches of machines in one world, for experts who plan softly."""

    def __init__(
        self,
        mdp: LabeledMDP,
        evidence: Evidence,
        discount: float,
        threads: int | None = None,
        world: Layout | None = None,
    ) -> None:
        laid = layout(mdp) if world is None else world
        if mdp.is_masked:  # four directions are all open where there is a compass
            laid = replace(laid, places=laid.places[:0])
        super().__init__(mdp, evidence, discount, threads, laid)

    def at(self, discount: float) -> SoftEngine:
        """Return the same engine for an expert of another discount."""
        return SoftEngine(self.mdp, self.evidence, discount, self.threads, self.layout)

    def log_likelihood(
        self,
        tables: Tables,
        first_expert: Ints,
        alpha: Floats,
        lapse: Floats,
        value_tolerance: Floats,
    ) -> tuple[Floats, Ints]:
        """Return float64[E], the log likelihoods of canonical machines, and the sweeps, int64[B].

        Machine b has the experts first_expert[b] to first_expert[b + 1] - 1: it is solved for
        each alpha among them, to its `value_tolerance` times alpha, in nats.
        """
        if np.isinf(alpha).any():
            raise ArgumentError(INFINITE)
        owner = np.repeat(np.arange(len(tables[0])), np.diff(first_expert))
        new = np.ones(len(alpha), dtype=np.bool_)
        new[1:] = (np.diff(owner) > 0) | (np.diff(alpha) != 0)
        first = np.flatnonzero(new)
        some, sharpness = owner[first], alpha[first]
        paid = tables[1][some] * sharpness[:, None, None]
        experts = np.append(first, len(alpha)), np.ones(len(alpha)), lapse
        found = self._run(
            (tables[0][some], paid, tables[2][some]), experts, value_tolerance[some] * sharpness
        )
        sweeps = np.bincount(some, found.sweeps, minlength=len(tables[0]))
        return found.log_likelihoods, sweeps.astype(np.int64)

    def _seen(self, discount: float) -> World:
        """Return the world as a soft expert with a discount sees it."""
        fewest = int(self.mdp.available.sum(axis=1).min())
        scarce = math.log(self.mdp.n_actions / fewest)
        masked = self.mdp.available[self.layout.order].reshape(-1) if scarce > 0 else ()
        return (
            super()
            ._seen(discount)
            ._replace(
                soft=True,
                open=frozen_own(np.array(masked, dtype=np.bool_)),
                floor=-scarce / (1 - discount),
            )
        )

    def _kernel(self) -> Any:
        from whence.likelihood.kernels.soft_scoring import score_soft_batch, score_soft_tiled_batch

        return score_soft_batch if len(self.world.tiles) == 2 else score_soft_tiled_batch


def compiled_soft_q(
    mdp: LabeledMDP, machine: RewardMachine, alpha: float, discount: float
) -> Floats:
    """Return Q of a soft expert in nats, float[n, S, A], to the last digits."""
    return np.asarray(compiled_soft_qs(mdp, machine, np.array([alpha]), discount)[0])


def compiled_soft_qs(
    mdp: LabeledMDP, machine: RewardMachine, alphas: Floats, discount: float
) -> Floats:
    """Return Q of several soft experts in nats, float[I, n, S, A], to the last digits."""
    nothing = compile_evidence(mdp, Demonstrations.from_episodes([]))
    engine = SoftEngine(mdp, nothing, discount, threads=1)
    paid = alphas[:, None, None] * machine.rewards
    largest = np.abs(paid).max(axis=(1, 2), initial=0.0) / (1 - discount) - engine.world.floor
    transitions = np.repeat(machine.transitions[None].astype(np.int64), len(alphas), axis=0)
    tables = transitions, paid, np.full(len(alphas), machine.n_states)
    values = engine.values(tables, FINEST_VALUE * np.maximum(1.0, largest))
    level = math.log(mdp.n_actions) / (1 - discount)
    both = product(mdp, machine)
    return np.stack([
        both.discounted(own + level, discount, paid_nats(both, alpha))
        for own, alpha in zip(values, alphas.tolist(), strict=True)
    ])  # fmt: skip
