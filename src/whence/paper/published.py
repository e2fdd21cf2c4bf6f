"""What the paper publishes, and when a figure of ours reaches it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whence.model.machine import RewardMachine
from whence.paper.worlds import World
from whence.planning.evaluation import expected_return
from whence.planning.policies import expert_policy, plan

ALPHA = 50.0  # what inference assumes of the expert
EPISODES = 100  # over which the paper averages returns
ERRORS = 2  # how many standard errors of such an average are allowed
ROUNDING = 0.005  # half a unit of the last digit printed


@dataclass(frozen=True)
class Published:
    """Average returns in the paper's Table 1: the expert's, r_e, and the agent's, r_a."""

    expert: float
    agent: float


TABLE_1 = {
    "recharge": Published(1.0, 1.0),
    "coffee": Published(0.55, 0.68),
    "multi-coffee": Published(1.37, 2.0),
}

# The machines that the paper inferred, as its supplement draws them.
FIGURES = {
    "recharge": RewardMachine.from_arrows(
        ["y0 -l-> y1", "y0 -r/1-> y2"], alphabet=("t", "w", "l", "r")
    ),
    "coffee": RewardMachine.from_arrows(
        ["y0 -c-> y1", "y0 -*-> y2", "y1 -o/1-> y2", "y1 -*-> y2"], alphabet=("c", "o", "*")
    ),
    "multi-coffee": RewardMachine.from_arrows(
        [
            "y0 -c-> y1",
            "y0 -k-> y2",
            "y0 -*-> y3",
            "y1 -*-> y2",
            "y1 -o/2-> y3",
            "y2 -*-> y3",
            "y2 -o/1-> y3",
        ],
        alphabet=("c", "k", "o", "*"),
    ),
}


@dataclass(frozen=True)
class Reference:
    """What can be said about a world before anything is inferred.

    Attributes:
        expert: exact expected return of the expert who demonstrates.
        agent: the same for the policy that is optimal for the truth.
        error: standard error of that policy's average over 100 episodes.
        threshold: the lowest return that reaches the paper's r_a.
    """

    expert: float
    agent: float
    error: float
    threshold: float


def reference(world: World) -> Reference:
    """Return the reference of a world.

    A triple reaches the paper's r_a when its exact expected return is at least
    r_a - 2 standard errors - 0.005.
    """
    policy = plan(world.mdp, world.task, world.expert.discount)
    agent = expected_return(world.mdp, policy, world.task, world.length)
    watched = expert_policy(world.mdp, world.task, world.expert)
    error = episode_deviation(world) / math.sqrt(EPISODES)
    return Reference(
        expert=expected_return(world.mdp, watched, world.task, world.length),
        agent=agent,
        error=error,
        threshold=TABLE_1[world.name].agent - ERRORS * error - ROUNDING,
    )


def episode_deviation(world: World) -> float:
    """Return the standard deviation of one episode's return under the truth's own policy.

    The three tasks pay once an episode at most, so the mean of the squared return is what the
    machine with squared rewards pays.
    """
    policy = plan(world.mdp, world.task, world.expert.discount)
    task = world.task
    squared = RewardMachine(task.alphabet, task.transitions, task.rewards**2)
    mean = expected_return(world.mdp, policy, task, world.length)
    square = expected_return(world.mdp, policy, squared, world.length)
    return float(np.sqrt(max(square - mean**2, 0.0)))
