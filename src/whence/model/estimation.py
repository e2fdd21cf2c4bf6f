"""A world estimated from demonstrations alone, where nobody has a model.

With n(s, a, s') the number of times that action a was seen to lead from s to s', and N(s) the
successors seen from s under any action together with s itself,

    P(s' | s, a) = (n(s, a, s') + w [s' in N(s)] / |N(s)|) / (n(s, a) + w),

the mean under a Dirichlet prior of weight w, the smoothing. A pair (s, a) that was never seen
stays put, and the world remembers that nobody saw it; or the state is taken not to have it. From
a state in which episodes ended, and in which nobody ever acted, every action leads to a blank
state `end`: what is read there is read once.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from whence._arrays import BLANK, UNSAID, Floats, Ints
from whence.errors import ArgumentError, DemonstrationsError, WhenceWarning
from whence.model.checks import step_states
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

SMOOTHING = 0.1
AVAILABLE = ("all", "seen")  # which actions a state has
LEFT_A_ACTION = 3  # times, for each action there is, that a state is left to tell which it has
FEW_SHOWN = 0.75  # of all actions: a state that shows fewer probably lacks the others
SHOWN = 5
ADVICE = "give labels={state: symbol}"
END = "end"  # the state after the end, where nothing is read
ALWAYS_PAIRS, PAIRS_A_STEP = 10_000, 10  # state-action pairs that a log may stand for


class Seen(NamedTuple):
    """The transitions that demonstrations show, each once, with counts; all int64[N]."""

    state: Ints
    action: Ints
    successor: Ints
    times: Ints


def estimate(
    demos: Demonstrations,
    *,
    labels: Mapping[str | int, str | None] | None = None,
    alphabet: Iterable[str] | None = None,
    actions: Sequence[str] | None = None,
    smoothing: float = SMOOTHING,
    available: str = "all",
    advice: str = ADVICE,
) -> LabeledMDP:
    """Return the world that demonstrations show; see `LabeledMDP.from_demonstrations`.

    `advice` is what messages say where labels are missing or contradict each other.
    """
    if not 0 <= smoothing < math.inf:
        raise ArgumentError(f"smoothing is {smoothing}; give a finite number of at least 0")
    if available not in AVAILABLE:
        raise ArgumentError(f"available is {available!r}; known are {', '.join(AVAILABLE)}")
    if not len(demos.states):
        raise DemonstrationsError(f"{demos.source}: no states; a world needs at least one")
    n_states = _count(demos.states, demos.state_names)
    _check_pairs(demos, n_states)
    action_names = _actions(demos, actions)
    seen = transitions_seen(demos)
    rows, unseen = _rows(seen, n_states, len(action_names), smoothing)
    over = ended_in(demos)
    if len(over):
        rows, unseen = _ended(over, rows, unseen, n_states, len(action_names))
    named = demos.state_names if not len(over) else _with_end(demos.state_names)
    said = _said(demos, n_states, advice) if labels is None else _given(demos, labels, n_states)
    first = demos.states[demos.state_offsets[:-1][np.diff(demos.state_offsets) > 0]]
    starts, times = np.unique(first, return_counts=True)
    return LabeledMDP.from_triples(
        rows,
        states=n_states + bool(len(over)),
        actions=action_names,
        labels=said + [None] * bool(len(over)),
        alphabet=_alphabet(demos, labels, alphabet),
        initial=list(zip(starts.tolist(), (times / times.sum()).tolist(), strict=True)),
        names=named,
        unseen=unseen,
        unavailable=_not_taken(demos, n_states, action_names) if available == "seen" else None,
        source=demos.source,
    )


def likely_available(demos: Demonstrations) -> str:
    """Return `seen` where states that were left often show few of all actions, else `all`.

    Where an expert lapses now and then, a state that was left three times as often as there are
    actions shows most of those that it has.
    """
    n_actions = len(demos.action_names or ()) or int(demos.actions.max(initial=0)) + 1
    taken = np.zeros((int(demos.states.max(initial=0)) + 1, n_actions), dtype=np.int64)
    np.add.at(taken, (demos.states[step_states(demos)], demos.actions), 1)
    often = taken[taken.sum(axis=1) >= LEFT_A_ACTION * n_actions]
    return "seen" if len(often) and float((often > 0).mean()) < FEW_SHOWN else "all"


def ended_in(demos: Demonstrations) -> Ints:
    """Return the states in which episodes ended because the task was over and nobody acted."""
    if demos.ended is None:
        return np.zeros(0, dtype=np.int64)
    last = demos.states[demos.state_offsets[1:][demos.ended == 1] - 1]
    return np.setdiff1d(last, demos.states[step_states(demos)]).astype(np.int64)


def _ended(
    over: Ints, rows: Floats, unseen: Ints, n_states: int, n_actions: int
) -> tuple[Floats, Ints]:
    """Return rows and unseen pairs, with some states leading to a further one that absorbs."""
    kept = ~np.isin(rows[:, 0], over)
    states = np.repeat(np.append(over, n_states), n_actions)
    actions = np.tile(np.arange(n_actions), len(over) + 1)
    columns = states, actions, np.full(len(states), n_states), np.ones(len(states))
    seen = ~np.isin(unseen // n_actions, over)
    return np.concatenate([rows[kept], np.column_stack(columns)]), unseen[seen]


def _with_end(names: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    end = END
    while end in names:
        end = f"({end})"
    return (*names, end)


def _not_taken(demos: Demonstrations, n_states: int, action_names: tuple[str, ...]) -> Ints:
    """Return int64[..., 2]: actions never taken in states that were left by another one.

    Where each of A actions were as likely, 3 A steps would miss one of them with a chance of
    about 5%; a state that was left less often is warned of.
    """
    n_actions = len(action_names)
    times = np.zeros((n_states, n_actions), dtype=np.int64)
    np.add.at(times, (demos.states[step_states(demos)], demos.actions), 1)
    left = times.sum(axis=1)
    missing = (times == 0) & (left > 0)[:, None]
    thin = np.flatnonzero(missing.any(axis=1) & (left < LEFT_A_ACTION * n_actions))
    if len(thin):
        names = demos.state_names
        some = ", ".join(str(s) if names is None else repr(names[s]) for s in thin[:SHOWN])
        more = ", ..." if len(thin) > SHOWN else ""
        warnings.warn(
            f"{demos.source}: {len(thin)} of {int((left > 0).sum())} states were left fewer than "
            f"{LEFT_A_ACTION * n_actions} times, so actions that they have may never have been "
            f"taken: {some}{more}; log more episodes, or take all actions for available",
            WhenceWarning,
            stacklevel=5,
        )
    return np.argwhere(missing)


def transitions_seen(demos: Demonstrations) -> Seen:
    """Return what demonstrations show of the dynamics; a last action's outcome is unknown."""
    here = step_states(demos)
    known = here < np.repeat(demos.state_offsets[1:], demos.lengths) - 1
    columns = (demos.states[here[known]], demos.actions[known], demos.states[here[known] + 1])
    table = np.stack([column.astype(np.int64) for column in columns], axis=1)
    rows, times = np.unique(table.reshape(-1, 3), axis=0, return_counts=True)
    return Seen(rows[:, 0], rows[:, 1], rows[:, 2], times)


