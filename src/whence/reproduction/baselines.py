"""What methods without memory make of the same demonstrations.

Each returns r_a: what its policy earns, exactly, when the truth pays. Where there is a posterior,
it is the Bayesian one, temperature 1, with the paper's alpha and prior on rewards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from whence._types import Floats, Ints
from whence.checking import step_states
from whence.demos import Demonstrations
from whence.evaluation import expected_return
from whence.expert import Expert
from whence.machine import RewardMachine
from whence.mdp import LabeledMDP
from whence.planning import Policy, plan
from whence.posterior import Posterior
from whence.reproduction import paper
from whence.reproduction.triples import agent_return
from whence.worlds import BUILT_IN, World

PSEUDO_COUNT = 1.0  # added to the count of each action in each state


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
    """Do all of them on the demonstrations of a triple."""
    world = BUILT_IN[name](None)
    demos = world.demonstrations(seed)
    return Baselines(
        world=name,
        seed=seed,
        markovian=agent_return(world, markovian(world, demos)),
        cloning=_earned(world, cloned(world.mdp, demos)),
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


def cloned(mdp: LabeledMDP, demos: Demonstrations) -> Floats:
    """Return float[S, A]: (count of the action + 1) / (count of the state + A)."""
    states = _pairs(demos)[0]
    counts = np.full((mdp.n_states, mdp.n_actions), PSEUDO_COUNT)
    np.add.at(counts, (states, demos.actions), 1.0)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def per_state(world: World, demos: Demonstrations, seed: int = 0) -> Floats:
    """Return float[S]: a reward per world state of the highest score that was found.

    Steepest ascent, one state's reward at a time, until no single change helps, from three
    starts: no reward, the best reward per label, and a draw from the prior. As among machines,
    the reward that is 0 everywhere does not count.
    """
    posterior = _posterior(world, *every_state_its_own(world.mdp, demos))
    rng = np.random.default_rng(seed)
    n = world.mdp.n_states
    by_label = np.append(markovian(world, demos).rewards[0], 0.0)[world.mdp.labels]
    drawn = posterior.prior.sample(rng, 1, n, posterior.levels, 1)[1][0, 0]
    ends = [_ascended(posterior, start) for start in (np.zeros(n), by_label, drawn)]
    return max(ends, key=lambda end: end[1])[0]


def every_state_its_own(
    mdp: LabeledMDP, demos: Demonstrations
) -> tuple[LabeledMDP, Demonstrations]:
    """Return the world in which each state is its own label, and the steps on their own.

    A machine of one state over these labels is a reward per world state. It remembers nothing,
    so each step can be an episode of its own.
    """
    states, _ = _pairs(demos)
    own = replace(
        mdp,
        alphabet=tuple(f"s{state}" for state in range(mdp.n_states)),
        labels=np.arange(mdp.n_states, dtype=np.int32),
    )
    each = np.arange(demos.n_steps + 1)
    return own, Demonstrations.from_flat(states, each, demos.actions, each)


def _planned_per_state(world: World, demos: Demonstrations) -> Floats:
    """Return float[S, A]: the policy that is optimal for the best reward per state."""
    reward = per_state(world, demos)
    own, _ = every_state_its_own(world.mdp, demos)
    table = np.zeros((1, len(reward)), dtype=np.int64)
    machine = RewardMachine(own.alphabet, table, reward[None])
    return np.asarray(plan(own, machine, world.expert.discount).probabilities[0])


def _ascended(posterior: Posterior, start: Floats) -> tuple[Floats, float]:
    """Climb from float[S] to where no single change helps; return it and its score."""
    here = start
    best = float(_scores(posterior, here[None])[0])
    while True:
        nearby = _single_changes(here, posterior.levels)
        scores = _scores(posterior, nearby)
        top = int(np.argmax(scores))
        if scores[top] <= best:
            return here, best
        here, best = nearby[top], float(scores[top])


def _single_changes(reward: Floats, levels: tuple[float, ...]) -> Floats:
    """Return float[S * (G - 1), S]: every reward that differs in one state."""
    changes = [
        (state, level)
        for state in range(len(reward))
        for level in levels
        if level != reward[state]
    ]
    result = np.repeat(reward[None], len(changes), axis=0)
    places, values = zip(*changes, strict=True)
    result[np.arange(len(changes)), list(places)] = values
    return result


def _scores(posterior: Posterior, rewards: Floats) -> Floats:
    """Return float[B], the scores of float[B, S]; -inf for the one that is 0 everywhere."""
    tables = np.zeros((len(rewards), 1, rewards.shape[1]), dtype=np.int64), rewards[:, None]
    return np.where((rewards != 0).any(axis=1), posterior.score(*tables), -np.inf)


def _posterior(world: World, mdp: LabeledMDP, demos: Demonstrations) -> Posterior:
    expert = Expert(paper.ALPHA, world.expert.discount)
    return Posterior(mdp, demos, expert=expert, rewards=world.rewards, threads=1)


def _pairs(demos: Demonstrations) -> tuple[Ints, Ints]:
    """Return the state and the action of each step."""
    return demos.states[step_states(demos)], demos.actions


def _earned(world: World, probabilities: Floats) -> float:
    """Return what a policy without memory, float[S, A], earns when the truth pays."""
    m = len(world.mdp.alphabet)
    blind = RewardMachine(world.mdp.alphabet, np.zeros((1, m), dtype=int), np.zeros((1, m)))
    policy = Policy(blind, probabilities[None], world.expert.discount)
    return expected_return(world.mdp, policy, world.task, world.length)
