"""The fast engine: arrays in, numbers out, all cores."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from whence._types import Bools, Floats, Ints, frozen_own
from whence.demos import Demonstrations
from whence.evidence import Evidence, compile_evidence
from whence.machine import RewardMachine
from whence.mdp import LabeledMDP

FINEST_VALUE = 1e-13  # relative to the largest value that could be
PADDED_MOST = 3  # rows of 2 and 3 successors, mixed with shorter ones, are padded to 3


@dataclass(frozen=True, eq=False)
class Layout:
    """A world as the kernels want it.

    Attributes:
        n_actions: A.
        width: successors per pair where rows are padded, else 0.
        offsets: int64[S * A + 1]; not used where rows are padded.
        successors: uint32[...]; unsigned, so that no index needs a check for its sign.
        probabilities: float64[...].
        labels: int32[S].
        labelled: int64[...], the states with a label.
    """

    n_actions: int
    width: int
    offsets: Ints
    successors: Ints
    probabilities: Floats
    labels: Ints
    labelled: Ints


def layout(mdp: LabeledMDP) -> Layout:
    """Lay a world out for the kernels."""
    lengths = np.diff(mdp.offsets)
    width = int(lengths.max())
    successors, probabilities = mdp.successors, mdp.probabilities
    if width > PADDED_MOST:
        width = 0
    elif width > 1:
        width = PADDED_MOST
        within = np.arange(width)
        entry = mdp.offsets[:-1, None] + np.minimum(within, lengths[:, None] - 1)
        successors = successors[entry].reshape(-1)
        probabilities = np.where(within < lengths[:, None], probabilities[entry], 0.0).reshape(-1)
    return Layout(
        n_actions=mdp.n_actions,
        width=width,
        offsets=mdp.offsets,
        successors=frozen_own(successors.astype(np.uint32)),
        probabilities=frozen_own(probabilities),
        labels=mdp.labels,
        labelled=frozen_own(np.flatnonzero(mdp.labels >= 0)),
    )


def threads_available() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class CompiledEngine:
    """Scores batches of machines in one world."""

    def __init__(
        self, mdp: LabeledMDP, evidence: Evidence, discount: float, threads: int | None = None
    ) -> None:
        self.mdp = mdp
        self.evidence = evidence
        self.discount = discount
        self.threads = threads or threads_available()
        self.layout = layout(mdp)

    def canonical(self, transitions: Ints, rewards: Floats) -> tuple[Ints, Floats, Ints]:
        """Return the canonical tables, int64[B, n, m] and float64[B, n, m], and state counts."""
        from whence.engines import kernels

        shape = transitions.shape
        new_transitions = np.empty(shape, dtype=np.int64)
        new_rewards = np.empty(shape)
        counts = np.empty(shape[0], dtype=np.int64)
        kernels.canonical_batch(
            np.ascontiguousarray(transitions, dtype=np.int64),
            np.ascontiguousarray(rewards, dtype=np.float64),
            self.readable(),
            new_transitions,
            new_rewards,
            counts,
        )
        return new_transitions, new_rewards, counts

    def readable(self) -> Bools:
        """Return bool[m]: the symbols that the world or the demonstrations show."""
        result = np.zeros(len(self.mdp.alphabet), dtype=np.bool_)
        for seen in (self.mdp.labels, self.evidence.symbol):
            result[seen[seen >= 0]] = True
        return result

    def log_likelihood(
        self,
        tables: tuple[Ints, Floats, Ints],
        alpha: Floats,
        lapse: Floats,
        value_tolerance: Floats,
    ) -> tuple[Floats, Ints]:
        """Return float64[B], the log likelihoods of canonical machines, and the sweeps of each."""
        out, sweeps, _ = self._run(tables, alpha, lapse, value_tolerance, keep=False)
        return out, sweeps

    def values(self, tables: tuple[Ints, Floats, Ints], value_tolerance: float) -> Floats:
        """Return float64[B, n, S], the optimal values of canonical machines."""
        size = len(tables[0])
        ones = np.ones(size)
        tolerance = np.full(size, value_tolerance)
        return self._run(tables, ones, ones, tolerance, keep=True)[2]

    def _run(
        self,
        tables: tuple[Ints, Floats, Ints],
        alpha: Floats,
        lapse: Floats,
        value_tolerance: Floats,
        *,
        keep: bool,
    ) -> tuple[Floats, Ints, Floats]:
        from whence.engines import kernels

        transitions, rewards, counts = tables
        size, n = transitions.shape[:2]
        out = np.zeros(size)
        sweeps = np.zeros(size, dtype=np.int64)
        values = np.zeros((size, n, self.mdp.n_states) if keep else (0, 0, 0))
        world, seen = self.layout, self.evidence

        def part(start: int, stop: int) -> None:
            kernels.score_batch(
                start, stop, transitions, rewards, counts, self.discount, value_tolerance, alpha,
                lapse, world.n_actions, world.width, world.offsets, world.successors,
                world.probabilities, world.labels, world.labelled, seen.visited, seen.parent,
                seen.symbol, seen.subtree_end, seen.subtree_steps, seen.first_cell,
                seen.cell_key, seen.cell_count, keep, out, sweeps, values,
            )  # fmt: skip

        self._spread(part, size)
        return out, sweeps, values

    def _spread(self, part: Callable[[int, int], None], size: int) -> None:
        """Run `part(start, stop)` over all machines, several pieces a thread."""
        if self.threads == 1 or size < 2:
            part(0, size)
            return
        pieces = min(size, 4 * self.threads)
        edges = np.linspace(0, size, pieces + 1).astype(np.int64).tolist()
        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(part, edges[:-1], edges[1:]))


def optimal_values(mdp: LabeledMDP, machine: RewardMachine, discount: float) -> Floats:
    """Return float64[n, S], the optimal values of a machine over the world's own alphabet."""
    nothing = compile_evidence(mdp, Demonstrations.from_episodes([]))
    engine = CompiledEngine(mdp, nothing, discount, threads=1)
    largest = float(np.abs(machine.rewards).max(initial=0.0)) / (1 - discount)
    tables = (
        machine.transitions[None].astype(np.int64),
        machine.rewards[None].copy(),
        np.array([machine.n_states]),
    )
    return np.asarray(engine.values(tables, FINEST_VALUE * max(1.0, largest))[0])