def neighbours(seen: Seen, n_states: int) -> tuple[Ints, Ints]:
    """Return pairs (state, successor): those seen under any action, and every state itself."""
    own = np.arange(n_states) * n_states + np.arange(n_states)
    keys = np.unique(np.concatenate([seen.state * n_states + seen.successor, own]))
    return keys // n_states, keys % n_states


def _rows(seen: Seen, n_states: int, n_actions: int, smoothing: float) -> tuple[Floats, Ints]:
    """Return float64[.., 4], rows state, action, successor, probability; and the unseen pairs."""
    pair = seen.state * n_actions + seen.action
    total = np.bincount(pair, weights=seen.times, minlength=n_states * n_actions)
    unseen = np.flatnonzero(total == 0)
    weight = total + smoothing
    parts = [_table(pair, seen.successor, seen.times / weight[pair], n_actions)]
    parts.append(_table(unseen, unseen // n_actions, np.ones(len(unseen)), n_actions))
    if smoothing > 0:
        state, successor = neighbours(seen, n_states)
        share = smoothing / np.bincount(state, minlength=n_states)
        for action in range(n_actions):
            known = total[state * n_actions + action] > 0
            pairs = state[known] * n_actions + action
            chance = share[state[known]] / weight[pairs]
            parts.append(_table(pairs, successor[known], chance, n_actions))
    return np.concatenate(parts), unseen


def _table(pair: Ints, successor: Ints, probability: Floats, n_actions: int) -> Floats:
    return np.column_stack([pair // n_actions, pair % n_actions, successor, probability])


def _count(numbers: Ints, names: tuple[str, ...] | None) -> int:
    return int(numbers.max()) + 1 if names is None else len(names)


def _check_pairs(demos: Demonstrations, n_states: int) -> None:
    """Refuse a log whose numbers stand for far more pairs than it has steps."""
    n_actions = _count(np.append(demos.actions, 0), demos.action_names)
    if n_states * n_actions > ALWAYS_PAIRS + PAIRS_A_STEP * len(demos.states):
        raise DemonstrationsError(
            f"{demos.source}: states up to {n_states - 1} and actions up to {n_actions - 1} make "
            f"{n_states * n_actions:,} pairs, far more than {len(demos.states):,} rows can show; "
            "if the numbers are names, read the table with numbers=False, or write words"
        )


def _actions(demos: Demonstrations, given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the action names: those given, the log's own, or numbers."""
    if given is None and demos.action_names is not None:
        return demos.action_names
    least = int(demos.actions.max(initial=0)) + 1
    names = tuple(str(a) for a in range(least)) if given is None else tuple(given)
    if len(names) < least:
        raise ArgumentError(
            f"actions: {len(names)} names, but {demos.source} has action {least - 1}; name all"
        )
    return names


def _said(demos: Demonstrations, n_states: int, advice: str) -> list[str | None]:
    """Return the label of each state as the log has it; it must always be the same one."""
    if demos.labels is None or (demos.labels == UNSAID).any():
        raise DemonstrationsError(
            f"{demos.source}: no labels; add a column of labels, or {advice}"
        )
    result = np.full(n_states, BLANK, dtype=np.int64)
    result[demos.states] = demos.labels
    wrong = np.flatnonzero(result[demos.states] != demos.labels)
    if len(wrong):
        flat = int(wrong[0])
        episode = int(np.searchsorted(demos.state_offsets, flat, side="right")) - 1
        state = int(demos.states[flat])
        name = state if demos.state_names is None else repr(demos.state_names[state])
        one, two = demos.symbol(int(demos.labels[flat])), demos.symbol(int(result[state]))
        raise DemonstrationsError(
            f"{demos.place(episode, flat - int(demos.state_offsets[episode]))}: state {name} is "
            f"labelled {one!r} here and {two!r} elsewhere; a label belongs to a state: tell the "
            f"states apart, or {advice}"
        )
    return [demos.symbol(int(code)) for code in result.tolist()]


def _given(
    demos: Demonstrations, labels: Mapping[str | int, str | None], n_states: int
) -> list[str | None]:
    """Return the label of each state as the user gives them; what is left out is blank."""
    names = demos.state_names or ()
    index: dict[str | int, int] = {name: state for state, name in enumerate(names)}
    index |= {state: state for state in range(n_states)}
    result: list[str | None] = [None] * n_states
    for name, symbol in labels.items():
        if name not in index:
            some = ", ".join(names[:8]) or f"0 to {n_states - 1}"
            raise ArgumentError(f"labels: the log has no state {name!r}; its states are {some}")
        result[index[name]] = symbol
    return result


def _alphabet(
    demos: Demonstrations,
    labels: Mapping[str | int, str | None] | None,
    alphabet: Iterable[str] | None,
) -> tuple[str, ...] | None:
    if alphabet is not None:
        return tuple(alphabet)
    return demos.alphabet if labels is None else None
