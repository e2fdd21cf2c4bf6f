"""Whether demonstrations fit a world, and where they do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import BLANK, UNSAID, Ints
from whence.errors import DemonstrationsError
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

SHOWN = 20
STRANGE = 2**31 - 1  # in place of the index of a symbol that the world lacks


@dataclass(frozen=True)
class Findings:
    """What does not fit.

    Attributes:
        total: the number of problems.
        problems: the first of them, in the order of the episodes, one message each.
    """

    total: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return self.total == 0

    @property
    def summary(self) -> str:
        """The first problem, and the number of the others."""
        others = self.total - 1
        count = f" (and {others} more problem{'s' * (others > 1)})" if others > 0 else ""
        return self.problems[0] + count if self.total else "nothing is wrong"

    def raise_any(self) -> None:
        """Raise the first problem, with the number of the others."""
        if self.total:
            raise DemonstrationsError(self.summary)


def check(demos: Demonstrations, mdp: LabeledMDP) -> Findings:
    """Compare demonstrations with a world: names, states, actions, transitions, labels."""
    foreign = _foreign_names(demos, mdp)
    if foreign is not None:
        return foreign
    found = [
        _unknown_states(demos, mdp),
        _unknown_actions(demos, mdp),
        _unavailable_actions(demos, mdp),
        _impossible_steps(demos, mdp),
        _unknown_labels(demos, mdp),
        _unknown_history(demos, mdp),
    ]
    episode = np.concatenate([f[0] for f in found])
    position = np.concatenate([f[1] for f in found])
    kind = np.repeat(np.arange(len(found)), [len(f[0]) for f in found])
    first = np.lexsort((kind, position, episode))[:SHOWN]
    messages = tuple(
        _message(demos, mdp, int(kind[i]), int(episode[i]), int(position[i])) for i in first
    )
    return Findings(len(episode), messages)


def episode_of(offsets: Ints, flat: Ints) -> tuple[Ints, Ints]:
    """Return the episode of some flat positions, and the position within it."""
    episode = np.searchsorted(offsets, flat, side="right") - 1
    return episode, flat - offsets[episode]


def step_states(demos: Demonstrations) -> Ints:
    """Return int64[T in all]: where the state of each step stands among the states."""
    surplus = np.diff(demos.state_offsets) - demos.lengths
    shift = np.concatenate([[0], np.cumsum(surplus)])[:-1]
    return np.asarray(np.arange(demos.n_steps) + np.repeat(shift, demos.lengths))


def _foreign_names(demos: Demonstrations, mdp: LabeledMDP) -> Findings | None:
    """Return the problem of names that were numbered without the world and differ from its."""
    for what, names, numbers in (
        ("state", demos.state_names, demos.states),
        ("action", demos.action_names, demos.actions),
    ):
        if names is None:
            continue
        theirs = mdp.state_name if what == "state" else mdp.actions.__getitem__
        limit = mdp.n_states if what == "state" else mdp.n_actions
        strange = [
            number
            for number in np.unique(numbers).tolist()
            if number >= limit or names[number] not in (theirs(number), str(number))
        ]
        if strange:
            mine = names[strange[0]]
            other = repr(theirs(strange[0])) if strange[0] < limit else "none"
            message = (
                f"{demos.source}: {what} {strange[0]} is {mine!r} in the log and {other} in the "
                "world; read the log with the world: from_table(..., mdp=world)"
            )
            return Findings(len(strange), (message,))
    return None


def _unknown_states(demos: Demonstrations, mdp: LabeledMDP) -> tuple[Ints, Ints]:
    return episode_of(demos.state_offsets, np.flatnonzero(demos.states >= mdp.n_states))


def _unknown_actions(demos: Demonstrations, mdp: LabeledMDP) -> tuple[Ints, Ints]:
    return episode_of(demos.action_offsets, np.flatnonzero(demos.actions >= mdp.n_actions))


def _unavailable_actions(demos: Demonstrations, mdp: LabeledMDP) -> tuple[Ints, Ints]:
    """Return the steps that take an action which their state does not have."""
    if not mdp.is_masked:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    state = demos.states[step_states(demos)]
    known = np.flatnonzero((state < mdp.n_states) & (demos.actions < mdp.n_actions))
    closed = known[~mdp.available[state[known], demos.actions[known]]]
    return episode_of(demos.action_offsets, closed)


def _impossible_steps(demos: Demonstrations, mdp: LabeledMDP) -> tuple[Ints, Ints]:
    """Return the steps to a state that the world reaches with probability 0.

    Those that take an action which is not available are found elsewhere.
    """
    here = step_states(demos)
    last_known = np.repeat(demos.state_offsets[1:], demos.lengths) - 1
    steps = np.flatnonzero(here < last_known)
    here = here[steps]
    state, following = demos.states[here].astype(np.int64), demos.states[here + 1]
    action = demos.actions[steps]
    known = (state < mdp.n_states) & (following < mdp.n_states) & (action < mdp.n_actions)
    if mdp.is_masked:
        known[known] = mdp.available[state[known], action[known]]
    steps = steps[known]
    pair = state[known] * mdp.n_actions + action[known]
    steps = steps[~_possible(mdp, pair, following[known])]
    return episode_of(demos.action_offsets, steps)


def _possible(
    mdp: LabeledMDP, pair: Ints, following: Ints
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return bool: whether each pair can lead to each state."""
    pairs, inverse = np.unique(pair * mdp.n_states + following, return_inverse=True)
    row, target = pairs // mdp.n_states, pairs % mdp.n_states
    result = np.zeros(len(pairs), dtype=np.bool_)
    position = mdp.offsets[row].copy()
    open_rows = np.flatnonzero(position < mdp.offsets[row + 1])
    while len(open_rows):
        hit = mdp.successors[position[open_rows]] == target[open_rows]
        result[open_rows[hit]] = True
        position[open_rows] += 1
        open_rows = open_rows[~hit & (position[open_rows] < mdp.offsets[row[open_rows] + 1])]
    return result[inverse.reshape(-1)]


