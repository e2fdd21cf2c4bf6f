"""The engine of graphics cards: a warp holds some machines, a lane one state of one of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from whence._arrays import Floats, Ints
from whence.errors import WhenceWarning
from whence.likelihood.compiled import CompiledEngine, canonical_tables, readable
from whence.likelihood.cuda import FEW, FEW_FAR, straight
from whence.likelihood.cuda.card import Card, FullError, Kernel
from whence.likelihood.cuda.plan import Choices, Rows, choices, fits, hub_rows, world_rows
from whence.likelihood.evidence import Evidence
from whence.likelihood.hub_map import HubMap
from whence.model.mdp import LabeledMDP

WARP = 32
MOST_STATES = WARP  # of a machine: each has a lane
MOST_TABLE_BYTES = 64 * 1024  # of a machine's arrows in fast memory
FAST_ITERATES = 64 * 1024  # bytes of iterates that are kept in fast memory, at most
FAST_STATES = 12 * 1024  # bytes of machines' states that are kept there, at most
SHARE = 0.4  # of the free memory that a batch may take
BLOCKS = 32  # that a processor runs side by side, at most
MOST_KEPT = 6  # values of actions that a lane keeps at hand
SIMPLE = "-DWINDOW=1", "-DWIDE=0", "-DIN_SHARED=0"
MOST_WINDOW = 6  # rounds that are combined, at most
REPEAT = 2  # sweeps a round, where rounds are combined
LONG_DISCOUNT = 0.97  # from here on extrapolation looks further back


@dataclass(frozen=True, eq=False)
class Batch:
    """Machines on the card.

    Attributes:
        size: B.
        n: their states.
        width: the columns of their tables.
        columns: int32[m], the column of each symbol of the world.
        targets: uint8[B, n, width].
        pays: float64[B, n, width].
        tolerance: float64[B], how far values may be off.
    """

    size: int
    n: int
    width: int
    columns: Any
    targets: Any
    pays: Any
    tolerance: Any

    @property
    def groups(self) -> int:
        """How many warps they fill."""
        return -(-self.size // (WARP // self.n))


class CudaEngine:
    """Scores batches of machines in one world on a card."""

    def __init__(
        self,
        mdp: LabeledMDP,
        evidence: Evidence,
        discount: float,
        threads: int | None,
        card: Card,
        hubs: HubMap | None = None,
        unrolled: bool = True,
    ) -> None:
        """Lay a world out for the card.

        Args:
            mdp: the world.
            evidence: its demonstrations.
            discount: the expert's.
            threads: of the cores, where the card cannot serve.
            card: to be used.
            hubs: of a deterministic world, to solve machines on them alone.
            unrolled: whether sweeps over a small world may be compiled as straight code.
        """
        self.mdp = mdp
        self.evidence = evidence
        self.discount = discount
        self.host = CompiledEngine(mdp, evidence, discount, threads)
        self.threads = self.host.threads
        self.card = card
        self._hubs = hubs
        self.rows, row = hub_rows(mdp, hubs, discount) if hubs else world_rows(mdp)
        self.choices = choices(mdp, evidence, row)
        self._unrolled = unrolled
        few = len(mdp.alphabet) <= straight.MOST_SYMBOLS
        self.straight = unrolled and few and straight.pays(self.rows, discount)

    def at(self, discount: float) -> CudaEngine:
        """Return the same engine for an expert of another discount."""
        return CudaEngine(
            self.mdp, self.evidence, discount, self.threads, self.card, self._hubs,
            self._unrolled,
        )  # fmt: skip

    def canonical(self, transitions: Ints, rewards: Floats) -> tuple[Ints, Floats, Ints]:
        """Return the canonical tables, int64[B, n, m] and float64[B, n, m], and state counts."""
        return canonical_tables(transitions, rewards, readable(self.mdp, self.evidence))

    @property
    def few(self) -> int:
        """Machines that two cores score in the time of a call, at least; with fewer, they win."""
        near = self.straight or 8 * WARP * self.rows.swept <= FAST_ITERATES
        return FEW if near else FEW_FAR

    def serves(self, n: int, m: int) -> bool:
        """Return whether the card takes machines of n states and m symbols."""
        return n <= MOST_STATES and 12 * WARP * m <= MOST_TABLE_BYTES

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
        if not self.serves(n, m):
            self._warn(n, m)
            return self.host.log_likelihood(tables, first_expert, alpha, lapse, value_tolerance)
        out, sweeps = np.zeros(len(alpha)), np.zeros(size, dtype=np.int64)

        def part(start: int, stop: int) -> None:
            batch = self.sent(tables, value_tolerance, start, stop)
            z, taken = self.solved(batch)
            first, last = first_expert[start], first_expert[stop]
            experts = (
                self.card.put(first_expert[start : stop + 1] - first),
                self.card.put(alpha[first:last]),
                self.card.put(lapse[first:last]),
            )
            out[first:last] = self.card.get(self.read(batch, z, experts, int(last - first)))
            sweeps[start:stop] = self.card.get(taken)

        self._in_chunks(size, n, 0, part)
        return out, sweeps

    def visited_q(self, tables: tuple[Ints, Floats, Ints], value_tolerance: float) -> Floats:
        """Return float64[B, n, A, U], the optimal Q of visited states for canonical machines."""
        size, n, m = tables[0].shape
        if not self.serves(n, m):
            self._warn(n, m)
            return self.host.visited_q(tables, value_tolerance)
        out = np.zeros((size, n, self.mdp.n_actions, len(self.evidence.visited)))
        tolerance = np.full(size, value_tolerance)

        def part(start: int, stop: int) -> None:
            batch = self.sent(tables, tolerance, start, stop)
            z, _ = self.solved(batch)
            out[start:stop] = self.card.get(self._visited(batch, z)).reshape(out[start:stop].shape)

        self._in_chunks(size, n, out[:1].nbytes, part)
        return out

    def _warn(self, n: int, m: int) -> None:
        warnings.warn(
            f"machines of {n} states and {m} symbols are scored by the cores: the card takes up "
            f"to {MOST_STATES} states and {MOST_TABLE_BYTES // (12 * WARP)} symbols",
            WhenceWarning,
            stacklevel=3,
        )

    def sent(
        self,
        tables: tuple[Ints, Floats, Ints],
        tolerance: Floats,
        start: int = 0,
        stop: int | None = None,
    ) -> Batch:
        """Return the machines start..stop-1 of a batch, or all, on the card."""
        stop = len(tables[0]) if stop is None else stop
        _, n, m = tables[0].shape
        return Batch(
            size=stop - start,
            n=n,
            width=m,
            columns=self._own_columns,
            targets=self.card.put(tables[0][start:stop].astype(np.uint8)),
            pays=self.card.put(np.ascontiguousarray(tables[1][start:stop])),
            tolerance=self.card.put(np.ascontiguousarray(tolerance[start:stop])),
        )

    def _in_chunks(self, size: int, n: int, extra: int, part: Any) -> None:
        """Do some machines at a time, as many as the card has room for."""
        chunk = self.room_for(n, extra)
        start = 0
        while start < size:
            stop = min(start + chunk, size)
            try:
                with self.card.guarded():
                    part(start, stop)
            except FullError:
                if chunk <= WARP // n:
                    raise
                chunk = max(min(chunk, size) // 2, WARP // n)
                continue
            start = stop

    def room_for(self, n: int, extra: int = 0) -> int:
        """Return how many machines of n states the card has room for at a time."""
        with self.card.guarded():
            free = SHARE * self.card.free_bytes()
        row = 8 * WARP
        group = row * len(self.rows.label) + (WARP // n) * (
            extra + 64 + 9 * n * len(self.mdp.alphabet)
        )
        most = int((free - self._scratch(1)) // group)
        return max(most, 1) * (WARP // n)

    @cached_property
    def _window(self) -> int:
        """How many rounds extrapolation looks back on."""
        return MOST_WINDOW if self.discount >= LONG_DISCOUNT else 5 if self.rows.wide else 4

    @cached_property
    def _code(self) -> str:
        return straight.code(self.rows, self.discount)

    @cached_property
    def _own_columns(self) -> Any:
        return self.card.put(np.arange(len(self.mdp.alphabet), dtype=np.int32))

    @cached_property
    def _sent_rows(self) -> tuple[Any, ...]:
        return _sent(self.card, self.rows, "label least first entries after weight")

    @cached_property
    def _sent_edges(self) -> Any:
        """[(weight, row)], of the actions of rows that have one outcome each."""
        kind = np.dtype([("weight", np.float64), ("after", np.int64)])
        edges = np.empty(len(self.rows.after), dtype=kind)
        edges["weight"], edges["after"] = self.rows.weight, self.rows.after
        return self.card.put(edges.view(np.float64))

    @cached_property
    def _sent_choices(self) -> dict[str, Any]:
        names = "first action entries after weight first_cell cells parent symbol"
        return dict(zip(names.split(), _sent(self.card, self.choices, names), strict=True))

    def _scratch(self, blocks: int) -> int:
        return blocks * 2 * self._window * self.rows.swept * 8 * WARP

    def _blocks(self, groups: int, shared: int, most: int = BLOCKS) -> int:
        """Return how many blocks to launch: as many as run side by side, each again and again."""
        each = max(min(most, self.card.shared_bytes // (shared + 1024)), 1)
        return min(groups, each * self.card.processors)

    def solved(self, batch: Batch) -> tuple[Any, Any]:
        """Return what entering rows is worth, float64[groups, R, 32], and sweeps, int64[B]."""
        rows = self.rows
        z = self.card.empty(batch.groups * len(rows.label) * WARP, np.float64)
        sweeps = self.card.empty(batch.size, np.int64)
        if self.straight:
            self._solve_straight(batch, z, sweeps)
        else:
            self._solve(batch, z, sweeps)
        if rows.swept < len(rows.label):
            self._fill_places(batch, z)
        return z, sweeps

    def _fill_places(self, batch: Batch, z: Any) -> None:
        rows, sent = self.rows, self._sent_rows
        fast = 8 * WARP * rows.swept <= FAST_ITERATES
        shared = 8 * WARP * rows.swept if fast else 0
        kernel = self.card.kernel("solve.cu", "fill_places", SIMPLE)
        whole = _whole(batch.groups, len(rows.label), rows.swept, int(fast))
        arguments = *whole, np.float64(self.discount), sent[1], sent[2], self._sent_edges, z
        kernel(self._blocks(batch.groups, shared), shared, arguments)

    def _solve_straight(self, batch: Batch, z: Any, sweeps: Any) -> None:
        shared = (40 * len(self.mdp.alphabet) + straight.SITTER) * WARP
        rough, fine = straight.rough_sweeps(self.discount), self._most_sweeps
        for (name, each), most in zip(straight.KERNELS.items(), (rough, fine), strict=True):
            kernel = self.card.kernel("straight.cu", name, (), self._code)
            blocks = self._blocks(batch.groups, shared, each)
            kernel(blocks, shared, (*self._problem(batch, most), z, sweeps))

    def _solve(self, batch: Batch, z: Any, sweeps: Any) -> None:
        rows, m = self.rows, len(self.mdp.alphabet)
        iterates = 8 * WARP * rows.swept
        fast = iterates <= FAST_ITERATES
        shared = 12 * WARP * m + 8 * WARP * self._window**2 + (iterates if fast else 0)
        blocks = self._blocks(batch.groups, shared)
        while blocks > 1 and self._scratch(blocks) > SHARE * self.card.free_bytes() / 4:
            blocks = -(-blocks // 2)
        flags = f"-DWINDOW={self._window}", f"-DWIDE={int(rows.wide)}", f"-DIN_SHARED={int(fast)}"
        history = self.card.empty(self._scratch(blocks) // 8, np.float64)
        kernel = self.card.kernel("solve.cu", "solve_rows", flags)
        kernel(
            blocks,
            shared,
            (*self._problem(batch, self._most_sweeps // REPEAT), z, history, sweeps),
        )

    @property
    def _most_sweeps(self) -> int:
        """After which plain sweeps would have done, too."""
        return int(10_000 + 60 / (1 - self.discount))

    def _problem(self, batch: Batch, most: int) -> tuple[Any, ...]:
        """Return the arguments that say what is to be solved, in so many rounds at most."""
        rows, m = self.rows, len(self.mdp.alphabet)
        return (
            *_whole(batch.size, batch.n, m, batch.width, len(rows.label), rows.swept, most),
            np.float64(self.discount), batch.columns, *self._sent_rows, batch.targets, batch.pays,
            batch.tolerance,
        )  # fmt: skip

    def read(self, batch: Batch, z: Any, experts: tuple[Any, Any, Any], many: int) -> Any:
        """Return float64[E], the log likelihoods of machines that were solved."""
        sent, m = self._sent_choices, len(self.mdp.alphabet)
        nodes = self.evidence.n_histories
        states = nodes * (WARP // batch.n)  # a byte for each history and machine
        fast = states <= FAST_STATES
        shared = WARP * m + (states if fast else 0)
        blocks = self._blocks(batch.groups, shared)
        memory = self.card.empty(1 if fast else blocks * nodes * WARP, np.uint8)
        out = self.card.empty(many, np.float64)
        self._reader("read_cells", fast)(
            blocks,
            shared,
            (
                *_whole(batch.size, batch.n, m, batch.width, len(self.rows.label), nodes),
                *_whole(len(self.evidence.visited)),
                batch.columns, sent["parent"], sent["symbol"], sent["first"], sent["entries"],
                sent["after"], sent["weight"], sent["first_cell"], sent["cells"], batch.targets, z,
                *experts, memory, out,
            ),
        )  # fmt: skip
        return out

    def _visited(self, batch: Batch, z: Any) -> Any:
        """Return float64[B n A U], Q of the visited states of machines that were solved."""
        sent, actions, many = self._sent_choices, self.mdp.n_actions, len(self.evidence.visited)
        out = self.card.empty(batch.size * batch.n * actions * many, np.float64)
        self._reader("visit_states")(
            self._blocks(batch.groups, 0),
            0,
            (
                *_whole(batch.size, batch.n, len(self.rows.label), many, actions),
                sent["first"], sent["action"], sent["entries"], sent["after"], sent["weight"], z,
                out,
            ),
        )  # fmt: skip
        return out

    def _reader(self, name: str, fast: bool = False) -> Kernel:
        wide = bool((self.choices.weight != 1.0).any())
        most = int(np.diff(self.choices.first).max(initial=0))
        kept = most if most <= MOST_KEPT else 0
        flags = f"-DWIDE={int(wide)}", f"-DKEPT={kept}", f"-DFAST={int(fast)}"
        return self.card.kernel("read.cu", name, flags)


def worth_their_hubs(hubs: HubMap, mdp: LabeledMDP, discount: float) -> bool:
    """Return whether hubs are less work than all states of a deterministic world.

    Where straight code sweeps over all states, that is so if the ways between hubs are fewer than
    the world's actions.
    """
    fewer = int(hubs.first[len(hubs.labels)]) < mdp.n_transitions
    small = mdp.n_states <= straight.MOST_ROWS and discount <= straight.LONGEST_DISCOUNT
    return fewer or not small


def holds(card: Card, mdp: LabeledMDP, evidence: Evidence) -> bool:
    """Return whether a card has room for one machine in a world, and numbers for its steps."""
    row = 8 * WARP * (1 + 2 * MOST_WINDOW)
    with card.guarded():
        room = SHARE * card.free_bytes()
    return fits(mdp, evidence) and row * mdp.n_states + WARP * evidence.n_histories < room


def _whole(*numbers: int) -> tuple[np.int64, ...]:
    return tuple(np.int64(number) for number in numbers)


def _sent(card: Card, numbers: Rows | Choices, names: str) -> tuple[Any, ...]:
    """Return some arrays of a plan, on the card."""
    return tuple(card.put(getattr(numbers, name)) for name in names.split())
