"""The paper's prior over machines: simple arrows are likelier.

Every entry is independent. A reward is 0 with probability `p_zero`, else uniform over the other
levels; a transition is a self-loop with probability `p_self`, else uniform over the other
states. With i zero rewards and j self-loops among the n m entries of each table, and G levels,

    p_zero^i ((1 - p_zero) / (G - 1))^(nm - i)  p_self^j ((1 - p_self) / (n - 1))^(nm - j)

It is not normalised over valid machines. For n = 1 the factor of the transitions is 1.

Where n is unknown, machines of different sizes are compared by their mass: P(n) is geometric, or
as the user says, and the prior of each n is normalised over the valid machines of n states.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from whence._arrays import Floats, Ints
from whence.errors import ArgumentError
from whence.model.canonical import valid


@dataclass(frozen=True)
class Prior:
    """How likely an entry is a self-loop, how likely it pays nothing, and how likely each size is.

    Attributes:
        p_self: the probability of a self-loop.
        p_zero: the probability of a reward of 0.
        sizes: how likely a size is compared to the one below it; or weights, one for each of the
            sizes that a machine may have, the smallest first.
    """

    p_self: float = 3 / 5
    p_zero: float = 3 / 4
    sizes: float | tuple[float, ...] = 0.5

    def __post_init__(self) -> None:
        for name, value in (("p_self", self.p_self), ("p_zero", self.p_zero)):
            if not 0 < value < 1:
                raise ArgumentError(f"{name} is {value}; give a number between 0 and 1")
        weights = self.sizes if isinstance(self.sizes, tuple) else (self.sizes,)
        if not weights or not all(0 < weight < math.inf for weight in weights):
            raise ArgumentError(
                f"sizes_prior is {self.sizes}; give how likely a size is compared to the one "
                "below it, such as 0.5, or a weight above 0 for each size"
            )

    def log_size(self, n: int, sizes: range) -> float:
        """Return log P(n) among the sizes that a machine may have; they sum to 1."""
        if isinstance(self.sizes, tuple):
            if len(self.sizes) != len(sizes):
                raise ArgumentError(
                    f"sizes_prior has {len(self.sizes)} weights; give one for each of the "
                    f"{len(sizes)} sizes, {sizes[0]} to {sizes[-1]}, or one number"
                )
            return math.log(self.sizes[n - sizes[0]]) - math.log(sum(self.sizes))
        steps = np.arange(len(sizes)) * math.log(self.sizes)
        return float(steps[n - sizes[0]] - np.logaddexp.reduce(steps))

    def log_prior(self, transitions: Ints, rewards: Floats, levels: tuple[float, ...]) -> Floats:
        """Return float[B], the log prior of int[B, n, m] and float[B, n, m].

        A machine that pays what is not among the levels has prior 0, log prior -inf.
        """
        size, n, m = transitions.shape
        loops = (transitions == np.arange(n)[:, None]).reshape(size, -1).sum(axis=1)
        zeros = (rewards == 0).reshape(size, -1).sum(axis=1)
        known = np.isin(rewards, levels).reshape(size, -1).all(axis=1)
        by_zeros, by_loops = self.log_factors(n, m, len(levels))
        return np.where(known, by_zeros[zeros] + by_loops[loops], -np.inf)

    def log_factors(self, n: int, m: int, n_levels: int) -> tuple[Floats, Floats]:
        """Return what so many zero rewards, and so many self-loops, add to the log prior.

        Returns:
            float64[n m + 1] twice, from none to all of the entries.
        """
        each = np.arange(n * m + 1)
        by_zeros = _total(each, each[::-1], self.p_zero, _shared(1 - self.p_zero, n_levels - 1))
        if n == 1:
            return by_zeros, np.zeros(n * m + 1)
        moving = _shared(1 - self.p_self, n - 1)
        return by_zeros, _total(each, each[::-1], self.p_self, moving)

    def normaliser(self, n: int, m: int) -> float:
        """Return log Z_n, the log probability that tables drawn entry by entry are valid.

        An entry of one of k given states, 0 among them, leads to one of the k with probability
        q_k; f_k is the probability that exactly these k states are reached from 0.

            Z_n = (1 - p_zero^(n m)) f_n,   q_k = p_self + (1 - p_self) (k - 1) / (n - 1)
            f_k = q_k^(k m) - sum over j < k of C(k - 1, j - 1) f_j q_k^((k - j) m)

        The differences are of fractions, without rounding.
        """
        if n < 1 or m < 1:
            raise ArgumentError(f"{n} states, {m} symbols: no valid machine; give at least 1 each")
        paying = 1 - Fraction(self.p_zero) ** (n * m)
        reached: list[Fraction] = []
        for k in range(1, n + 1):
            within = self._within(k, n) ** m
            fewer = sum(
                math.comb(k - 1, j) * f * within ** (k - 1 - j) for j, f in enumerate(reached)
            )
            reached.append(within**k - fewer)
        return _log(paying) + _log(reached[-1])

    def log_mass(
        self, transitions: Ints, rewards: Floats, levels: tuple[float, ...], sizes: range
    ) -> Floats:
        """Return float64[B]: the log mass of canonical machines, all (n - 1)! copies together.

        log P(n) + log prior - log Z_n + log (n - 1)!; over all valid canonical machines of the
        sizes it sums to 1.

        Args:
            transitions: int[B, n, m], with n among `sizes`.
            rewards: float[B, n, m].
            levels: the levels that machines may pay.
            sizes: the numbers of states that a machine may have.
        """
        _, n, m = transitions.shape
        constant = self.log_size(n, sizes) - self.normaliser(n, m) + math.lgamma(n)
        return self.log_prior(transitions, rewards, levels) + constant

    def _within(self, k: int, n: int) -> Fraction:
        """Return q_k: how likely an entry of one of k states of n leads to one of them."""
        loop = Fraction(self.p_self)
        return Fraction(1) if n == 1 else loop + (1 - loop) * Fraction(k - 1, n - 1)

    def sample(
        self, rng: np.random.Generator, n: int, m: int, levels: tuple[float, ...], size: int
    ) -> tuple[Ints, Floats]:
        """Return valid machines drawn from the prior: int64[size, n, m], float64[size, n, m].

        Invalid draws are drawn again.
        """
        kept = checked_levels(levels)
        if n < 1 or m < 1 or len(kept) < 2:
            raise ArgumentError(
                f"{n} states, {m} symbols, levels {kept}: no valid machine has these; "
                "give at least one state, one symbol and one level that is not 0"
            )
        transitions = np.empty((0, n, m), dtype=np.int64)
        rewards = np.empty((0, n, m))
        while len(transitions) < size:
            drawn = self._draw(rng, (2 * (size - len(transitions)) + 8, n, m), kept)
            good = valid(*drawn)
            transitions = np.concatenate([transitions, drawn[0][good]])
            rewards = np.concatenate([rewards, drawn[1][good]])
        return transitions[:size], rewards[:size]

    def _draw(
        self, rng: np.random.Generator, shape: tuple[int, int, int], levels: tuple[float, ...]
    ) -> tuple[Ints, Floats]:
        """Return machines drawn entry by entry, valid or not."""
        here = np.arange(shape[1])[:, None]
        others = rng.integers(0, max(shape[1] - 1, 1), size=shape)
        moved = others + (others >= here) if shape[1] > 1 else np.zeros(shape, dtype=np.int64)
        transitions = np.where(rng.random(shape) < self.p_self, here, moved)
        paying = np.array([level for level in levels if level != 0])
        paid = paying[rng.integers(0, len(paying), size=shape)]
        return transitions, np.where(rng.random(shape) < self.p_zero, 0.0, paid)


def checked_levels(rewards: tuple[float, ...]) -> tuple[float, ...]:
    """Return the reward levels, ascending, if they are finite, different and contain 0."""
    try:
        levels = tuple(sorted({float(level) for level in rewards}))
    except (TypeError, ValueError):
        raise ArgumentError(f"rewards are {rewards!r}; give numbers, such as 0,1") from None
    if not all(math.isfinite(level) for level in levels):
        raise ArgumentError(f"rewards are {rewards!r}; every level must be finite")
    if 0.0 not in levels:
        raise ArgumentError(f"rewards are {rewards!r}; 0 must be one of the levels")
    return levels


def _log(fraction: Fraction) -> float:
    """Return the logarithm of a fraction that may be too small for a float."""
    return math.log(fraction.numerator) - math.log(fraction.denominator)


def _shared(probability: float, among: int) -> float:
    return math.log(probability / among) if among > 0 else -math.inf


def _total(usual: Ints, other: Ints, probability: float, log_other: float) -> Floats:
    """Return usual * log(probability) + other * log_other, where 0 * -inf is 0."""
    rest = np.where(other > 0, other * log_other if math.isfinite(log_other) else -np.inf, 0.0)
    return np.asarray(usual * math.log(probability) + rest)
