"""Numbers that tell episodes of one expert from those of another.

All of them are read with one machine and one expert that have not seen the episodes, so that real
episodes and replicas are treated alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whence._arrays import BLANK, Bools, Floats, Ints
from whence.likelihood.steps import log_policy, machine_states
from whence.model.checks import step_labels, step_states
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import restricted, with_blank

PHASE, ACTION, LABEL, IN_A_ROW, TURN = "phase", "action", "label", "in a row", "turn back"
SURE, SURPRISE, SPREAD, FIRST_PAY = "sure", "surprise", "spread", "first pay"
LENGTH, ENDED = "length", "ended"
STRENGTHS = (0.0, 0.5, 0.9, 1.0)  # how likely the expert is to take one of the best actions
MOST = 12  # actions and symbols that are looked at, the most frequent
LEAST_LOG = -30.0  # of an action's probability: what is impossible counts as this
TIE = 1e-6  # of the log probability of the best actions

Pairs = Sequence[tuple[LabeledMDP, Demonstrations]]


class Statistic(NamedTuple):
    """What is counted.

    Attributes:
        kind: `phase`, `action`, `label`, `in a row`, `turn back`, `sure`, `surprise`, `spread`,
            `first pay`, `length` or `ended`.
        of: the label, the action, or the strength that is meant; empty where there is none.
        phase: the state of the machine, or -1.
    """

    kind: str
    of: str = ""
    phase: int = -1


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads the episodes of a world with one machine and expert.

    Attributes:
        mdp: the world.
        machine: in its alphabet.
        log_p: float64[n, S, A], log P(a | s, y).
        best: bool[n, S, A], the likeliest actions.
        strength: int64[n, S], how likely they are together, as a place in `STRENGTHS`.
        actions: int64, the actions that are looked at.
        symbols: int64, the symbols that are.
        endings: whether episodes end because the task is over.
    """

    mdp: LabeledMDP
    machine: RewardMachine
    log_p: Floats
    best: Bools
    strength: Ints
    actions: Ints
    symbols: Ints
    endings: bool

    @classmethod
    def of(
        cls,
        mdp: LabeledMDP,
        seen: Demonstrations,
        machine: RewardMachine,
        expert: Expert,
        endings: bool,
    ) -> Reader:
        """Return a reader; episodes that it was inferred from say what is frequent."""
        here = restricted(machine, mdp)
        log_p = np.maximum(log_policy(mdp, here, expert), LEAST_LOG)
        best = log_p >= log_p.max(axis=2, keepdims=True) - TIE
        share = np.where(best, np.exp(log_p), 0.0).sum(axis=2)
        labels = step_labels(mdp, seen)
        return cls(
            mdp=mdp,
            machine=here,
            log_p=log_p,
            best=best,
            strength=np.searchsorted(STRENGTHS[1:-1], share, side="right"),
            actions=_frequent(seen.actions, mdp.n_actions),
            symbols=_frequent(labels[labels != BLANK], len(mdp.alphabet)),
            endings=endings,
        )


def statistics(
    readers: Sequence[Reader], sets: Sequence[Demonstrations]
) -> dict[Statistic, float]:
    """Return every statistic of one set of episodes a world; nan where nothing is counted."""
    sums: dict[Statistic, list[float]] = defaultdict(lambda: [0.0, 0.0])
    surprises: list[Floats] = []
    for reader, demos in zip(readers, sets, strict=True):
        for name, part, whole in _counted(reader, demos):
            sums[name][0] += part
            sums[name][1] += whole
        surprises.append(_by_episode(reader, demos))
    result = {name: part / whole if whole else np.nan for name, (part, whole) in sums.items()}
    each = np.concatenate(surprises)
    if len(each) > 1:
        result[Statistic(SPREAD)] = float(each.std())
    return result


Counted = list[tuple[Statistic, float, float]]


def _counted(reader: Reader, demos: Demonstrations) -> Counted:
    """Return each statistic with what is counted, and out of how much."""
    memory = machine_states(reader.mdp, demos, reader.machine)
    place = step_states(demos)
    state = demos.states[place]
    return [
        *_of_actions(reader, demos, memory, state),
        *_of_labels(reader, demos),
        *_of_turns(demos, place),
        *_of_pay(reader, demos, memory, place),
        *_of_lengths(reader, demos),
    ]


