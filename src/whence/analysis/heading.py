"""What the optimal agent of a machine heads for: the labels that it gains by reading.

In the product of a world and a machine, with V its optimal values, entering a state s' with a
label gains

    g = r + discount V(s', y') - discount V(s', y),

y the machine's state before, y' after it and r what is paid: what reading the label now is worth
beside not having read it. A label is *wanted* where that is more than half a step's delay costs;
it is *harmful* where it loses as much. What an action does to the agent's harm less often than not
is an accident, and what follows it is no part of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from whence._arrays import BLANK, Bools, Floats, Ints, frozen_own
from whence.likelihood.compiled import FINEST_VALUE
from whence.likelihood.values import batch_values
from whence.model.expert import RESOLUTION, TIE
from whence.model.mdp import LabeledMDP
from whence.model.product import with_blank

HALF = 0.5  # of a step's delay: what gains less is not gone for
USUAL = 0.5  # a harmful outcome of an action that is less likely is an accident
WORTH = 1e-9  # times the largest reward: where less can be had, nothing is wanted
DENSE = 150  # places up to which all visits are solved for at once
FAINT, LEFT = 1e-7, 1e-4  # mass that is let go: of one place, and of all
MOST_ACTIVE, MOST_STEPS = 4096, 5_000  # places that are followed together, and how long
ROOM = 20_000_000  # values that are held at the same time


Steps = tuple[Ints, Ints, Ints, Floats, Ints]  # places; and source, target, chance, symbol


class Goal(NamedTuple):
    """A machine that an agent optimises: int64[n, m], float64[n, m], and a discount."""

    transitions: Ints
    rewards: Floats
    discount: float


@dataclass(frozen=True, eq=False)
class Agent:
    """How an optimal agent gets from one wanted label to the next; R places, E steps.

    A place is a world's state together with the machine's. Places where nothing more is wanted
    have no steps.

    Attributes:
        start: float64[R], how likely it begins in each place.
        memory: int64[R], the machine's state there.
        source: int64[E], ascending.
        target: int64[E].
        chance: float64[E]; equally good actions share evenly, accidents are left out.
        symbol: int64[E], the wanted label that is read, as an index of the alphabet, or -1.
    """

    start: Floats
    memory: Ints
    source: Ints
    target: Ints
    chance: Floats
    symbol: Ints

    @cached_property
    def _silent(self) -> tuple[Ints, Ints, Floats]:
        """Return the steps that read nothing wanted: offsets by place, targets, chances."""
        quiet = self.symbol == BLANK
        source = self.source[quiet]
        offsets = np.searchsorted(source, np.arange(len(self.start) + 1))
        return offsets, self.target[quiet], self.chance[quiet]

    @cached_property
    def _visits(self) -> Floats:
        """Return float64[R, R]: expected visits to each place before a wanted label is read."""
        offsets, target, chance = self._silent
        size = len(self.start)
        moves = np.zeros((size, size))
        np.add.at(moves, (np.repeat(np.arange(size), np.diff(offsets)), target), chance)
        return np.asarray(np.linalg.inv(np.eye(size) - (1 - 1e-12) * moves))

    def following(self, belief: Floats) -> dict[int, Floats]:
        """Return, for each label that may be the next wanted one, float64[R].

        The sum of an entry is how likely that label is next, and the entry where it leaves the
        agent.

        Args:
            belief: float64[R], where the agent is.
        """
        visits = belief @ self._visits if len(self.start) <= DENSE else self._walked(belief)
        loud = np.flatnonzero(self.symbol != BLANK)
        flow = visits[self.source[loud]] * self.chance[loud]
        found = {}
        for symbol in np.unique(self.symbol[loud]).tolist():
            part = self.symbol[loud] == symbol
            mass = np.bincount(self.target[loud[part]], flow[part], len(self.start))
            if mass.sum() > 0:
                found[symbol] = mass.astype(np.float64)
        return found

    def _walked(self, belief: Floats) -> Floats:
        """Return float64[R]: expected visits, by carrying the belief forward step by step."""
        from whence.analysis.heading_kernel import carry_belief

        size = len(belief)
        mass, visits, ahead = np.where(belief > FAINT, belief, 0.0), np.zeros(size), np.zeros(size)
        place, fresh = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        active = np.flatnonzero(mass)
        place[: len(active)] = active
        progress = np.array([len(active), MOST_STEPS, MOST_ACTIVE, 0])
        limits = np.array([FAINT, LEFT])
        while progress[1] and not progress[3]:
            if progress[0] > MOST_ACTIVE:
                _thin(place[: progress[0]], mass)
                progress[0] = MOST_ACTIVE
            carry_belief(*self._silent, place, mass, visits, fresh, ahead, limits, progress)
        return visits


def _thin(place: Ints, mass: Floats) -> None:
    """Keep the likeliest of places, which come first then, with the mass of all of them."""
    own = mass[place]
    kept = np.sort(np.argpartition(-own, MOST_ACTIVE)[:MOST_ACTIVE])
    mass[place] = 0.0
    place[:MOST_ACTIVE] = place[kept]
    mass[place[:MOST_ACTIVE]] = own[kept] * (own.sum() / own[kept].sum())


def agent(worlds: Sequence[LabeledMDP], alphabet: tuple[str, ...], goal: Goal,
          values: Sequence[Floats]) -> Agent:  # fmt: skip
    """Return the agent in all worlds, each of which is as likely as another.

    Args:
        worlds: each with its initial states.
        alphabet: the columns of the goal's tables.
        goal: what the agent optimises.
        values: float64[n, S] for each world.
    """
    parts = [
        _in_world(mdp, _restricted(goal, mdp, alphabet), own)
        for mdp, own in zip(worlds, values, strict=True)
    ]
    first = np.cumsum([0, *(len(part.start) for part in parts)])
    columns = []
    for part, mdp, shift in zip(parts, worlds, first.tolist(), strict=False):
        column = np.array([*(alphabet.index(symbol) for symbol in mdp.alphabet), BLANK])
        columns.append(
            (part.start / len(parts), part.memory, part.source + shift, part.target + shift,
             part.chance, column[part.symbol])
        )  # fmt: skip
    return Agent(*(frozen_own(np.concatenate(each)) for each in zip(*columns, strict=True)))


def _restricted(goal: Goal, mdp: LabeledMDP, alphabet: tuple[str, ...]) -> Goal:
    """Return the goal with the columns of a world's own alphabet."""
    own = [alphabet.index(symbol) for symbol in mdp.alphabet]
    return Goal(goal.transitions[:, own], goal.rewards[:, own], goal.discount)


