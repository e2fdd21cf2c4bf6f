"""What was played in an environment, and a wrapper that writes it down."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import gymnasium


class Recording(NamedTuple):
    """One episode of T steps.

    Attributes:
        observations: T or T + 1 of them.
        actions: T actions.
        terminated: whether the last step ended the episode; None where that is not known.
    """

    observations: Sequence[Any]
    actions: Sequence[Any]
    terminated: bool | None = None


class Recorder(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Keeps every episode played through it, whoever plays.

    Wrap the environment whose states the world knows, below wrappers that show other ones.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        self._episodes: list[tuple[list[Any], list[Any], list[bool]]] = []

    @property
    def recordings(self) -> list[Recording]:
        """The episodes so far, including the current one, except those without a step."""
        return [
            Recording(tuple(observations), tuple(actions), ends[-1])
            for observations, actions, ends in self._episodes
            if actions
        ]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, and its recording."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._episodes.append(([deepcopy(observation)], [], []))
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Make a step and write it down."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        observations, actions, ends = self._episodes[-1]
        observations.append(deepcopy(observation))
        actions.append(deepcopy(action))
        ends.append(bool(terminated))
        return observation, reward, terminated, truncated, info
