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

from whence._arrays import BLANK, Bools, Floats, Ints, concatenated_ranges, frozen_own, offsets_of
from whence.likelihood.compiled import FINEST_VALUE
from whence.likelihood.values import batch_values
from whence.model.expert import TIE, best_actions, evenly
from whence.model.mdp import LabeledMDP
from whence.model.product import with_blank

HALF = 0.5  # of a step's delay: what gains less is not gone for
USUAL = 0.5  # a harmful outcome of an action that is less likely is an accident
WORTH = 1e-9  # times the largest reward: where less can be had, nothing is wanted
DENSE = 150  # places up to which all visits are solved for at once
FAINT, LEFT = 1e-7, 1e-4  # mass that is let go: of one place, and of all
MOST_ACTIVE, MOST_STEPS = 4096, 5_000  # places that are followed together, and how long
ROOM = 20_000_000  # values that are held at the same time
AT_ONCE = 4_000  # places up to which the steps of all are worked out together


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
        found = {}
        for symbol, steps in self._loud:
            flow = visits[self.source[steps]] * self.chance[steps]
            mass = np.bincount(self.target[steps], flow, len(self.start))
            if mass.sum() > 0:
                found[symbol] = mass.astype(np.float64)
        return found

    @cached_property
    def _loud(self) -> list[tuple[int, Ints]]:
        """Return each label that may be wanted, with the steps that read it."""
        wanted = np.unique(self.symbol[self.symbol != BLANK]).tolist()
        return [(symbol, np.flatnonzero(self.symbol == symbol)) for symbol in wanted]

    def _walked(self, belief: Floats) -> Floats:
        """Return float64[R]: expected visits, by carrying the belief forward step by step."""
        from whence.analysis.carrying import carry

        visits = np.zeros(len(belief))
        few = carry(belief, *self._silent, FAINT, LEFT, MOST_ACTIVE, MOST_STEPS, visits)
        return visits if few else self._walked_by_many(belief)

    def _walked_by_many(self, belief: Floats) -> Floats:
        """Do as `_walked` does; of too many places at a time, the likeliest are followed."""
        offsets, target, chance = self._silent
        visits = np.zeros(len(belief))
        place = np.flatnonzero(belief > FAINT)
        mass = belief[place]
        for _ in range(MOST_STEPS):
            if len(place) > MOST_ACTIVE:
                kept = np.sort(np.argpartition(-mass, MOST_ACTIVE)[:MOST_ACTIVE])
                place, mass = place[kept], mass[kept] * (mass.sum() / mass[kept].sum())
            visits[place] += mass
            entry = concatenated_ranges(offsets[place], offsets[place + 1])
            flow = np.repeat(mass, offsets[place + 1] - offsets[place]) * chance[entry]
            place, inverse = np.unique(target[entry], return_inverse=True)
            mass = np.bincount(inverse.reshape(-1), flow, len(place)).astype(np.float64)
            strong = mass > FAINT
            place, mass = place[strong], mass[strong]
            if mass.sum() < LEFT:
                break
        return visits


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


class _Steps(NamedTuple):
    """Steps of an optimal agent: place in the frontier, target's number in the product, ..."""

    origin: Ints
    target: Ints
    chance: Floats
    symbol: Ints


