"""Several subjects: one task with an expert each, or groups of subjects with tasks of their own.

Where experts differ by subject, log alpha of each is logistic around a centre with a spread that
they share: the centre has the prior of alpha, and the spread is one of a few, all as likely. The
lapse of each has a beta distribution whose mean they share, with the prior of lapses, and whose
strength is one of a few. Where they share an expert, its alpha and lapse are summed over a grid.
Discounts are shared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.analysis.mixture import LEAST_CONTEXT, MOST_TUPLES, Parted, parted
from whence.likelihood.boxes import log_widths, merged
from whence.likelihood.subjects import (
    LOGITS,
    Alpha,
    Lapse,
    Pairs,
    Pooled,
    Profile,
    Shown,
    SoftShown,
    bounds_of,
    log_alphas,
    log_lapses,
    nodes_of,
    profile,
    shares_of,
    shown,
)
from whence.model.expert import BOLTZMANN, SOFT
from whence.model.expert_prior import AlphaPrior, LapsePrior
from whence.model.machine import RewardMachine
from whence.search.diagnostics import Summary

SHARED, BY_SUBJECT = "shared", "by-subject"
EXPERTS = (SHARED, BY_SUBJECT)
SPREADS = (0.25, 0.5, 1.0, 2.0)  # of log alpha, between subjects
CENTRES = 21
STRENGTHS = (0.25, 1.0, 4.0, 16.0)  # of the lapses' distribution, beside that of their prior
MEANS = 10  # of lapses, by their logits
ROUNDS = 3  # of looking closer where centres and means can matter
FAR = 9.0  # nats of density below the largest at which centres end
COMMON = ((8, 6), (12, 10), (24, 22))  # nodes of an expert that all share, as of one subject's own
COMMON_FAR = 12.0  # nats of density below the largest at which they end
MOST_SCORES = 2**26  # of contexts, subjects and machines; of more contexts the likeliest are kept
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

    def of_group(self, members: Ints, others: Sequence[Ints] = ()) -> Floats:
        """Return float64[X, J], the log weight of contexts and machines for some subjects.

        Other groups, whatever their machines, tell what all subjects have in common, too.
        """
        rest = sum(np.logaddexp.reduce(self._explained(each), axis=1) for each in others)
        return np.asarray(self._explained(members) + (self.log_context + rest)[:, None])

    def _explained(self, members: Ints) -> Floats:
        """Return float64[X, J], of some subjects and the prior of the machines."""
        return np.asarray(self.scores[:, members].sum(axis=1) + self.log_prior)


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
            each_one = shown(worlds, machine, discount, subject, count, soft)
            row.append([profile(each, alpha, lapse) for each in each_one])
    if experts == BY_SUBJECT:
        return _by_subject(tuple(machines), log_prior, profiles, alpha, lapse)

    def seen(number: int, machine: int) -> Sequence[Shown | SoftShown]:
        return shown(worlds, machines[machine], discounts[number], subject, count, soft)

    contexts = _common(profiles, log_prior, alpha, lapse, seen)
    scores = np.zeros((len(contexts), count, len(machines)))
    for x, own in _by_discount(contexts):
        alphas, alpha_at = np.unique([contexts[i].alpha for i in own], return_inverse=True)
        lapses, lapse_at = np.unique([contexts[i].lapse for i in own], return_inverse=True)
        for j in range(len(machines)):
            for s, each in enumerate(seen(x, j)):
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
    spans = _widest(alpha, lapse)
    for _ in range(ROUNDS):
        (alphas, of_alpha, centres), (lapses, of_lapse, means) = (
            _centres(alpha, spans[0]),
            _means(lapse, spans[1]),
        )
        log_context = of_alpha[:, None] + of_lapse - math.log(len(profiles))
        best = np.array([
            sum(own.log_integrals(alphas, lapses) for own in _best_of_each(row, alpha, lapse))
            for row in profiles
        ]) + log_context  # fmt: skip
        _, x, y = np.nonzero(best >= best.max() - LEAST_CONTEXT)
        spans = _around(centres, x), _around(means, y)
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


def _widest(alpha: Alpha, lapse: Lapse) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return where centres of log alpha and logits of mean lapses may lie at all."""
    spans = []
    for prior, (low, high) in ((alpha, bounds_of(alpha)), (lapse, LOGITS)):
        fine = np.linspace(low, high, 2_001)
        if isinstance(prior, LapsePrior):
            density = log_lapses([prior], 1 / (1 + np.exp(-fine)))[0]
        else:
            density = log_alphas([prior], fine)[0]
        near = fine[density >= density.max() - FAR]
        spans.append((float(near[0]), float(near[-1])))
    return spans[0], spans[1]


