"""Several subjects: one task with an expert each, or groups of subjects with tasks of their own.

Where experts differ by subject, log alpha of each is logistic around a centre with a spread that
they share: the centre has the prior of alpha, and the spread is one of a few, all as likely. The
lapse of each has a beta distribution whose mean they share, with the prior of lapses, and whose
strength is one of a few. Where they share an expert, its alpha and lapse are summed over a grid.
Discounts are shared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.analysis.mixture import LEAST_CONTEXT, MOST_TUPLES, Parted, parted
from whence.likelihood.subjects import (
    LOGITS,
    Alpha,
    Lapse,
    Pairs,
    Profile,
    bounds_of,
    log_alphas,
    log_lapses,
    profile,
    shown,
)
from whence.model.expert import BOLTZMANN, SOFT
from whence.model.expert_prior import AlphaPrior, LapsePrior
from whence.model.machine import RewardMachine
from whence.search.diagnostics import Summary

SHARED, BY_SUBJECT = "shared", "by-subject"
EXPERTS = (SHARED, BY_SUBJECT)
SPREADS = (0.25, 0.5, 1.0, 2.0)  # of log alpha, between subjects
CENTRES = 31
STRENGTHS = (4.0, 30.0, 200.0)  # of the lapses' distribution: as if so many actions were seen
MEANS = 12  # of lapses, by their logits
FAR = 9.0  # nats of density below the largest at which centres end
TOLD = 9.0  # nats below the likeliest up to which machines count, where experts are told


class Context(NamedTuple):
    """What all subjects share.

    Attributes:
        discount: its place among the discounts.
        alpha: a prior over each subject's alpha, or the number that they share.
        lapse: likewise.
        log_prior: of the context.
    """

    discount: int
    alpha: Alpha
    lapse: Lapse
    log_prior: float


@dataclass(frozen=True, eq=False)
class Weights:
    """How likely what each subject shows is, under machines and contexts.

    Attributes:
        machines: J of them.
        contexts: X of them.
        scores: float64[X, S, J].
        log_prior: float64[J], of the machines.
        profiles: by discount, machine and subject: what it says of its own expert.
    """

    machines: tuple[RewardMachine, ...]
    contexts: tuple[Context, ...]
    scores: Floats
    log_prior: Floats
    profiles: list[list[list[Profile]]]

    @property
    def log_context(self) -> Floats:
        """float64[X], the log prior of each context."""
        return np.array([each.log_prior for each in self.contexts])

    def parted(self, groups: int, most: int = MOST_TUPLES) -> Parted:
        """Divide the subjects into groups, summing over so many combinations of machines."""
        return parted(self.scores, self.log_context, self.log_prior, groups, most)

    def of_group(self, members: Ints) -> Floats:
        """Return float64[X, J], the log weight of contexts and machines for some subjects."""
        sums = self.scores[:, members].sum(axis=1)
        return np.asarray(sums + self.log_context[:, None] + self.log_prior)


def weighed(
    worlds: Pairs,
    machines: Sequence[RewardMachine],
    log_prior: Floats,
    discounts: Sequence[float],
    alpha: Alpha,
    lapse: Lapse,
    subject: Sequence[Ints],
    experts: str,
    before: Weights | None = None,
    kind: str = BOLTZMANN,
) -> Weights:
    """Weigh machines for each subject.

    Args:
        worlds: each with its demonstrations.
        machines: J of them, over all symbols.
        log_prior: float64[J], of each.
        discounts: which subjects may have, all as likely.
        alpha: a prior in units of the rewards, or a number.
        lapse: a prior or a number.
        subject: for each world, int64[E], who acted.
        experts: `shared` or `by-subject`.
        before: of the first of these machines, where they were weighed already.
        kind: of expert.
    """
    soft = bounds_of(alpha) if kind == SOFT else None
    count = 1 + max(int(who.max(initial=0)) for who in subject)
    known = 0 if before is None else len(before.machines)
    profiles = [[] for _ in discounts] if before is None else [[*row] for row in before.profiles]
    for row, discount in zip(profiles, discounts, strict=True):
        for machine in machines[known:]:
            seen = shown(worlds, machine, discount, subject, count, soft)
            row.append([profile(each, alpha, lapse) for each in seen])
    if experts == BY_SUBJECT or not isinstance(alpha, AlphaPrior):
        return _by_subject(tuple(machines), log_prior, profiles, alpha, lapse)
    contexts = _common(profiles, alpha, lapse)
    scores = np.zeros((len(contexts), count, len(machines)))
    for x, own in _by_discount(contexts):
        alphas, alpha_at = np.unique([contexts[i].alpha for i in own], return_inverse=True)
        lapses, lapse_at = np.unique([contexts[i].lapse for i in own], return_inverse=True)
        for j, machine in enumerate(machines):
            seen = shown(worlds, machine, discounts[x], subject, count, soft)
            for s, each in enumerate(seen):
                table = each.log_likelihood(alphas, lapses)
                scores[own, s, j] = table[alpha_at, lapse_at]
    return Weights(tuple(machines), contexts, scores, log_prior, profiles)


def _by_discount(contexts: Sequence[Context]) -> list[tuple[int, Ints]]:
    """Return each discount's number, and the contexts that have it."""
    number = np.array([each.discount for each in contexts])
    return [(x, np.flatnonzero(number == x)) for x in np.unique(number).tolist()]


