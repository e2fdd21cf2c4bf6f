"""How the machine's state is shown beside an observation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from whence.errors import ArgumentError

WAYS = ("dict", "tuple", "one-hot")


@dataclass(frozen=True)
class Observing:
    """A space, and how its members are made of an observation and a machine state."""

    space: spaces.Space[Any]
    make: Callable[[Any, int], Any]

    def __call__(self, observation: Any, state: int) -> Any:
        """Return what is shown."""
        return self.make(observation, state)


def observing(way: str, space: spaces.Space[Any], n: int) -> Observing:
    """Return how a machine state, of n, is shown.

    Args:
        way: `dict`, `tuple` or `one-hot`.
        space: the environment's own observations.
        n: the number of machine states.
    """
    if way == "dict":
        pair = spaces.Dict({"observation": space, "machine": spaces.Discrete(n)})
        return Observing(pair, lambda seen, y: {"observation": seen, "machine": np.int64(y)})
    if way == "tuple":
        both = spaces.Tuple((space, spaces.Discrete(n)))
        return Observing(both, lambda seen, y: (seen, np.int64(y)))
    if way == "one-hot":
        return _one_hot(space, n)
    raise ArgumentError(f"observation is {way!r}; known are {', '.join(WAYS)}")


def _one_hot(space: spaces.Space[Any], n: int) -> Observing:
    flat = spaces.flatten_space(space)
    if not isinstance(flat, spaces.Box):
        raise ArgumentError(
            f"observation is 'one-hot', but {space} has no flat form; use 'dict' or 'tuple'"
        )
    low = np.concatenate([flat.low.astype(np.float32), np.zeros(n, dtype=np.float32)])
    high = np.concatenate([flat.high.astype(np.float32), np.ones(n, dtype=np.float32)])
    unit = np.eye(n, dtype=np.float32)

    def make(seen: Any, state: int) -> Any:
        plain = np.asarray(spaces.flatten(space, seen), dtype=np.float32)
        return np.concatenate([plain, unit[state]])

    return Observing(spaces.Box(low, high, dtype=np.float32), make)
