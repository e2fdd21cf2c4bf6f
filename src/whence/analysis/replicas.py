"""Episodes as an expert would have made them in the place of real ones.

A replica of an episode begins where the real one does, with the same labels already read, and is
as long. Where episodes end because the task is over, it ends by the same rule: e and e' are
drawn given the episodes that the expert was inferred from, and one that ended may last as long
as the longest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whence._arrays import UNSAID, Bools, Floats, Ints, concatenated_ranges, offsets_of
from whence.likelihood.endings import A, B
from whence.likelihood.posterior import Posterior
from whence.likelihood.steps import log_policy
from whence.model.checks import translated_history
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import restricted
from whence.planning.policies import Policy
from whence.planning.simulation import simulate_from

Pairs = Sequence[tuple[LabeledMDP, Demonstrations]]


@dataclass(frozen=True, eq=False)
class Seats:
    """Where the replicas of a world's episodes begin, and how long they may be.

    Attributes:
        mdp: the world.
        demos: the real episodes.
        starts: int64[E].
        histories: the labels read before each, in the world's numbers.
        limits: int64[E], how many steps each may have.
        ends: bool[E], whether it may end before that because the task is over.
        shown: the symbols that are ever read; what a machine pays for others is out of reach.
    """

    mdp: LabeledMDP
    demos: Demonstrations
    starts: Ints
    histories: tuple[Ints, ...]
    limits: Ints
    ends: Bools
    shown: tuple[str, ...]


def replicable(demos: Demonstrations) -> Ints:
    """Return the numbers of the episodes with steps whose labels are the world's own."""
    own = np.ones(len(demos), dtype=np.bool_)
    first = demos.state_offsets[:-1]
    if demos.labels is not None:
        filled = np.diff(demos.state_offsets) > 0
        own[filled] = demos.labels[first[filled]] == UNSAID
    return np.flatnonzero(own & (demos.lengths > 0))


def seats(
    mdp: LabeledMDP,
    demos: Demonstrations,
    longest: int = 0,
    shown: Sequence[str] | None = None,
) -> Seats:
    """Return where replicas of episodes begin.

    Args:
        mdp: the world.
        demos: episodes that have steps and the world's own labels.
        longest: how long episodes may last that ended because the task was over; 0 where
            endings are ignored, and episodes are as long as they are.
        shown: the symbols that are ever read, in other worlds, too; by default the world's.
    """
    read = translated_history(mdp, demos)
    rows = zip(demos.history_offsets[:-1], demos.history_offsets[1:], strict=True)
    ends = np.zeros(len(demos), dtype=np.bool_)
    if longest and demos.ended is not None:
        ends = demos.ended >= 0
    over = ends if demos.ended is None else ends & (demos.ended == 1)
    return Seats(
        mdp=mdp,
        demos=demos,
        starts=demos.states[demos.state_offsets[:-1]].astype(np.int64),
        histories=tuple(read[begin:end] for begin, end in rows),
        limits=np.where(over, np.maximum(longest, demos.lengths), demos.lengths),
        ends=ends,
        shown=_symbols(mdp) if shown is None else tuple(shown),
    )


def replica(
    place: Seats,
    machine: RewardMachine,
    expert: Expert,
    rates: tuple[float, float] | None,
    rng: np.random.Generator,
) -> Demonstrations:
    """Return the episodes that an expert makes in the place of real ones.

    Args:
        place: where they begin.
        machine: what the expert is paid by.
        expert: how it acts.
        rates: e and e', where endings count.
        rng: of every random choice.
    """
    here = restricted(machine, place.mdp)
    policy = Policy(here, np.exp(log_policy(place.mdp, here, expert)), expert.discount)
    begun = np.array([_read(here, labels) for labels in place.histories], dtype=np.int64)
    states, memory, actions = simulate_from(
        place.mdp, policy, place.starts, begun, place.limits, rng
    )
    lengths, ended = place.limits, None
    if rates is not None and place.ends.any():
        lengths, ended = _ends(place, _dead(machine, place.shown)[memory], rates, rng)
    return _cut(place, states, actions, lengths, ended)


def drawn_rates(
    posterior: Posterior, machine: RewardMachine, rng: np.random.Generator
) -> tuple[float, float] | None:
    """Return e and e' given the demonstrations and a machine; None where endings are ignored."""
    term = posterior.ending_term
    if term is None:
        return None
    own = machine.over(posterior.alphabet)
    went_on, ended = term.dead(own.transitions[None], own.rewards[None])[0].tolist()
    live_ended, live_went_on = term.ended - ended, term.went_on - went_on
    return (
        float(rng.beta(A + went_on, B + ended)),
        float(rng.beta(A + live_ended, B + live_went_on)),
    )


def _read(machine: RewardMachine, labels: Ints) -> int:
    state = 0
    for label in labels.tolist():
        state = int(machine.transitions[state, label])
    return state


def _symbols(mdp: LabeledMDP) -> tuple[str, ...]:
    """Return the symbols that a world's states show."""
    return tuple(mdp.alphabet[label] for label in np.unique(mdp.labels[mdp.labels >= 0]).tolist())


def _dead(machine: RewardMachine, shown: Sequence[str]) -> Bools:
    """Return bool[n]: from where nothing is paid any more, whatever symbols come."""
    columns = np.array([machine.index(symbol) for symbol in shown], dtype=np.int64)
    pays = (machine.rewards[:, columns] != 0).any(axis=1)
    for _ in range(machine.n_states):
        pays = pays | pays[machine.transitions[:, columns]].any(axis=1)
    return np.asarray(~pays)


def _ends(
    place: Seats, dead: Bools, rates: tuple[float, float], rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return how long each episode is, and whether it ended because the task was over."""
    chance: Floats = np.where(dead, 1 - rates[0], rates[1])
    over = rng.random(len(dead)) < chance
    offsets = offsets_of(place.limits + 1)
    over[offsets[:-1]] = False  # the first state is not entered
    lengths, ended = place.limits.copy(), np.where(place.ends, 0, -1)
    for episode in np.flatnonzero(place.ends).tolist():
        steps = over[offsets[episode] : offsets[episode + 1]]
        if steps.any():
            lengths[episode], ended[episode] = int(np.argmax(steps)), 1
    return lengths, ended


def _cut(
    place: Seats, states: Ints, actions: Ints, lengths: Ints, ended: Ints | None
) -> Demonstrations:
    """Return episodes of given lengths, with a last state where the real ones have one."""
    real = place.demos
    counts = lengths + np.diff(real.state_offsets) - real.lengths
    first, begins = offsets_of(place.limits + 1)[:-1], offsets_of(place.limits)[:-1]
    return Demonstrations.from_flat(
        states[concatenated_ranges(first, first + counts)],
        offsets_of(counts),
        actions[concatenated_ranges(begins, begins + lengths)],
        offsets_of(lengths),
        alphabet=real.alphabet,
        history=real.history,
        history_offsets=real.history_offsets,
        ended=ended,
    )
