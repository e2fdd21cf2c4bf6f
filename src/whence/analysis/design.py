"""Where a demonstration tells two machines apart best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.soft import expert_q
from whence.model.expert import Expert
from whence.model.joint import walked
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import product, restricted

LENGTH = 100
LEAST = -700.0  # a smaller log probability counts as this, so that information stays finite
ENOUGH = 5.0  # nats, 150 to 1: an episode that tells as much has settled it
SLIGHTLY = 1e-6  # how much the rest counts, between states that settle it alike
NOTHING_TOLD, LITTLE_TOLD = 1e-3, 1.0  # nats below which an episode tells nothing, and little


class Start(NamedTuple):
    """A state to start a demonstration in.

    Attributes:
        world: its number, where there are several.
        state: the world's state.
        nats: how much an episode from there tells, on average.
        name: what the world calls the state.
    """

    world: int
    state: int
    nats: float
    name: str = ""


def information(
    mdp: LabeledMDP,
    actual: RewardMachine,
    other: RewardMachine,
    expert: Expert,
    length: int = LENGTH,
) -> Floats:
    """Return float64[S]: what an episode from each state says for `actual` against `other`.

    It is the expected log Bayes factor, in nats: an expert who wants what `actual` pays starts in
    the state with nothing read and takes `length` steps, and

        I(s) = E sum over steps t of KL(P(. | s_t, y_t, actual) || P(. | s_t, z_t, other)),

    y and z the states of the two machines. This is exact: it is carried backwards, step by step,
    over all joint states (s, y, z) that can be reached.

    Args:
        mdp: the world; its initial states play no part.
        actual: the machine of the expert who demonstrates.
        other: the machine that it might be mistaken for.
        expert: how rational the expert is.
        length: the number of steps.
    """
    pair = [Acting.of(mdp, machine, expert) for machine in (actual, other)]
    return np.asarray(told_everywhere(mdp, pair[0], pair[1], length)[0][0])


def best_start(
    worlds: Sequence[LabeledMDP],
    machines: tuple[RewardMachine, RewardMachine],
    weights: tuple[float, float],
    expert: Expert,
    length: int = LENGTH,
) -> Start:
    """Return the state from which an episode tells two machines apart best.

    Each machine may be the actual one: both ways count by the machines' weights, as far as
    `settling` says. Of equally good states the first is chosen; every state of every world is a
    candidate.
    """
    share = weights[0] / (weights[0] + weights[1])
    found = []
    for number, mdp in enumerate(worlds):
        one, other = (Acting.of(mdp, machine, expert) for machine in machines)
        there, _ = told_everywhere(mdp, one, other, length)
        back, _ = told_everywhere(mdp, other, one, length)
        settles = settling(there[0], back[0], share)
        state = int(settles.argmax())
        nats = share * there[0, state] + (1 - share) * back[0, state]
        start = Start(number, state, float(nats), mdp.state_name(state))
        found.append((float(settles[state]), start))
    return max(found, key=lambda each: each[0])[1]


def settling(there: Floats, back: Floats, share: float) -> Floats:
    """Return float64[...]: how far episodes are expected to settle which of two machines it is.

    What one machine's expert tells counts up to where it settles the matter. Else a start would
    do from which the likelier one shows itself many times over, and the other hardly at all.

    Args:
        there: nats that the first machine's expert tells from some states.
        back: those of the second's.
        share: how likely the first is.
    """
    capped = share * np.minimum(there, ENOUGH) + (1 - share) * np.minimum(back, ENOUGH)
    return np.asarray(capped + SLIGHTLY * (share * there + (1 - share) * back))


class Acting(NamedTuple):
    """How an expert acts: the machine's int64[n, m] and log probabilities float64[n, S, A]."""

    transitions: Ints
    log_p: Floats

    @classmethod
    def of(cls, mdp: LabeledMDP, machine: RewardMachine, expert: Expert) -> Acting:
        """Return how an expert acts in a world who wants what a machine pays."""
        machine = restricted(machine, mdp)
        q = expert_q(mdp, machine, expert)
        return cls(machine.transitions, expert.log_action_probabilities(q))


def told_everywhere(
    mdp: LabeledMDP, actual: Acting, other: Acting, length: int
) -> tuple[Floats, Ints]:
    """Return `information` from each of the two machines' joint states, whatever was read before.

    Returns:
        float64[J, S], joint state 0 the first, and int64[J, m], where joint states lead. Joint
        states are numbered breadth-first, so that they are the same the other way round.
    """
    places, targets = walked([actual.transitions, other.transitions])
    chance = np.exp(actual.log_p)[places[:, 0]]
    gap = np.maximum(actual.log_p, LEAST)[places[:, 0]]
    gap = gap - np.maximum(other.log_p, LEAST)[places[:, 1]]
    gained = (chance * gap).sum(axis=2)
    together = product(mdp, RewardMachine(mdp.alphabet, targets, np.zeros(targets.shape)))
    total = np.zeros(gained.shape)
    for _ in range(length):
        worth = np.where(mdp.available, together.backup(total, 1.0), 0.0)
        total = gained + (chance * worth).sum(axis=2)
    return total, targets