def values_of(
    worlds: Sequence[LabeledMDP], alphabet: tuple[str, ...], goals: Sequence[Goal]
) -> list[list[Floats]]:
    """Return the optimal values float64[n, S] of each goal in each world, to the last digits."""
    result: list[list[Floats]] = [[] for _ in goals]
    for mdp in worlds:
        own = [_restricted(goal, mdp, alphabet) for goal in goals]
        for discount in sorted({goal.discount for goal in goals}):
            chosen = [at for at, goal in enumerate(goals) if goal.discount == discount]
            most = max(len(own[at].transitions) for at in chosen)
            block = max(1, ROOM // (most * mdp.n_states))
            for first in range(0, len(chosen), block):
                some = chosen[first : first + block]
                found = _batch(mdp, [own[at] for at in some], discount)
                for at, values in zip(some, found, strict=True):
                    result[at].append(values[: len(own[at].transitions)])
    return result


def _batch(mdp: LabeledMDP, goals: Sequence[Goal], discount: float) -> Floats:
    """Return float64[B, n, S], the values of goals of one discount."""
    counts = np.array([len(goal.transitions) for goal in goals])
    shape = (len(goals), int(counts.max()), len(mdp.alphabet))
    transitions = np.broadcast_to(np.arange(shape[1])[None, :, None], shape).copy()
    rewards = np.zeros(shape)
    for at, goal in enumerate(goals):
        transitions[at, : counts[at]], rewards[at, : counts[at]] = goal.transitions, goal.rewards
    largest = float(np.abs(rewards).max(initial=0.0)) / (1 - discount)
    tolerance = FINEST_VALUE * max(1.0, largest)
    return batch_values(mdp, (transitions, rewards, counts), discount, tolerance)


def _in_world(mdp: LabeledMDP, goal: Goal, values: Floats) -> Agent:
    """Return the agent in one world, symbols by the world's own alphabet."""
    places, *steps = _followed(mdp, goal, values)
    start = np.zeros(len(places))
    start[: len(mdp.initial_states)] = mdp.initial_probabilities
    return Agent(start, places // mdp.n_states, *steps)


def _followed(mdp: LabeledMDP, goal: Goal, values: Floats) -> Steps:
    """Return the places that best actions lead to, the initial ones first, and the steps there."""
    from whence.analysis.heading_kernel import follow_best

    following, paid = with_blank(goal.transitions, goal.rewards)
    as_good = _as_good(mdp, goal)
    bounds = np.array([goal.discount, worth(goal), *_least(goal), TIE, as_good, USUAL])
    count = len(mdp.initial_states)
    places, number = np.zeros(values.size, np.int64), np.full(values.size, -1, np.int64)
    places[:count] = mdp.initial_states
    number[mdp.initial_states] = np.arange(count)
    found: Steps = follow_best(
        mdp.offsets, mdp.successors, mdp.probabilities, mdp.labels, following.astype(np.int64),
        paid, np.array(values), bounds, places, number, np.empty(mdp.n_actions), count,
    )  # fmt: skip
    return found


def worth(goal: Goal) -> float:
    """Return the value up to which nothing is wanted any more."""
    return WORTH * float(np.abs(goal.rewards).max(initial=0.0))


def _as_good(mdp: LabeledMDP, goal: Goal) -> float:
    """Return how close to the best action's value others are as good, as a share of it.

    Where the dynamics are estimated from a log, counts decide between actions that are as good, so
    half a step's delay decides nothing there. Whatever is taken still gains half a step.
    """
    return RESOLUTION if mdp.unseen is None else max(RESOLUTION, HALF * (1 - goal.discount))


def judged(goal: Goal, gain: Floats, reading: Floats, event: Bools) -> tuple[Bools, Bools]:
    """Return which labels are wanted, and which are harmful.

    Args:
        goal: what the agent optimises.
        gain: what reading each is worth beside not having read it.
        reading: what can be had after reading each, itself included.
        event: whether reading it changes the machine's state, or is paid.
    """
    least, delay = _least(goal)
    wanted = event & (gain > np.maximum(least, delay * np.abs(reading)))
    harmful = event & (gain < -np.maximum(least, delay * np.abs(reading - gain)))
    return wanted, harmful


def _least(goal: Goal) -> tuple[float, float]:
    """Return the least gain that counts, and what of a value half a step's delay costs."""
    least = TIE * float(np.abs(goal.rewards).max(initial=0.0))
    return least, HALF * (1 - goal.discount) * (1 + TIE)  # what is just that much is not more
