"""The engine of deterministic worlds: machines are solved on labelled states alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from whence._arrays import Bools, Floats, Ints, frozen_own
from whence.likelihood.compiled import (
    canonical_tables,
    placed,
    readable,
    steps_of,
)
from whence.likelihood.evidence import Evidence
from whence.likelihood.hub_map import HubMap
from whence.likelihood.kernels.constants import LANES
from whence.likelihood.kernels.hub_arguments import Ahead, Hubs, Pack
from whence.likelihood.kernels.lines import aligned
from whence.likelihood.kernels.tables import empty_tables
from whence.likelihood.threads import spread, threads_available
from whence.model.mdp import LabeledMDP

SOLVED_TOGETHER = 2**17  # values of hubs that are kept until they are read, about
HUB_WORK = 0.25  # what a state of a machine takes in a row of the map, as states that are swept


class HubEngine:
    """Scores batches of machines in a deterministic world."""

    few = 0  # a batch of one pays

    def __init__(
        self,
        mdp: LabeledMDP,
        evidence: Evidence,
        discount: float,
        threads: int | None,
        hubs: HubMap,
    ) -> None:
        self.mdp = mdp
        self.evidence = evidence
        self.discount = discount
        self.threads = threads or threads_available()
        self.map = hubs
        self.cells = placed(evidence, evidence.visited, mdp.n_actions)
        self.steps = steps_of(evidence, mdp.n_actions, hubs.entered)
        self._rooms: dict[tuple[int, int], list[_Room]] = {}

    @cached_property
    def handed(self) -> tuple[Any, Any, Any]:
        """The world, the demonstrations and their steps, as kernels are given them."""
        from whence.likelihood.kernels.groups import Handed

        return Handed(self._world()), Handed(self.cells), Handed(self.steps)

    def _world(self) -> Hubs:
        return Hubs(
            discount=self.discount,
            labels=self.map.labels,
            floors=frozen_own(np.where(self.map.forever, 0.0, -np.inf)),
            first=self.map.first,
            hubs=self.map.hubs,
            lengths=self.map.lengths,
            weights=frozen_own(np.power(self.discount, self.map.lengths)),
        )

    def at(self, discount: float) -> HubEngine:
        """Return the same engine for an expert of another discount."""
        return HubEngine(self.mdp, self.evidence, discount, self.threads, self.map)

    def canonical(self, transitions: Ints, rewards: Floats) -> tuple[Ints, Floats, Ints]:
        """Return the canonical tables, int64[B, n, m] and float64[B, n, m], and state counts."""
        return canonical_tables(transitions, rewards, self._readable)

    @cached_property
    def _readable(self) -> Bools:
        """bool[m]: the symbols that the world or the demonstrations show."""
        return readable(self.mdp, self.evidence)

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
        size, n, m = tables[0].shape
        machines, experts = (*tables, value_tolerance), (first_expert, alpha, lapse)
        out, sweeps = np.zeros(len(alpha)), np.zeros(size, dtype=np.int64)
        self._in_rooms(
            n, m, size, lambda room, a, b: room.score(a, b, machines, experts, out, sweeps)
        )
        return out, sweeps

    def visited_q(self, tables: tuple[Ints, Floats, Ints], value_tolerance: float) -> Floats:
        """Return float64[B, n, A, U], the optimal Q of visited states for canonical machines."""
        size, n, m = tables[0].shape
        machines = *tables, np.full(size, value_tolerance)
        out = np.zeros((size, n, self.mdp.n_actions, len(self.evidence.visited)))
        self._in_rooms(n, m, size, lambda room, a, b: room.visit(a, b, machines, out))
        return out

    def _in_rooms(
        self, n: int, m: int, size: int, work: Callable[[_Room, int, int], None]
    ) -> None:
        """Do work on as many machines at a time as a room has place for, on several threads."""
        rooms = self._rooms.setdefault((n, m), [])

        def part(start: int, stop: int) -> None:
            try:
                room = rooms.pop()
            except IndexError:
                room = _Room(self, n, m)
            for first in range(start, stop, room.machines):
                work(room, first, min(stop, first + room.machines))
            rooms.append(room)

        counted = size * n * len(self.map.states) * HUB_WORK
        spread(part, size, max(LANES // n, 1), self.threads, counted)


class _Room:
    """Where one thread scores machines of n states and m symbols; it is used again."""

    def __init__(self, engine: HubEngine, n: int, m: int) -> None:
        from whence.likelihood.kernels.groups import Handed

        self.engine = engine
        length, seats = -(-n // LANES) * LANES, max(LANES // n, 1)
        hubs = len(engine.map.labels)
        packs = max(SOLVED_TOGETHER // max(hubs * length, 1), 1)
        self.machines = packs * seats
        self.worths = np.zeros((self.machines, hubs, n))
        self.live = np.zeros(n, dtype=np.bool_)
        self.pack = Handed(_pack(hubs, m, length, seats))
        self.ahead = Handed(_ahead(hubs * length))
        rows = len(engine.map.states)
        nodes = engine.evidence.n_histories
        self.tables = Handed(empty_tables(rows, rows, engine.steps, nodes, (n, m)))

    def score(
        self,
        start: int,
        stop: int,
        machines: tuple[Ints, Floats, Ints, Floats],
        experts: tuple[Ints, Floats, Floats],
        out: Floats,
        sweeps: Ints,
    ) -> None:
        """Write the log likelihoods of the machines start..stop-1, and the sweeps of each."""
        from whence.likelihood.kernels.hub_reading import read_hubs

        world, cells, steps = self.engine.handed
        self._solve(start, stop, machines, sweeps)
        read_hubs(
            start, stop, world, machines, experts, cells, steps, self.worths, self.tables, out
        )

    def visit(
        self, start: int, stop: int, machines: tuple[Ints, Floats, Ints, Floats], out: Floats
    ) -> None:
        """Write Q of the visited states, float64[B, n, A, U], of the machines start..stop-1."""
        from whence.likelihood.kernels.hub_values import visit_hubs

        engine = self.engine
        world, steps = engine.handed[0], engine.steps
        self.worths.fill(0.0)  # machines that never pay are not solved
        self._solve(start, stop, machines, np.zeros(len(out), dtype=np.int64))
        visit_hubs(
            start, stop, world, steps.entered, steps.n_actions, self.worths,
            np.full(len(engine.map.states) + 1, -np.inf), out,
        )  # fmt: skip

    def _solve(
        self, start: int, stop: int, machines: tuple[Ints, Floats, Ints, Floats], sweeps: Ints
    ) -> None:
        from whence.likelihood.kernels.hub_solving import solve_hubs

        solve_hubs(
            start, stop, self.engine.handed[0], machines, self.pack, self.ahead, self.live,
            self.worths, sweeps,
        )  # fmt: skip


def _pack(hubs: int, m: int, length: int, seats: int) -> Pack:

    x, leaving, policy, paid, largest = aligned(*[hubs * length] * 3, m * length, LANES)
    return Pack(
        machines=np.zeros(seats, dtype=np.int64),
        done=np.zeros(seats, dtype=np.bool_),
        x=x,
        leaving=leaving,
        policy=policy,
        paid=paid,
        targets=np.tile(np.arange(length, dtype=np.uint32), m),
        largest=largest,
    )


def _ahead(size: int) -> Ahead:

    return Ahead(
        node=np.zeros(size, dtype=np.int32),
        paid=np.zeros(size),
        weight=np.zeros(size),
        state=np.zeros(size, dtype=np.int8),
        path=np.zeros(size, dtype=np.int32),
    )
