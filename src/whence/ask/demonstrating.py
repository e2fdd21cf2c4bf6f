"""Where a demonstration would tell most: a state to start from, and labels already read.

Two machines that differ in their facts are told apart best from where an episode settles the
matter whichever of them it is, by the expected log Bayes factor, which is computed exactly for all
states and all that may have been read (`whence.analysis.design`). Of these few starts, each is
judged over the whole sample: experts of all machines, by their weights, set out from there, and
what an episode says about the facts is averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.analysis.design import Acting, settling, told_everywhere
from whence.ask.belief import Belief
from whence.ask.information import Aim, Estimate
from whence.model.expert import BOLTZMANN, SOFT, Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import restricted, with_blank
from whence.planning.simulation import cumulative

LENGTH = 60  # steps of a demonstration
EPISODES = 300  # that a start is judged by
MOST, ROOM = 200, 20_000_000  # machines that act, and how many of their numbers are held
COMPARED = 3  # facts whose heaviest machines are told apart
LONGEST = 3  # labels already read
LARGEST = 200_000  # joint states that starts are looked for in


class Place(NamedTuple):
    """Where to start: a world's number, its state, and the symbols already read."""

    world: int
    state: int
    history: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Crowd:
    """The experts of K machines in one world.

    Attributes:
        mdp: the world.
        following: int64[K, n, m + 1], where machines go; the last column is blank.
        log_p: float64[K, n, S, A], how likely each takes each action.
    """

    mdp: LabeledMDP
    following: Ints
    log_p: Floats

    def after(self, history: tuple[str, ...]) -> Ints:
        """Return int64[K], the machines' states after some labels."""
        state = np.zeros(len(self.following), dtype=np.int64)
        for label in history:
            state = self.following[np.arange(len(state)), state, self.mdp.alphabet.index(label)]
        return state

    def episodes(
        self, rng: np.random.Generator, actor: Ints, start: int, memory: Ints, length: int
    ) -> Floats:
        """Return float64[N, K]: log likelihoods of episodes under all machines.

        Args:
            rng: of every choice.
            actor: int64[N], which machine's expert acts in each.
            start: the world's state.
            memory: int64[K], the machines' states there.
            length: the number of steps.
        """
        count, every = len(actor), np.arange(len(self.following))
        own = np.arange(count)
        states = np.full(count, start)
        memories = np.tile(memory, (count, 1))
        result = np.zeros((count, len(every)))
        for _ in range(length):
            chances = np.exp(self.log_p[actor, memories[own, actor], states])
            action = (rng.random(count)[:, None] >= cumulative(chances)).sum(axis=1)
            result += self.log_p[every, memories, states[:, None], action[:, None]]
            states = self._entered(states, action, rng.random(count))
            labels = self.mdp.labels[states]
            memories = self.following[every, memories, labels[:, None]]
        return result

    def _entered(self, states: Ints, action: Ints, draws: Floats) -> Ints:
        """Return int64[N], a successor of each state and action."""
        mdp = self.mdp
        pair = states * mdp.n_actions + action
        first, last = mdp.offsets[pair], mdp.offsets[pair + 1] - 1
        before = np.concatenate([[0.0], np.cumsum(mdp.probabilities)])
        low, high = before[first], before[last + 1]
        found = np.searchsorted(before, low + draws * (high - low), side="right") - 1
        return np.asarray(mdp.successors[np.clip(found, first, last)]).astype(np.int64)


