"""Every valid machine once, in its canonical form, by number.

A canonical machine numbers its states breadth-first from 0, symbols in alphabet order. Read its
transitions row by row: a state's first mention comes before the row of that state, and first
mentions come in order. So an entry names one of the k states mentioned so far, or is the first
to name state k; with c(p, k) the ways to fill the entries from p on,

    c(n m, n) = 1,   c(p, k) = k c(p + 1, k) + c(p + 1, k + 1)  where k > p // m,   0 elsewhere

and c(0, 1) machines without rewards. Each is paid for in G^(n m) - 1 ways: all but nothing.
Numbers go by transitions first, lexicographically, then by rewards, the level 0 first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from whence._arrays import Ints
from whence.search.machines import Machines, of_one_size

WIDE = 2**62  # numbers from here on are Python's


def completions(n: int, m: int) -> list[list[int]]:
    """Return c[p][k] for p from 0 to n m and k from 0 to n: 0 where no prefix leads there."""
    last = n * m
    table = [[0] * (n + 2) for _ in range(last + 1)]
    table[last][n] = 1
    for p in reversed(range(last)):
        for k in range(p // m + 1, min(p + 1, n) + 1):
            table[p][k] = k * table[p + 1][k] + table[p + 1][k + 1]
    return table


def structures(n: int, m: int) -> int:
    """Return the number of canonical transition tables, int[n, m], that reach every state."""
    return completions(n, m)[0][1]


@dataclass(frozen=True)
class Enumeration:
    """The valid canonical machines of some sizes, the smallest first, numbered from 0.

    Attributes:
        sizes: the numbers of states, ascending.
        m: symbols.
        levels: the G reward levels, 0 among them.
    """

    sizes: range
    m: int
    levels: tuple[float, ...]

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many machines there are of each size."""
        return tuple(count(n, self.m, len(self.levels)) for n in self.sizes)

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """The first number of each size, and the number behind the last."""
        edges = [0]
        for number in self.counts:
            edges.append(edges[-1] + number)
        return tuple(edges)

    @property
    def total(self) -> int:
        """How many machines there are in all."""
        return self.edges[-1]

    def batches(self, batch: int) -> int:
        """Return how many batches of `batch` numbers at most, each of one size, there are."""
        return sum(-(-number // batch) for number in self.counts)

    def stop(self, start: int, batch: int) -> int:
        """Return where the batch that begins at a number ends."""
        return min(start + batch, min(edge for edge in self.edges if edge > start))

    def numbers(self, positions: Iterable[int]) -> Ints:
        """Return an array of numbers: int64[B], or Python's own where the space is too large."""
        wide = self.total >= WIDE
        return np.array(list(positions), dtype=object if wide else np.int64)

    def size_index(self, positions: Ints) -> Ints:
        """Return int64[B], the place of each number's size among `sizes`."""
        return np.searchsorted(self.numbers(self.edges[1:]), positions, side="right")

    def machines(self, positions: Ints) -> Machines:
        """Return the machines of some numbers of one size."""
        which = int(self.size_index(positions[:1])[0])
        n = self.sizes[which]
        payments = len(self.levels) ** (n * self.m) - 1
        within = positions - self.edges[which]
        return of_one_size(
            unranked(within // payments, n, self.m), self._paid(within % payments + 1, n)
        )

    def _paid(self, numbers: Ints, n: int) -> Ints:
        """Return int64[B, n, m]: the digits of each number in base G, as places of levels."""
        values = np.array(
            sorted(range(len(self.levels)), key=lambda i: (self.levels[i] != 0, self.levels[i]))
        )
        digits = np.empty((len(numbers), n * self.m), dtype=np.int64)
        for place in reversed(range(n * self.m)):
            digits[:, place] = numbers % len(values)
            numbers = numbers // len(values)
        return np.asarray(values[digits].reshape(-1, n, self.m))


def count(n: int, m: int, n_levels: int) -> int:
    """Return the number of valid canonical machines of n states, m symbols and G levels."""
    payments: int = n_levels ** (n * m) - 1
    return structures(n, m) * payments


def unranked(ranks: Ints, n: int, m: int) -> Ints:
    """Return the canonical transition tables of some ranks, int64[B, n, m].

    At entry p, with k states mentioned, c(p + 1, k) tables begin with each of 0 .. k - 1, and
    the rest names state k.
    """
    ways = np.array(completions(n, m), dtype=ranks.dtype)
    mentioned = np.ones(len(ranks), dtype=np.int64)
    result = np.empty((len(ranks), n * m), dtype=np.int64)
    for p in range(n * m):
        block = ways[p + 1, mentioned]
        known = mentioned * block
        fresh = ranks >= known
        within = ranks // np.where(block == 0, 1, block)
        result[:, p] = np.where(fresh, mentioned, within)
        ranks = ranks - np.where(fresh, known, within * block)
        mentioned = mentioned + fresh
    return result.reshape(-1, n, m)
