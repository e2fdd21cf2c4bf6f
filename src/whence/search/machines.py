"""Batches of machines, as every method of search keeps them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.errors import ArgumentError
from whence.model.canonical import valid

MOST_DRAWS = 20_000


class Machines(NamedTuple):
    """B labelled machines, padded to the largest number of states, n.

    Attributes:
        transitions: int64[B, n, m]; rows from `n_states` on stay put.
        paid: int64[B, n, m], places in the ascending reward levels.
        n_states: int64[B].
    """

    transitions: Ints
    paid: Ints
    n_states: Ints

    @property
    def size(self) -> int:
        """The number of machines, B."""
        return len(self.n_states)

    def tables(self, levels: tuple[float, ...]) -> tuple[Ints, Floats]:
        """Return transitions and rewards, int64[B, n, m] and float64[B, n, m]."""
        return self.transitions, np.asarray(np.array(levels)[self.paid])

    def rows(self, chosen: Ints | Bools) -> Machines:
        """Return some of them."""
        return Machines(*(table[chosen] for table in self))

    def copy(self) -> Machines:
        """Return arrays that may be written to."""
        return Machines(*(table.copy() for table in self))

    def replaced(self, other: Machines, where: Bools) -> Machines:
        """Return these machines with the other's where bool[B] says so."""
        tables = where[:, None, None]
        return Machines(
            np.where(tables, other.transitions, self.transitions),
            np.where(tables, other.paid, self.paid),
            np.where(where, other.n_states, self.n_states),
        )


def of_one_size(transitions: Ints, paid: Ints) -> Machines:
    """Return machines that all have n states, from int64[B, n, m] twice."""
    size, n, _ = transitions.shape
    return Machines(transitions, paid, np.full(size, n, dtype=np.int64))


def uniform(
    rng: np.random.Generator, size: int, n: int, m: int, levels: tuple[float, ...]
) -> Machines:
    """Return valid machines of n states, each equally likely."""

    def draw(rows: Ints) -> Machines:
        shape = (len(rows), n, m)
        return of_one_size(
            rng.integers(0, n, size=shape), rng.integers(0, len(levels), size=shape)
        )

    cure = f"{n} states and {m} symbols: ask for fewer states"
    return until_valid(draw, size, levels.index(0.0), cure)


def until_valid(draw: Callable[[Ints], Machines], size: int, zero: int, cure: str) -> Machines:
    """Return `size` valid machines: those that are not valid are drawn again.

    Args:
        draw: makes the machines of the rows that it is given, int64[...].
        size: B.
        zero: the place of the level 0.
        cure: what to do where a valid machine is too rare to be found.
    """
    machines = draw(np.arange(size))
    pending = np.flatnonzero(~_valid(machines, zero))
    for _ in range(MOST_DRAWS):
        if not len(pending):
            return machines
        fresh = draw(pending)
        for table, new in zip(machines, fresh, strict=True):
            table[pending] = new
        pending = pending[~_valid(fresh, zero)]
    raise ArgumentError(f"no valid machine in {MOST_DRAWS} draws with {cure}")


def _valid(machines: Machines, zero: int) -> Bools:
    return valid(machines.transitions, machines.paid != zero, machines.n_states)


def check_space(n: int, m: int, levels: tuple[float, ...]) -> None:
    """Refuse a space of machines in which there is nothing to search."""
    if m < 1:
        raise ArgumentError(
            "the world has no symbols, so there is nothing to search: machines read labels; give "
            "the world's states some"
        )
    if n < 1 or len(levels) < 2 or (n * m == 1 and len(levels) == 2):
        raise ArgumentError(
            f"{n} states, {m} symbols, levels {levels}: there is at most one valid machine, and "
            "nothing to search; allow more states or more levels"
        )
