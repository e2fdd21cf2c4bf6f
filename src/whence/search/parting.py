"""Parts of a state of tempering: some of its ladders, which go the same way alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from whence._arrays import Ints
from whence.search.seeking import Seeking
from whence.search.target import Chains, stacked
from whence.search.tempering import State

BY_LADDER = (
    "ladder", "temperatures", "replica", "came_from_hot", "trips", "tried", "made", "swap_tried",
    "swap_chance", "alone",
)  # fmt: skip


def parted(state: State, places: Ints) -> State:
    """Return the state of some ladders, int64[...], by their places in it."""
    ladders, rungs = state.temperatures.shape
    rows = (places[:, None] * rungs + np.arange(rungs)).reshape(-1)
    times = np.arange(state.drawn.size // ladders)
    arrays: dict[str, Any] = {name: getattr(state, name)[places] for name in BY_LADDER}
    return replace(
        state,
        chains=state.chains.rows(rows),
        best=state.best.rows(places),
        drawn=state.drawn.rows((times[:, None] * ladders + places).reshape(-1)),
        seeking=state.seeking.parted(places),
        **arrays,
    )


def joined(states: list[State]) -> State:
    """Return the state of all ladders of some states, which have made as many steps."""
    first = states[0]
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in states]) for name in BY_LADDER
    }
    return replace(
        first,
        chains=stacked([each.chains for each in states]),
        best=stacked([each.best for each in states]),
        drawn=beside([each.drawn for each in states], [len(each.ladder) for each in states]),
        seeking=Seeking(
            tuple(found for each in states for found in each.seeking.found), first.seeking.heard
        ),
        **arrays,
    )


def widened(state: State, ladders: int) -> State:
    """Return the state with as many copies of each ladder as there are to be.

    Each copy has streams of its own: those of the first are the ladder's, and the numbers of the
    others follow those of all `ladders` of the run.
    """
    copies = state.copies
    places = np.repeat(np.arange(len(state.ladder)), copies)
    numbers = np.tile(np.arange(copies), len(state.ladder))
    wide = parted(state, places)
    found = [
        each if number == 0 else replace(each, scored=0)
        for each, number in zip(wide.seeking.found, numbers.tolist(), strict=True)
    ]
    return replace(
        wide,
        ladder=wide.ladder + ladders * numbers,
        seeking=replace(wide.seeking, found=tuple(found)),
    )


def beside(parts: list[Chains], ladders: list[int]) -> Chains:
    """Return the samples of a step, the ladders' in turn, from those of some ladders each."""
    edges = np.cumsum([0, *(part.size for part in parts)])
    rows = [
        first + np.arange(part.size).reshape(-1, count)
        for first, part, count in zip(edges[:-1], parts, ladders, strict=True)
    ]
    return stacked(parts).rows(np.concatenate(rows, axis=1).reshape(-1))
