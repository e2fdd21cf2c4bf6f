"""What a policy earns in a number of steps, paid by the true machine, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats, Ints, concatenated_ranges
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.part import part_of
from whence.model.product import in_world, product, with_blank
from whence.planning.policies import Policy, plan
from whence.planning.simulation import check_size, checked_seed, simulate_policy


@dataclass(frozen=True)
class MonteCarlo:
    """A mean over simulated episodes, and its standard error."""

    mean: float
    standard_error: float
    episodes: int


@dataclass(frozen=True)
class Evaluation:
    """What a policy earns, beside what could be earned.

    Attributes:
        expected_return: the policy's exact expected undiscounted return.
        reference: the same for the policy that is discounted-optimal for the truth.
        regret: reference - expected_return.
        horizon_optimum: the best that any policy, one that knows the clock too, can do.
        length: the number of steps.
        simulated: the mean over simulated episodes, where some were asked for.
    """

    expected_return: float
    reference: float
    regret: float
    horizon_optimum: float
    length: int
    simulated: MonteCarlo | None = None


def evaluate(
    mdp: LabeledMDP,
    policy: Policy,
    truth: RewardMachine,
    length: int,
    *,
    episodes: int = 0,
    seed: int = 0,
) -> Evaluation:
    """Evaluate a policy while the true machine pays.

    Args:
        mdp: the world.
        policy: from `plan` or `expert_policy`; its discount also makes the reference.
        truth: the machine that pays.
        length: the number of steps.
        episodes: how many episodes to simulate as well, as the paper does.
        seed: of that simulation.
    """
    check_size(episodes, length)
    truth = in_world(truth, mdp)
    earned = expected_return(mdp, policy, truth, length)
    reference = expected_return(mdp, plan(mdp, truth, policy.discount), truth, length)
    return Evaluation(
        expected_return=earned,
        reference=reference,
        regret=reference - earned,
        horizon_optimum=horizon_optimum(mdp, truth, length),
        length=length,
        simulated=monte_carlo(mdp, policy, truth, episodes, length, seed) if episodes else None,
    )


def expected_return(mdp: LabeledMDP, policy: Policy, truth: RewardMachine, length: int) -> float:
    """Return the exact expected sum of rewards over a number of steps.

    The joint distribution of (policy's machine state, truth's machine state, world state) is
    carried forward step by step.
    """
    truth, policy = in_world(truth, mdp), policy.in_world(mdp)
    n_pairs = policy.machine.n_states * truth.n_states
    mass = np.zeros(n_pairs * mdp.n_states)
    mass[mdp.initial_states] = mdp.initial_probabilities
    action_of = _action_of(mdp)
    earned = []
    for _ in range(length):
        mass, paid = _carried(mdp, policy, truth, mass, action_of)
        earned.append(paid)
    return math.fsum(earned)


def horizon_optimum(mdp: LabeledMDP, truth: RewardMachine, length: int) -> float:
    """Return the most that any policy can expect to earn in a number of steps."""
    mdp = _within_reach(mdp, length)
    paying = product(mdp, truth)
    expected = paying.expected_rewards()
    values = np.zeros((truth.n_states, mdp.n_states))
    for _ in range(length):
        values = paying.discounted(values, 1.0, expected).max(axis=2)
    return float(values[0, mdp.initial_states] @ mdp.initial_probabilities)


def monte_carlo(
    mdp: LabeledMDP,
    policy: Policy,
    truth: RewardMachine,
    episodes: int,
    length: int,
    seed: int,
) -> MonteCarlo:
    """Return the mean return of simulated episodes, with its standard error."""
    states, _ = simulate_policy(
        mdp, policy, episodes, length, np.random.default_rng(checked_seed(seed))
    )
    returns = returns_of(in_world(truth, mdp), mdp.labels[states[:, 1:]])
    error = returns.std(ddof=1) / math.sqrt(episodes) if episodes > 1 else math.nan
    return MonteCarlo(float(returns.mean()), float(error), episodes)


def returns_of(machine: RewardMachine, labels: Ints) -> Floats:
    """Return float[E]: what a machine pays in all on each row of int[E, T], -1 for blank."""
    following, paid = with_blank(machine.transitions, machine.rewards)
    state = np.zeros(len(labels), dtype=np.int64)
    total = np.zeros(len(labels))
    for column in labels.T:
        total += paid[state, column]
        state = following[state, column]
    return total


def _carried(
    mdp: LabeledMDP, policy: Policy, truth: RewardMachine, mass: Floats, action_of: Ints
) -> tuple[Floats, float]:
    """Carry the joint distribution one step forward; return it and the expected reward."""
    follow_policy, _ = with_blank(policy.machine.transitions, policy.machine.rewards)
    follow_truth, paid = with_blank(truth.transitions, truth.rewards)
    active = np.flatnonzero(mass)
    pair, state = np.divmod(active, mdp.n_states)
    here_policy, here_truth = np.divmod(pair, truth.n_states)
    first = mdp.offsets[:: mdp.n_actions]
    counts = first[state + 1] - first[state]
    entry = concatenated_ranges(first[state], first[state + 1])
    origin = np.repeat(np.arange(len(active)), counts)
    action = action_of[entry]
    chance = policy.probabilities[here_policy[origin], state[origin], action]
    weight = mass[active][origin] * chance * mdp.probabilities[entry]
    symbol = mdp.labels[mdp.successors[entry]]
    reward = paid[here_truth[origin], symbol]
    pair = (
        follow_policy[here_policy[origin], symbol] * truth.n_states
        + follow_truth[here_truth[origin], symbol]
    )
    target = pair * mdp.n_states + mdp.successors[entry]
    carried = np.bincount(target, weights=weight, minlength=len(mass)).astype(np.float64)
    return carried, float(weight @ reward)


def _action_of(mdp: LabeledMDP) -> Ints:
    """Return int[N]: the action of each transition."""
    actions = np.tile(np.arange(mdp.n_actions, dtype=np.int32), mdp.n_states)
    return np.repeat(actions, np.diff(mdp.offsets))


def _within_reach(mdp: LabeledMDP, length: int) -> LabeledMDP:
    """Return the part of a world that can be reached in a number of steps."""
    kept = np.flatnonzero(mdp.reachable(within=length))
    return mdp if 2 * len(kept) > mdp.n_states else part_of(mdp, kept)
