"""Small environments for tests: any table, any spaces."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np


def newest(name: str) -> str:
    """Return the newest version of an environment that is installed."""
    registered = gymnasium.registry.values()
    versions = [
        spec.version for spec in registered if spec.name == name and spec.version is not None
    ]
    return f"{name}-v{max(versions)}"


class TableEnv(gymnasium.Env[Any, Any]):
    """An environment that follows a table `P[state][action]`, keyed by observations."""

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        table: Any,
        initial: Any = None,
        *,
        n: int | None = None,
        start: int = 0,
        action_start: int = 0,
        hide: bool = False,
    ) -> None:
        size = len(table) if n is None else n
        first = table[start] if isinstance(table, dict) else table[0]
        self.observation_space = gymnasium.spaces.Discrete(size, start=start)
        self.action_space = gymnasium.spaces.Discrete(len(first), start=action_start)
        self.table, self.start = table, start
        chances = np.eye(size)[0] if initial is None else np.asarray(initial)
        self.chances = chances
        if not hide:
            self.P, self.initial_state_distrib = table, chances

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        drawn = self.np_random.choice(len(self.chances), p=self.chances)
        self.s = np.int64(drawn + self.start)
        return self.s, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        outcomes = self.table[int(self.s)][int(action)]
        drawn = self.np_random.choice(len(outcomes), p=[o[0] for o in outcomes])
        _, following, reward, ended = outcomes[drawn]
        self.s = np.int64(following)
        return self.s, float(reward), bool(ended), False, {"seen": int(following)}


def corridor(length: int = 4, start: int = 0, action_start: int = 0) -> dict[int, Any]:
    """Left and right along a line; the last cell ends the episode."""
    left, right = action_start, action_start + 1
    last = start + length - 1
    table: dict[int, Any] = {}
    for s in range(start, start + length):
        back, forth = max(s - 1, start), min(s + 1, last)
        table[s] = {
            left: [(1.0, back, -1.0, False)],
            right: [(1.0, forth, 1.0, forth == last)],
        }
    return table
