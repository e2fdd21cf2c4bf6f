"""A discount that was assumed, but that the demonstrations speak against.

A wrong discount bends every conclusion: another machine may imitate what the right one would make
an expert do who looks less far ahead. So, where alpha was inferred but the discount was not, the
best machine is scored again at other discounts, each with the alpha that suits it; and, since an
imitation may do well at none of them, machines are looked for that do better at another discount:
a short search, from the demonstrations alone, with the discount unknown.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from whence.likelihood.posterior import Posterior
from whence.model.machine import RewardMachine
from whence.search.finding.climbing import Scored, Scorer
from whence.search.finding.finder import Finder
from whence.search.machines import Machines
from whence.search.problem import Problem
from whence.search.unknowns import DISCOUNTS, Experts

CLEARLY = 10.0  # nats that the same machine does better
OTHERWISE = 5.0  # nats that another machine does better, both as good as they get
ALPHAS = (0.1, 10_000.0)  # in units of one over the largest reward
ALPHAS_TRIED = 61
LOOKED_AT = 3_000  # machines at other discounts, about
WORK = 20_000_000  # machines times states of their products, about
FEW = 300  # machines; with no room for more, none is looked for


def doubts_of_discount(
    posterior: Posterior, machine: RewardMachine, problem: Problem
) -> list[str]:
    """Return, in words, whether another discount does better by far.

    Args:
        posterior: of the expert that was found.
        machine: the best one.
        problem: what was searched.
    """
    inferred = problem.unknowns.inferred
    if "alpha" not in inferred or "discount" in inferred or not posterior.n_steps:
        return []
    assumed = posterior.expert.discount
    found = {
        discount: best_log_likelihood(posterior, machine, discount)
        for discount in (assumed, *DISCOUNTS)
    }
    other = max(found, key=lambda discount: found[discount])
    gain = (found[other] - found[assumed]) / posterior.temperature
    if gain > CLEARLY:
        return [
            f"the discount was taken to be {assumed:g}, but with {other:g} this machine explains "
            f"the demonstrations {gain:,.0f} nats better, and others may do better still: "
            f"{_CURE}"
        ]
    other, gain = better_elsewhere(posterior, machine, problem)
    if gain > OTHERWISE:
        return [
            f"the discount was taken to be {assumed:g}, but with {other:g} another machine "
            f"explains the demonstrations {gain:,.0f} nats better: {_CURE}"
        ]
    return []


_CURE = "give the right discount, or have it inferred: --discount infer"


def best_log_likelihood(posterior: Posterior, machine: RewardMachine, discount: float) -> float:
    """Return the log likelihood at a discount, with the best of many alphas."""
    there = posterior.of_expert(replace(posterior.expert, discount=discount))
    table = machine.over(posterior.alphabet)
    largest = max(abs(level) for level in posterior.levels) or 1.0
    low, high = (alpha / largest for alpha in ALPHAS)
    best = -np.inf
    for _ in range(2):  # once over all, then more finely around the best
        alphas = np.geomspace(low, high, ALPHAS_TRIED)
        many = (len(alphas), *table.transitions.shape)
        found = there.log_likelihood(
            np.broadcast_to(table.transitions, many),
            np.broadcast_to(table.rewards, many),
            alpha=alphas,
        )
        at = int(found.argmax())
        best = max(best, float(found[at]))
        low, high = alphas[max(at - 1, 0)], alphas[min(at + 1, len(alphas) - 1)]
    return best


def better_elsewhere(
    posterior: Posterior, machine: RewardMachine, problem: Problem
) -> tuple[float, float]:
    """Return a discount at which some machine does better, and by how many nats; or the assumed.

    A finder looks for machines with the discount unknown, until one does better by far, or about
    as many were scored as are allowed. Arrows that are known leave nothing to look for.
    """
    assumed = posterior.expert.discount
    size = problem.sizes[-1] * sum(mdp.n_states for mdp, _ in posterior.worlds)
    most = min(LOOKED_AT, WORK // size)
    if problem.fixed or most < FEW:
        return assumed, 0.0
    grid = tuple(sorted({assumed, *DISCOUNTS}))
    here = Finder(_at_discounts(posterior, problem, (assumed,)).target())
    own = float(_fitted(Scorer(here.target), _of_space(here, machine), posterior).score[0])
    finder = Finder(_at_discounts(posterior, problem, grid).target())
    rng, found = np.random.default_rng(0), finder.init()
    other, gain = assumed, 0.0
    while gain <= OTHERWISE and not found.over and found.scored < most:
        found = finder.step(rng, found)
        other, gain = _gained(found.beam, machine, own, grid, posterior)
    return other, gain


def _gained(
    beam: Scored, machine: RewardMachine, own: float, grid: tuple[float, ...], posterior: Posterior
) -> tuple[float, float]:
    """Return the discount at which a machine of the beam does best, and what that gains.

    It gains nothing where the assumed discount does best, or the machine is the same.
    """
    assumed = posterior.expert.discount
    discounts = np.array(grid)[beam.experts.discount]
    here = np.append(beam.score[discounts == assumed], own).max()
    if not beam.score.size or not beam.score[0] > here or discounts[0] == assumed:
        return assumed, 0.0
    n = int(beam.machines.n_states[0])
    levels = np.array(posterior.levels)
    best = RewardMachine(
        posterior.alphabet, beam.machines.transitions[0, :n], levels[beam.machines.paid[0, :n]]
    )
    if all(machine.same_in(best, mdp) for mdp, _ in posterior.worlds):
        return assumed, 0.0
    return float(discounts[0]), float(beam.score[0] - here)


def _at_discounts(posterior: Posterior, problem: Problem, discounts: tuple[float, ...]) -> Problem:
    """Return the problem of experts of the kind that was found, with some discounts."""
    made = [
        posterior.of_expert(replace(posterior.expert, discount=discount)) for discount in discounts
    ]
    known = replace(problem.unknowns, discounts=discounts, kinds=(posterior.expert.kind,))
    return replace(problem, posteriors=tuple(made), unknowns=known, start=None)


def _of_space(finder: Finder, machine: RewardMachine) -> Machines:
    """Return a machine as one of the finder's, as small as it can be."""
    space = finder.target.space
    small = machine.over(finder.target.posteriors[0].alphabet).minimised()
    n = small.n_states
    transitions = np.zeros((1, space.largest, space.m), dtype=np.int64)
    paid = np.zeros_like(transitions)
    transitions[0, :n] = small.transitions
    paid[0, :n] = np.searchsorted(space.levels, small.rewards)
    return space.tidy(Machines(transitions, paid, np.array([n])))


def _fitted(scorer: Scorer, machine: Machines, posterior: Posterior) -> Scored:
    """Return a machine climbed from, with the expert that suits it."""
    expert = posterior.expert
    first = Experts(
        np.full(1, float(expert.alpha)), np.full(1, expert.lapse), np.zeros(1, np.int64)
    )
    return scorer.fitted(scorer.climbed(scorer.fitted(scorer.at_one(machine, first))))
