"""What an environment's actions lead to, whether read from its table or estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium

from whence._arrays import Bools, Floats, Ints
from whence.envs.codes import Codes
from whence.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The dynamics of an environment; N outcomes with a probability above 0.

    Attributes:
        source: what messages call the environment.
        observations: numbers of its observations, which are its states.
        actions: numbers of its actions.
        state: int64[N].
        action: int64[N].
        successor: int64[N].
        probability: float64[N].
        ended: bool[N], whether the episode ends there.
        initial: pairs of a state and its probability.
        known: bool[S], the states of which something is known.
    """

    source: str
    observations: Codes
    actions: Codes
    state: Ints
    action: Ints
    successor: Ints
    probability: Floats
    ended: Bools
    initial: tuple[tuple[int, float], ...]
    known: Bools


def source_of(env: Any) -> str:
    """Return what messages call an environment, if it is one."""
    if not isinstance(env, gymnasium.Env):
        raise ArgumentError(
            f"{type(env).__name__} is not a Gymnasium environment; make one with "
            "gymnasium.make(...)"
        )
    return env.spec.id if env.spec is not None else type(env.unwrapped).__name__
