"""Populations of machines with their scores, and how to draw valid ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from whence._arrays import Bools, Floats, Ints
from whence.errors import ArgumentError
from whence.model.canonical import valid

MOST_DRAWS = 20_000

Tables = tuple[Ints, Floats]


class Target(Protocol):
    """What a search climbs: a `Posterior`, or anything that scores like one."""

    levels: tuple[float, ...]
    alphabet: tuple[str, ...]

    def log_likelihood(self, transitions: npt.ArrayLike, rewards: npt.ArrayLike, /) -> Floats:
        """Return float64[B]."""

    def log_prior(self, transitions: npt.ArrayLike, rewards: npt.ArrayLike, /) -> Floats:
        """Return float64[B]."""


@dataclass(frozen=True, eq=False)
class Population:
    """Machines and what is known of each.

    Attributes:
        transitions: int64[B, n, m].
        rewards: float64[B, n, m].
        log_likelihood: float64[B], log P(D | R).
        log_prior: float64[B], log P(R), not normalised.
    """

    transitions: Ints
    rewards: Floats
    log_likelihood: Floats
    log_prior: Floats

    @property
    def size(self) -> int:
        """The number of machines, B."""
        return len(self.transitions)

    def score(self, temperature: float) -> Floats:
        """Return float64[B]: log P(D | R) / T + log P(R)."""
        return np.asarray(self.log_likelihood / temperature + self.log_prior)

    def replaced(self, other: Population, where: Bools) -> Population:
        """Return this population with the other's machines where bool[B] says so."""
        tables = where[:, None, None]
        return Population(
            np.where(tables, other.transitions, self.transitions),
            np.where(tables, other.rewards, self.rewards),
            np.where(where, other.log_likelihood, self.log_likelihood),
            np.where(where, other.log_prior, self.log_prior),
        )


def scored(target: Target, tables: Tables) -> Population:
    """Score machines, all in one batch."""
    return Population(*tables, target.log_likelihood(*tables), target.log_prior(*tables))


def uniform(
    rng: np.random.Generator, size: int, n: int, m: int, levels: tuple[float, ...]
) -> Tables:
    """Return valid machines, each equally likely: int64[size, n, m], float64[size, n, m]."""
    paid = np.array(levels)

    def draw(rows: Ints) -> Tables:
        shape = (len(rows), n, m)
        return rng.integers(0, n, size=shape), paid[rng.integers(0, len(paid), size=shape)]

    return until_valid(draw, size, f"{n} states and {m} symbols: ask for fewer states")


def until_valid(draw: Callable[[Ints], Tables], size: int, cure: str) -> Tables:
    """Return `size` valid machines: those that are not valid are drawn again.

    Args:
        draw: makes the machines of the rows that it is given, int64[...].
        size: B.
        cure: what to do where a valid machine is too rare to be found.
    """
    transitions, rewards = draw(np.arange(size))
    pending = np.flatnonzero(~valid(transitions, rewards))
    for _ in range(MOST_DRAWS):
        if not len(pending):
            return transitions, rewards
        fresh = draw(pending)
        transitions[pending], rewards[pending] = fresh
        pending = pending[~valid(*fresh)]
    raise ArgumentError(f"no valid machine in {MOST_DRAWS} draws with {cure}")


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