def actors(known: Belief) -> int:
    """Return how many of the heaviest machines act."""
    worlds, n = known.sample.worlds, known.transitions.shape[1]
    size = n * max(mdp.n_states * mdp.n_actions for mdp in worlds)
    return int(min(known.size, MOST, max(2, ROOM // size)))


def crowd(known: Belief, number: int) -> Crowd:
    """Return the experts of the heaviest machines in a world."""
    mdp, n = known.sample.worlds[number], known.transitions.shape[1]
    parts, log_p = [], []
    for k in range(actors(known)):
        acting = Acting.of(mdp, _machine(known, k), expert_of(known, k))
        behind = np.arange(len(acting.transitions), n)[:, None]
        padded = np.vstack(
            [acting.transitions, np.broadcast_to(behind, (len(behind), len(mdp.alphabet)))]
        )
        parts.append(with_blank(padded, np.zeros(padded.shape))[0])
        more = ((0, n - len(acting.log_p)), (0, 0), (0, 0))
        log_p.append(np.pad(acting.log_p, more))
    return Crowd(mdp, np.array(parts, dtype=np.int64), np.array(log_p))


def judged(aim: Aim, crowd: Crowd, place: Place, history: tuple[str, ...], seed: int) -> Estimate:
    """Return what a demonstration from a place is expected to tell."""
    count = len(crowd.following)
    share = aim.weight[:count] / aim.weight[:count].sum()
    rng = np.random.default_rng([seed, place.world, place.state, *place.history])
    actor = rng.choice(count, size=EPISODES, p=share)
    memory = crowd.after(history)
    found = crowd.episodes(rng, actor, place.state, memory, LENGTH)
    loss = None if aim.loss is None else aim.loss[:, :count]
    return Aim(share, aim.fact[:count], loss).of_episodes(found)


def starts(known: Belief, number: int) -> list[Place]:
    """Return where experts of different facts are told apart best, in one world."""
    mdp = known.sample.worlds[number]
    _, first = np.unique(known.fact, return_index=True)
    heads = np.sort(first)[:COMPARED].tolist()
    found: dict[Place, None] = {}
    for one, other in combinations(heads, 2):
        machines = [restricted(_machine(known, k), mdp) for k in (one, other)]
        if machines[0].n_states * machines[1].n_states * mdp.n_states > LARGEST:
            continue
        pair = [Acting.of(mdp, m, expert_of(known, k)) for m, k in
                zip(machines, (one, other), strict=True)]  # fmt: skip
        share = known.weight[one] / (known.weight[one] + known.weight[other])
        there, targets = told_everywhere(mdp, pair[0], pair[1], LENGTH)
        back, _ = told_everywhere(mdp, pair[1], pair[0], LENGTH)
        nats = settling(there, back, share)
        column = [known.sample.alphabet.index(symbol) for symbol in mdp.alphabet]
        for joint, history in _histories(targets):
            if nats[joint].max() >= nats[0].max() * (1 if joint == 0 else 1.2):
                read = tuple(column[symbol] for symbol in history)
                found[Place(number, int(nats[joint].argmax()), read)] = None
        own = mdp.initial_states[nats[0, mdp.initial_states].argmax()]
        found[Place(number, int(own), ())] = None
    return list(found)


def _histories(targets: Ints) -> list[tuple[int, tuple[int, ...]]]:
    """Return the joint states of two machines, each with the shortest sequence that leads there.

    Args:
        targets: int64[J, m], where each joint state leads.
    """
    found: dict[int, tuple[int, ...]] = {0: ()}
    frontier = [0]
    for _ in range(LONGEST):
        fresh = []
        for joint in frontier:
            for symbol, after in enumerate(targets[joint].tolist()):
                if after not in found:
                    found[after] = (*found[joint], symbol)
                    fresh.append(after)
        frontier = fresh
    return list(found.items())


def expert_of(known: Belief, k: int) -> Expert:
    """Return the mean expert of the draws of a machine, at its discount, of its likelier kind."""
    drawn = known.drawn == k
    weight = known.draws.weight[drawn]
    weight = weight / weight.sum()
    alpha, lapse = (float(weight @ column[drawn]) for column in
                    (known.draws.alpha, known.draws.lapse))  # fmt: skip
    kind = SOFT if weight @ known.draws.softly[drawn] > 0.5 else BOLTZMANN
    return Expert(alpha, float(known.draws.discount[drawn][0]), lapse, kind)


def _machine(known: Belief, k: int) -> RewardMachine:
    return known.sample.machines[int(known.kind[k])]
