"""How likely what each subject shows is under a machine, its own alpha and lapse integrated out.

Subjects are independent given the machine, so a machine is solved once for all of them. What one
of them shows, as a function of log alpha and logit lapse, is integrated by the trapezoid rule on
boxes within each other, found by zooming in: what is outside of the widest is e^-25 of the
largest, and nodes are close where most of it lies. Sums over alpha are kept apart, so that any
prior over alpha can be put in later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.episodes import cells
from whence.likelihood.values import compiled_q
from whence.model.demos import Demonstrations
from whence.model.expert import Expert, available
from whence.model.expert_prior import AlphaPrior, LapsePrior
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP

ROUGH = (20, 14)  # nodes of log alpha and logit lapse, while zooming in
CUTS = (25.0, 12.0, 5.0)  # nats below the largest that are left out of each box ...
FINE = ((10, 8), (16, 12), (28, 20))  # ... and its nodes
ROUNDS = 7
SHRUNK = 0.7  # of its area, below which a box is looked at again
LOGITS = (-16.0, 6.0)  # of the lapse

Pairs = Sequence[tuple[LabeledMDP, Demonstrations]]
Alpha = float | AlphaPrior
Lapse = float | LapsePrior


class Shown(NamedTuple):
    """What a subject shows at the places where it was; P of them, with their actions.

    Attributes:
        values: float64[P, A], what actions are worth; -inf where there is no such action.
        action: int64[P], the action taken.
        times: float64[P], how often.
    """

    values: Floats
    action: Ints
    times: Floats

    def log_likelihood(self, alphas: Floats, lapses: Floats) -> Floats:
        """Return float64[I, L], by alpha and lapse."""
        rows = np.arange(len(self.action))
        has, many = available(self.values)
        best = np.where(has, self.values, -np.inf).max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            away = np.where(has, self.values - best, -np.inf)
        nats = alphas[:, None, None] * away
        chosen = np.exp(Expert(1.0, 0.0).log_action_probabilities(nats)[:, rows, self.action])
        blind = 1 / many[:, 0]
        share = lapses[None, :, None]
        with np.errstate(divide="ignore"):
            logs = np.log((1 - share) * chosen[:, None, :] + share * blind)
        return np.asarray(logs @ self.times)


class Profile(NamedTuple):
    """What a subject says of its alpha and lapse under a machine, at nodes.

    Attributes:
        log_alpha: float64[I], the nodes.
        by_alpha: float64[I], the log of the likelihood integrated over the lapse and its prior,
            times the width of each node.
        lapse: float64[L].
        by_lapse: float64[L], the log of the likelihood integrated over alpha and its prior.
    """

    log_alpha: Floats
    by_alpha: Floats
    lapse: Floats
    by_lapse: Floats


def shown(
    worlds: Pairs,
    machine: RewardMachine,
    discount: float,
    subject: Sequence[Ints],
    subjects: int,
) -> list[Shown]:
    """Return what each subject shows under a machine.

    Args:
        worlds: each with its demonstrations.
        machine: reads every symbol that a world shows.
        discount: at which it is planned.
        subject: for each world, int64[E], who acted.
        subjects: how many there are.
    """
    width = max(mdp.n_actions for mdp, _ in worlds)
    parts: list[list[tuple[Floats, Ints, Floats]]] = [[] for _ in range(subjects)]
    for (mdp, demos), who in zip(worlds, subject, strict=True):
        found = cells(mdp, demos, machine, who)
        q = compiled_q(mdp, found.machine, discount)
        rows = np.full((len(found.place), width), -np.inf)
        values = np.where(mdp.available, q, -np.inf)[found.memory, found.state]
        rows[:, : mdp.n_actions] = values[found.place]
        for s in np.unique(found.group).tolist():
            own = found.group == s
            at = found.cell[own]
            parts[s].append((rows[at], found.action[at], found.count[own]))
    nothing = (np.zeros((0, width)), np.zeros(0, dtype=np.int64), np.zeros(0))
    return [Shown(*map(np.concatenate, zip(*(each or [nothing]), strict=True))) for each in parts]


def profile(seen: Shown, alpha: Alpha, lapse: Lapse) -> Profile:
    """Return what a subject says of its expert, under priors that may be known numbers."""
    edges = (
        alpha.bounds if isinstance(alpha, AlphaPrior) else (math.log(alpha),) * 2,
        LOGITS if isinstance(lapse, LapsePrior) else (lapse, lapse),
    )

    def density(nodes: tuple[Floats, Floats]) -> tuple[Floats, Floats, Floats]:
        first, second = nodes
        shares = 1 / (1 + np.exp(-second)) if isinstance(lapse, LapsePrior) else second
        found = seen.log_likelihood(np.exp(first), shares)
        return found, log_prior_of(alpha, first), _log_lapse(lapse, shares)

    box, parts = edges, []
    for cut, sizes in zip(CUTS, FINE, strict=True):
        box = _zoomed(lambda nodes: _joint(*density(nodes)), box, cut)
        parts.append(_nodes(box, sizes))
    nodes = _merged([part[0] for part in parts]), _merged([part[1] for part in parts])
    found, of_alpha, of_lapse = density(nodes)
    widths = _log_widths(nodes[0]), _log_widths(nodes[1])
    inner = np.logaddexp.reduce(found + of_lapse + widths[1], axis=1)
    outer = np.logaddexp.reduce(found + (of_alpha + widths[0])[:, None], axis=0)
    shares = 1 / (1 + np.exp(-nodes[1])) if isinstance(lapse, LapsePrior) else nodes[1]
    return Profile(nodes[0], inner + widths[0], shares, outer + of_lapse + widths[1])


def log_prior_of(alpha: Alpha, log_alpha: Floats) -> Floats:
    """Return the log density by log alpha, in any shape; 0 where alpha is known."""
    if not isinstance(alpha, AlphaPrior):
        return np.zeros_like(log_alpha)
    return np.asarray(alpha.log_density(log_alpha) - alpha.log_normaliser)


def _log_lapse(lapse: Lapse, shares: Floats) -> Floats:
    """Return the log density by logit lapse."""
    if not isinstance(lapse, LapsePrior):
        return np.zeros(len(shares))
    by_logit = np.log(shares) + np.log1p(-shares)
    return np.asarray(lapse.log_density(shares) - lapse.log_normaliser + by_logit)


def _joint(found: Floats, of_alpha: Floats, of_lapse: Floats) -> Floats:
    return np.asarray(found + of_alpha[:, None] + of_lapse)


Box = tuple[tuple[float, float], tuple[float, float]]


def _zoomed(density: Callable[[tuple[Floats, Floats]], Floats], box: Box, cut: float) -> Box:
    """Return a box that holds all of a density but what is far below its largest value."""
    for _ in range(ROUNDS):
        nodes = _nodes(box, ROUGH)
        values = density(nodes)
        inside = values >= values.max() - cut
        smaller = (
            _span(nodes[0], inside.any(axis=1)),
            _span(nodes[1], inside.any(axis=0)),
        )
        shrunk = math.prod(
            (new[1] - new[0]) / (old[1] - old[0]) if old[1] > old[0] else 1.0
            for new, old in zip(smaller, box, strict=True)
        )
        box = smaller
        if shrunk > SHRUNK:
            break
    return box


def _span(nodes: Floats, inside: Floats) -> tuple[float, float]:
    """Return the range of the nodes inside, and one more to either side."""
    places = np.flatnonzero(inside)
    last = len(nodes) - 1
    return float(nodes[max(places[0] - 1, 0)]), float(nodes[min(places[-1] + 1, last)])


def _nodes(box: Box, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    first, second = (
        np.linspace(low, high, size) if high > low else np.array([low])
        for (low, high), size in zip(box, sizes, strict=True)
    )
    return first, second


def _merged(parts: list[Floats]) -> Floats:
    """Return the nodes of all boxes in order; one where there is one."""
    if all(len(part) == 1 for part in parts):
        return parts[0]
    return np.sort(np.concatenate(parts))


def _log_widths(nodes: Floats) -> Floats:
    """Return the log of the width that each node stands for; a lone one stands for itself."""
    if len(nodes) < 2:
        return np.zeros(len(nodes))
    gaps = np.diff(nodes) / 2
    width = np.append(gaps, 0.0) + np.append(0.0, gaps)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(width))
