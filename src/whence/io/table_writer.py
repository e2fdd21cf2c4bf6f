"""Demonstrations as the columns of a table: one row per state, with the action taken in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from whence._arrays import BLANK, UNSAID, Ints
from whence.errors import DemonstrationsError
from whence.model.checks import step_labels, step_states
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP


def columns(demos: Demonstrations, mdp: LabeledMDP | None = None) -> dict[str, list[Any]]:
    """Return episode, step, state, action and what else is known; see `to_table`."""
    if len(demos.history):
        raise DemonstrationsError(
            f"{demos.source}: a table cannot hold labels read before an episode; save as .jsonl"
        )
    lengths = np.diff(demos.state_offsets)
    empty = np.flatnonzero(lengths == 0)
    if len(empty):
        raise DemonstrationsError(
            f"{demos.place(int(empty[0]))}: no states; a table cannot hold it; save as .jsonl"
        )
    if mdp is not None:
        demos.check(mdp).raise_any()
    episodes = range(len(demos)) if demos.table is None else demos.table.episodes
    actions: list[Any] = [None] * len(demos.states)
    taken = _named(demos.actions, _action_names(demos, mdp))
    for place, action in zip(step_states(demos).tolist(), taken, strict=True):
        actions[place] = action
    step = np.arange(len(demos.states)) - np.repeat(demos.state_offsets[:-1], lengths)
    result = {
        "episode": [e for e, n in zip(episodes, lengths.tolist(), strict=True) for _ in range(n)],
        "step": step.tolist(),
        "state": _named(demos.states, _state_names(demos, mdp)),
        "action": actions,
    }
    labels = _labels(demos, mdp)
    _check_blanks(demos, mdp, labels)
    if labels is not None:
        result |= {"label": labels}
    if demos.ended is not None:
        said: list[Any] = [None] * len(demos.states)
        for place, episode in zip((demos.state_offsets[1:] - 1).tolist(), demos, strict=True):
            said[place] = episode.ended
        result |= {"ended": said}
    if demos.subjects is not None:
        who = zip(demos.subjects, lengths.tolist(), strict=True)
        result |= {"subject": [subject for subject, n in who for _ in range(n)]}
    return result


def _check_blanks(
    demos: Demonstrations, mdp: LabeledMDP | None, labels: list[str | None] | None
) -> None:
    """Refuse labels that are all blank on purpose: a column without any is the world's.

    Where the world, too, has none there, that comes to the same.
    """
    if demos.labels is None or labels is None or any(label is not None for label in labels):
        return
    if mdp is None or (mdp.labels[demos.states] != BLANK).any():
        raise DemonstrationsError(
            f"{demos.source}: all labels are blank, and a table without any label leaves them to "
            "the world; save as .jsonl"
        )


def _named(numbers: Ints, names: tuple[str, ...] | None) -> list[Any]:
    return numbers.tolist() if names is None else [names[i] for i in numbers.tolist()]


def _state_names(demos: Demonstrations, mdp: LabeledMDP | None) -> tuple[str, ...] | None:
    if mdp is None or (mdp.names is None and mdp.grid is None):
        return demos.state_names
    return tuple(mdp.state_name(state) for state in range(mdp.n_states))


def _action_names(demos: Demonstrations, mdp: LabeledMDP | None) -> tuple[str, ...] | None:
    return demos.action_names if mdp is None else mdp.actions


def _labels(demos: Demonstrations, mdp: LabeledMDP | None) -> list[str | None] | None:
    """Return the label of each state, or None where it is left to the world."""
    if mdp is not None:
        codes, alphabet = step_labels(mdp, demos), mdp.alphabet
    elif demos.labels is None:
        return None
    else:
        codes, alphabet = demos.labels, demos.alphabet
        if (codes == UNSAID).any():
            raise DemonstrationsError(
                f"{demos.source}: some episodes leave their labels to the world; save with "
                "the world, or as .jsonl"
            )
    return [None if code == BLANK else alphabet[code] for code in codes.tolist()]