def _in_world(mdp: LabeledMDP, goal: Goal, values: Floats) -> Agent:
    """Return the agent in one world, symbols by the world's own alphabet."""
    size = mdp.n_states
    alive = values.reshape(-1) > worth(goal)
    frontier = mdp.initial_states.astype(np.int64)
    if values.size <= AT_ONCE:
        return _looked_up(mdp, alive, _steps(mdp, goal, values, np.flatnonzero(alive)))
    number = np.full(values.size, -1, dtype=np.int64)
    number[frontier] = np.arange(len(frontier))
    places, parts, count = [frontier], [], len(frontier)
    while len(frontier):
        live = frontier[alive[frontier]]
        steps = _steps(mdp, goal, values, live)
        fresh = np.unique(steps.target[number[steps.target] < 0])
        number[fresh] = np.arange(count, count + len(fresh))
        count += len(fresh)
        parts.append((number[live][steps.origin], number[steps.target], *steps[2:]))
        places.append(fresh)
        frontier = fresh
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Agent(_begun(mdp, count), np.concatenate(places) // size, *columns)


def _looked_up(mdp: LabeledMDP, alive: Bools, every: _Steps) -> Agent:
    """Return the agent in one world, from the steps of all places where something is wanted.

    Args:
        mdp: the world.
        alive: bool[P], those places.
        every: their steps, by place.
    """
    from whence.analysis.carrying import reach

    counts = np.zeros(len(alive), dtype=np.int64)
    counts[alive] = np.bincount(every.origin, minlength=int(alive.sum()))
    offsets = offsets_of(counts)
    number, order = np.full(len(alive), -1, dtype=np.int64), np.empty(len(alive), dtype=np.int64)
    starts = mdp.initial_states.astype(np.int64)
    places = order[: reach(starts, offsets, every.target, number, order)]
    entry = concatenated_ranges(offsets[places], offsets[places + 1])
    source = np.repeat(np.arange(len(places)), counts[places])
    columns = number[every.target[entry]], every.chance[entry], every.symbol[entry]
    return Agent(_begun(mdp, len(places)), places // mdp.n_states, source, *columns)


def _begun(mdp: LabeledMDP, count: int) -> Floats:
    """Return float64[count], how likely one begins in each place."""
    start = np.zeros(count)
    start[: len(mdp.initial_states)] = mdp.initial_probabilities
    return start


def worth(goal: Goal) -> float:
    """Return the value up to which nothing is wanted any more."""
    return WORTH * float(np.abs(goal.rewards).max(initial=0.0))


def _steps(mdp: LabeledMDP, goal: Goal, values: Floats, frontier: Ints) -> _Steps:
    """Return what best actions do in places, given as machine state * S + world state."""
    memory, state = np.divmod(frontier, mdp.n_states)
    pairs = (state[:, None] * mdp.n_actions + np.arange(mdp.n_actions)).reshape(-1)
    counts = mdp.offsets[pairs + 1] - mdp.offsets[pairs]
    entry = concatenated_ranges(mdp.offsets[pairs], mdp.offsets[pairs + 1])
    pair = np.repeat(np.arange(len(pairs)), counts)
    origin = pair // mdp.n_actions
    entered = mdp.successors[entry]
    symbol = mdp.labels[entered]
    following, paid = with_blank(goal.transitions, goal.rewards)
    before = memory[origin]
    after, reward = following[before, symbol], paid[before, symbol]
    chance = mdp.probabilities[entry]
    worth_of = reward + goal.discount * values[after, entered]
    q = np.bincount(pair, chance * worth_of, len(pairs)).astype(np.float64)
    taken = evenly(best_actions(q.reshape(-1, mdp.n_actions))).reshape(-1)[pair]
    gain = worth_of - goal.discount * values[before, entered]
    wanted, harmful = judged(goal, gain, worth_of, (after != before) | (reward != 0))
    accident = harmful & (after != before) & (chance < USUAL)
    kept = (taken > 0) & ~accident
    target = after.astype(np.int64) * mdp.n_states + entered
    read = np.where(wanted, symbol, BLANK).astype(np.int64)
    return _Steps(origin[kept], target[kept], (taken * chance)[kept], read[kept])


def judged(goal: Goal, gain: Floats, reading: Floats, event: Bools) -> tuple[Bools, Bools]:
    """Return which labels are wanted, and which are harmful.

    Args:
        goal: what the agent optimises.
        gain: what reading each is worth beside not having read it.
        reading: what can be had after reading each, itself included.
        event: whether reading it changes the machine's state, or is paid.
    """
    least = TIE * float(np.abs(goal.rewards).max(initial=0.0))
    delay = HALF * (1 - goal.discount) * (1 + TIE)  # what is just that much is not more
    wanted = event & (gain > np.maximum(least, delay * np.abs(reading)))
    harmful = event & (gain < -np.maximum(least, delay * np.abs(reading - gain)))
    return wanted, harmful