def _around(values: Floats, kept: Ints) -> tuple[float, float]:
    """Return the range of some values on a grid, and one place more to either side."""
    step = np.diff(np.unique(values)).max(initial=0.0)
    return float(values[kept].min() - step), float(values[kept].max() + step)


def _centres(alpha: Alpha, span: tuple[float, float]) -> tuple[Sequence[Alpha], Floats, Floats]:
    """Return what subjects may share of their alphas, the log prior of each, and its centre."""
    if not isinstance(alpha, AlphaPrior):
        return (alpha,), np.zeros(1), np.zeros(1)
    low, high = alpha.bounds
    centres = np.linspace(max(span[0], low), min(span[1], high), CENTRES)
    weight = log_alphas([alpha], centres)[0] + math.log((centres[1] - centres[0]) / len(SPREADS))
    found = [
        replace(alpha, centre=min(max(math.exp(c), alpha.low), alpha.high), spread=s)
        for s in SPREADS
        for c in centres.tolist()
    ]
    return found, np.tile(weight, len(SPREADS)), np.tile(centres, len(SPREADS))


def _means(lapse: Lapse, span: tuple[float, float]) -> tuple[Sequence[Lapse], Floats, Floats]:
    """Return what subjects may share of their lapses, the log prior of each, and its logit."""
    if not isinstance(lapse, LapsePrior):
        return (lapse,), np.zeros(1), np.zeros(1)
    logits = np.linspace(*span, MEANS)
    means = 1 / (1 + np.exp(-logits))
    weight = log_lapses([lapse], means)[0] + math.log((logits[1] - logits[0]) / len(STRENGTHS))
    strengths = [k * (lapse.ones + lapse.zeros) for k in STRENGTHS]
    found = [LapsePrior(k * m, k * (1 - m)) for k in strengths for m in means.tolist()]
    return found, np.tile(weight, len(STRENGTHS)), np.tile(logits, len(STRENGTHS))


