"""A walk through a world, one step at a time: what a person at the studio does.

Where a step leads is drawn from a generator of the walk's seed and the number of steps so far:
who takes a step back and tries again slips in the same way again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from whence._arrays import BLANK, Ints
from whence.errors import ArgumentError
from whence.model.episodes import Episode
from whence.model.mdp import LabeledMDP

LONGEST = 10_000  # steps of a walk
FARTHEST = 20_000  # states of a world in which ways are looked for


@dataclass(frozen=True)
class Walk:
    """A walk that goes on: T steps.

    Attributes:
        states: T + 1 world states.
        actions: T actions.
        history: symbols that count as read before the first state.
        seed: of the dice.
        revision: how often the walk was changed; who changes it says which one they saw.
    """

    states: tuple[int, ...]
    actions: tuple[int, ...] = ()
    history: tuple[str, ...] = ()
    seed: int = 0
    revision: int = 0


def begun(
    mdp: LabeledMDP,
    seed: int,
    *,
    start: int | None = None,
    history: tuple[str, ...] = (),
    revision: int = 0,
) -> Walk:
    """Return a walk of no step: from one of the world's starts, or from a state that is named."""
    if start is None:
        at = _drawn(mdp.initial_probabilities, seed, LONGEST)
        start = int(mdp.initial_states[at])
    if not 0 <= start < mdp.n_states:
        raise ArgumentError(f"start: state {start}: the world has {mdp.n_states} states")
    strange = [symbol for symbol in history if symbol not in mdp.alphabet]
    if strange:
        raise ArgumentError(f"history: the world has no symbol {strange[0]!r}")
    return Walk((start,), (), tuple(history), seed, revision)


def stepped(mdp: LabeledMDP, walk: Walk, action: int) -> Walk:
    """Return the walk after one more action."""
    here = walk.states[-1]
    if not 0 <= action < mdp.n_actions:
        raise ArgumentError(f"action {action}: the world has {mdp.n_actions} actions")
    if len(walk.actions) >= LONGEST:
        raise ArgumentError(f"a walk has {LONGEST} steps at most; record it, and begin another")
    successors, chances = mdp.row(here, action)
    if not len(successors):
        raise ArgumentError(
            f"{mdp.state_name(here)} does not have the action {mdp.actions[action]!r}; "
            "choose another"
        )
    then = int(successors[_drawn(chances, walk.seed, len(walk.actions))])
    return replace(
        walk,
        states=(*walk.states, then),
        actions=(*walk.actions, action),
        revision=walk.revision + 1,
    )


def undone(walk: Walk) -> Walk:
    """Return the walk without its last step; one of no step stays as it is."""
    if not walk.actions:
        return walk
    return replace(
        walk,
        states=walk.states[:-1],
        actions=walk.actions[:-1],
        revision=walk.revision + 1,
    )


def _drawn(chances: np.typing.NDArray[np.float64], seed: int, step: int) -> int:
    """Return which of several outcomes the dice of a step choose."""
    dice = float(np.random.default_rng([seed, step]).random())
    return min(int(np.searchsorted(np.cumsum(chances), dice, side="right")), len(chances) - 1)


def symbols_read(mdp: LabeledMDP, walk: Walk) -> list[str]:
    """Return the labels that were read, those of the history first."""
    read = (mdp.label(state) for state in walk.states[1:])
    return [*walk.history, *(symbol for symbol in read if symbol is not None)]


def as_episode(walk: Walk, *, ended: bool | None = None, subject: str | None = None) -> Episode:
    """Return the walk as a demonstration; one of no step shows nothing."""
    if not walk.actions:
        raise ArgumentError("there is no step to record yet; walk first")
    return Episode(
        list(walk.states), list(walk.actions), None, list(walk.history), ended, subject or None
    )


def usual_successors(mdp: LabeledMDP) -> Ints:
    """Return int64[S, A]: where each action most likely leads; -1 where a state lacks it."""
    pair = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offsets))
    order = np.lexsort((-mdp.probabilities, pair))
    kept, first = np.unique(pair[order], return_index=True)
    result = np.full(mdp.n_states * mdp.n_actions, -1, dtype=np.int64)
    result[kept] = mdp.successors[order][first]
    return result.reshape(mdp.n_states, mdp.n_actions)


def toward(mdp: LabeledMDP, usual: Ints, here: int, target: int) -> int:
    """Return the first action of a shortest way to a state, around labels where one can.

    Args:
        mdp: the world.
        usual: where each action most likely leads.
        here: where one is.
        target: where one wants to be.
    """
    if not 0 <= target < mdp.n_states or target == here:
        raise ArgumentError(f"state {target}: there is no way to go; name another")
    near = np.flatnonzero(usual[here] == target)
    if len(near):
        return int(near[0])
    if mdp.n_states > FARTHEST:
        raise ArgumentError("the world is too large to look for a way; go step by step")
    for free in (mdp.labels == BLANK, np.ones(mdp.n_states, dtype=np.bool_)):
        action = _first_action(usual, here, target, free)
        if action is not None:
            return action
    raise ArgumentError(f"no way leads from {mdp.state_name(here)} to {mdp.state_name(target)}")


def _first_action(
    usual: Ints, here: int, target: int, free: np.typing.NDArray[np.bool_]
) -> int | None:
    """Return the first action of a shortest way through free states, or None."""
    table, open_to = usual.tolist(), free.tolist()
    first: dict[int, int] = {here: -1}
    waiting = deque([here])
    while waiting:
        state = waiting.popleft()
        for action, then in enumerate(table[state]):
            if then < 0 or then in first or not (open_to[then] or then == target):
                continue
            first[then] = action if state == here else first[state]
            if then == target:
                return first[then]
            waiting.append(then)
    return None
