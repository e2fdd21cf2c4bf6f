"""What methods without memory make of demonstrations: imitate, or find a reward per state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.posterior import Posterior
from whence.model.checks import step_states
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

PSEUDO_COUNT = 1.0  # added to the count of each action in each state


def cloned(mdp: LabeledMDP, demos: Demonstrations) -> Floats:
    """Return float[S, A]: (count of the action + 1) / (count of the state + its actions)."""
    states, actions = pairs(demos)
    counts = PSEUDO_COUNT * mdp.available
    np.add.at(counts, (states, actions), 1.0)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def pairs(demos: Demonstrations) -> tuple[Ints, Ints]:
    """Return the state and the action of each step."""
    return demos.states[step_states(demos)], demos.actions


def every_state_its_own(
    mdp: LabeledMDP, demos: Demonstrations
) -> tuple[LabeledMDP, Demonstrations]:
    """Return the world in which each state is its own label, and the steps on their own.

    A machine of one state over these labels is a reward per world state. It remembers nothing,
    so each step can be an episode of its own.
    """
    states, actions = pairs(demos)
    own = replace(
        mdp,
        alphabet=tuple(f"s{state}" for state in range(mdp.n_states)),
        labels=np.arange(mdp.n_states, dtype=np.int32),
    )
    each = np.arange(demos.n_steps + 1)
    return own, Demonstrations.from_flat(states, each, actions, each)


def ascended(posterior: Posterior, start: Floats) -> tuple[Floats, float]:
    """Climb by steepest ascent, one state's reward at a time, until no single change helps.

    Args:
        posterior: over a world of `every_state_its_own`.
        start: float[S], a reward per state.

    Returns:
        Where the climb ends, float[S], and its score.
    """
    here = start
    best = float(_scores(posterior, here[None])[0])
    while True:
        nearby = _single_changes(here, posterior.levels)
        scores = _scores(posterior, nearby)
        top = int(np.argmax(scores))
        if scores[top] <= best:
            return here, best
        here, best = nearby[top], float(scores[top])


def _single_changes(reward: Floats, levels: tuple[float, ...]) -> Floats:
    """Return float[S * (G - 1), S]: every reward that differs in one state."""
    changes = [
        (state, level)
        for state in range(len(reward))
        for level in levels
        if level != reward[state]
    ]
    result = np.repeat(reward[None], len(changes), axis=0)
    places, values = zip(*changes, strict=True)
    result[np.arange(len(changes)), list(places)] = values
    return result


def _scores(posterior: Posterior, rewards: Floats) -> Floats:
    """Return float[B], the scores of float[B, S]; -inf for the one that is 0 everywhere."""
    tables = np.zeros((len(rewards), 1, rewards.shape[1]), dtype=np.int64), rewards[:, None]
    return np.where((rewards != 0).any(axis=1), posterior.score(*tables), -np.inf)
