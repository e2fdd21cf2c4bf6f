"""Experts: how likely each action is, given what it is worth.

P(a | s, y) = (1 - lapse) softmax(alpha Q(s, y, .))[a] + lapse / A(s)

over the A(s) actions that the state has. Q is -inf for those that it does not, which nobody takes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.errors import ArgumentError

TIE = 1e-9  # actions this close to the best one are as good
RESOLUTION = 1e-13  # closer than this fraction, floating point cannot tell


@dataclass(frozen=True)
class Expert:
    """A Boltzmann-rational expert.

    Attributes:
        alpha: rationality; infinite for one that always takes a best action, ties evenly.
        discount: how much the next step counts, from 0 up to but not including 1.
        lapse: how often an action is picked blindly; 0 in the paper. With infinite `alpha`,
            this is an epsilon-greedy expert.
    """

    alpha: float
    discount: float
    lapse: float = 0.0

    def __post_init__(self) -> None:
        if not _is_number(self.alpha) or not self.alpha >= 0:
            raise ArgumentError(f"alpha is {self.alpha}; give a number of at least 0, or inf")
        checked_discount(self.discount)
        if not _is_number(self.lapse) or not 0 <= self.lapse <= 1:
            raise ArgumentError(f"lapse is {self.lapse}; give a number from 0 to 1")

    def action_probabilities(self, q: Floats) -> Floats:
        """Return float[..., A], the probability of each action; `q` has the same shape."""
        has, many = available(q)
        return np.asarray((1 - self.lapse) * self._choice(q) + self.lapse * has / many)

    def log_action_probabilities(self, q: Floats) -> Floats:
        """Return float[..., A], the logarithms, without underflow; -inf for the impossible."""
        if math.isinf(self.alpha) or self.lapse == 1:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(self.action_probabilities(q)))
        scaled = self._logits(q)
        chosen = scaled - np.log(np.exp(scaled).sum(axis=-1, keepdims=True))
        if self.lapse == 0:
            return np.asarray(chosen)
        has, many = available(q)
        each = [-math.inf, *(math.log(self.lapse / k) for k in range(1, q.shape[-1] + 1))]
        blind = np.where(has, np.array(each)[many], -np.inf)
        return np.asarray(np.logaddexp(math.log1p(-self.lapse) + chosen, blind))

    def _choice(self, q: Floats) -> Floats:
        if math.isinf(self.alpha):
            return evenly(best_actions(q))
        weights = np.exp(self._logits(q))
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))

    def _logits(self, q: Floats) -> Floats:
        """Return float[..., A]: alpha times what each action falls short of the best by."""
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = self.alpha * (q - q.max(axis=-1, keepdims=True))
        return np.where(np.isneginf(q), -np.inf, scaled)


def available(q: Floats) -> tuple[Bools, Ints]:
    """Return bool[..., A], the actions that each state has, and int[..., 1], how many."""
    has = ~np.isneginf(q)
    return has, has.sum(axis=-1, keepdims=True)


def best_actions(q: Floats) -> Bools:
    """Return bool[..., A]: the actions whose Q is within 1e-9 of the best.

    Where values are so large that floating point cannot resolve 1e-9, its resolution counts.
    """
    best = q.max(axis=-1, keepdims=True)
    return np.asarray(q >= best - np.maximum(TIE, RESOLUTION * np.abs(best)))


def evenly(chosen: Bools) -> Floats:
    """Return float[..., A]: the chosen actions, equally likely."""
    return np.asarray(chosen / chosen.sum(axis=-1, keepdims=True))


def checked_discount(discount: float) -> float:
    """Return the discount if it is one."""
    if not _is_number(discount) or not 0 <= discount < 1:
        raise ArgumentError(
            f"discount is {discount}; give a number from 0 up to, not including, 1"
        )
    return float(discount)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool
    )
