"""Which engine scores machines in a world: the one with the least counted work.

Work is counted in operations on a row of values, the same on every machine; no clock is asked.
"""

from __future__ import annotations

import warnings
from typing import Protocol

from whence._arrays import Floats, Ints
from whence.errors import ArgumentError, WhenceWarning
from whence.likelihood.compiled import CompiledEngine
from whence.likelihood.evidence import Evidence
from whence.likelihood.hub_map import Limits, is_deterministic, map_hubs
from whence.likelihood.hubs import HubEngine
from whence.likelihood.soft import SoftEngine
from whence.model.mdp import LabeledMDP

CPU = "cpu"
DEVICES = (CPU, "cuda")
SWEEPS = 50  # what a machine takes over the whole world, extrapolation counted as sweeps ...
READ = 48  # ... and what the log probabilities of a demonstrated state cost, an action
HUB_SWEEPS = 16  # over the hubs alone, policies counted as sweeps
EDGES = 8  # a world's own actions: so many times as many edges are kept, at most ...
FEW_EDGES = 2**20  # ... or so many
WALKS = 256  # walks over the whole world that distances may cost, once


class Engine(Protocol):
    """Scores batches of machines in one world, from its demonstrations."""

    mdp: LabeledMDP
    evidence: Evidence
    discount: float
    threads: int

    @property
    def few(self) -> int:
        """Machines that must be asked for at once for it to pay, where it is a card's; else 0."""

    def at(self, discount: float) -> Engine:
        """Return the same engine for an expert of another discount."""

    def canonical(self, transitions: Ints, rewards: Floats) -> tuple[Ints, Floats, Ints]:
        """Return the canonical tables, int64[B, n, m] and float64[B, n, m], and state counts."""

    def log_likelihood(
        self,
        tables: tuple[Ints, Floats, Ints],
        first_expert: Ints,
        alpha: Floats,
        lapse: Floats,
        value_tolerance: Floats,
    ) -> tuple[Floats, Ints]:
        """Return float64[E], the log likelihoods of canonical machines, and the sweeps, int64[B].

        Machine b has the experts first_expert[b] to first_expert[b + 1] - 1: it is solved once,
        to its `value_tolerance`, for all of them.
        """

    def visited_q(self, tables: tuple[Ints, Floats, Ints], value_tolerance: float) -> Floats:
        """Return float64[B, n, A, U], the optimal Q of visited states for canonical machines."""


def engine_for(
    mdp: LabeledMDP, evidence: Evidence, discount: float, threads: int | None = None
) -> Engine:
    """Return the engine that has the least to do in a world."""
    if is_deterministic(mdp):
        hubs = map_hubs(mdp, evidence.visited, limits(mdp, evidence))
        if hubs is not None:
            return HubEngine(mdp, evidence, discount, threads, hubs)
    return CompiledEngine(mdp, evidence, discount, threads)


def soft_engine_for(
    mdp: LabeledMDP, evidence: Evidence, discount: float, threads: int | None = None
) -> Engine:
    """Return the engine of soft experts: the ways between hubs and the card know best plans."""
    return SoftEngine(mdp, evidence, discount, threads)


def checked_device(device: str) -> str:
    """Return what scores machines, if it is known."""
    if device not in DEVICES:
        raise ArgumentError(f"device is {device!r}; known are {', '.join(DEVICES)}")
    return device


def card_engine_for(
    mdp: LabeledMDP, evidence: Evidence, discount: float, threads: int | None = None
) -> Engine:
    """Return the engine of the card, or where the world is too large for it, that of the cores."""
    from whence.likelihood.cuda.card import first_card
    from whence.likelihood.cuda.engine import CudaEngine, holds, worth_their_hubs

    card = first_card()
    if not holds(card, mdp, evidence):
        warnings.warn(
            f"a world of {mdp.n_states:,} states with {evidence.n_steps:,} steps is too large for "
            f"{card.name}: the cores score machines in it",
            WhenceWarning,
            stacklevel=3,
        )
        return engine_for(mdp, evidence, discount, threads)
    hubs = None
    if is_deterministic(mdp):
        hubs = map_hubs(mdp, evidence.visited, limits(mdp, evidence))
    if hubs is not None and not worth_their_hubs(hubs, mdp, discount):
        hubs = None
    return CudaEngine(mdp, evidence, discount, threads, card, hubs)


def limits(mdp: LabeledMDP, evidence: Evidence) -> Limits:
    """Return what the map of a world's hubs may cost, for hubs to be worth it."""
    pairs = mdp.n_states * mdp.n_actions
    return Limits(
        work=SWEEPS * pairs + READ * len(evidence.visited) * mdp.n_actions,
        hub_sweeps=HUB_SWEEPS,
        edges=max(EDGES * pairs, FEW_EDGES),
        steps=WALKS * pairs,
    )
