"""The finder: structures first, then machines in the language of tasks, by exact scores.

It is a heuristic, and one that can be stopped and resumed after each of its turns. What it finds
are starts for the chains, which weigh machines exactly.

A turn anneals structures, or climbs from one machine, or tries every word on the best machines of
the beam, or climbs with a sharper expert, or tries every word on the best machine of some size, or
words in pairs with single changes, or a second word after a first; always the first of these that
is still due. The best machine of every size stays in the beam: a large machine that is wrong in
many places may be further from the truth than a small one that is right as far as it goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from whence._arrays import Ints
from whence.model.prior import Prior
from whence.search.finding.climbing import Scored, Scorer, better, joined, pairs
from whence.search.finding.goals import Goals, find_goals
from whence.search.finding.reducing import Tables, reduced
from whence.search.finding.structures import Structure, anneal
from whence.search.finding.tracing import beginnings, traced
from whence.search.finding.words import by_word, candidates
from whence.search.machines import Machines
from whence.search.neighbours import single_changes
from whence.search.space import Space
from whence.search.target import Target
from whence.search.unknowns import Experts

STRUCTURE_STATES = 6  # structures have up to so many states, or as many as a machine may have
RESTARTS = 2
STEPS = 20_000  # of annealing
ANNEALED = 600  # histories of a structure
BEAM = 5
CLIMBED = 3  # machines of a turn that are climbed from
FITTED = 24  # machines of a turn whose experts are fitted
DEEP = 10  # changed machines that are changed again, ...
EACH = 2  # and the best that each word makes
NEAR = 40  # words and single changes that are tried in pairs
LIGHT = 30.0  # nats that all single changes together must gain to be looked at again
ROUGH = 1.0  # nats, the tolerance of scores while machines are being found
MOST_TURNS = 400
FIRST_FACTORS = (1.0, 0.25, 0.05)  # of the rationality that is known
FIRST_ALPHAS = (3.0, 30.0, 300.0)
FIRST_LAPSE = 0.01
FRESH, EXPANDED, SHARPENED, PAIRED, DEEPENED = range(5)  # what was done with a machine
LOOKED_AT = (  # what is done, with how many machines of the beam, and with how many at once
    (EXPANDED, 1, 1),
    (EXPANDED, BEAM, BEAM),
    (SHARPENED, 3, 1),
    (EXPANDED, 64, 1),
    (PAIRED, 2, 1),
    (DEEPENED, 1, 1),
)


@dataclass(frozen=True, eq=False)
class Found:
    """How far a finder is.

    Attributes:
        turns: made so far.
        scored: machines so far.
        over: whether nothing is left to do.
        beam: the best machines so far, best first, and then the best of each other size.
        stage: int64[B], what was done with each.
        waiting: machines to climb from.
    """

    turns: int
    scored: int
    over: bool
    beam: Scored
    stage: Ints
    waiting: Scored


class Finder:
    """Finds machines that explain demonstrations well.

    Attributes:
        target: machines of all sizes up to the largest, scored roughly.
        lists: the same, for long lists of machines.
    """

    def __init__(self, target: Target, lists: Target | None = None) -> None:
        self.target = _rough(target)
        self.lists = self.target if lists is None or lists is target else _rough(lists)

    def init(self) -> Found:
        """Return a finder before its first turn."""
        nothing = self._nothing()
        return Found(0, 0, False, nothing, np.zeros(0, dtype=np.int64), nothing)

    def step(self, rng: np.random.Generator, found: Found) -> Found:
        """Take one turn."""
        scorer = Scorer(self.target, self.lists, self.goals)
        if not found.turns:
            new = replace(found, waiting=self._starts(rng, scorer))
        elif found.waiting.score.size:
            new = _settled(scorer, found)
        else:
            new = self._widened(scorer, found)
        turns = found.turns + 1
        return replace(
            new,
            turns=turns,
            scored=found.scored + scorer.count,
            over=new.over or turns >= MOST_TURNS,
        )

    @cached_property
    def goals(self) -> Goals:
        """The goals at the discount at which they explain most."""
        every = [find_goals(p, p.expert.discount) for p in self.target.posteriors]
        return max(every, key=lambda goals: float(goals.gain.max(axis=1).sum()))

    def _nothing(self) -> Scored:
        space = self.target.space
        empty = np.zeros((0, space.largest, space.m), dtype=np.int64)
        none, no_place = np.zeros(0), np.zeros(0, dtype=np.int64)
        return Scored(Machines(empty, empty, no_place), Experts(none, none, no_place), none)

    def _starts(self, rng: np.random.Generator, scorer: Scorer) -> Scored:
        """Return structures of several sizes with pay in several places, the best of them."""
        space, known = self.target.space, self.target.unknowns
        made = list(_structures(rng, self.goals.fewer(ANNEALED), space))
        made += beginnings(self.goals, space.m, space.largest, space.zero, len(space.levels))
        if not made:
            return self._nothing()
        machines, _ = reduced(made, space.zero, space.largest)
        alphas = tuple(alpha / known.largest for alpha in FIRST_ALPHAS)
        if known.alpha is not None and np.isfinite(known.alpha):
            alphas = tuple(max(known.alpha * factor, scorer.least) for factor in FIRST_FACTORS)
        lapse = FIRST_LAPSE if known.lapse is None else known.lapse
        first = Experts(
            np.full(1, alphas[0]), np.full(1, lapse), np.array([len(known.discounts) // 2])
        )
        best = scorer.at_one(machines, first)
        for alpha in alphas[1:]:
            best = better(best, scorer.at_one(machines, first._replace(alpha=np.full(1, alpha))))
        return scorer.fitted(best.first(FITTED)).first(BEAM)

    def _widened(self, scorer: Scorer, found: Found) -> Found:
        """Do what is due with some machines of the beam."""
        stage, rows = _due(found.stage)
        if not rows:
            return replace(found, over=True)
        marks = found.stage.copy()
        marks[rows] = stage
        ones = [found.beam.rows(np.array([row])) for row in rows]
        if stage == SHARPENED:
            new = joined([_sharpened(scorer, one) for one in ones])
            return _kept(replace(found, stage=marks), new)
        tried = joined([LOOKS[stage](scorer, one) for one in ones]).first(FITTED)
        if not tried.score.size:
            return replace(found, stage=marks)
        fitted = scorer.fitted(tried)
        kept = _kept(replace(found, stage=marks), fitted.rows(_of_sizes(fitted)), 0)
        return replace(kept, waiting=fitted.first(CLIMBED))


def _rough(target: Target) -> Target:
    """Return a target of machines of all sizes up to the largest, scored roughly."""
    posteriors = tuple(posterior.to_tolerance(ROUGH) for posterior in target.posteriors)
    return replace(target, space=_all_sizes(target.space), posteriors=posteriors)


def _all_sizes(space: Space) -> Space:
    """Return the space with all sizes up to the largest, compared as if n were unknown."""
    sizes = range(1, space.largest + 1)
    log_size = np.full(space.largest + 1, -np.inf)
    for n in sizes:
        log_size[n] = Prior().log_size(n, sizes) - space.prior.normaliser(n, space.m)
    return replace(space, sizes=tuple(sizes), log_size=log_size)


def _structures(rng: np.random.Generator, goals: Goals, space: Space) -> Iterator[Tables]:
    sizes = sorted({*range(1, min(space.largest, STRUCTURE_STATES) + 1), space.largest})
    for n in sizes:
        for _ in range(RESTARTS if n > 1 else 1):
            start = rng.integers(0, n, (n, space.m))
            yield from _paid(anneal(rng, goals, start, STEPS, space.prior.p_self), space)


def _paid(structure: Structure, space: Space) -> Iterator[Tables]:
    """Yield a structure with pay where the expert stops wanting, at all goals, and at each."""
    targets = structure.transitions
    n, m = targets.shape
    arrows = [(y, s) for y in range(n) for s in structure.goals[y]]
    idle = [not goals for goals in structure.goals]
    last = [(y, s) for y, s in arrows if idle[targets[y, s]]]
    for group in (last, arrows, *([arrow] for arrow in arrows)):
        for level in (level for level in range(len(space.levels)) if level != space.zero):
            if group:
                paid = np.full((n, m), space.zero)
                for arrow in group:
                    paid[arrow] = level
                yield targets, paid


def _due(stages: Ints) -> tuple[int, list[int]]:
    """Return what is to be done next, and with which machines of the beam."""
    for stage, most, together in LOOKED_AT:
        rows = [row for row in range(min(most, len(stages))) if stages[row] < stage]
        if rows:
            return stage, rows[:together]
    return FRESH, []


def _settled(scorer: Scorer, found: Found) -> Found:
    """Climb from the first machine that waits, and fit its expert, in turn."""
    one = found.waiting.rows(np.array([0]))
    rest = found.waiting.rows(np.arange(1, found.waiting.score.size))
    for _ in range(3):
        climbed = scorer.climbed(one, LIGHT)
        one = scorer.fitted(climbed)
        if one.score[0] <= climbed.score[0]:
            break
    return _kept(replace(found, waiting=rest), one)


def _sharpened(scorer: Scorer, one: Scored) -> Scored:
    """Return a machine climbed with a more rational expert."""
    sharper = scorer.sharper(one.experts)
    return scorer.fitted(scorer.climbed(scorer.at_one(one.machines, sharper)))


def _kept(found: Found, new: Scored, best: int = BEAM) -> Found:
    """Return a finder with new machines in its beam, if they are good enough.

    Args:
        found: the finder.
        new: some machines.
        best: how many of them may be among the best; else they are the best of their sizes.
    """
    every = joined([found.beam, new])
    marks = np.concatenate([found.stage, np.full(new.score.size, FRESH)])
    first = (every if best else found.beam).ranked(BEAM)
    sizes = _of_sizes(every)
    others = sizes[~np.isin(every.machines.n_states[sizes], every.machines.n_states[first])]
    rows = np.concatenate([first, others])
    return replace(found, beam=every.rows(rows), stage=marks[rows])


def _of_sizes(scored: Scored) -> Ints:
    """Return the place of the best machine of each size, best first."""
    order = np.argsort(-scored.score, kind="stable")
    order = order[np.isfinite(scored.score[order])]
    _, first = np.unique(scored.machines.n_states[order], return_index=True)
    return np.asarray(order[np.sort(first)])


def _expanded(scorer: Scorer, one: Scored) -> Scored:
    """Return the best that one word makes of a machine."""
    made = _words(scorer, one)
    return _reduced(scorer, made, one).first(FITTED)


def _deepened(scorer: Scorer, one: Scored) -> Scored:
    """Return the best that a word makes of what a word, or a single change, made."""
    space = scorer.target.space
    n = int(one.machines.n_states[0])
    base = one.machines.transitions[0, :n], one.machines.paid[0, :n]
    near = scorer.at_one(single_changes(one.machines, space.levels), one.experts)
    made = [
        _reduced(scorer, tables, one) for tables in by_word(base, space.zero, len(space.levels))
    ]
    steps = [each.rows(scorer.stepping(each, one, len(each.score))) for each in (*made, near)]
    bases = joined([joined(steps).first(DEEP), *(each.first(EACH) for each in steps)])
    bases = bases.first(bases.score.size)
    found = [_expanded(scorer, bases.rows(np.array([row]))) for row in range(bases.score.size)]
    return joined([one, *found]).first(FITTED)


def _paired(scorer: Scorer, one: Scored) -> Scored:
    """Return the best that a word and a single change, or two, make of a machine."""
    space = scorer.target.space
    n = int(one.machines.n_states[0])
    base = one.machines.transitions[0, :n], one.machines.paid[0, :n]
    made = _words(scorer, one)
    machines, origin = reduced(made, space.zero, space.largest)
    found = scorer.at_one(machines, one.experts)
    singles = single_changes(one.machines, space.levels)
    changed = scorer.at_one(singles, one.experts)
    near = scorer.stepping(changed, one, NEAR)
    words = [made[i] for i in origin[scorer.stepping(found, one, NEAR)].tolist()]
    ones = [(singles.transitions[i, :n], singles.paid[i, :n]) for i in near.tolist()]
    return _reduced(scorer, [*pairs(base, [*words, *ones], ones), base], one).first(FITTED)


def _words(scorer: Scorer, one: Scored) -> list[Tables]:
    """Return all that one word makes of a machine."""
    space = scorer.target.space
    n = int(one.machines.n_states[0])
    base = one.machines.transitions[0, :n], one.machines.paid[0, :n]
    made = candidates(base, space.zero, len(space.levels))
    if scorer.goals is not None:
        made += traced(base, scorer.goals, space.largest, space.zero, len(space.levels))
    return made


def _reduced(scorer: Scorer, made: list[Tables], one: Scored) -> Scored:
    """Return the smallest machines that pay the same, scored at the expert of one."""
    space = scorer.target.space
    machines, _ = reduced(made, space.zero, space.largest)
    return scorer.at_either(machines, one.experts)


LOOKS = {EXPANDED: _expanded, PAIRED: _paired, DEEPENED: _deepened}