def _common(
    profiles: list[list[list[Profile]]],
    log_prior: Floats,
    alpha: Alpha,
    lapse: Lapse,
    seen: Callable[[int, int], Sequence[Shown | SoftShown]],
) -> tuple[Context, ...]:
    """Return contexts: one alpha and lapse for all subjects, where they can matter at all.

    They matter near what fits if each subject has the machine that suits it best, and near what
    fits if all have the machine that suits all best.
    """
    found = []
    for number, row in enumerate(profiles):
        totals = _totals(row, alpha, lapse)
        common = np.full(len(totals[0]), np.argmax(totals.sum(axis=1) + log_prior))
        suits = totals.argmax(axis=0), common
        each = {j: seen(number, j) for j in np.unique(suits).tolist()}
        pools = [Pooled([each[j][s] for s, j in enumerate(which.tolist())]) for which in suits]
        found.append(_grid(pools, alpha, lapse))
    highest = np.max([values.max(axis=(1, 2)) for *_, values in found], axis=0)[:, None, None]
    below = [(highest - values).min(axis=0) for *_, values in found]
    every = np.sort(np.concatenate([each.reshape(-1) for each in below]))
    most = max(MOST_SCORES // (len(profiles[0]) * len(profiles[0][0])), 1)
    far = min(COMMON_FAR, float(every[min(most, len(every)) - 1]))
    return tuple(
        Context(
            number, float(np.exp(nodes[x])), float(shares[y]),
            float(weight[x, y]) - math.log(len(profiles)),
        )
        for number, (nodes, shares, weight, _) in enumerate(found)
        for x, y in np.argwhere(below[number] <= far).tolist()
    )  # fmt: skip


def _grid(
    pools: Sequence[Pooled], alpha: Alpha, lapse: Lapse
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return nodes of log alpha and of lapse, float64[I] and float64[L], with their log prior.

    The log prior, float64[I, L], has the width in it that a node stands for. Last comes what each
    pool of subjects says of them, float64[pools, I, L], with the prior's density.
    """
    parts = [nodes_of(pool, alpha, lapse, COMMON) for pool in pools]
    nodes, places = (np.unique(merged([part[at] for part in parts])) for at in (0, 1))
    shares = shares_of(lapse, places)
    density = log_alphas([alpha], nodes).T + log_lapses([lapse], shares)
    weight = density + log_widths(nodes)[:, None] + log_widths(places)
    values = [pool.log_likelihood(np.exp(nodes), shares) + density for pool in pools]
    return nodes, shares, weight, np.array(values)


def _best_of_each(row: list[list[Profile]], alpha: Alpha, lapse: Lapse) -> list[Profile]:
    """Return each subject's profile under the machine that suits it best."""
    best = _totals(row, alpha, lapse).argmax(axis=0)
    return [row[j][s] for s, j in enumerate(best.tolist())]


def _totals(row: list[list[Profile]], alpha: Alpha, lapse: Lapse) -> Floats:
    """Return float64[J, S], how well machines suit subjects, each with an expert of its own."""
    return np.array([[p.log_integrals([alpha], [lapse])[0, 0] for p in each] for each in row])


def expert_of(
    found: Weights, members: Ints, subject: int, others: Sequence[Ints] = ()
) -> tuple[Summary, Summary]:
    """Return what is known of a subject's alpha and lapse, by the machines of its group.

    Means of alpha are geometric. `others` are the members of the other groups.
    """
    weight = found.of_group(members, others)
    weight -= weight.max()
    near = weight >= -TOLD
    alphas, alpha_at = _numbered([each.alpha for each in found.contexts])
    lapses, lapse_at = _numbered([each.lapse for each in found.contexts])
    if not isinstance(alphas[0], AlphaPrior) and not isinstance(lapses[0], LapsePrior):
        share = np.where(near, np.exp(weight), 0.0).sum(axis=1)
        of_alpha = _summary([(np.log(np.array(alphas, dtype=np.float64))[alpha_at], share)])
        of_lapse = _summary([(np.array(lapses, dtype=np.float64)[lapse_at], share)])
        return Summary(*(math.exp(value) for value in of_alpha)), of_lapse
    parts: list[tuple[tuple[Floats, Floats], tuple[Floats, Floats]]] = []
    for d, own in _by_discount(found.contexts):
        for j in np.flatnonzero(near[own].any(axis=0)).tolist():
            some = own[near[own, j]]
            seen = found.profiles[d][j][subject]
            log_share = np.full((len(alphas), len(lapses)), -np.inf)
            log_share[alpha_at[some], lapse_at[some]] = (
                weight[some, j] - found.scores[some, subject, j]
            )
            parts.append(_marginals(seen, alphas, lapses, log_share))
    of_alpha, of_lapse = (_summary([part[at] for part in parts]) for at in (0, 1))
    return Summary(*(math.exp(value) for value in of_alpha)), of_lapse


def _numbered(values: Sequence[Any]) -> tuple[list[Any], Ints]:
    """Return values, each once, and where among them each stands."""
    place = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return list(place), np.array([place[value] for value in values], dtype=np.int64)


def _marginals(
    seen: Profile, alphas: Sequence[Alpha], lapses: Sequence[Lapse], log_share: Floats
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Return nodes of log alpha with their weights, and lapses with theirs.

    Args:
        seen: what a subject says of its expert, in a table over nodes.
        alphas: priors over alpha.
        lapses: over the lapse.
        log_share: float64[alphas, lapses], how much each pair of priors counts.
    """
    shape, share = np.exp(seen.table - seen.table.max()), np.exp(log_share + seen.table.max())
    by_alpha = np.exp(log_alphas(alphas, seen.log_alpha))
    by_lapse = np.exp(seen.of_lapses(lapses))
    of_alpha = (by_alpha * (share @ (by_lapse @ shape.T))).sum(axis=0)
    of_lapse = (by_lapse * (share.T @ (by_alpha @ shape))).sum(axis=0)
    return (seen.log_alpha, of_alpha), (seen.lapse, of_lapse)


def _summary(parts: Sequence[tuple[Floats, ...]]) -> Summary:
    """Return the mean and the 95% interval of weighted values, between nodes linearly."""
    every, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    values, which = np.unique(every, return_inverse=True)
    weight = np.bincount(which, weights=weights) / weights.sum()
    middle = np.cumsum(weight) - weight / 2
    low, high = np.interp((0.025, 0.975), middle, values).tolist()
    return Summary(float(weight @ values), low, high)
