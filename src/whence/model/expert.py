"""Experts: how likely each action is, given what it is worth.

P(a | s, y) = (1 - lapse) softmax(alpha Q(s, y, .))[a] + lapse / A(s)

over the A(s) actions that the state has. Q is -inf for those that it does not, which nobody takes.

Of two kinds of expert, a `boltzmann` one errs while it acts: Q is that of the best plan. A `soft`
one (maximum causal entropy) expects to err at every later step, too: its Q is in nats, that is,
alpha times what is paid, with U the log of the sum over a state's actions of exp Q,

Q(s, y, a) = E[alpha r + discount U(s', y')],   P(a | s, y) = (1 - lapse) softmax(Q)[a] + lapse / A
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.errors import ArgumentError

TIE = 1e-9  # actions this close to the best one are as good
RESOLUTION = 1e-10  # closer than this fraction, the rounding of large values cannot tell
BOLTZMANN, SOFT = "boltzmann", "soft"
KINDS = (BOLTZMANN, SOFT)
INFINITE = (
    "alpha is inf, and a soft expert plans with its own errors in mind; give a finite alpha, or "
    "kind 'boltzmann' for an expert who always takes a best action"
)


@dataclass(frozen=True)
class Expert:
    """An expert: how rational it is, how far it looks ahead, and how it plans.

    Attributes:
        alpha: rationality; infinite for one that always takes a best action, ties evenly.
        discount: how much the next step counts, from 0 up to but not including 1.
        lapse: how often an action is picked blindly; 0 in the paper. With infinite `alpha`,
            this is an epsilon-greedy expert.
        kind: `boltzmann`, the paper's, who knows the best plan and errs while following it; or
            `soft`, of maximum causal entropy, who plans with its own errors in mind.
    """

    alpha: float
    discount: float
    lapse: float = 0.0
    kind: str = BOLTZMANN

    def __post_init__(self) -> None:
        checked_kind(self.kind)
        if not _is_number(self.alpha) or not self.alpha >= 0:
            raise ArgumentError(f"alpha is {self.alpha}; give a number of at least 0, or inf")
        checked_discount(self.discount)
        if not _is_number(self.lapse) or not 0 <= self.lapse <= 1:
            raise ArgumentError(f"lapse is {self.lapse}; give a number from 0 to 1")
        if self.is_soft and math.isinf(self.alpha):
            raise ArgumentError(INFINITE)

    @property
    def is_soft(self) -> bool:
        """Whether the expert plans with its own errors in mind."""
        return self.kind == SOFT

    def action_probabilities(self, q: Floats) -> Floats:
        """Return float[..., A], the probability of each action; `q` has the same shape.

        `q` is the optimal Q for a Boltzmann expert, and the soft one, in nats, for a soft expert:
        `whence.likelihood.values.expert_q` returns either.
        """
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
        """Return float[..., A]: in nats, what each action falls short of the best by."""
        sharpness = 1.0 if self.is_soft else self.alpha
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = sharpness * (q - q.max(axis=-1, keepdims=True))
        return np.where(np.isneginf(q), -np.inf, scaled)


def available(q: Floats) -> tuple[Bools, Ints]:
    """Return bool[..., A], the actions that each state has, and int[..., 1], how many."""
    has = ~np.isneginf(q)
    return has, has.sum(axis=-1, keepdims=True)


def best_actions(q: Floats) -> Bools:
    """Return bool[..., A]: the actions whose Q is within 1e-9 of the best.

    Where values are so large that their rounding, which comes back 1 / (1 - discount) times, is
    more than that, a fraction of 1e-10 counts.
    """
    best = q.max(axis=-1, keepdims=True)
    return np.asarray(q >= best - np.maximum(TIE, RESOLUTION * np.abs(best)))


def evenly(chosen: Bools) -> Floats:
    """Return float[..., A]: the chosen actions, equally likely."""
    return np.asarray(chosen / chosen.sum(axis=-1, keepdims=True))


def checked_kind(kind: object) -> str:
    """Return the kind of expert if there is such a kind."""
    if kind not in KINDS:
        raise ArgumentError(f"kind of expert is {kind!r}; known are {', '.join(KINDS)}")
    return str(kind)


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
