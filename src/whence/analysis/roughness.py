"""Machines weighed anew where the dynamics are known from a log alone.

The expert knows the dynamics, and we know of them what the log shows: a distribution over worlds,
`whence.model.rough`. What is asked for is the posterior of a machine over all of them,

    P(M | D) ~ P(M) E[P(D | M, dynamics)].

The demonstrations say a lot about the dynamics, too: an expert who keeps away from a corner knows
what may happen there. So the mean over plain draws is one draw's, and machine, expert and dynamics
are sampled together, by Metropolis-Hastings at the run's temperature (`rough_chains`).

Chains are independent, start from different machines, and are compared as ladders are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from whence._arrays import Floats
from whence.analysis.rough_chains import Chain, Listed, Worlds, keys, listed_of
from whence.model.rough import RoughDynamics, rough_dynamics
from whence.search.diagnostics import MOST_ERRORS, Frequencies, frequencies, rhat
from whence.search.draws import Draws
from whence.search.machines import Machines
from whence.search.problem import Problem
from whence.search.target import Chains, Target
from whence.search.unknowns import Experts

CHAINS = 4
FIRST, STEPS = 500, 4_000  # steps of each chain: before the chains are compared, and at most
PRECISION = 0.02  # the Monte-Carlo error at which they stop ...
MIXED = 1.1  # ... and R-hat of the log likelihood, unless two rounds say the same
WORK = 3 * 10**9  # transitions of products times steps that count, for all chains together


def weighed_anew(
    problem: Problem,
    draws: Draws,
    seed: int,
    tell: Callable[[str], None] = lambda text: None,
    over: Callable[[], bool] = lambda: False,
) -> Draws | None:
    """Return machines drawn from the posterior over all dynamics that the logs allow for.

    The chains go on, twice as long each time, until they agree, no machine's frequency has an
    error above 0.02, and either the log likelihood is mixed or the frequencies are those of the
    round before; or until their steps are spent. The last half of the steps is kept. What any
    chain met before that, all may jump to.

    Args:
        problem: what was searched.
        draws: of the posterior that takes the dynamics as estimated.
        seed: the run's.
        tell: is told how far the chains are.
        over: whether there is no time for a round that takes as long as all before it.

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
    target, worlds = problem.target(), Worlds(problem, rough)
    listed = listed_of(target, draws)
    chains = [Chain(target, worlds, listed, seed, number) for number in range(CHAINS)]
    steps = FIRST // 2
    _advanced(chains, 0, steps, listed, most, tell)
    before: list[list[Chains]] = []
    while True:
        new = _advanced(chains, steps, steps, listed, most, tell)
        found = _draws(target, new)
        if 4 * steps > most or over() or _settled(target, new, before):
            return found
        listed, steps, before = listed_of(target, draws, found), 2 * steps, new


def _advanced(
    chains: list[Chain],
    made: int,
    steps: int,
    listed: Listed,
    most: int,
    tell: Callable[[str], None],
) -> list[list[Chains]]:
    """Take all chains further, one after the other, and tell of it."""
    result = []
    for number, chain in enumerate(chains, start=1):
        tell(
            f"weighing machines over all dynamics that the log allows for: steps {made:,} to "
            f"{made + steps:,} of {most:,} at most, chain {number} of {len(chains)}"
        )
        result.append(chain.advance(steps, listed))
    return result


def _settled(target: Target, kept: list[list[Chains]], before: list[list[Chains]]) -> bool:
    """Whether chains agree on how frequent each machine is, exactly enough, and have settled.

    Args:
        target: what is sampled.
        kept: what each chain visited in the last round.
        before: the same of the round before; empty where there was none.
    """
    names = [_names(target, each) for each in (kept, before)]
    number = {key: at for at, key in enumerate(dict.fromkeys([*names[0], *names[1]]))}
    share, found = _shares(kept, names[0], number)
    assert found.agreement is not None
    if found.agreement.largest > MOST_ERRORS or float(found.errors.max()) > PRECISION:
        return False
    likelihood = np.array([[each.log_likelihood[0] for each in chains] for chains in kept])
    if not np.isfinite(likelihood).all() or not rhat(likelihood) > MIXED:
        return True
    if not before:
        return False
    earlier, rougher = _shares(before, names[1], number)
    apart = np.abs(share - earlier)
    return bool((apart <= MOST_ERRORS * np.hypot(found.errors, rougher.errors)).all())


def _names(target: Target, kept: list[list[Chains]]) -> list[bytes]:
    return [key for chains in kept for each in chains for key in keys(target, each.machines)]


def _shares(
    kept: list[list[Chains]], names: list[bytes], number: dict[bytes, int]
) -> tuple[Floats, Frequencies]:
    """Return float64[K], how frequent each machine is, and how exact that is."""
    codes = np.array([number[key] for key in names])
    ladder = np.repeat(np.arange(len(kept)), [len(chains) for chains in kept])
    share = np.bincount(codes, minlength=len(number)) / len(codes)
    return share, frequencies(codes, ladder, len(number))


def _affordable(problem: Problem, rough: Sequence[RoughDynamics | None]) -> int:
    """Return how many steps a chain may make, by counted work."""
    size = sum(each.mdp.n_transitions for each in rough if each is not None)
    horizon = 1 / (1 - max(problem.unknowns.discounts))
    return int(min(STEPS, WORK / (CHAINS * 2 * size * problem.sizes[-1] * horizon)))


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
