"""The fast engine: arrays in, numbers out, all cores."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from whence._arrays import Bools, Floats, Ints, frozen_own, offsets_of
from whence.likelihood.evidence import Evidence, compile_evidence
from whence.likelihood.kernels.arguments import Cells, Results, World
from whence.likelihood.kernels.constants import (
    LANES,
    LARGE_WINDOW,
    LONG_DISCOUNT,
    SHORT_WINDOW,
    WINDOW,
)
from whence.likelihood.kernels.tables import Steps
from whence.likelihood.layouts import Layout, layout
from whence.likelihood.threads import spread, threads_available
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

FINEST_VALUE = 1e-13  # relative to the largest value that could be


def _window(discount: float, world: Layout) -> int:
    """Return how many rounds an extrapolation looks back on."""
    if discount >= LONG_DISCOUNT:
        return WINDOW
    if len(world.tiles) > 2:
        return LARGE_WINDOW
    return SHORT_WINDOW if world.width == 1 else WINDOW


def _seen_world(world: Layout, discount: float) -> World:
    """Return the world as an expert with a discount sees it."""
    return World(
        discount=discount,
        n_actions=world.n_actions,
        width=world.width,
        n_rows=world.n_rows,
        n_watched=world.n_watched,
        window=_window(discount, world),
        offsets=world.offsets,
        successors=world.successors,
        probabilities=world.probabilities,
        discounted=frozen_own(discount * world.probabilities),
        labels=world.labels,
        entries=world.entries,
        watch=world.watch,
        tiles=world.tiles,
        reach=world.reach,
        places=world.places,
        directions=world.directions,
        shares=frozen_own(np.append(world.shares, discount * world.shares)),
        soft=False,
        open=frozen_own(np.zeros(0, dtype=np.bool_)),
        floor=0.0,
    )


def placed(evidence: Evidence, visited: Ints, n_actions: int) -> Cells:
    """Return the evidence with other numbers for visited states, and short ones where they do."""
    short = np.int32 if len(evidence.cell_key) < 2**31 else np.int64
    many = len(evidence.visited)
    place, action = np.divmod(evidence.cell_key, n_actions)
    closed_place, closed_action = np.divmod(evidence.closed, n_actions)
    return Cells(
        visited=frozen_own(visited),
        parent=frozen_own(evidence.parent.astype(short)),
        symbol=frozen_own(evidence.symbol.astype(short)),
        subtree_end=frozen_own(evidence.subtree_end.astype(short)),
        subtree_steps=evidence.subtree_steps,
        first=frozen_own(evidence.first_cell.astype(short)),
        key=frozen_own((action * many + place).astype(np.uint32)),
        counts=evidence.cell_count,
        choices=evidence.choices,
        closed=frozen_own((closed_action * many + closed_place).astype(np.uint32)),
        subtree_extra=evidence.subtree_extra,
    )


def steps_of(evidence: Evidence, n_actions: int, entered: Ints) -> Steps:
    """Return the demonstrated actions, one for each visited state and row that one leads to.

    Args:
        evidence: the demonstrations.
        n_actions: A.
        entered: int[U * A], the row that each action in each visited state leads to.
    """
    many = int(entered.max(initial=0)) + 1
    place, row = evidence.cell_key // n_actions, entered[evidence.cell_key]
    pairs, key = np.unique(place * np.int64(many) + row, return_inverse=True)
    place = pairs // many
    node = np.repeat(np.arange(evidence.n_histories), np.diff(evidence.first_cell))
    return Steps(
        n_actions=n_actions,
        entered=frozen_own(entered.astype(np.uint32)),
        row=frozen_own((pairs % many).astype(np.uint32)),
        place=frozen_own(place.astype(np.uint32)),
        first=frozen_own(offsets_of(np.bincount(place, minlength=len(evidence.visited)))),
        key=frozen_own(key.reshape(-1).astype(np.uint32)),
        node=frozen_own(node.astype(np.uint32)),
    )


class _Rooms:
    """Rooms to solve machines in, kept for the next batch unless they are large."""

    def __init__(self, world: World, cells: Cells, steps: Steps) -> None:
        self._given = world, cells, steps
        self._free: dict[tuple[int, int], list[Any]] = {}

    def taken(self, n: int, m: int) -> Any:
        """Return a room for machines of n states and m symbols that no other thread has."""
        from whence.likelihood.kernels.scoring import empty_room

        try:
            room = self._free.setdefault((n, m), []).pop()
        except IndexError:
            return empty_room(*self._given, n, m)
        pack = room.values.pack
        for numbers in (pack.iterates, pack.changes):
            numbers.fill(0.0)
        return room

    def give_back(self, n: int, m: int, room: Any) -> None:
        """Keep a room whose machines are all done."""
        if len(self._given[0].tiles) == 2:
            self._free[n, m].append(room)


class CompiledEngine:
    """Scores batches of machines in one world."""

    few = 0  # a batch of one pays

    def __init__(
        self,
        mdp: LabeledMDP,
        evidence: Evidence,
        discount: float,
        threads: int | None = None,
        world: Layout | None = None,
    ) -> None:
        self.mdp = mdp
        self.evidence = evidence
        self.discount = discount
        self.threads = threads or threads_available()
        self.layout = layout(mdp) if world is None else world
        self.world = self._seen(discount)
        self.cells = placed(evidence, self.layout.position[evidence.visited], mdp.n_actions)
        entered = np.arange(len(evidence.visited) * mdp.n_actions)
        entered[evidence.closed] = len(entered)
        self._rooms = _Rooms(self.world, self.cells, steps_of(evidence, mdp.n_actions, entered))

    def at(self, discount: float) -> CompiledEngine:
        """Return the same engine for an expert of another discount."""
        return CompiledEngine(self.mdp, self.evidence, discount, self.threads, self.layout)

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
        experts = first_expert, alpha, lapse
        found = self._run(tables, experts, value_tolerance)
        return found.log_likelihoods, found.sweeps

    def visited_q(self, tables: tuple[Ints, Floats, Ints], value_tolerance: float) -> Floats:
        """Return float64[B, n, A, U], the optimal Q of visited states for canonical machines."""
        size, n, _ = tables[0].shape
        shape = size, n, self.mdp.n_actions, len(self.evidence.visited)
        found = self._run(tables, _nobody(size), np.full(size, value_tolerance), q=True).q
        return found.reshape(shape)

    def values(self, tables: tuple[Ints, Floats, Ints], value_tolerance: float | Floats) -> Floats:
        """Return float64[B, n, S], the optimal values of canonical machines."""
        size = len(tables[0])
        tolerance = np.full(size, value_tolerance)
        found = self._run(tables, _nobody(size), tolerance, values=True).values
        return found[:, :, self.layout.position]

    def _run(
        self,
        tables: tuple[Ints, Floats, Ints],
        experts: tuple[Ints, Floats, Floats],
        value_tolerance: Floats,
        *,
        values: bool = False,
        q: bool = False,
    ) -> Results:
        size, n, m = tables[0].shape
        results = Results(
            log_likelihoods=np.zeros(len(experts[1])),
            sweeps=np.zeros(size, dtype=np.int64),
            values=np.zeros((size if values else 0, n, self.mdp.n_states)),
            q=np.zeros((size if q else 0, n * self.mdp.n_actions * len(self.evidence.visited))),
        )
        score = self._kernel()
        machines, written = (*tables, value_tolerance), tuple(results)

        def part(start: int, stop: int) -> None:
            room = self._rooms.taken(n, m)
            score(start, stop, *self._handed, machines, experts, room, written)
            self._rooms.give_back(n, m, room)

        work = size * n * self.mdp.n_states
        spread(part, size, max(LANES // n, 1), self.threads, work)
        return results

    def _seen(self, discount: float) -> World:
        """Return the world as an expert with a discount sees it."""
        return _seen_world(self.layout, discount)

    @cached_property
    def _handed(self) -> tuple[Any, Any]:
        """The world and the demonstrations, as kernels are given them."""
        from whence.likelihood.kernels.groups import Handed

        return Handed(self.world), Handed(self.cells)

    def _kernel(self) -> Any:
        """Return what scores machines."""
        from whence.likelihood.kernels.scoring import score_batch, score_tiled_batch

        return score_batch if len(self.world.tiles) == 2 else score_tiled_batch


def _nobody(size: int) -> tuple[Ints, Floats, Floats]:
    """Return no experts for a number of machines."""
    return np.zeros(size + 1, dtype=np.int64), np.zeros(0), np.zeros(0)


def readable(mdp: LabeledMDP, evidence: Evidence) -> Bools:
    """Return bool[m]: the symbols that the world or the demonstrations show."""
    result = np.zeros(len(mdp.alphabet), dtype=np.bool_)
    for seen in (mdp.labels, evidence.symbol):
        result[seen[seen >= 0]] = True
    return result


def canonical_tables(
    transitions: Ints, rewards: Floats, readable: Bools
) -> tuple[Ints, Floats, Ints]:
    """Return canonical tables and state counts; symbols that cannot be read stay and pay 0."""
    from whence.likelihood.kernels.machines import canonical_batch

    shape = transitions.shape
    new_transitions = np.empty(shape, dtype=np.int64)
    new_rewards = np.empty(shape)
    counts = np.empty(shape[0], dtype=np.int64)
    canonical_batch(
        np.ascontiguousarray(transitions, dtype=np.int64),
        np.ascontiguousarray(rewards, dtype=np.float64),
        readable,
        np.empty(shape[1:], dtype=np.int64),
        *np.empty((2, shape[1]), dtype=np.int64),
        new_transitions,
        new_rewards,
        counts,
    )
    return new_transitions, new_rewards, counts


def swept_values(
    mdp: LabeledMDP, tables: tuple[Ints, Floats, Ints], discount: float, tolerance: float
) -> Floats:
    """Return float64[B, n, S], the optimal values of machines, by sweeps over the whole world.

    Args:
        mdp: the world.
        tables: int64[B, n, m], float64[B, n, m] and int64[B], all states reachable.
        discount: of pay.
        tolerance: how far a value may be off.
    """
    nothing = compile_evidence(mdp, Demonstrations.from_episodes([]))
    return CompiledEngine(mdp, nothing, discount, threads=1).values(tables, tolerance)
