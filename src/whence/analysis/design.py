"""Where a demonstration tells two machines apart best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.values import expert_q
from whence.model.expert import Expert
from whence.model.joint import walked
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.part import nearest, part_of
from whence.model.product import product, restricted

LENGTH = 100
MOST_PLACES = 500_000  # world states times actions times pairs of machine states that are compared
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
    candidate, unless there are too many: see `Starts`.
    """
    return Starts(worlds, expert, length).best(machines, weights)


class Starts:
    """Chooses starts for several pairs of machines.

    Of a world that is too large for that, only the states near labels and initial states are
    candidates, and what an episode tells after it leaves them does not count: then `nats` is the
    least that it tells.
    """

    def __init__(self, worlds: Sequence[LabeledMDP], expert: Expert, length: int = LENGTH) -> None:
        self.worlds = worlds
        self.expert = expert
        self.length = length
        self._parts: dict[tuple[int, int], tuple[Ints, LabeledMDP]] = {}

    def best(
        self, machines: tuple[RewardMachine, RewardMachine], weights: tuple[float, float]
    ) -> Start:
        """Return the state from which an episode tells two machines apart best."""
        share = weights[0] / (weights[0] + weights[1])
        found = []
        for number, mdp in enumerate(self.worlds):
            most = MOST_PLACES // (machines[0].n_states * machines[1].n_states * mdp.n_actions)
            kept, part = self._part(number, max(most, 1))
            one, other = (self._acting(mdp, machine, kept) for machine in machines)
            there, _ = told_everywhere(part, one, other, self.length)
            back, _ = told_everywhere(part, other, one, self.length)
            settles = settling(there[0], back[0], share)[: len(kept)]
            best = int(settles.argmax())
            state = int(kept[best])
            nats = share * there[0, best] + (1 - share) * back[0, best]
            start = Start(number, state, float(nats), mdp.state_name(state))
            found.append((float(settles[best]), start))
        return max(found, key=lambda each: each[0])[1]

    def _part(self, number: int, most: int) -> tuple[Ints, LabeledMDP]:
        """Return the states of a world that are candidates, and the world with these alone."""
        if (number, most) not in self._parts:
            mdp = self.worlds[number]
            kept = nearest(mdp, most)
            part = mdp if len(kept) == mdp.n_states else part_of(mdp, kept)
            self._parts[number, most] = kept, part
        return self._parts[number, most]

    def _acting(self, mdp: LabeledMDP, machine: RewardMachine, kept: Ints) -> Acting:
        """Return how an expert acts in states of a world; it knows all of it."""
        acting = Acting.of(mdp, machine, self.expert, kept)
        if len(kept) == mdp.n_states:
            return acting
        return Acting(acting.transitions, np.pad(acting.log_p, ((0, 0), (0, 1), (0, 0))))


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
    def of(
        cls, mdp: LabeledMDP, machine: RewardMachine, expert: Expert, states: Ints | None = None
    ) -> Acting:
        """Return how an expert acts in a world, or some states of it, who wants what is paid."""
        machine = restricted(machine, mdp)
        q = expert_q(mdp, machine, expert)
        q = q if states is None else q[:, states]
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
    paid = np.zeros((len(places), mdp.n_states * mdp.n_actions))
    for _ in range(length):
        worth = together.discounted(total, 1.0, paid)  # 0 for actions that are not there
        total = gained + np.einsum("jsa,jsa->js", chance, worth)
    return total, targets
