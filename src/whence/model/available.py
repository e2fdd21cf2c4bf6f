"""Actions that some states do not have."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from whence._arrays import Floats, concatenated_ranges, frozen_own, offsets_of
from whence.model.mdp import LabeledMDP


def filled(mdp: LabeledMDP) -> LabeledMDP:
    """Return a world in which each action that a state lacks does what the first one it has does.

    No largest value over a state's actions changes, so solvers need not know what is available;
    what reads single actions does. Successors are numbered as before.
    """
    if not mdp.is_masked:
        return mdp
    first = mdp.available.argmax(axis=1)
    own = np.arange(mdp.n_actions)
    copied = np.where(mdp.available, own, first[:, None])
    pairs = (np.arange(mdp.n_states)[:, None] * mdp.n_actions + copied).reshape(-1)
    begin, end = mdp.offsets[pairs], mdp.offsets[pairs + 1]
    entry = concatenated_ranges(begin, end)
    return replace(
        mdp,
        offsets=frozen_own(offsets_of(end - begin)),
        successors=frozen_own(mdp.successors[entry]),
        probabilities=frozen_own(mdp.probabilities[entry]),
    )


def log_chances(mdp: LabeledMDP) -> Floats:
    """Return float64[S, A]: the log probability of each action of somebody who acts at random."""
    each = np.array([0.0, *(-math.log(k) for k in range(1, mdp.n_actions + 1))])
    return np.where(mdp.available, each[mdp.available.sum(axis=1, keepdims=True)], -np.inf)
