"""How likely what each subject shows is under a machine, its own alpha and lapse integrated out.

Subjects are independent given the machine, so a machine is solved once for all of them. What one
of them shows, as a function of log alpha and logit lapse, is integrated by the trapezoid rule on
boxes within each other, found by zooming in: what is outside of the widest is e^-25 of the
largest, and nodes are close where most of it lies. Sums over alpha are kept apart, so that any
prior over alpha can be put in later.

To a soft expert every alpha is a plan of its own. Boxes are then found by plans between those of a
few alphas, and what is summed is solved for each node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.boxes import log_widths, merged, nodes_in, zoomed
from whence.likelihood.episodes import Cells, cells
from whence.likelihood.soft import compiled_soft_qs
from whence.likelihood.values import compiled_q
from whence.model.demos import Demonstrations
from whence.model.expert import Expert, available
from whence.model.expert_prior import AlphaPrior, LapsePrior
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP

CUTS = (25.0, 12.0, 5.0)  # nats below the largest that are left out of each box ...
FINE = ((10, 8), (16, 12), (28, 20))  # ... and its nodes
LOGITS = (-16.0, 6.0)  # of the lapse
MOST_TERMS = 10_000  # of a series
BETWEEN = 0.4  # in log alpha, between two plans of soft experts that boxes are found by

Pairs = Sequence[tuple[LabeledMDP, Demonstrations]]
Alpha = float | AlphaPrior
Lapse = float | LapsePrior


class Acts(NamedTuple):
    """The actions of a subject at the places where it was; P of them.

    Attributes:
        action: int64[P], the action taken.
        times: float64[P], how often.
    """

    action: Ints
    times: Floats

    def log_likelihood(self, nats: Floats, lapses: Floats) -> Floats:
        """Return float64[I, L], by plan and lapse.

        Args:
            nats: float64[I, P, A], what actions are worth to each of I experts; -inf where
                there is no such action.
            lapses: float64[L].
        """
        rows = np.arange(len(self.action))
        _, many = available(nats[0])
        away = Expert(1.0, 0.0).log_action_probabilities(nats)
        chosen = away[:, None, rows, self.action]
        blind, share = 1 / many[:, 0], lapses[None, :, None]
        with np.errstate(divide="ignore"):
            logs = np.log((1 - share) * np.exp(chosen) + share * blind)
        if not lapses.all():  # what hardly anybody does has a logarithm without lapses, too
            logs = np.where(share == 0, chosen, logs)
        return np.asarray(logs @ self.times)


class Shown(NamedTuple):
    """What a subject shows who is Boltzmann-rational.

    Attributes:
        values: float64[P, A], what actions are worth; -inf where there is no such action.
        acts: what it does there.
    """

    values: Floats
    acts: Acts

    def log_likelihood(self, alphas: Floats, lapses: Floats) -> Floats:
        """Return float64[I, L], by alpha and lapse."""
        best = self.values.max(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            away = np.where(np.isneginf(self.values), -np.inf, self.values - best)
            nats = np.where(np.isneginf(away), -np.inf, alphas[:, None, None] * away)
        return self.acts.log_likelihood(nats, lapses)

    def roughly(self, alphas: Floats, lapses: Floats) -> Floats:
        """Return the same, which takes no solve."""
        return self.log_likelihood(alphas, lapses)


class SoftShown(NamedTuple):
    """What a subject shows who plans softly.

    Attributes:
        plans: of soft experts, by alpha; shared by all subjects.
        cell: int64[P], where among the places of all subjects its own are.
        acts: what it does there.
    """

    plans: Plans
    cell: Ints
    acts: Acts

    def log_likelihood(self, alphas: Floats, lapses: Floats) -> Floats:
        """Return float64[I, L], by alpha and lapse; every alpha is a solve."""
        return self.acts.log_likelihood(self.plans.solved(alphas)[:, self.cell], lapses)

    def roughly(self, alphas: Floats, lapses: Floats) -> Floats:
        """Return float64[I, L], by plans between those of a few alphas."""
        return self.acts.log_likelihood(self.plans.between(alphas)[:, self.cell], lapses)


class Pooled(NamedTuple):
    """What several subjects show who share an expert."""

    seen: Sequence[Shown | SoftShown]

    def log_likelihood(self, alphas: Floats, lapses: Floats) -> Floats:
        """Return float64[I, L], by alpha and lapse."""
        return np.asarray(sum(each.log_likelihood(alphas, lapses) for each in self.seen))

    def roughly(self, alphas: Floats, lapses: Floats) -> Floats:
        """Return float64[I, L], with few solves."""
        return np.asarray(sum(each.roughly(alphas, lapses) for each in self.seen))


class Plans:
    """What actions are worth to soft experts, in nats, at the places where anybody was.

    Args:
        worlds: each world with the machine in its alphabet, and where somebody was: the machine's
            state and the world's, int64[C] each.
        discount: at which they plan.
        bounds: of log alpha.
    """

    def __init__(
        self,
        worlds: Sequence[tuple[LabeledMDP, RewardMachine, Ints, Ints]],
        discount: float,
        bounds: tuple[float, float],
    ) -> None:
        self._worlds, self._discount = worlds, discount
        low, high = bounds
        count = max(2, math.ceil((high - low) / BETWEEN)) if high > low else 1
        self._nodes = np.exp(np.linspace(low, high, count))
        self._last: tuple[bytes, Floats] = (b"", np.zeros((0, 0, 0)))

    def solved(self, alphas: Floats) -> Floats:
        """Return float64[I, C, A]; -inf where there is no such action."""
        if self._last[0] != alphas.tobytes():
            width = max(mdp.n_actions for mdp, *_ in self._worlds)
            parts = []
            for mdp, machine, memory, state in self._worlds:
                q = compiled_soft_qs(mdp, machine, alphas, self._discount)[:, memory, state]
                more = ((0, 0), (0, 0), (0, width - mdp.n_actions))
                parts.append(np.pad(q, more, constant_values=-np.inf))
            self._last = alphas.tobytes(), np.concatenate(parts, axis=1)
        return self._last[1]

    @cached_property
    def _coarse(self) -> Floats:
        return self.solved(self._nodes)

    def between(self, alphas: Floats) -> Floats:
        """Return float64[I, C, A], each on the line between the two plans next to it."""
        if len(self._nodes) < 2:
            return self._coarse[np.zeros(len(alphas), dtype=np.int64)]
        left = np.clip(np.searchsorted(self._nodes, alphas) - 1, 0, len(self._nodes) - 2)
        start, end = self._nodes[left], self._nodes[left + 1]
        share = np.clip((alphas - start) / (end - start), 0, 1)[:, None, None]
        with np.errstate(invalid="ignore"):
            mixed = (1 - share) * self._coarse[left] + share * self._coarse[left + 1]
        return np.asarray(np.where(np.isneginf(self._coarse[left]), -np.inf, mixed))


class Profile(NamedTuple):
    """What a subject says of its alpha and lapse under a machine, at nodes.

    Attributes:
        log_alpha: float64[I], the nodes.
        lapse: float64[L].
        table: float64[I, L], the log likelihood, times the widths in log alpha and in logit lapse
            that each node stands for, without priors.
    """

    log_alpha: Floats
    lapse: Floats
    table: Floats

    def of_lapses(self, lapses: Sequence[Lapse]) -> Floats:
        """Return float64[Y, L], log densities at the nodes; those at the ends hold all beyond.

        There likelihoods are as flat, or as small, as at the end.
        """
        found = log_lapses(lapses, self.lapse)
        if len(self.lapse) > 1 and isinstance(lapses[0], LapsePrior):
            gaps = np.diff(np.log(self.lapse) - np.log1p(-self.lapse))
            wide = np.flatnonzero(gaps)[[0, -1]]  # boxes that end alike give a node twice
            ends = wide + np.arange(2)
            beyond = _beyond(tuple(lapses), *self.lapse[ends].tolist()) - np.log(gaps[wide] / 2)
            found[:, ends] = np.logaddexp(found[:, ends], beyond)
        return found

    def by_alpha(self, lapse: Lapse) -> Floats:
        """Return float64[I], the log of the sum over lapses with their prior."""
        return np.asarray(np.logaddexp.reduce(self.table + self.of_lapses([lapse]), axis=1))

    def by_lapse(self, alpha: Alpha) -> Floats:
        """Return float64[L], the log of the sum over alphas with their prior."""
        prior = log_alphas([alpha], self.log_alpha)
        return np.asarray(np.logaddexp.reduce(self.table + prior.T, axis=0))

    def log_integrals(self, alphas: Sequence[Alpha], lapses: Sequence[Lapse]) -> Floats:
        """Return float64[X, Y]: the log of the integral, for each pair of priors."""
        peak = self.table.max()
        of_alpha, of_lapse = log_alphas(alphas, self.log_alpha), self.of_lapses(lapses)
        sums = np.exp(of_alpha) @ np.exp(self.table - peak) @ np.exp(of_lapse).T
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(sums) + peak)


def shown(
    worlds: Pairs,
    machine: RewardMachine,
    discount: float,
    subject: Sequence[Ints],
    subjects: int,
    soft: tuple[float, float] | None = None,
) -> Sequence[Shown | SoftShown]:
    """Return what each subject shows under a machine.

    Args:
        worlds: each with its demonstrations.
        machine: reads every symbol that a world shows.
        discount: at which it is planned.
        subject: for each world, int64[E], who acted.
        subjects: how many there are.
        soft: bounds of log alpha, where experts plan softly.
    """
    found = [
        cells(mdp, demos, machine, who) for (mdp, demos), who in zip(worlds, subject, strict=True)
    ]
    begin = np.cumsum([0, *(len(each.place) for each in found)])
    cell, acts = [], []
    for s in range(subjects):
        own = [each.group == s for each in found]
        cell.append(np.concatenate([
            each.cell[some] + at for each, some, at in zip(found, own, begin, strict=False)
        ]))  # fmt: skip
        action = np.concatenate([each.action for each in found])[cell[-1]]
        times = [each.count[some] for each, some in zip(found, own, strict=True)]
        acts.append(Acts(action, np.concatenate(times)))
    if soft is not None:
        places = [
            (each.mdp, each.machine, each.memory[each.place], each.state[each.place])
            for each in found
        ]
        plans = Plans(places, discount, soft)
        return [SoftShown(plans, *both) for both in zip(cell, acts, strict=True)]
    values = _values(found, discount)
    return [Shown(values[at], each) for at, each in zip(cell, acts, strict=True)]


def _values(found: Sequence[Cells], discount: float) -> Floats:
    """Return float64[C, A], what actions are worth at the places of all worlds."""
    width = max(each.mdp.n_actions for each in found)
    parts = []
    for each in found:
        q = np.where(each.mdp.available, compiled_q(each.mdp, each.machine, discount), -np.inf)
        own = q[each.memory, each.state][each.place]
        parts.append(
            np.pad(own, ((0, 0), (0, width - each.mdp.n_actions)), constant_values=-np.inf)
        )
    return np.concatenate(parts)


def profile(seen: Shown | SoftShown, alpha: Alpha, lapse: Lapse) -> Profile:
    """Return what a subject says of its expert, where priors like these leave room for it."""
    nodes = nodes_of(seen, alpha, lapse, FINE)
    shares = shares_of(lapse, nodes[1])
    found = seen.log_likelihood(np.exp(nodes[0]), shares)
    return Profile(nodes[0], shares, found + log_widths(nodes[0])[:, None] + log_widths(nodes[1]))


def nodes_of(
    seen: Shown | SoftShown | Pooled, alpha: Alpha, lapse: Lapse, fine: Sequence[tuple[int, int]]
) -> tuple[Floats, Floats]:
    """Return nodes of log alpha, and of logit lapse where it is unknown, close where it matters.

    Args:
        seen: what is shown.
        alpha: a prior or a number.
        lapse: likewise.
        fine: how many of each there are in boxes within each other, the widest first.
    """
    edges = (
        bounds_of(alpha),
        LOGITS if isinstance(lapse, LapsePrior) else (lapse, lapse),
    )

    def roughly(nodes: tuple[Floats, Floats]) -> Floats:
        shares = shares_of(lapse, nodes[1])
        found = seen.roughly(np.exp(nodes[0]), shares)
        return np.asarray(found + log_alphas([alpha], nodes[0]).T + log_lapses([lapse], shares))

    box, parts = edges, []
    for cut, sizes in zip(CUTS, fine, strict=True):
        box = zoomed(roughly, box, cut)
        parts.append(nodes_in(box, sizes))
    return merged([part[0] for part in parts]), merged([part[1] for part in parts])


def shares_of(lapse: Lapse, nodes: Floats) -> Floats:
    """Return lapses, of logits where the lapse is unknown."""
    return 1 / (1 + np.exp(-nodes)) if isinstance(lapse, LapsePrior) else nodes


def bounds_of(alpha: Alpha) -> tuple[float, float]:
    """Return the bounds of log alpha."""
    return alpha.bounds if isinstance(alpha, AlphaPrior) else (math.log(alpha),) * 2


def log_alphas(alphas: Sequence[Alpha], nodes: Floats) -> Floats:
    """Return float64[X, I], log densities by log alpha; 0 where alpha is known."""
    if not isinstance(alphas[0], AlphaPrior):
        return np.zeros((len(alphas), len(nodes)))
    centre, spread, base, low, high = _numbers(tuple(alphas))
    away = np.abs(nodes - centre) / spread
    inside = (nodes >= low) & (nodes <= high)
    return np.where(inside, -away - 2 * np.log1p(np.exp(-away)) - base, -np.inf)


@lru_cache(maxsize=8)
def _numbers(alphas: tuple[AlphaPrior, ...]) -> Floats:
    """Return float64[5, X, 1]: log centre, spread, log normaliser and bounds of priors."""
    rows = [(math.log(a.centre), a.spread, a.log_normaliser, *a.bounds) for a in alphas]
    return np.array(rows).T[:, :, None]


def log_lapses(lapses: Sequence[Lapse], shares: Floats) -> Floats:
    """Return float64[Y, L], log densities by logit lapse; 0 where the lapse is known."""
    ones, zeros, base = np.array(
        [
            (each.ones, each.zeros, each.log_normaliser)
            if isinstance(each, LapsePrior)
            else (0.0, 0.0, 0.0)
            for each in lapses
        ]
    ).T[:, :, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = ones * np.log(shares) + zeros * np.log1p(-shares) - base
    return np.where(ones > 0, found, 0.0)


@lru_cache(maxsize=256)
def _beyond(lapses: tuple[LapsePrior, ...], low: float, high: float) -> Floats:
    """Return float64[Y, 2], logs: how likely lapses below one, and above another, are."""
    ones, zeros, base = np.array([(p.ones, p.zeros, p.log_normaliser) for p in lapses]).T
    below = _log_below(ones, zeros, base, low, 1 - low)
    return np.stack([below, _log_below(zeros, ones, base, 1 - high, high)], axis=1)


def _log_below(ones: Floats, zeros: Floats, base: Floats, share: float, rest: float) -> Floats:
    """Return float64[Y], the log mass of beta distributions below a share; `rest` is 1 - share.

    By the series of the incomplete beta function, from the end that has less of the mass.
    """
    less = share * (ones + zeros + 2) < ones + 1
    a, b = np.where(less, ones, zeros), np.where(less, zeros, ones)
    x, y = np.where(less, share, rest), np.where(less, rest, share)
    total, term = np.ones(len(a)), np.ones(len(a))
    for k in range(MOST_TERMS):
        term = term * x * (a + b + k) / (a + 1 + k)
        total = total + term
        if (term <= 1e-16 * total).all():
            break
    found = a * np.log(x) + b * np.log(y) - np.log(a) - base + np.log(total)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(less, found, np.log1p(-np.exp(np.minimum(found, 0.0)))))
