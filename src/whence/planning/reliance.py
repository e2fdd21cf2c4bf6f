"""Which state-action pairs that a log never shows a policy counts on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whence._arrays import Floats
from whence._ragged import concatenated_ranges
from whence.model.mdp import LabeledMDP
from whence.model.product import product

if TYPE_CHECKING:
    from whence.planning.policies import Policy

WORTH = 1e-9  # a state from which less can be had is worth nothing


def relied_on(mdp: LabeledMDP, policy: Policy, values: Floats) -> int:
    """Return how many unseen pairs a policy counts on, where there is something to gain.

    Args:
        mdp: the world.
        policy: what is done.
        values: float64[n, S], what can be had from each state.
    """
    if mdp.unseen is None or not len(mdp.unseen):
        return 0
    n = policy.machine.n_states
    chosen = policy.probabilities.reshape(n, -1) > 0
    both = product(mdp, policy.machine)
    reached = np.zeros(n * mdp.n_states, dtype=np.bool_)
    frontier = mdp.initial_states.astype(np.int64)
    reached[frontier] = True
    while len(frontier):
        memory, state = np.divmod(frontier, mdp.n_states)
        pairs = state[:, None] * mdp.n_actions + np.arange(mdp.n_actions)
        taken = chosen[memory[:, None], pairs]
        pair, where = pairs[taken], np.broadcast_to(memory[:, None], pairs.shape)[taken]
        entry = concatenated_ranges(mdp.offsets[pair], mdp.offsets[pair + 1])
        counts = mdp.offsets[pair + 1] - mdp.offsets[pair]
        following = both.targets[np.repeat(where, counts), entry]
        frontier = np.unique(following[~reached[following]])
        reached[frontier] = True
    gain = reached & (values.reshape(-1) > WORTH)
    relied = chosen[:, mdp.unseen] & gain.reshape(n, -1)[:, mdp.unseen // mdp.n_actions]
    return int(relied.any(axis=0).sum())
