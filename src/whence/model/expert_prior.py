"""What is thought of an expert before anything is seen: how rational it is, how often it lapses.

alpha is counted in units of 1 / the largest reward level, so that rewards of 0 and 100 say the
same as rewards of 0 and 1. Its logarithm has a logistic distribution, which falls off slowly on
both sides, within wide bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats
from whence.errors import ArgumentError

FAR = 700.0  # spreads below the centre, behind which there is nothing; its exponential is finite


@dataclass(frozen=True)
class AlphaPrior:
    """A prior over rationality: log alpha is logistic between two bounds.

    Attributes:
        centre: the middle of the distribution, times the largest reward level.
        spread: of log alpha; infinite for all logarithms being as likely.
        low: the least alpha, times the largest level.
        high: the largest.
    """

    centre: float = 30.0
    spread: float = 2.0
    low: float = 1e-3
    high: float = 1e6

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high < math.inf:
            raise ArgumentError(
                f"alpha_prior goes from {self.low} to {self.high}; give two finite numbers above "
                "0, the smaller one first"
            )
        if not self.low <= self.centre <= self.high:
            raise ArgumentError(
                f"alpha_prior is centred at {self.centre}; give a number from {self.low:g} to "
                f"{self.high:g}"
            )
        if not self.spread > 0:
            raise ArgumentError(f"alpha_prior has a spread of {self.spread}; give one above 0")

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of log alpha, of a largest level of 1."""
        return math.log(self.low), math.log(self.high)

    @property
    def log_normaliser(self) -> float:
        """The log of the integral of the density below, over log alpha."""
        low, high = self.bounds
        if math.isinf(self.spread):
            return math.log(high - low) - 2 * math.log(2)
        low, high = (
            math.tanh((e - math.log(self.centre)) / (2 * self.spread)) for e in (low, high)
        )
        return math.log(self.spread * (high - low) / 2)

    def log_density(self, log_alpha: Floats) -> Floats:
        """Return float64[...], by log alpha, of a largest level of 1; unnormalised."""
        low, high = self.bounds
        inside = (log_alpha >= low) & (log_alpha <= high)
        away = np.abs(log_alpha - math.log(self.centre)) / self.spread
        return np.where(inside, -away - 2 * np.log1p(np.exp(-away)), -np.inf)

    def sample(self, rng: np.random.Generator, size: int) -> Floats:
        """Return float64[size], log alpha, of a largest level of 1."""
        low, high = self.bounds
        if math.isinf(self.spread):
            return rng.uniform(low, high, size)
        middle = math.log(self.centre)
        below = (min((middle - end) / self.spread, FAR) for end in (low, high))
        first, last = (1 / (1 + math.exp(spreads)) for spreads in below)
        chance = rng.uniform(first, last, size)
        found = middle + self.spread * (np.log(chance) - np.log1p(-chance))
        return np.asarray(np.clip(found, low, high))


@dataclass(frozen=True)
class LapsePrior:
    """A prior over the share of blind actions: a beta distribution.

    Attributes:
        ones: its first number, as if so many blind actions had been seen.
        zeros: its second number, as if so many others had been.
    """

    ones: float = 1.0
    zeros: float = 19.0

    def __post_init__(self) -> None:
        if not (0 < self.ones < math.inf and 0 < self.zeros < math.inf):
            raise ArgumentError(
                f"lapse_prior is ({self.ones}, {self.zeros}); give the two numbers of a beta "
                "distribution, both above 0, such as (1, 19)"
            )

    @property
    def log_normaliser(self) -> float:
        """The log of the integral of the density below."""
        return (
            math.lgamma(self.ones) + math.lgamma(self.zeros) - math.lgamma(self.ones + self.zeros)
        )

    def log_density(self, lapse: Floats) -> Floats:
        """Return float64[...], by lapse; unnormalised, minus infinity outside of 0 to 1.

        A density that is infinite at 0 counts as nothing just there: no lapse is exactly 0.
        """
        inside = ((lapse > 0) if self.ones < 1 else (lapse >= 0)) & (lapse < 1)
        known = np.where(inside, lapse, 0.5)
        with np.errstate(divide="ignore"):
            first = 0.0 if self.ones == 1 else (self.ones - 1) * np.log(known)
        density = first + (self.zeros - 1) * np.log1p(-known)
        return np.where(inside, density, -np.inf)

    def sample(self, rng: np.random.Generator, size: int) -> Floats:
        """Return float64[size]."""
        return rng.beta(self.ones, self.zeros, size)


def alpha_prior_of(said: AlphaPrior | Sequence[float] | None) -> AlphaPrior | None:
    """Return a prior over alpha from its numbers: centre, spread and, if given, its bounds."""
    if said is None or isinstance(said, AlphaPrior):
        return said
    numbers = _numbers(said, "alpha_prior", "centre and spread of log alpha, such as (30, 2)")
    if not 2 <= len(numbers) <= 4:
        raise ArgumentError(
            f"alpha_prior is {said!r}; give centre and spread of log alpha, such as (30, 2), and "
            "after them, if you like, the least and the largest alpha"
        )
    return AlphaPrior(*numbers)


def lapse_prior_of(said: LapsePrior | Sequence[float] | None) -> LapsePrior | None:
    """Return a prior over the lapse from the two numbers of its beta distribution."""
    if said is None or isinstance(said, LapsePrior):
        return said
    numbers = _numbers(said, "lapse_prior", "two numbers of a beta distribution, such as (1, 19)")
    if len(numbers) != 2:
        raise ArgumentError(
            f"lapse_prior is {said!r}; give two numbers of a beta distribution, such as (1, 19)"
        )
    return LapsePrior(*numbers)


def _numbers(said: object, name: str, what: str) -> list[float]:
    try:
        return [float(part) for part in said]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {said!r}; give {what}") from None