def _unknown_labels(demos: Demonstrations, mdp: LabeledMDP) -> tuple[Ints, Ints]:
    if demos.labels is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    known = np.array([symbol in mdp.alphabet for symbol in demos.alphabet] + [True, True])
    assert UNSAID == -2
    return episode_of(demos.state_offsets, np.flatnonzero(~known[demos.labels]))


def _unknown_history(demos: Demonstrations, mdp: LabeledMDP) -> tuple[Ints, Ints]:
    known = np.array([symbol in mdp.alphabet for symbol in demos.alphabet], dtype=np.bool_)
    return episode_of(demos.history_offsets, np.flatnonzero(~known[demos.history]))


def _shown(demos: Demonstrations, mdp: LabeledMDP, state: int) -> str:
    """Return a state by its name, if the log or the world has one, or its number."""
    names = demos.state_names or mdp.names
    return str(state) if names is None else repr(names[state])


def _message(
    demos: Demonstrations, mdp: LabeledMDP, kind: int, episode: int, position: int
) -> str:
    place = demos.place(episode, position if kind < 5 else None)
    states = demos.states[demos.state_offsets[episode] : demos.state_offsets[episode + 1]]
    actions = demos.actions[demos.action_offsets[episode] : demos.action_offsets[episode + 1]]
    if kind == 0:
        return (
            f"{place}, state {position}: state {states[position]} does not exist; "
            f"the world has {mdp.n_states} states (0 to {mdp.n_states - 1})"
        )
    if kind == 1:
        return (
            f"{place}, step {position}: action {actions[position]} of state "
            f"{states[position]}: the world has {mdp.n_actions} actions "
            f"(0 to {mdp.n_actions - 1})"
        )
    if kind == 2:
        has = [mdp.actions[a] for a in np.flatnonzero(mdp.available[states[position]])]
        return (
            f"{place}, step {position}: action {mdp.actions[actions[position]]!r} is not "
            f"available in state {_shown(demos, mdp, int(states[position]))}, which has "
            f"{', '.join(has)}; correct the step, or the world's unavailable actions"
        )
    if kind == 3:
        return (
            f"{place}, step {position}: action {mdp.actions[actions[position]]!r} never leads "
            f"from state {_shown(demos, mdp, int(states[position]))} to state "
            f"{_shown(demos, mdp, int(states[position + 1]))}; "
            "correct the step or the world"
        )
    field = "labels" if kind == 4 else "history"
    codes, offsets = (
        (demos.labels, demos.state_offsets)
        if kind == 4
        else (demos.history, demos.history_offsets)
    )
    assert codes is not None
    symbol = demos.symbol(int(codes[offsets[episode] + position]))
    return (
        f"{place}, {field}, entry {position}: {symbol!r} is not in the world's alphabet "
        f"({', '.join(mdp.alphabet)}); correct it or add it to the world"
    )


def step_labels(mdp: LabeledMDP, demos: Demonstrations) -> Ints:
    """Return int64 like `demos.states`: the world's index of the label of each state, or -1.

    An episode's own labels override the world's.
    """
    world = mdp.labels[demos.states].astype(np.int64)
    if demos.labels is None:
        return world
    return np.where(demos.labels == UNSAID, world, _translation(mdp, demos)[demos.labels])


def translated_history(mdp: LabeledMDP, demos: Demonstrations) -> Ints:
    """Return int64 like `demos.history`: the world's index of each label read beforehand."""
    return np.asarray(_translation(mdp, demos)[demos.history])


def _translation(mdp: LabeledMDP, demos: Demonstrations) -> Ints:
    """Return the world's index of each symbol of the demonstrations; -1 and -2 find blank.

    Symbols that no episode shows may be strange to the world; `check` refuses all others.
    """
    index = {symbol: place for place, symbol in enumerate(mdp.alphabet)}
    known = [index.get(symbol, STRANGE) for symbol in demos.alphabet]
    return np.array([*known, BLANK, BLANK], dtype=np.int64)
