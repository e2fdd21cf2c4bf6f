"""How likely every demonstrated step is under a machine, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whence._arrays import BLANK, Floats, Ints, concatenated_ranges, frozen_own, offsets_of
from whence.likelihood.values import expert_q
from whence.model.checks import step_labels, step_states, translated_history
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import restricted, with_blank


@dataclass(frozen=True, eq=False, repr=False)
class Steps:
    """Every demonstrated step under a machine; worlds one after the other.

    Attributes:
        log_likelihood: float64[T], log P(a | s, y) of the action taken.
        mean: float64[T], what the expert's own actions have there on average:
            sum over a of P(a) log P(a).
        variance: float64[T], how much that varies: sum over a of P(a) (log P(a) - mean)^2.
        surprise: float64[T], -1/2 log P(a) - log(sum over b of P(b)^1/2).
        offsets: int64[E + 1], where each episode's steps begin.
        world: int64[E], the number of each episode's world.
        number: int64[E], each episode's number in that world's demonstrations.
    """

    log_likelihood: Floats
    mean: Floats
    variance: Floats
    surprise: Floats
    offsets: Ints
    world: Ints
    number: Ints

    def by_episode(self, values: Floats) -> Floats:
        """Return float64[E]: the sums of some values of the steps, float64[T]."""
        episode = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        sums = np.bincount(episode, weights=values, minlength=len(self.offsets) - 1)
        return sums.astype(np.float64)

    def __repr__(self) -> str:
        return f"<Steps: {len(self.log_likelihood)} steps of {len(self.world)} episodes>"


def steps(
    worlds: Sequence[tuple[LabeledMDP, Demonstrations]], machine: RewardMachine, expert: Expert
) -> Steps:
    """Return how likely every demonstrated step is under a machine.

    Args:
        worlds: each with its demonstrations.
        machine: reads every symbol that a world shows; it need not be valid.
        expert: who demonstrates.
    """
    parts = [_world_steps(mdp, demos, machine, expert) for mdp, demos in worlds]
    counts = [len(demos) for _, demos in worlds]
    lengths = np.concatenate([demos.lengths for _, demos in worlds])
    columns = [frozen_own(np.concatenate(column)) for column in zip(*parts, strict=True)]
    return Steps(
        log_likelihood=columns[0],
        mean=columns[1],
        variance=columns[2],
        surprise=columns[3],
        offsets=frozen_own(offsets_of(lengths)),
        world=frozen_own(np.repeat(np.arange(len(counts)), counts)),
        number=frozen_own(np.concatenate([np.arange(count) for count in counts])),
    )


def _world_steps(
    mdp: LabeledMDP, demos: Demonstrations, machine: RewardMachine, expert: Expert
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the log likelihood, mean, variance and surprise of one world's steps.

    What is told of an expert is worked out where something was done, not in every state.
    """
    here = restricted(machine, mdp)
    memory = machine_states(mdp, demos, here)
    place = memory * mdp.n_states + demos.states[step_states(demos)]
    places, row = np.unique(place, return_inverse=True)
    q = expert_q(mdp, here, expert)[places // mdp.n_states, places % mdp.n_states]
    log_p = expert.log_action_probabilities(q)
    chance = np.exp(log_p)
    known = np.where(chance > 0, log_p, 0.0)
    mean = (chance * known).sum(axis=1)
    variance = (chance * (known - mean[:, None]) ** 2).sum(axis=1)
    row = row.reshape(-1)
    taken = log_p[row, demos.actions]
    surprise = -0.5 * taken - np.log(np.sqrt(chance).sum(axis=1))[row]
    return taken, mean[row], variance[row], surprise


def log_policy(mdp: LabeledMDP, machine: RewardMachine, expert: Expert) -> Floats:
    """Return float64[n, S, A]: log P(a | s, y) of an expert who wants what the machine pays.

    The machine reads the world's symbols, in the world's order.
    """
    return expert.log_action_probabilities(expert_q(mdp, machine, expert))


def machine_states(mdp: LabeledMDP, demos: Demonstrations, machine: RewardMachine) -> Ints:
    """Return int64[T]: the machine's state at every step.

    What is read before a step, label by label, is a row of maps from state to state; the
    beginning of an episode is the map that leads to 0 from everywhere. Neighbouring maps are
    composed, then those at distance 2, 4, ... until every map reaches back to a beginning.
    """
    maps, last, longest = _events(mdp, demos, machine)
    distance = 1
    while distance < longest:
        earlier = maps[:-distance]
        maps[distance:] = np.take_along_axis(maps[distance:], earlier, axis=1)
        distance *= 2
    return np.asarray(maps[last, 0])


def _events(
    mdp: LabeledMDP, demos: Demonstrations, machine: RewardMachine
) -> tuple[Ints, Ints, int]:
    """Return the maps, int64[events, n], the last one before each step, and the longest row.

    The events of an episode are its beginning, its history, and what is entered in its steps.
    """
    symbols, place = _symbols(mdp, demos)
    reading = symbols != BLANK
    position = np.cumsum(reading) - 1
    following, _ = with_blank(machine.transitions, machine.rewards)
    table = np.vstack([following[:, :-1].T, np.zeros(machine.n_states, dtype=np.int64)])
    maps = table[symbols[reading]].astype(np.int64)
    begins = position[symbols == len(mdp.alphabet)]
    rows = np.diff(np.append(begins, len(maps)))
    return maps, position[place], int(rows.max(initial=1))


def _symbols(mdp: LabeledMDP, demos: Demonstrations) -> tuple[Ints, Ints]:
    """Return what is read, episode after episode, and where among it each step stands.

    m is the beginning of an episode, -1 blank. A step stands at the label of its own state, the
    first one of an episode at what was read last before it.
    """
    before = np.diff(demos.history_offsets)
    sizes = 1 + before + np.maximum(demos.lengths - 1, 0)
    first = offsets_of(sizes)[:-1]
    result = np.full(int(sizes.sum()), BLANK, dtype=np.int64)
    result[first] = len(mdp.alphabet)
    result[concatenated_ranges(first + 1, first + 1 + before)] = translated_history(mdp, demos)
    place = concatenated_ranges(first + before, first + before + demos.lengths)
    entered = np.ones(demos.n_steps, dtype=np.bool_)
    entered[demos.action_offsets[:-1][demos.lengths > 0]] = False
    labels = step_labels(mdp, demos)[step_states(demos)]
    result[place[entered]] = labels[entered]
    return result, place
