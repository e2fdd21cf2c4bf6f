"""Chains in which machine, expert and dynamics change together.

A step changes

1. the dynamics, a little everywhere or afresh in a few states, reversibly with respect to what the
   log allows for, so that the likelihood alone decides. Where the machine is one of a list, that
   is the likelihood of all of these together, and then the machine is drawn anew among them:
   dynamics that suit another machine are in nobody's way;
2. every other time, the machine by a move of tempering, or the expert, where it is unknown, or
   both by a jump to another machine of the list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.analysis.grouping import unique_machines
from whence.likelihood.compiled import canonical_tables
from whence.likelihood.posterior import Posterior
from whence.likelihood.redrawn import Redrawn
from whence.model.rough import RoughDynamics
from whence.search import changing
from whence.search.draws import Draws
from whence.search.machines import Machines
from whence.search.moves import MOVES, usable
from whence.search.pinning import as_pinned
from whence.search.problem import Problem
from whence.search.target import Chains, Target
from whence.search.tempering import EXPERT, acceptance
from whence.search.unknowns import Experts

LISTED = 64  # machines of the sample that chains choose among
KEPT = (0.9, 0.97, 0.99, 0.997)  # of the dynamics, where they change everywhere
AFRESH = (1, 2, 4, 8)  # states whose pairs are drawn afresh
STREAM = 0x0D1CE  # keeps these random numbers apart from those of the search

Scorer = Callable[[Machines, Experts], Floats]


@dataclass(frozen=True, eq=False)
class Listed:
    """The machines of a sample that chains may jump to: U of them.

    Attributes:
        chains: with the experts that they were drawn with.
        chance: float64[U], how often each is proposed.
        place: the number of each by its canonical form; nothing where arrows are pinned, since
            labelled copies then are not as many as states have orders: chains start here alone.
        log_prior: float64[U], of the machines alone.
        copies: float64[U], log (n - 1)!, since a machine of n states has as many labelled copies.
    """

    chains: Chains
    chance: Floats
    place: dict[bytes, int]
    log_prior: Floats
    copies: Floats


class Weighed(NamedTuple):
    """The machines of a list under some dynamics, U of them.

    Attributes:
        score: the dynamics.
        listed: the list.
        chains: with their likelihoods, all with one expert.
        log_mass: float64[U], what each has in the posterior, but for a constant.
        total: the logarithm of the sum of these masses.
    """

    score: Scorer
    listed: Listed
    chains: Chains
    log_mass: Floats
    total: float


class Worlds:
    """The worlds of a problem under dynamics that the logs allow for; pure but for a cache."""

    def __init__(self, problem: Problem, rough: Sequence[RoughDynamics | None]) -> None:
        self._rough = rough
        given = [mdp for mdp, _ in problem.posteriors[0].worlds]
        self._mdps = [
            mdp if each is None else each.mdp for mdp, each in zip(given, rough, strict=True)
        ]
        self._levels = problem.posteriors[0].levels
        self._redrawn = [Redrawn(posterior, self._mdps) for posterior in problem.posteriors]

    def sample(self, rng: np.random.Generator) -> list[Floats]:
        """Return dynamics of all worlds."""
        return [np.zeros(0) if each is None else each.sample(rng) for each in self._rough]

    def changed(self, rng: np.random.Generator, dynamics: list[Floats]) -> list[Floats]:
        """Return the dynamics a little changed: everywhere, or afresh in a few states."""
        kept, many = float(rng.choice(KEPT)), int(rng.choice(AFRESH))
        everywhere = rng.random() < 0.5
        result = []
        for each, gammas in zip(self._rough, dynamics, strict=True):
            if each is None:
                result.append(gammas)
            elif everywhere:
                result.append(each.changed(rng, gammas, kept))
            else:
                states = np.unique(rng.integers(0, each.mdp.n_states, many))
                result.append(each.afresh(rng, gammas, states))
        return result

    def under(self, dynamics: list[Floats]) -> Scorer:
        """Return what scores chains under some dynamics."""
        columns = [
            mdp.probabilities if each is None else each.probabilities(gammas)
            for mdp, each, gammas in zip(self._mdps, self._rough, dynamics, strict=True)
        ]
        known: dict[int, Posterior] = {}

        def score(machines: Machines, experts: Experts) -> Floats:
            number = int(experts.discount[0])
            if number not in known:
                known[number] = self._redrawn[number].at(columns)
            return known[number].log_likelihood(
                *machines.tables(self._levels),
                alpha=experts.alpha,
                lapse=experts.lapse,
                remember=False,
            )

        return score


class Chain:
    """A machine, an expert and dynamics that change together."""

    def __init__(
        self, target: Target, worlds: Worlds, listed: Listed, seed: int, number: int
    ) -> None:
        self._target, self._worlds = target, worlds
        self._rng = np.random.default_rng([STREAM, seed, number])
        self._dynamics = worlds.sample(self._rng)
        self._score = worlds.under(self._dynamics)
        self._known: Weighed | None = None
        first = listed.chains.rows(np.array([number % listed.chains.size]))
        self._now = first._replace(log_likelihood=self._score(first.machines, first.experts))

    def advance(self, steps: int, listed: Listed) -> list[Chains]:
        """Make some steps; returns the machine and the expert after each."""
        visited = []
        for step in range(steps):
            if keys(self._target, self._now.machines)[0] in listed.place:
                self._change_dynamics_for_all(listed)
            else:
                self._change_dynamics()
            if step % 2:
                self._change_machine(None)
            elif self._target.unknowns.any:
                self._change_machine(listed)
            visited.append(self._now)
        return visited

    def _change_dynamics_for_all(self, listed: Listed) -> None:
        """Try other dynamics, summed over the machines of a list; draw the machine among them."""
        here = self._weighed(self._score, listed)
        proposed = self._worlds.changed(self._rng, self._dynamics)
        score = self._worlds.under(proposed)
        there = self._weighed(score, listed)
        if np.log(self._rng.random()) < there.total - here.total:
            self._dynamics, self._score, here = proposed, score, there
        self._known = here
        mass = np.exp(here.log_mass - here.total)
        chosen = np.array([self._rng.choice(len(mass), p=mass / mass.sum())])
        self._now = here.chains.rows(chosen)

    def _weighed(self, score: Scorer, listed: Listed) -> Weighed:
        """Return the machines of a list under some dynamics, with the expert as it is."""
        known, expert = self._known, self._now.experts
        if known is not None and known.score is score and known.listed is listed:
            old = known.chains.experts.rows(np.zeros(1, dtype=np.int64))
            if all(np.array_equal(a, b) for a, b in zip(old, expert, strict=True)):
                return known
        machines = listed.chains.machines
        experts = expert.rows(np.zeros(listed.chains.size, dtype=np.int64))
        log_prior = listed.log_prior + self._target.unknowns.log_prior(expert)
        chains = Chains(machines, experts, score(machines, experts), log_prior)
        log_mass = chains.log_likelihood / self._target.temperature + log_prior + listed.copies
        most = float(log_mass.max())
        total = most + math.log(float(np.exp(log_mass - most).sum()))
        return Weighed(score, listed, chains, log_mass, total)

    def _change_dynamics(self) -> None:
        proposed = self._worlds.changed(self._rng, self._dynamics)
        score = self._worlds.under(proposed)
        there = self._now._replace(log_likelihood=score(self._now.machines, self._now.experts))
        if self._accepted(there, np.zeros(1)):
            self._dynamics, self._score, self._now = proposed, score, there

    def _change_machine(self, listed: Listed | None) -> None:
        """Try another machine, one of a list where there is one, or another expert.

        Experts are carried along as the run's own posterior says, whatever the dynamics are:
        that is a proposal like any other.
        """
        rng, target, now = self._rng, self._target, self._now
        temperature = np.array([target.temperature])
        moves = usable(target.space) + ((EXPERT,) if target.unknowns.any else ())
        move = moves[int(rng.integers(len(moves)))]
        machines = now.machines
        if listed is None and move == EXPERT:
            experts, log_q = changing.another_expert(rng, now, target, temperature)
        else:
            machines, log_q = (
                MOVES[move](rng, machines, target.space)
                if listed is None
                else _jump(rng, target, machines, listed)
            )
            experts, log_jacobian = changing.carried(now, machines, target, temperature)
            log_q = log_q + log_jacobian
        log_prior = target.log_prior(machines, experts)
        if np.isfinite(log_prior[0]) and np.isfinite(log_q[0]):
            other = Chains(machines, experts, self._score(machines, experts), log_prior)
            if self._accepted(other, log_q):
                self._now = other

    def _accepted(self, other: Chains, log_q: Floats) -> bool:
        temperature = np.array([self._target.temperature])
        log_ratio = acceptance(self._now, other, temperature, log_q)
        return bool(np.log(self._rng.random()) < log_ratio[0])


def _jump(
    rng: np.random.Generator, target: Target, machines: Machines, listed: Listed
) -> tuple[Machines, Floats]:
    """Return a machine of the list, and the log ratio; one that is not listed cannot jump.

    A machine of n states stands for its (n - 1)! labelled copies, one of which is proposed.
    """
    chosen = int(rng.choice(len(listed.chance), p=listed.chance))
    own = listed.place.get(keys(target, machines)[0])
    if own is None:
        return machines, np.full(1, -math.inf)
    other = listed.chains.machines.rows(np.array([chosen]))
    copies = float(listed.copies[chosen] - listed.copies[own])
    log_q = math.log(listed.chance[own]) - math.log(listed.chance[chosen]) + copies
    return other, np.array([log_q])


def listed_of(target: Target, *samples: Draws) -> Listed:
    """Return the heaviest machines of samples, each once."""
    parts = [_padded(draws, target.space.largest) for draws in samples]
    tables = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
    columns = ("n_states", "alpha", "lapse", "discount", "weight")
    n_states, alpha, lapse, discount, mass = (
        np.concatenate([getattr(draws, name) for draws in samples]) for name in columns
    )
    first, kind = unique_machines(tables[0], tables[1])
    weight = np.bincount(kind, weights=mass)
    heavy = np.argsort(-weight, kind="stable")[:LISTED]
    rows = first[heavy]
    paid = np.abs(tables[1][rows][..., None] - np.array(target.space.levels)).argmin(axis=-1)
    machines = target.space.tidy(Machines(tables[0][rows], paid, n_states[rows]))
    machines = as_pinned(machines, target.space)
    soft = np.concatenate([draws.softly for draws in samples])
    experts = Experts(
        alpha[rows], lapse[rows], target.unknowns.nearest(discount[rows], soft[rows])
    )
    share = weight[heavy] / weight[heavy].sum()
    chance = 0.5 * share + 0.5 / len(share)
    named = () if target.space.pinned else keys(target, machines)
    place = {key: number for number, key in enumerate(named)}
    log_prior = target.log_prior(machines, experts)
    chains = Chains(machines, experts, np.zeros(len(rows)), log_prior)
    copies = np.array([math.lgamma(n) for n in machines.n_states.tolist()])
    own = target.space.log_prior(machines)
    return Listed(chains, chance / chance.sum(), place, own, copies)


def _padded(draws: Draws, largest: int) -> tuple[Ints, Floats]:
    """Return the canonical tables of draws, as large as those of the space."""
    more = largest - draws.transitions.shape[1]
    rows = ((0, 0), (0, more), (0, 0))
    transitions, rewards = np.pad(draws.transitions, rows), np.pad(draws.rewards, rows)
    behind = np.arange(largest)[None, :, None] >= draws.n_states[:, None, None]
    own = np.arange(largest)[None, :, None]
    transitions = np.where(behind, own, transitions)
    return _canonical(transitions, np.where(behind, 0.0, rewards) + 0.0)


def _canonical(transitions: Ints, rewards: Floats) -> tuple[Ints, Floats]:
    """Return the canonical form of tables whose symbols are all read."""
    every = np.ones(transitions.shape[2], dtype=np.bool_)
    return canonical_tables(transitions, rewards, every)[:2]


def keys(target: Target, machines: Machines) -> list[bytes]:
    """Return what names each machine, however its states are numbered."""
    tables = _canonical(*machines.tables(target.space.levels))
    return [
        bytes([int(n)]) + a.tobytes() + (b + 0.0).tobytes()
        for n, a, b in zip(machines.n_states, *tables, strict=True)
    ]
