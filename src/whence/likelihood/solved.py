"""Machines solved once, whatever alpha and lapse: Q and what was done, where something was done.

Where the expert is unknown, one machine is looked at with many experts: to fit one, to carry one
along, to weigh it. The optimal Q of the states where something was done depends on the machine and
the discount alone, and all the rest is a sum over it. So Q is solved once, finely enough for any
usual alpha, and kept for a while. A number that comes out of it does not depend on what is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import NamedTuple

import numpy as np

from whence._arrays import Bools, Floats, Ints, offsets_of
from whence.likelihood.cache import bands
from whence.likelihood.posterior import Posterior
from whence.likelihood.threads import spread
from whence.model.product import checked_sharpness

EXACT = 1e-11  # of values, in units of the largest level
ROOM = 2**22  # numbers that are worked on at a time
KEPT = 2**23  # numbers that are kept

AT_ONCE = 4  # machines that a thread takes
WEIGHING = 0.125  # what a number of Q takes where an expert is weighed, as states that are solved

Kept = tuple[Floats, Floats]  # Q and counts of one machine
Keyed = tuple[tuple[Ints, Floats], list[bytes]]


class Rows(NamedTuple):
    """Rows of B machines, one machine's after the other's.

    Attributes:
        q: float64[R, A].
        counts: float64[R, A].
        ends: int64[B + 1], where each machine's begin, and the last ones end.
    """

    q: Floats
    counts: Floats
    ends: Ints

    @property
    def size(self) -> int:
        """The number of machines, B."""
        return len(self.ends) - 1

    def some(self, start: int, stop: int) -> Rows:
        """Return the rows of the machines `start` to `stop` - 1."""
        own = slice(self.ends[start], self.ends[stop])
        return Rows(self.q[own], self.counts[own], self.ends[start : stop + 1] - own.start)


class Solved:
    """Solves machines at some discounts, for every expert."""

    def __init__(self, posteriors: Sequence[Posterior]) -> None:
        """Prepare to solve.

        Args:
            posteriors: one for each discount, over the same demonstrations.
        """
        self.posteriors = posteriors
        self.largest = max(abs(level) for level in posteriors[0].levels) or 1.0
        experts = [posterior.expert for posterior in posteriors]
        self._soft = np.array([expert.is_soft for expert in experts])
        self._discount = np.array([expert.discount for expert in experts])
        self._keyed: dict[tuple[bytes, ...], Keyed] = {}
        self._kept: dict[bytes, Kept] = {}
        self._keeping = Lock()  # finders keep rows side by side
        self._numbers = 0

    def serves(self, alpha: Floats, discount: Ints) -> Bools:
        """Return bool[B]: the experts for whom Q is fine enough."""
        first = self.posteriors[0]
        grid = self._discount[discount]
        allowed = first.value_tolerance(bands(alpha), first.tolerance, grid)
        fine = np.isfinite(alpha) & (allowed >= EXACT * self.largest)
        return np.asarray(fine & ~self._soft[discount])  # a soft one takes a solve for each alpha

    def log_likelihood(
        self, transitions: Ints, rewards: Floats, discount: Ints, alpha: Floats, lapse: Floats
    ) -> Floats:
        """Return float64[B] of machines, int64[B, n, m] and float64[B, n, m], at experts."""
        result = np.zeros(len(alpha))
        grid = self._discount[discount]
        sharpest = int(np.argmax(alpha / (1 - grid)))
        checked_sharpness(rewards, alpha[sharpest], float(grid[sharpest]))
        tables, keys = self.keyed(transitions, rewards, discount)
        for some in self.pieces(len(keys), tables[0].shape[1]):
            rows = self.rows(tables, discount, keys, some)
            own = alpha[some], lapse[some], result[some]
            self.spread(partial(_weigh_some, rows, own), rows.size, WEIGHING * rows.q.size)
        return result + self.posteriors[0].beside_steps(transitions, rewards)

    def spread(self, part: Callable[[int, int], None], size: int, work: float) -> None:
        """Run `part(start, stop)` over machines, on several threads where that is much work."""
        spread(part, size, AT_ONCE, self.posteriors[0].engines[0].threads, work)

    def keyed(self, transitions: Ints, rewards: Floats, discount: Ints) -> Keyed:
        """Return canonical tables, and what each machine at its discount is known by.

        The same machines are often asked for twice in a row: to fit, and to weigh.
        """
        given = transitions.tobytes(), rewards.tobytes(), discount.tobytes()
        found = self._keyed.get(given)
        if found is None:
            tables = self.posteriors[0].canonical(transitions, rewards)
            size = len(discount)
            parts = [table.reshape(size, -1).astype(np.float64) for table in (*tables, discount)]
            rows = np.concatenate(parts, axis=1)
            width, data = rows.shape[1] * rows.itemsize, rows.tobytes()
            keys = [data[first : first + width] for first in range(0, len(data), width)]
            found = tables[:2], keys
            self._keyed = {given: found}
        return found

    def rows(
        self, tables: tuple[Ints, Floats], discount: Ints, keys: list[bytes], some: slice
    ) -> Rows:
        """Return Q and counts of some of the machines, without rows in which nothing was done."""
        found = {key: self._kept.get(key) for key in keys[some]}
        fresh: dict[bytes, int] = {}
        for row, key in enumerate(keys[some], some.start):
            if found[key] is None:
                fresh.setdefault(key, row)
        wanted = np.fromiter(fresh.values(), dtype=np.int64, count=len(fresh))
        if len(wanted):
            solved = self._solved(discount[wanted], (tables[0][wanted], tables[1][wanted]))
            found.update(zip(fresh, solved, strict=True))
            self._keep(dict(zip(fresh, solved, strict=True)))
        return _in_turn([found[key] for key in keys[some]])  # type: ignore[misc]

    def pieces(self, size: int, n: int) -> list[slice]:
        """Return which of a number of machines of n states are worked on together."""
        batch = self.batch(n)
        return [slice(first, min(first + batch, size)) for first in range(0, size, batch)]

    def _solved(self, discount: Ints, tables: tuple[Ints, Floats]) -> list[Kept]:
        """Return the rows of each machine in which something was done, worlds one by one."""
        worlds = self.posteriors[0].worlds
        width = max(world.n_actions for world, _ in worlds)
        parts = [self._occupied(discount, world, tables, width) for world in range(len(worlds))]
        if len(parts) == 1:
            return parts[0]
        return [
            (np.concatenate([q for q, _ in each]), np.concatenate([taken for _, taken in each]))
            for each in zip(*parts, strict=True)
        ]

    def _occupied(
        self, discount: Ints, world: int, tables: tuple[Ints, Floats], width: int
    ) -> list[Kept]:
        """Return the rows of each machine in one world: solved by discount, read together."""
        from whence.likelihood.kernels.occupying import occupied_rows

        size, n, _ = tables[0].shape
        seen = self.posteriors[0].evidence[world]
        engine, own = self.posteriors[0].in_world(world, tables)
        actions, many = engine.mdp.n_actions, len(seen.visited)
        q = np.empty((size, n, actions, many))
        for number in np.unique(discount).tolist():
            rows_of = np.flatnonzero(discount == number)
            some = own[0][rows_of], own[1][rows_of], own[2][rows_of]
            solver = self.posteriors[number].engines[world]
            q[rows_of] = solver.visited_q(some, EXACT * self.largest)
        q[:, :, seen.closed % actions, seen.closed // actions] = -np.inf
        most = size * min(n * many, seen.n_cells)
        rows = np.empty((most, actions)), np.empty((most, actions))
        ends = np.zeros(size + 1, dtype=np.int64)
        occupied_rows(
            own[0], seen.parent, seen.symbol, seen.first_cell, seen.cell_key, seen.cell_count, q,
            np.zeros(len(seen.parent), dtype=np.int64), np.zeros((n, many), dtype=np.int64), ends,
            *rows,
        )  # fmt: skip
        last = int(ends[-1])
        wide = _wide(rows[0][:last], width, -np.inf), _wide(rows[1][:last], width, 0.0)
        return [
            (wide[0][a:b].copy(), wide[1][a:b].copy())
            for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        ]

    def _keep(self, fresh: dict[bytes, Kept]) -> None:
        """Keep rows, and drop the oldest half of what is kept where there is too much."""
        with self._keeping:
            self._kept.update(fresh)
            self._numbers += sum(2 * q.size for q, _ in fresh.values())
            if self._numbers > KEPT:
                every = list(self._kept.items())
                self._kept = dict(every[len(every) // 2 + 1 :])
                self._numbers = sum(2 * q.size for q, _ in self._kept.values())

    def batch(self, n: int) -> int:
        """Return how many machines of n states are worked on at a time."""
        posterior = self.posteriors[0]
        width = max(world.n_actions for world, _ in posterior.worlds)
        rows = n * width * sum(len(each.visited) for each in posterior.evidence)
        return max(ROOM // max(rows, 1), 1)

    def all_rows(self, posterior: Posterior, tables: tuple[Ints, Floats], exact: float) -> Kept:
        """Return Q and counts of actions, float64[B, R, A], worlds one after the other."""
        from whence.likelihood.kernels.fitting import occupy_machines

        size, n, _ = tables[0].shape
        width = max(world.n_actions for world, _ in posterior.worlds)
        parts = []
        for number, seen in enumerate(posterior.evidence):
            engine, own = posterior.in_world(number, tables)
            many, actions = len(seen.visited), engine.mdp.n_actions
            q = engine.visited_q(own, exact).transpose(0, 1, 3, 2).reshape(size, n, -1)
            q[:, :, seen.closed] = -np.inf
            q = q.reshape(size, -1, actions)
            counts = np.zeros((size, n, many * actions))
            occupy_machines(
                own[0], seen.parent, seen.symbol, seen.first_cell, seen.cell_key,
                seen.cell_count, np.zeros(len(seen.parent), dtype=np.int64), counts,
            )  # fmt: skip
            parts.append((_wide(q, width, -np.inf), _wide(counts.reshape(q.shape), width, 0.0)))
        return (
            np.concatenate([part[0] for part in parts], axis=1),
            np.concatenate([part[1] for part in parts], axis=1),
        )


def _weigh_some(rows: Rows, tables: tuple[Floats, ...], start: int, stop: int) -> None:
    """Weigh some machines; tables: alphas, lapses, and what is written."""
    from whence.likelihood.kernels.experts import weigh_experts

    weigh_experts(*rows.some(start, stop), *(table[start:stop] for table in tables))


def _in_turn(parts: list[Kept]) -> Rows:
    """Return rows of several machines one after the other."""
    q, counts = zip(*parts, strict=True)
    return Rows(
        np.concatenate(q), np.concatenate(counts), offsets_of(np.array([len(own) for own in q]))
    )


def _wide(rows: Floats, width: int, filled: float) -> Floats:
    """Return float64[..., width], with columns added where a world has fewer actions."""
    missing = width - rows.shape[-1]
    around = [(0, 0)] * (rows.ndim - 1) + [(0, missing)]
    return np.pad(rows, around, constant_values=filled) if missing else rows
