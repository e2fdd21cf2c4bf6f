"""What methods without memory make of the same demonstrations.

Each returns r_a: what its policy earns, exactly, when the truth pays. Where there is a posterior,
it is the Bayesian one, temperature 1, with the paper's alpha and prior on rewards.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from whence._arrays import Floats
from whence.analysis import memoryless
from whence.likelihood.posterior import Posterior
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.paper import published as paper
from whence.paper.triples import agent_return
from whence.paper.worlds import BUILT_IN, World
from whence.planning.evaluation import expected_return
from whence.planning.policies import Policy, plan


@dataclass(frozen=True)
class Baselines:
    """What each memoryless method earns on one demonstration set.

    Attributes:
        world: its name.
        seed: of the demonstrations.
        markovian: the best reward per label, found exhaustively.
        cloning: the demonstrated action frequencies per state.
        per_state: the best reward per world state that was found.
    """

    world: str
    seed: int
    markovian: float
    cloning: float
    per_state: float


def baselines(name: str, seed: int) -> Baselines:
    """Return what every baseline earns on the demonstrations of a triple."""
    world = BUILT_IN[name](None)
    demos = world.demonstrations(seed)
    return Baselines(
        world=name,
        seed=seed,
        markovian=agent_return(world, markovian(world, demos)),
        cloning=_earned(world, memoryless.cloned(world.mdp, demos)),
        per_state=_earned(world, _planned_per_state(world, demos)),
    )


def markovian(world: World, demos: Demonstrations) -> RewardMachine:
    """Return the machine of one state with the highest score, among all of them."""
    m = len(world.mdp.alphabet)
    every = np.array(list(product(world.rewards, repeat=m))).reshape(-1, 1, m)
    rewards = every[(every != 0).any(axis=(1, 2))]
    transitions = np.zeros(rewards.shape, dtype=np.int64)
    score = _posterior(world, world.mdp, demos).score(transitions, rewards)
    best = int(np.argmax(score))
    return RewardMachine(world.mdp.alphabet, transitions[best], rewards[best])


def per_state(world: World, demos: Demonstrations, seed: int = 0) -> Floats:
    """Return float[S]: the reward per world state with the highest score that was found.

    Steepest ascent, one state's reward at a time, until no single change helps, from three
    starts: no reward, the best reward per label, and a draw from the prior. As among machines,
    the reward that is 0 everywhere does not count.
    """
    posterior = _posterior(world, *memoryless.every_state_its_own(world.mdp, demos))
    rng = np.random.default_rng(seed)
    n = world.mdp.n_states
    by_label = np.append(markovian(world, demos).rewards[0], 0.0)[world.mdp.labels]
    drawn = posterior.prior.sample(rng, 1, n, posterior.levels, 1)[1][0, 0]
    ends = [memoryless.ascended(posterior, start) for start in (np.zeros(n), by_label, drawn)]
    return max(ends, key=lambda end: end[1])[0]


def _planned_per_state(world: World, demos: Demonstrations) -> Floats:
    """Return float[S, A]: the policy that is optimal for the best reward per state."""
    reward = per_state(world, demos)
    own, _ = memoryless.every_state_its_own(world.mdp, demos)
    table = np.zeros((1, len(reward)), dtype=np.int64)
    machine = RewardMachine(own.alphabet, table, reward[None])
    return np.asarray(plan(own, machine, world.expert.discount).probabilities[0])


def _posterior(world: World, mdp: LabeledMDP, demos: Demonstrations) -> Posterior:
    expert = Expert(paper.ALPHA, world.expert.discount)
    return Posterior(mdp, demos, expert=expert, rewards=world.rewards, threads=1)


def _earned(world: World, probabilities: Floats) -> float:
    """Return what a policy without memory, float[S, A], earns when the truth pays."""
    m = len(world.mdp.alphabet)
    blind = RewardMachine(world.mdp.alphabet, np.zeros((1, m), dtype=int), np.zeros((1, m)))
    policy = Policy(blind, probabilities[None], world.expert.discount)
    return expected_return(world.mdp, policy, world.task, world.length)