def _of_actions(reader: Reader, demos: Demonstrations, memory: Ints, state: Ints) -> Counted:
    n, actions = reader.machine.n_states, reader.mdp.n_actions
    codes = memory.astype(np.int64) * actions + demos.actions
    counts = np.bincount(codes, minlength=n * actions).reshape(n, actions).astype(np.float64)
    result: Counted = []
    for y in range(n):
        if n > 1:
            result.append((Statistic(PHASE, phase=y), counts[y].sum(), demos.n_steps))
        for a in reader.actions.tolist() if actions > 1 else ():
            name = Statistic(ACTION, reader.mdp.actions[a], y)
            result.append((name, counts[y, a], counts[y].sum()))
    strength = reader.strength[memory, state]
    taken = reader.best[memory, state, demos.actions]
    for at in range(len(STRENGTHS) - 1):
        own = strength == at
        result.append((Statistic(SURE, _strength(at)), float(taken[own].sum()), float(own.sum())))
    logs = reader.log_p[memory, state, demos.actions]
    return [*result, (Statistic(SURPRISE), float(-logs.sum()), demos.n_steps)]


def _of_labels(reader: Reader, demos: Demonstrations) -> Counted:
    labels = step_labels(reader.mdp, demos)
    entered = np.ones(len(labels), dtype=np.bool_)
    entered[demos.state_offsets[:-1][np.diff(demos.state_offsets) > 0]] = False
    read = labels[entered]
    counts = np.bincount(read[read != BLANK], minlength=len(reader.mdp.alphabet))
    result: Counted = [
        (Statistic(LABEL, reader.mdp.alphabet[k]), float(counts[k]), len(read))
        for k in reader.symbols.tolist()
    ]
    episode = np.repeat(np.arange(len(demos)), np.diff(demos.state_offsets))[entered]
    kept = read != BLANK
    rows = np.stack([episode[kept], read[kept]])
    runs = float(kept.any()) + float((rows[:, 1:] != rows[:, :-1]).any(axis=0).sum())
    return [*result, (Statistic(IN_A_ROW), float(kept.sum()), runs)]


def _of_turns(demos: Demonstrations, place: Ints) -> Counted:
    """Count states that are the last but one before them, and not the last one."""
    states = demos.states
    episode = np.repeat(np.arange(len(demos)), np.diff(demos.state_offsets))
    within = episode[2:] == episode[:-2]
    back = within & (states[2:] == states[:-2]) & (states[2:] != states[1:-1])
    return [(Statistic(TURN), float(back.sum()), float(within.sum()))]


def _of_pay(reader: Reader, demos: Demonstrations, memory: Ints, place: Ints) -> Counted:
    """Count the steps of each episode before its first pay, all where nothing is paid."""
    _, paid = with_blank(reader.machine.transitions, reader.machine.rewards)
    labels = step_labels(reader.mdp, demos)
    following = np.minimum(place + 1, len(labels) - 1)
    last = np.repeat(demos.state_offsets[1:] - 1, demos.lengths)
    pays = (paid[memory, labels[following]] != 0) & (place < last)
    steps = np.arange(demos.n_steps) - np.repeat(demos.action_offsets[:-1], demos.lengths) + 1
    until = demos.lengths.astype(np.float64)
    np.minimum.at(until, np.repeat(np.arange(len(demos)), demos.lengths)[pays], steps[pays])
    return [(Statistic(FIRST_PAY), float(until.sum()), len(demos))]


def _of_lengths(reader: Reader, demos: Demonstrations) -> Counted:
    if not reader.endings:
        return []
    over = 0.0 if demos.ended is None else float((demos.ended == 1).sum())
    return [
        (Statistic(LENGTH), float(demos.n_steps), len(demos)),
        (Statistic(ENDED), over, len(demos)),
    ]


def _by_episode(reader: Reader, demos: Demonstrations) -> Floats:
    """Return float64[E], how surprising the actions of each episode are on average."""
    memory = machine_states(reader.mdp, demos, reader.machine)
    logs = reader.log_p[memory, demos.states[step_states(demos)], demos.actions]
    episode = np.repeat(np.arange(len(demos)), demos.lengths)
    sums = np.bincount(episode, weights=-logs, minlength=len(demos))
    return np.asarray(sums[demos.lengths > 0] / demos.lengths[demos.lengths > 0])


def _frequent(codes: Ints, count: int) -> Ints:
    times = np.bincount(codes, minlength=count)
    return np.sort(np.argsort(-times, kind="stable")[:MOST])


def _strength(at: int) -> str:
    low, high = STRENGTHS[at : at + 2]
    return f"{100 * low:.0f} to {100 * high:.0f}%"
