"""Machines weighed anew where the dynamics are known from a log alone.

The expert knows the dynamics, and we know of them what the log shows: a distribution over worlds,
`whence.model.rough`. What is asked for is the posterior of a machine over all of them,

    P(M | D) ~ P(M) E[P(D | M, dynamics)].

The demonstrations say a lot about the dynamics, too: an expert who keeps away from a corner knows
what may happen there. So the mean over plain draws is one draw's, and machine, expert and dynamics
are sampled together, by Metropolis-Hastings at the run's temperature. A step changes

1. the dynamics, a little everywhere or afresh in a few states, reversibly with respect to what the
   log allows for, so that the likelihood alone decides;
2. the machine, by a move of tempering or by a jump to another machine of the run's own sample;
   or the expert, where it is unknown.

Chains are independent, start from different machines, and are compared as ladders are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats, Ints
from whence.analysis.grouping import unique_machines
from whence.likelihood.compiled import canonical_tables
from whence.likelihood.posterior import Posterior
from whence.likelihood.redrawn import Redrawn
from whence.model.rough import RoughDynamics, rough_dynamics
from whence.search import changing
from whence.search.diagnostics import MOST_ERRORS, frequencies, rhat
from whence.search.draws import Draws
from whence.search.machines import Machines
from whence.search.moves import MOVES, usable
from whence.search.problem import Problem
from whence.search.target import Chains, Target
from whence.search.tempering import EXPERT, acceptance
from whence.search.unknowns import Experts

CHAINS = 4
FIRST, STEPS = 500, 4_000  # steps of each chain: before the chains are compared, and at most
PRECISION = 0.02  # the Monte-Carlo error at which they stop ...
MIXED = 1.1  # ... and R-hat of the log likelihood, which the dynamics move
WORK = 3 * 10**9  # transitions of products times steps that count, for all chains together
LISTED = 64  # machines of the sample that chains jump between
KEPT = (0.9, 0.97, 0.99, 0.997)  # of the dynamics, where they change everywhere
AFRESH = (1, 2, 4, 8)  # states whose pairs are drawn afresh
STREAM = 0x0D1CE  # keeps these random numbers apart from those of the search

Scorer = Callable[[Machines, Experts], Floats]


@dataclass(frozen=True, eq=False)
class _Listed:
    """The machines of a sample that chains may jump to: U of them.

    Attributes:
        chains: with the experts that they were drawn with.
        chance: float64[U], how often each is proposed.
        place: the number of each by its canonical form.
    """

    chains: Chains
    chance: Floats
    place: dict[bytes, int]


def weighed_anew(problem: Problem, draws: Draws, seed: int) -> Draws | None:
    """Return machines drawn from the posterior over all dynamics that the logs allow for.

    The chains go on, twice as long each time, until they agree and no machine's frequency has an
    error above 0.02, or until their steps are spent; the last half of the steps is kept. What any
    chain met before that, all may jump to.

    Args:
        problem: what was searched.
        draws: of the posterior that takes the dynamics as estimated.
        seed: the run's.

    Returns:
        The draws of independent chains; None where no world was estimated from its own log, or
        where the worlds are too large.
    """
    rough = [rough_dynamics(mdp, demos) for mdp, demos in problem.posteriors[0].worlds]
    if all(each is None for each in rough):
        return None
    most = _affordable(problem, rough)
    if most < FIRST:
        return None
    target, worlds = problem.target(), _Worlds(problem, rough)
    listed = _listed(target, draws)
    chains = [_Chain(target, worlds, listed, seed, number) for number in range(CHAINS)]
    steps = FIRST // 2
    for chain in chains:
        chain.advance(steps, listed)
    while True:
        new = [chain.advance(steps, listed) for chain in chains]
        found = _draws(target, new)
        if 4 * steps > most or _settled(target, new):
            return found
        listed, steps = _listed(target, draws, found), 2 * steps


def _settled(target: Target, kept: Sequence[Sequence[Chains]]) -> bool:
    """Whether chains agree on how frequent each machine is, and exactly enough."""
    names = [key for chains in kept for each in chains for key in _keys(target, each.machines)]
    number = {key: at for at, key in enumerate(dict.fromkeys(names))}
    codes = np.array([number[key] for key in names])
    ladder = np.repeat(np.arange(len(kept)), [len(chains) for chains in kept])
    found = frequencies(codes, ladder, len(number))
    assert found.agreement is not None
    likelihood = np.array([[each.log_likelihood[0] for each in chains] for chains in kept])
    mixed = not np.isfinite(likelihood).all() or not rhat(likelihood) > MIXED
    exact = float(found.errors.max()) <= PRECISION
    return mixed and exact and found.agreement.largest <= MOST_ERRORS


def _affordable(problem: Problem, rough: Sequence[RoughDynamics | None]) -> int:
    """Return how many steps a chain may make, by counted work."""
    size = sum(each.mdp.n_transitions for each in rough if each is not None)
    horizon = 1 / (1 - max(problem.unknowns.discounts))
    return int(min(STEPS, WORK / (CHAINS * 2 * size * problem.sizes[-1] * horizon)))


class _Worlds:
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


class _Chain:
    """A machine, an expert and dynamics that change together."""

    def __init__(
        self, target: Target, worlds: _Worlds, listed: _Listed, seed: int, number: int
    ) -> None:
        self._target, self._worlds = target, worlds
        self._rng = np.random.default_rng([STREAM, seed, number])
        self._dynamics = worlds.sample(self._rng)
        self._score = worlds.under(self._dynamics)
        first = listed.chains.rows(np.array([number % listed.chains.size]))
        self._now = first._replace(log_likelihood=self._score(first.machines, first.experts))

    def advance(self, steps: int, listed: _Listed) -> list[Chains]:
        """Make some steps; returns the machine and the expert after each."""
        visited = []
        for step in range(steps):
            self._change_dynamics()
            self._change_machine(listed if step % 2 == 0 else None)
            visited.append(self._now)
        return visited

    def _change_dynamics(self) -> None:
        proposed = self._worlds.changed(self._rng, self._dynamics)
        score = self._worlds.under(proposed)
        there = self._now._replace(log_likelihood=score(self._now.machines, self._now.experts))
        if self._accepted(there, np.zeros(1)):
            self._dynamics, self._score, self._now = proposed, score, there

    def _change_machine(self, listed: _Listed | None) -> None:
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
    rng: np.random.Generator, target: Target, machines: Machines, listed: _Listed
) -> tuple[Machines, Floats]:
    """Return a machine of the list, and the log ratio; one that is not listed cannot jump.

    A machine of n states stands for its (n - 1)! labelled copies, one of which is proposed.
    """
    chosen = int(rng.choice(len(listed.chance), p=listed.chance))
    own = listed.place.get(_keys(target, machines)[0])
    if own is None:
        return machines, np.full(1, -math.inf)
    other = listed.chains.machines.rows(np.array([chosen]))
    copies = math.lgamma(int(other.n_states[0])) - math.lgamma(int(machines.n_states[0]))
    log_q = math.log(listed.chance[own]) - math.log(listed.chance[chosen]) + copies
    return other, np.array([log_q])


def _listed(target: Target, *samples: Draws) -> _Listed:
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
    soft = np.concatenate([draws.softly for draws in samples])
    experts = Experts(
        alpha[rows], lapse[rows], target.unknowns.nearest(discount[rows], soft[rows])
    )
    share = weight[heavy] / weight[heavy].sum()
    chance = 0.5 * share + 0.5 / len(share)
    place = {key: number for number, key in enumerate(_keys(target, machines))}
    log_prior = target.log_prior(machines, experts)
    chains = Chains(machines, experts, np.zeros(len(rows)), log_prior)
    return _Listed(chains, chance / chance.sum(), place)


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


def _keys(target: Target, machines: Machines) -> list[bytes]:
    """Return what names each machine, however its states are numbered."""
    tables = _canonical(*machines.tables(target.space.levels))
    return [
        bytes([int(n)]) + a.tobytes() + (b + 0.0).tobytes()
        for n, a, b in zip(machines.n_states, *tables, strict=True)
    ]


def _draws(target: Target, parts: Sequence[Sequence[Chains]]) -> Draws:
    """Return what the chains visited, chain by chain."""
    every = [chain for part in parts for chain in part]
    machines = Machines(
        *(np.concatenate(tables) for tables in zip(*(c.machines for c in every), strict=True))
    )
    experts = Experts(
        *(np.concatenate(tables) for tables in zip(*(c.experts for c in every), strict=True))
    )
    transitions, rewards = machines.tables(target.space.levels)
    discount, soft = target.unknowns.spelled(experts.discount)
    return Draws(
        transitions=transitions,
        rewards=rewards,
        n_states=machines.n_states,
        alpha=experts.alpha,
        lapse=experts.lapse,
        discount=discount,
        log_likelihood=np.concatenate([chain.log_likelihood for chain in every]),
        log_prior=np.concatenate([chain.log_prior for chain in every]),
        weight=np.full(len(every), 1 / len(every)),
        ladder=np.repeat(np.arange(len(parts)), [len(part) for part in parts]),
        soft=soft,
    )
