"""A state of an environment, by how it was entered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from whence._arrays import BLANK, Bools, Ints
from whence.envs.outcomes import Outcomes


class Part(NamedTuple):
    """A state of the environment and how it was entered.

    Attributes:
        state: its number.
        ended: whether the episode is over.
        label: what was read on entering it: a symbol's number, or -1 for blank.
    """

    state: int
    ended: bool
    label: int


def going_on(outcomes: Outcomes) -> Bools:
    """Return bool[S]: whether an episode can be in a state and not be over.

    It cannot be where every way into the state, other than from itself, ends the episode.
    """
    inward = outcomes.state != outcomes.successor
    entered = np.zeros((2, outcomes.observations.n), dtype=np.bool_)
    entered[outcomes.ended[inward].astype(np.int64), outcomes.successor[inward]] = True
    result = entered[0] | ~entered[1]
    result[[state for state, _ in outcomes.initial]] = True
    return np.asarray(result)


def listed_parts(entered: set[Part], goes_on: Bools, of_state: Ints | None) -> tuple[Part, ...]:
    """Return all parts: first one of each state, then the others in order.

    Args:
        entered: the parts that some step leads to.
        goes_on: bool[S], whether an episode can go on in a state.
        of_state: int[S], the labels, where they depend on the state alone.
    """
    ways: dict[tuple[int, bool], list[int]] = {}
    for part in entered:
        ways.setdefault((part.state, part.ended), []).append(part.label)
    first = []
    for state, open_ended in enumerate(goes_on.tolist()):
        labels = (
            ways.get((state, not open_ended), [BLANK])
            if of_state is None
            else [int(of_state[state])]
        )
        first.append(Part(state, not open_ended, min(labels)))
    return (*first, *sorted(entered.difference(first)))


def part_names(parts: Sequence[Part], outcomes: Outcomes, symbols: Sequence[str]) -> list[str]:
    """Return a name for each part: its state's, and for further parts how they were entered."""
    names = []
    for number, part in enumerate(parts):
        name = str(outcomes.observations.member(part.state))
        if number >= outcomes.observations.n:
            read = "nothing read" if part.label == BLANK else f"{symbols[part.label]} read"
            name = f"{name}, {read}" + (", ended" if part.ended else "")
        names.append(name)
    return names
