"""A part of a large world, where the rest of it cannot matter or would cost too much."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from whence._arrays import BLANK, Ints, concatenated_ranges, frozen_own, offsets_of
from whence.model.mdp import LabeledMDP


def part_of(mdp: LabeledMDP, kept: Ints) -> LabeledMDP:
    """Return the part of a world with some of its states, and one more that stands for the rest.

    That one is the last: it is blank, and whatever is done there stays there. Names, the grid
    and what was never seen are left behind, and initial states that are not kept lead there.

    Args:
        mdp: the world.
        kept: int64[K], states, each once.
    """
    rest = len(kept)
    new = np.full(mdp.n_states, rest, dtype=np.int32)
    new[kept] = np.arange(rest)
    entry = mdp.entries(kept)
    pairs = (kept[:, None] * mdp.n_actions + np.arange(mdp.n_actions)).reshape(-1)
    staying = np.full(mdp.n_actions, rest, dtype=np.int32)
    ones = np.ones(mdp.n_actions, dtype=np.int64)
    return replace(
        mdp,
        labels=frozen_own(np.append(mdp.labels[kept], np.int32(BLANK))),
        offsets=frozen_own(offsets_of(np.append(np.diff(mdp.offsets)[pairs], ones))),
        successors=frozen_own(np.append(new[mdp.successors[entry]], staying)),
        probabilities=frozen_own(np.append(mdp.probabilities[entry], ones.astype(np.float64))),
        initial_states=frozen_own(new[mdp.initial_states]),
        names=None,
        grid=None,
        unseen=None,
    )


def nearest(mdp: LabeledMDP, most: int) -> Ints:
    """Return the states nearest to labels and initial states, ascending: `most` of them at most.

    What is near is a few steps away in either direction. Where there are more labelled states
    than may be kept, initial states alone are the centre.
    """
    if mdp.n_states <= most:
        return np.arange(mdp.n_states)
    first, before = _backwards(mdp)
    labelled = np.flatnonzero(mdp.labels != BLANK)
    frontier = np.union1d(mdp.initial_states, labelled)
    if len(frontier) > most:
        frontier = np.unique(mdp.initial_states)
    frontier = frontier[:most]
    seen = np.zeros(mdp.n_states, dtype=np.bool_)
    seen[frontier] = True
    count = len(frontier)
    while len(frontier) and count < most:
        ahead = mdp.successors[mdp.entries(frontier)]
        behind = before[concatenated_ranges(first[frontier], first[frontier + 1])]
        around = np.concatenate([ahead, behind])
        frontier = np.unique(around[~seen[around]])[: most - count]
        seen[frontier] = True
        count += len(frontier)
    return np.flatnonzero(seen)


def _backwards(mdp: LabeledMDP) -> tuple[Ints, Ints]:
    """Return int64[S + 1] and int64[N]: the states that lead to each."""
    source = np.repeat(np.arange(mdp.n_states), np.diff(mdp.offsets[:: mdp.n_actions]))
    order = np.argsort(mdp.successors, kind="stable")
    return offsets_of(np.bincount(mdp.successors, minlength=mdp.n_states)), source[order]
