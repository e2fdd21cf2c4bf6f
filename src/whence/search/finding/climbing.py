"""Scores while machines are being found: the exact ones, at an expert that fits each machine.

A sharp expert punishes a machine that is half right so hard that no machine at all looks better;
a less rational one, who lapses more, gives credit for what is explained. So every machine carries
an expert of its own, fitted to it, between the worst that is allowed and the one that is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.search.finding.goals import Goals
from whence.search.finding.reducing import Tables
from whence.search.machines import Machines
from whence.search.neighbours import single_changes
from whence.search.placing import few
from whence.search.target import Chains, Target
from whence.search.unknowns import Experts

LEAST_ALPHA = 0.1  # that is tried, in units of 1 / the largest level
LAPSES = (0.0, 0.02, 0.1, 0.3)
SHARPER = 4.0
FACTORS = (0.125, 0.5, 2.0, 8.0)
ROUNDS = 6
LARGE = 1e4  # an alpha to come down from, where it is infinite
NEUTRAL = 3.0  # nats of likelihood
ENOUGH = 0.05  # nats that a change must gain


class Scored(NamedTuple):
    """Machines, each with an expert, and their scores.

    Attributes:
        machines: B of them.
        experts: B of them.
        score: float64[B].
    """

    machines: Machines
    experts: Experts
    score: Floats

    def rows(self, chosen: Ints) -> Scored:
        """Return some of them."""
        return Scored(self.machines.rows(chosen), self.experts.rows(chosen), self.score[chosen])

    def ranked(self, count: int) -> Ints:
        """Return the places of the best ones that differ, best first, the earlier of equals.

        Scores that are equal to a thousandth count as those of one machine.
        """
        order = np.argsort(-self.score, kind="stable")
        order = order[np.isfinite(self.score[order])]
        _, distinct = np.unique(np.round(self.score[order], 3), return_index=True)
        return np.asarray(order[np.sort(distinct)][:count])

    def first(self, count: int) -> Scored:
        """Return the best ones that differ, best first."""
        return self.rows(self.ranked(count))


def joined(parts: list[Scored]) -> Scored:
    """Return all of them one after the other."""
    return Scored(
        Machines(*map(np.concatenate, zip(*(part.machines for part in parts), strict=True))),
        Experts(*map(np.concatenate, zip(*(part.experts for part in parts), strict=True))),
        np.concatenate([part.score for part in parts]),
    )


class Scorer:
    """Scores machines, and counts them.

    Attributes:
        target: what they are scored by.
        lists: what long lists are scored by, however many machines of them were met before.
        goals: what the expert heads for, for words that follow it.
        count: how many were scored.
    """

    def __init__(
        self, target: Target, lists: Target | None = None, goals: Goals | None = None
    ) -> None:
        self.target = target
        self.lists = lists or target
        self.goals = goals
        self.count = 0

    def score(self, machines: Machines, experts: Experts) -> Scored:
        """Return machines with their scores."""
        long = machines.size >= few(self.lists.posteriors)
        scored_by = self.lists if long else self.target
        chains: Chains = scored_by.chains(machines, experts)
        self.count += machines.size
        return Scored(machines, experts, self.target.score(chains))

    def at_one(self, machines: Machines, expert: Experts) -> Scored:
        """Return machines scored at the first of some experts."""
        return self.score(machines, expert.rows(np.zeros(machines.size, dtype=np.int64)))

    def at_either(self, machines: Machines, expert: Experts) -> Scored:
        """Return machines scored at an expert or at one four times as rational, the better.

        Where pay lies further ahead, the same behaviour takes a more rational expert.
        """
        found = self.at_one(machines, expert)
        alpha = np.minimum(SHARPER * expert.alpha, self._most)
        if (alpha == expert.alpha).all():
            return found
        return better(found, self.at_one(machines, expert._replace(alpha=alpha)))

    @property
    def _most(self) -> float:
        """The highest rationality that is tried."""
        known = self.target.unknowns
        return known.alphas[1] if known.alpha is None else known.alpha

    @property
    def least(self) -> float:
        """The lowest rationality that is tried."""
        return min(LEAST_ALPHA / self.target.unknowns.largest, self._most)

    def stepping(self, found: Scored, base: Scored, count: int) -> Ints:
        """Return the places of the best ones that explain something else than the base does.

        Changes of arrows that nothing tells about score next to nothing less; as steps to
        something else they lead nowhere.
        """
        with np.errstate(invalid="ignore"):
            more = [each.score - self.target.score(self._unseen(each)) for each in (found, base)]
        order = np.argsort(-found.score, kind="stable")
        other = np.abs(more[0] - more[1][0]) > NEUTRAL
        return np.asarray(order[other[order] & np.isfinite(found.score[order])][:count])

    def _unseen(self, scored: Scored) -> Chains:
        """Return machines as if nothing had been demonstrated."""
        prior = self.target.log_prior(scored.machines, scored.experts)
        return Chains(scored.machines, scored.experts, np.zeros_like(prior), prior)

    def fitted(self, given: Scored) -> Scored:
        """Return machines with experts that fit them better.

        Where alpha is unknown, it and the lapse are fitted together at each discount; else
        coordinate by coordinate.
        """
        if self.target.unknowns.alpha is None:
            return self._fitted_freely(given)
        best = given
        for _ in range(ROUNDS):
            old = best.score
            for tried in self._tries(best.experts):
                new = self.score(best.machines, tried)
                best = better(best, new)
            if (best.score <= old + ENOUGH).all():
                break
        return best

    def _fitted_freely(self, given: Scored) -> Scored:
        best = given
        for place in range(len(self.target.unknowns.places)):
            discount = np.full(given.machines.size, place, dtype=np.int64)
            tried = self.target.carrier.fitted(given.machines, given.experts, discount)
            best = better(best, self.score(given.machines, tried))
        return best

    def _tries(self, experts: Experts) -> list[Experts]:
        known = self.target.unknowns
        most = self._most
        least = 0.0 if known.lapse is None else known.lapse
        tries = []
        for factor in FACTORS:
            alpha = np.minimum(experts.alpha, LARGE) * factor
            tries.append(experts._replace(alpha=np.clip(alpha, self.least, most)))
        if known.alpha is not None:
            tries.append(experts._replace(alpha=np.full_like(experts.alpha, most)))
        for lapse in sorted({max(lapse, least) for lapse in LAPSES}):
            tries.append(experts._replace(lapse=np.full_like(experts.lapse, lapse)))
        for place in range(len(known.places) if len(known.places) > 1 else 0):
            tries.append(experts._replace(discount=np.full_like(experts.discount, place)))
        return tries

    def sharper(self, experts: Experts) -> Experts:
        """Return experts as rational as is known, or four times as rational; they never lapse."""
        known = self.target.unknowns
        alpha = np.minimum(SHARPER * experts.alpha, self._most)
        return experts._replace(
            alpha=alpha if known.alpha is None else np.full_like(alpha, known.alpha),
            lapse=np.full_like(experts.lapse, known.lapse or 0.0),
        )

    def climbed(self, given: Scored, least: float = ENOUGH) -> Scored:
        """Return one machine after the best single changes, until none gains anything.

        Args:
            given: the machine.
            least: nats that a look at all changes must have gained for another look.
        """
        here = given
        gained = np.inf
        while gained >= least:
            near = single_changes(here.machines, self.target.space.levels)
            found = self.at_one(near, here.experts)
            gains = np.flatnonzero(found.score > here.score[0] + ENOUGH)
            if not len(gains):
                return here
            new = self._combined(here, found.rows(gains[np.argsort(-found.score[gains])]))
            gained = float(new.score[0] - here.score[0])
            here = new
        return here

    def _combined(self, here: Scored, better_ones: Scored) -> Scored:
        """Return the best change, and of the other good ones those that still help after it."""
        best = better_ones.rows(np.array([0]))
        base = here.machines
        rest = better_ones.rows(np.arange(1, better_ones.score.size))
        while rest.score.size:
            machines = _both(base, best.machines, rest.machines)
            found = self.at_one(machines, best.experts)
            gains = np.flatnonzero(found.score > best.score[0] + ENOUGH)
            if not len(gains):
                return best
            order = gains[np.argsort(-found.score[gains])]
            best = found.rows(order[:1])
            rest = rest.rows(order[1:])
        return best


def better(old: Scored, new: Scored) -> Scored:
    """Return the better expert of each machine."""
    where = new.score > old.score
    experts = Experts(
        *(np.where(where, a, b) for a, b in zip(new.experts, old.experts, strict=True))
    )
    return Scored(old.machines, experts, np.where(where, new.score, old.score))


def pairs(base: Tables, words: list[Tables], singles: list[Tables]) -> list[Tables]:
    """Return each of `words` with each single change of the base, where the word left it alone."""
    targets, paid = base
    n = len(targets)
    made = []
    for new, pays in words:
        for other, sums in singles:
            moved, changed = other != targets, sums != paid
            if (new[:n] == targets)[moved].all() and (pays[:n] == paid)[changed].all():
                more, most = new.copy(), pays.copy()
                more[:n][moved] = other[moved]
                most[:n][changed] = sums[changed]
                made.append((more, most))
    return made


def _both(base: Machines, one: Machines, others: Machines) -> Machines:
    """Return the base with the changes of one machine and of each of the others."""
    return Machines(
        np.where(others.transitions != base.transitions, others.transitions, one.transitions),
        np.where(others.paid != base.paid, others.paid, one.paid),
        np.repeat(one.n_states, others.size),
    )
