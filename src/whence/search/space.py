"""The space that sampling moves in: machines of some sizes, padded to the largest, and a prior.

A machine of k states fills the first k rows of its tables; rows behind are never reached. The
target over labelled machines is P(n) prior / Z_n, where Z_n is the mass of the valid ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.errors import ArgumentError
from whence.model.canonical import valid
from whence.model.prior import Prior
from whence.search.machines import Machines

MOST_DRAWS = 2_000


@dataclass(frozen=True, eq=False)
class Space:
    """Which machines there are, and how likely each is before any demonstration.

    Attributes:
        sizes: the numbers of states, ascending.
        m: symbols.
        levels: rewards, ascending.
        prior: of the entries.
        log_size: float64[n + 1], log P(n) - log Z_n; minus infinity where n is not a size.
        known_targets: int64[n, m], -1 where nothing is pinned.
        known_paid: int64[n, m], the same for levels.
    """

    sizes: tuple[int, ...]
    m: int
    levels: tuple[float, ...]
    prior: Prior
    log_size: Floats
    known_targets: Ints
    known_paid: Ints

    @property
    def largest(self) -> int:
        """The largest number of states, n."""
        return self.sizes[-1]

    @property
    def zero(self) -> int:
        """The index of the level 0."""
        return self.levels.index(0.0)

    @cached_property
    def pinned(self) -> bool:
        """Whether anything is pinned, so that the numbers of states count."""
        return bool((self.known_targets >= 0).any() or (self.known_paid >= 0).any())

    @cached_property
    def named(self) -> int:
        """How many states other than the first have a number that known arrows go by."""
        states, symbols = np.nonzero((self.known_targets >= 0) | (self.known_paid >= 0))
        ends = self.known_targets[states, symbols]
        return len({*states.tolist(), *ends[ends >= 0].tolist()} - {0})

    def log_target(self, targets: Ints, own: Ints, n_states: Ints) -> Floats:
        """Return the log probability of each target of an entry; shapes are broadcast."""
        others = np.maximum(n_states - 1, 1)
        away = math.log1p(-self.prior.p_self) - np.log(others)
        loop = np.where(n_states > 1, math.log(self.prior.p_self), 0.0)
        return np.asarray(np.where(targets == own, loop, away))

    def log_paid(self, paid: Ints) -> Floats:
        """Return the log probability of each level of an entry."""
        others = max(len(self.levels) - 1, 1)
        return np.asarray(
            np.where(
                paid == self.zero,
                math.log(self.prior.p_zero),
                math.log1p(-self.prior.p_zero) - math.log(others),
            )
        )

    def draw_targets(self, rng: np.random.Generator, own: Ints, n_states: Ints) -> Ints:
        """Return a target of each entry from the prior; shapes are broadcast."""
        shape = np.broadcast_shapes(own.shape, n_states.shape)
        others = rng.integers(0, np.maximum(n_states - 1, 1), size=shape)
        moved = np.where(n_states > 1, others + (others >= own), own)
        return np.where(rng.random(shape) < self.prior.p_self, own, moved)

    def draw_paid(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Ints:
        """Return a level of each entry from the prior."""
        others = rng.integers(0, max(len(self.levels) - 1, 1), size=shape)
        others = others + (others >= self.zero)
        return np.where(rng.random(shape) < self.prior.p_zero, self.zero, others)

    def log_prior(self, machines: Machines) -> Floats:
        """Return float64[B]: minus infinity where a machine is not valid, or not as pinned."""
        from whence.search.chain_kernel import plain, weigh_entries

        entries = np.empty(machines.transitions.shape)
        valid = np.empty(machines.size, dtype=np.bool_)
        weigh_entries(
            *(plain(table) for table in machines), self._log_table, self.zero,
            *self._known, entries, valid,
        )  # fmt: skip
        total = entries.sum(axis=(1, 2)) + self.log_size[machines.n_states]
        return np.where(valid, total, -np.inf)

    @cached_property
    def _log_table(self) -> Floats:
        """float64[n + 1, 2, 2]: of an entry, by states, whether it stays, whether it pays 0."""
        count = np.arange(self.largest + 1)[:, None, None]
        stays = np.array([1, 0])[:, None]  # of a target beside 0
        pays = np.array([self.zero + 1, self.zero])
        return self.log_target(stays, np.zeros_like(count), count) + self.log_paid(pays)

    @cached_property
    def _known(self) -> tuple[Ints, Ints]:
        """What is pinned, as kernels take it."""
        return self.known_targets.astype(np.int64), self.known_paid.astype(np.int64)

    def log_entries(self, machines: Machines) -> Floats:
        """Return float64[B], the log probability of all entries, whatever the size."""
        used = _used(machines.n_states, self.largest)[:, :, None]
        own = np.arange(self.largest)[None, :, None]
        entries = self.log_target(machines.transitions, own, machines.n_states[:, None, None])
        entries = entries + self.log_paid(machines.paid)
        return np.asarray(np.where(used, entries, 0.0).sum(axis=(1, 2)))

    def valid(self, machines: Machines) -> Bools:
        """Return bool[B]: all states reached, something paid, and what is known is so."""
        known = self.known_targets < 0
        as_known = (known | (machines.transitions == self.known_targets)).all(axis=(1, 2))
        known = self.known_paid < 0
        as_known &= (known | (machines.paid == self.known_paid)).all(axis=(1, 2))
        pays = machines.paid != self.zero
        return np.asarray(as_known & valid(machines.transitions, pays, machines.n_states))

    def sample(self, rng: np.random.Generator, size: int) -> Machines:
        """Return valid machines from the prior, with what is known set."""
        weights = np.exp(self.log_size[list(self.sizes)] - self.log_size[list(self.sizes)].max())
        kept: list[Machines] = []
        count = 0
        for _ in range(MOST_DRAWS):
            if count >= size:
                break
            n_states = rng.choice(self.sizes, p=weights / weights.sum(), size=4 * size)
            drawn = self._draw(rng, n_states)
            drawn = drawn.rows(self.valid(drawn))
            kept.append(drawn)
            count += len(drawn.n_states)
        if count < size:
            raise ArgumentError(
                f"only {count} of {MOST_DRAWS * 4 * size} draws are valid machines that have the "
                "known arrows; allow fewer states, or fix fewer arrows"
            )
        return Machines(*(np.concatenate(tables)[:size] for tables in zip(*kept, strict=True)))

    def _draw(self, rng: np.random.Generator, n_states: Ints) -> Machines:
        shape = (len(n_states), self.largest, self.m)
        own = np.arange(self.largest)[None, :, None]
        counts = np.broadcast_to(n_states[:, None, None], shape)
        targets = self.draw_targets(rng, np.broadcast_to(own, shape), counts)
        machines = Machines(targets, self.draw_paid(rng, shape), n_states)
        targets = np.where(self.known_targets >= 0, self.known_targets, machines.transitions)
        paid = np.where(self.known_paid >= 0, self.known_paid, machines.paid)
        return self.tidy(Machines(targets, paid, n_states))

    def tidy(self, machines: Machines) -> Machines:
        """Return machines whose unused rows stay put and pay 0."""
        used = _used(machines.n_states, self.largest)[:, :, None]
        own = np.arange(self.largest)[None, :, None]
        return Machines(
            np.where(used, machines.transitions, own),
            np.where(used, machines.paid, self.zero),
            machines.n_states,
        )


def _used(n_states: Ints, largest: int) -> Bools:
    """Return bool[B, n]: which rows hold states."""
    return np.asarray(np.arange(largest) < n_states[:, None])
