"""What is sampled besides the machine: the expert's rationality, lapse, discount and kind.

alpha and lapse have priors that the user may set; the discount is uniform over a small grid, and
so is the kind. What is known stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.errors import ArgumentError
from whence.model.expert import BOLTZMANN, KINDS, SOFT, Expert
from whence.model.expert_prior import AlphaPrior, LapsePrior

INFER = "infer"
DISCOUNTS = (0.8, 0.9, 0.92, 0.95, 0.98, 0.99)
ALPHA_STEPS = (0.01, 0.05, 0.3, 1.0)  # of log alpha
LAPSE_STEPS = (0.0003, 0.003, 0.03)


class Experts(NamedTuple):
    """Who demonstrates, one for each chain.

    Attributes:
        alpha: float64[B].
        lapse: float64[B].
        discount: int64[B], a place in the grid of kinds and discounts: `Unknowns.places`.
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
        alpha_prior: over rationality, where it is not known.
        lapse_prior: over the share of blind actions, where it is not known.
        largest: the largest reward level, in whose units the prior counts alpha.
        kinds: of expert; one where it is known.
    """

    alpha: float | None
    lapse: float | None
    discounts: tuple[float, ...]
    alpha_prior: AlphaPrior = field(default_factory=AlphaPrior)
    lapse_prior: LapsePrior = field(default_factory=LapsePrior)
    largest: float = 1.0
    kinds: tuple[str, ...] = (BOLTZMANN,)

    @property
    def places(self) -> tuple[tuple[str, float], ...]:
        """The grid: each kind at each discount, all as likely."""
        return tuple(product(self.kinds, self.discounts))

    def expert(self, place: int, alpha: float, lapse: float) -> Expert:
        """Return the expert at a place of the grid."""
        kind, discount = self.places[place]
        return Expert(alpha, discount, lapse, kind)

    def spelled(self, places: Ints) -> tuple[Floats, Bools | None]:
        """Return the discounts at places, float64[B], and which plan softly, if any kind does."""
        kinds, discounts = zip(*self.places, strict=True)
        soft = np.array([kind == SOFT for kind in kinds])
        return np.array(discounts)[places], soft[places] if soft.any() else None

    def nearest(self, discounts: Floats, soft: Bools) -> Ints:
        """Return int64[B], the places of experts with discounts, float64[B], and of kinds."""
        kinds, grid = zip(*self.places, strict=True)
        other = soft[:, None] != np.array([kind == SOFT for kind in kinds])
        away = np.abs(discounts[:, None] - np.array(grid)) + other
        return np.asarray(away.argmin(axis=1), dtype=np.int64)

    @property
    def any(self) -> bool:
        """Whether anything is to be inferred."""
        return self.alpha is None or self.lapse is None or len(self.places) > 1

    @property
    def any_number(self) -> bool:
        """Whether alpha or lapse is to be inferred."""
        return self.alpha is None or self.lapse is None

    @property
    def inferred(self) -> tuple[str, ...]:
        """The names of what is to be inferred."""
        unknown = {
            "alpha": self.alpha is None,
            "lapse": self.lapse is None,
            "discount": len(self.discounts) > 1,
            "kind": len(self.kinds) > 1,
        }
        return tuple(name for name, so in unknown.items() if so)

    @property
    def alphas(self) -> tuple[float, float]:
        """The least and the largest alpha that there may be, where it is not known."""
        return self.alpha_prior.low / self.largest, self.alpha_prior.high / self.largest

    def sample(self, rng: np.random.Generator, size: int) -> Experts:
        """Return experts from the prior."""
        alpha = np.exp(self.alpha_prior.sample(rng, size)) / self.largest
        lapse = self.lapse_prior.sample(rng, size)
        discount = rng.integers(0, len(self.places), size)
        return Experts(
            alpha if self.alpha is None else np.full(size, self.alpha),
            lapse if self.lapse is None else np.full(size, self.lapse),
            np.asarray(discount, dtype=np.int64),
        )

    def log_prior(self, experts: Experts) -> Floats:
        """Return float64[B], by log alpha and lapse; unnormalised."""
        result = np.zeros(len(experts.alpha))
        if self.alpha is None:
            result = result + self.alpha_prior.log_density(np.log(experts.alpha * self.largest))
        if self.lapse is None:
            result = result + self.lapse_prior.log_density(experts.lapse)
        return result

    def propose(self, rng: np.random.Generator, experts: Experts) -> Experts:
        """Return experts changed by symmetric steps of several sizes.

        One of alpha and lapse is changed, or both.
        """
        size = len(experts.alpha)
        part = rng.integers(0, 3, size)
        alpha = experts.alpha * np.exp(rng.choice(ALPHA_STEPS, size) * rng.normal(size=size))
        lapse = np.abs(experts.lapse + rng.choice(LAPSE_STEPS, size) * rng.normal(size=size))
        return Experts(
            np.where((part != 1) & (self.alpha is None), alpha, experts.alpha),
            np.where((part != 0) & (self.lapse is None), lapse, experts.lapse),
            experts.discount,
        )

    def turned(self, rng: np.random.Generator, discount: Ints) -> Ints:
        """Return int64[B]: another place of the grid for each, all as likely."""
        count = len(self.places)
        if count < 2:
            return discount
        return (discount + rng.integers(1, count, len(discount))) % count


def unknowns(
    expert: object,
    alpha: float | str | None,
    lapse: float | str | None,
    discount: float | str | Sequence[float] | None,
    alpha_prior: AlphaPrior | None = None,
    lapse_prior: LapsePrior | None = None,
    kind: str | None = None,
) -> Unknowns:
    """Return what is known of the expert, from what was said of it."""
    if expert is not None and not isinstance(expert, Expert):
        raise ArgumentError(
            f"expert is {expert!r}; give an Expert, such as Expert(alpha=50, discount=0.92), or "
            "none, to infer it"
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
    kinds = _kinds(expert.kind if expert and kind is None else kind)
    for place in product(grid, kinds):  # the checks of an expert are the checks of its parts
        Expert(1.0 if known[0] is None else known[0], place[0], known[1] or 0.0, place[1])
    return Unknowns(
        known[0], known[1], grid, alpha_prior or AlphaPrior(), lapse_prior or LapsePrior(),
        kinds=kinds,
    )  # fmt: skip


def _kinds(kind: str | None) -> tuple[str, ...]:
    if kind is None:
        return (BOLTZMANN,)
    if kind == INFER:
        return KINDS
    if kind not in KINDS:
        raise ArgumentError(
            f"expert_kind is {kind!r}; known are {', '.join(KINDS)}, and {INFER}, which compares "
            "them"
        )
    return (kind,)


def _grid(discount: object) -> tuple[float, ...]:
    if discount is None or discount == INFER:
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
