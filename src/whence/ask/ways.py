"""Executions that show a label sequence: how a world can come to read just that."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from whence._arrays import BLANK, Bools, concatenated_ranges
from whence.model.asking import Execution
from whence.model.mdp import LabeledMDP

MOST_PLACES = 200_000  # states of a world times labels of a sequence


def execution(worlds: Sequence[LabeledMDP], word: Sequence[str]) -> Execution | None:
    """Return a shortest execution of any world that reads just these labels, or None.

    It starts where the world does, and takes the likeliest outcome of each action; where that
    leads nowhere, any that is possible.
    """
    for usual in (True, False):
        for number, mdp in enumerate(worlds):
            found = _found(mdp, word, usual)
            if found is not None:
                states, actions = found
                labels = tuple(_label(mdp, state) for state in states)
                return Execution(number, states, actions, labels)
    return None


def _found(
    mdp: LabeledMDP, word: Sequence[str], usual: bool
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return states and actions, breadth-first over (state, labels read so far)."""
    if any(label not in mdp.alphabet for label in word):
        return None
    symbols = [mdp.alphabet.index(label) for label in word]
    if mdp.n_states * (len(symbols) + 1) > MOST_PLACES:
        return None
    allowed = _likeliest(mdp) if usual else np.ones(len(mdp.successors), dtype=np.bool_)
    starts = [(state, 0) for state in mdp.initial_states.tolist()]
    before: dict[tuple[int, int], tuple[tuple[int, int], int] | None] = dict.fromkeys(starts)
    queue = deque(starts)
    while queue:
        place = queue.popleft()
        state, read = place
        if read == len(symbols):
            return _back(before, place)
        for action in range(mdp.n_actions):
            pair = state * mdp.n_actions + action
            for entry in range(int(mdp.offsets[pair]), int(mdp.offsets[pair + 1])):
                following = int(mdp.successors[entry])
                label = int(mdp.labels[following])
                fits = label == BLANK or label == symbols[read]
                after = (following, read + (label != BLANK))
                if allowed[entry] and fits and after not in before:
                    before[after] = place, action
                    queue.append(after)
    return None


def _back(
    before: dict[tuple[int, int], tuple[tuple[int, int], int] | None], place: tuple[int, int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    states, actions = [place[0]], []
    step = before[place]
    while step is not None:
        place, action = step
        states.append(place[0])
        actions.append(action)
        step = before[place]
    return tuple(reversed(states)), tuple(reversed(actions))


def _likeliest(mdp: LabeledMDP) -> Bools:
    """Return bool[transitions]: whether each is the likeliest outcome of its action."""
    first, last = mdp.offsets[:-1], mdp.offsets[1:]
    pair = np.repeat(np.arange(len(first)), last - first)
    entry = concatenated_ranges(first, last)
    most = np.zeros(len(first))
    np.maximum.at(most, pair, mdp.probabilities[entry])
    return np.asarray(mdp.probabilities[entry] >= most[pair])


def _label(mdp: LabeledMDP, state: int) -> str | None:
    label = int(mdp.labels[state])
    return None if label == BLANK else mdp.alphabet[label]