def _by_subject(
    machines: tuple[RewardMachine, ...],
    log_prior: Floats,
    profiles: list[list[list[Profile]]],
    alpha: Alpha,
    lapse: Lapse,
) -> Weights:
    """Return weights under all that subjects may share of their experts, where it can matter."""
    (alphas, of_alpha), (lapses, of_lapse) = _centres(alpha), _means(lapse)
    log_context = of_alpha[:, None] + of_lapse - math.log(len(profiles))
    best = np.array([
        sum(own.log_integrals(alphas, lapses) for own in _best_of_each(row, alpha, lapse))
        for row in profiles
    ]) + log_context  # fmt: skip
    kept = np.argwhere(best >= best.max() - LEAST_CONTEXT)
    scores = np.empty((len(kept), len(profiles[0][0]), len(machines)))
    for d, row in enumerate(profiles):
        own = kept[:, 0] == d
        x, y = kept[own, 1], kept[own, 2]
        for j, each in enumerate(row if len(x) else ()):
            for s, shown_by in enumerate(each):
                scores[own, s, j] = shown_by.log_integrals(alphas, lapses)[x, y]
    contexts = tuple(
        Context(d, alphas[x], lapses[y], float(log_context[x, y])) for d, x, y in kept.tolist()
    )
    return Weights(machines, contexts, scores, log_prior, profiles)


def _centres(alpha: Alpha) -> tuple[Sequence[Alpha], Floats]:
    """Return what subjects may share of their alphas, and the log prior of each."""
    if not isinstance(alpha, AlphaPrior):
        return (alpha,), np.zeros(1)
    low, high = alpha.bounds
    fine = np.linspace(low, high, 2_001)
    density = alpha.log_density(fine)
    near = fine[density >= density.max() - FAR]
    centres = np.linspace(near[0], near[-1], CENTRES)
    weight = alpha.log_density(centres)
    weight -= np.logaddexp.reduce(weight) + math.log(len(SPREADS))
    found = [replace(alpha, centre=c, spread=s) for s in SPREADS for c in np.exp(centres).tolist()]
    return found, np.tile(weight, len(SPREADS))


def _means(lapse: Lapse) -> tuple[Sequence[Lapse], Floats]:
    """Return what subjects may share of their lapses, and the log prior of each."""
    if not isinstance(lapse, LapsePrior):
        return (lapse,), np.zeros(1)
    fine = np.linspace(*LOGITS, 2_001)
    density = log_lapses([lapse], 1 / (1 + np.exp(-fine)))[0]
    near = fine[density >= density.max() - FAR]
    logits = np.linspace(near[0], near[-1] + 1.0, MEANS)
    means = 1 / (1 + np.exp(-logits))
    weight = log_lapses([lapse], means)[0]
    weight -= np.logaddexp.reduce(weight) + math.log(len(STRENGTHS))
    found = [LapsePrior(k * m, k * (1 - m)) for k in STRENGTHS for m in means.tolist()]
    return found, np.tile(weight, len(STRENGTHS))


