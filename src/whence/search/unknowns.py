"""What is sampled besides the machine: the expert's rationality, lapse and discount.

alpha is log-uniform on [0.1, 1000], lapse Beta(1, 19), the discount uniform over a small grid.
What is known stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.errors import ArgumentError
from whence.model.expert import Expert

INFER = "infer"
USUAL_DISCOUNT = 0.95
ALPHAS = (0.1, 1000.0)
LAPSE_SHAPE = 19.0  # of Beta(1, 19)
DISCOUNTS = (0.8, 0.9, 0.92, 0.95, 0.98, 0.99)
ALPHA_STEPS = (0.01, 0.05, 0.3, 1.0)  # of log alpha
LAPSE_STEPS = (0.0003, 0.003, 0.03)


class Experts(NamedTuple):
    """Who demonstrates, one for each chain.

    Attributes:
        alpha: float64[B].
        lapse: float64[B].
        discount: int64[B], a place in the grid.
    """

    alpha: Floats
    lapse: Floats
    discount: Ints

    def rows(self, chosen: Ints | Bools) -> Experts:
        """Return some of them."""
        return Experts(*(table[chosen] for table in self))


@dataclass(frozen=True)
class Unknowns:
    """What is known of the expert: a number, or None where it is to be inferred.

    Attributes:
        alpha: rationality.
        lapse: share of blind actions.
        discounts: the grid; one value where it is known.
    """

    alpha: float | None
    lapse: float | None
    discounts: tuple[float, ...]

    @property
    def any(self) -> bool:
        """Whether anything is to be inferred."""
        return self.alpha is None or self.lapse is None or len(self.discounts) > 1

    @property
    def inferred(self) -> tuple[str, ...]:
        """The names of what is to be inferred."""
        unknown = (self.alpha is None, self.lapse is None, len(self.discounts) > 1)
        return tuple(
            name for name, so in zip(("alpha", "lapse", "discount"), unknown, strict=True) if so
        )

    def sample(self, rng: np.random.Generator, size: int) -> Experts:
        """Return experts from the prior."""
        low, high = (math.log(bound) for bound in ALPHAS)
        alpha = np.exp(rng.uniform(low, high, size))
        lapse = rng.beta(1.0, LAPSE_SHAPE, size)
        discount = rng.integers(0, len(self.discounts), size)
        return Experts(
            alpha if self.alpha is None else np.full(size, self.alpha),
            lapse if self.lapse is None else np.full(size, self.lapse),
            np.asarray(discount, dtype=np.int64),
        )

    def log_prior(self, experts: Experts) -> Floats:
        """Return float64[B], in terms of log alpha."""
        result = np.zeros(len(experts.alpha))
        if self.alpha is None:
            inside = (experts.alpha >= ALPHAS[0]) & (experts.alpha <= ALPHAS[1])
            result = np.where(inside, result, -np.inf)
        if self.lapse is None:
            inside = (experts.lapse >= 0) & (experts.lapse < 1)
            shape = (LAPSE_SHAPE - 1) * np.log1p(-np.where(inside, experts.lapse, 0.0))
            result = result + np.where(inside, shape, -np.inf)
        return result

    def propose(self, rng: np.random.Generator, experts: Experts) -> Experts:
        """Return experts changed by symmetric steps of several sizes.

        One of what is unknown is changed at a time, or all at once.
        """
        size = len(experts.alpha)
        part = rng.integers(0, 4, size)
        alpha = experts.alpha * np.exp(rng.choice(ALPHA_STEPS, size) * rng.normal(size=size))
        lapse = np.abs(experts.lapse + rng.choice(LAPSE_STEPS, size) * rng.normal(size=size))
        turn = rng.integers(1, max(len(self.discounts), 2), size)
        discount = (experts.discount + turn) % len(self.discounts)
        return Experts(
            np.where((part % 3 == 0) & (self.alpha is None), alpha, experts.alpha),
            np.where((part % 3 == 1) | (part == 3), lapse, experts.lapse)
            if self.lapse is None
            else experts.lapse,
            np.where(part == 2, discount, experts.discount),
        )


def unknowns(
    expert: object,
    alpha: float | str | None,
    lapse: float | str | None,
    discount: float | str | Sequence[float] | None,
) -> Unknowns:
    """Return what is known of the expert, from what was said of it."""
    if expert is not None and not isinstance(expert, Expert):
        raise ArgumentError(
            f"expert is {expert!r}; give an Expert, such as Expert(alpha=50, discount=0.92), or "
            "none, to infer alpha and lapse"
        )
    usual = (expert.alpha, expert.lapse, expert.discount) if expert else (None, None, None)
    values = [
        old if new is None else new
        for old, new in zip(usual, (alpha, lapse, discount), strict=True)
    ]
    grid = _grid(values[2])
    known = [
        None if value in (None, INFER) else _number(value, name)
        for value, name in zip(values[:2], ("alpha", "lapse"), strict=True)
    ]
    for chosen in grid:  # the checks of an expert are the checks of its parts
        Expert(1.0 if known[0] is None else known[0], chosen, known[1] or 0.0)
    return Unknowns(known[0], known[1], grid)


def _grid(discount: object) -> tuple[float, ...]:
    if discount is None:
        return (USUAL_DISCOUNT,)
    if discount == INFER:
        return DISCOUNTS
    if isinstance(discount, Sequence) and not isinstance(discount, str):
        grid = tuple(sorted({_number(value, "discount") for value in discount}))
        if grid:
            return grid
    return (_number(discount, "discount"),)


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise ArgumentError(f"{name} is {value!r}; give a number, or {INFER!r}")
    return float(value)