def _common(
    profiles: list[list[list[Profile]]], alpha: AlphaPrior, lapse: Lapse
) -> tuple[Context, ...]:
    """Return contexts: one alpha and lapse for all subjects, where they can matter at all."""
    best = [own for row in profiles for own in _best_of_each(row, alpha, lapse)]
    means = [_moments(each.log_alpha, each.by_alpha(lapse)) for each in best]
    low, high = _range(means)
    nodes = np.linspace(max(low, alpha.bounds[0]), min(high, alpha.bounds[1]), 48)
    width = math.log(nodes[1] - nodes[0])
    shares, by_share = _lapses([_moments(_logit(p.lapse), p.by_lapse(alpha)) for p in best], lapse)
    of_alpha = alpha.log_density(nodes) - alpha.log_normaliser + width
    return tuple(
        Context(
            number, float(np.exp(node)), float(share), float(log + more - math.log(len(profiles)))
        )
        for number in range(len(profiles))
        for node, log in zip(nodes, of_alpha, strict=True)
        for share, more in zip(shares, by_share, strict=True)
    )


def _best_of_each(row: list[list[Profile]], alpha: Alpha, lapse: Lapse) -> list[Profile]:
    """Return each subject's profile under the machine that suits it best."""
    totals = np.array([[p.log_integrals([alpha], [lapse])[0, 0] for p in each] for each in row])
    return [row[j][s] for s, j in enumerate(totals.argmax(axis=0).tolist())]


def _range(means: list[tuple[float, float]]) -> tuple[float, float]:
    """Return where a number lies that all share, from what each says of it alone."""
    middles, errors = np.array(means).T
    weight = 1 / np.maximum(errors, 1e-6) ** 2
    middle, error = float(weight @ middles / weight.sum()), float(weight.sum() ** -0.5)
    apart = float(np.abs(middles - middle).max()) / 2
    return middle - 6 * error - apart, middle + 6 * error + apart


def _lapses(means: list[tuple[float, float]], lapse: Lapse) -> tuple[Floats, Floats]:
    """Return lapses that all subjects may share, and the log prior of each, times its width."""
    if not isinstance(lapse, LapsePrior):
        return np.array([lapse]), np.zeros(1)
    low, high = _range(means)
    logits = np.linspace(low, high, 16)
    shares = 1 / (1 + np.exp(-logits))
    density = lapse.log_density(shares) - lapse.log_normaliser
    width = math.log(logits[1] - logits[0])
    return shares, density + np.log(shares) + np.log1p(-shares) + width


def _logit(share: Floats) -> Floats:
    inside = np.clip(share, 1e-9, 1 - 1e-9)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def _moments(values: Floats, log_weight: Floats) -> tuple[float, float]:
    """Return the mean and the deviation of weighted values."""
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = float(weight @ values)
    return mean, math.sqrt(max(float(weight @ (values - mean) ** 2), 1e-12))


def expert_of(found: Weights, members: Ints, subject: int) -> tuple[Summary, Summary]:
    """Return what is known of a subject's alpha and lapse, by the machines of its group.

    Means of alpha are geometric.
    """
    weight = found.of_group(members)
    near = np.argwhere(weight >= weight.max() - TOLD)
    shapes = {}
    parts: list[tuple[Floats, Floats, Floats, Floats]] = []
    for x, j in near.tolist():
        c = found.contexts[x]
        own = found.profiles[c.discount][j][subject]
        log_weight = weight[x, j] - weight.max() - found.scores[x, subject, j]
        if not isinstance(c.alpha, AlphaPrior) and not isinstance(c.lapse, LapsePrior):
            once = np.exp(np.array([log_weight + found.scores[x, subject, j]]))
            parts.append((np.array([math.log(c.alpha)]), once, np.array([c.lapse]), once))
            continue
        if (c.discount, j) not in shapes:
            shapes[c.discount, j] = np.exp(own.table - own.table.max())
        shape = shapes[c.discount, j]
        of_alpha = np.exp(log_alphas([c.alpha], own.log_alpha)[0])
        of_lapse = np.exp(log_lapses([c.lapse], own.lapse)[0] + log_weight + own.table.max())
        by_alpha, by_lapse = of_alpha * (shape @ of_lapse), of_lapse * (of_alpha @ shape)
        parts.append((own.log_alpha, by_alpha, own.lapse, by_lapse))
    alphas, lapses = ([part[at : at + 2] for part in parts] for at in (0, 2))
    return Summary(*(math.exp(value) for value in _summary(alphas))), _summary(lapses)


def _summary(parts: Sequence[tuple[Floats, ...]]) -> Summary:
    """Return the mean and the 95% interval of weighted values, between nodes linearly."""
    values, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(values, kind="stable")
    values, weight = values[order], weight[order] / weight.sum()
    middle = np.cumsum(weight) - weight / 2
    low, high = np.interp((0.025, 0.975), middle, values).tolist()
    return Summary(float(weight @ values), low, high)
