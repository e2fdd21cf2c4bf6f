"""Outcomes estimated by acting in an environment that has no table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from whence._arrays import Ints
from whence.envs.outcomes import Codes, Outcomes, codes, going_on, mask_of, source_of
from whence.errors import ArgumentError
from whence.planning.simulation import checked_seed


@dataclass(frozen=True, eq=False)
class Coverage:
    """What exploration saw of an environment.

    Attributes:
        steps: how many were made.
        episodes: how many were begun.
        states: int[], the states seen, ascending.
        counts: int64[S, A], how often each pair was tried.
        never: int[k, 2], the pairs (state, action) never tried, of states seen in which an
            episode goes on.
    """

    steps: int
    episodes: int
    states: Ints
    counts: Ints
    never: Ints

    @property
    def n_pairs(self) -> int:
        """The number of pairs that were tried."""
        return int((self.counts > 0).sum())

    @property
    def complete(self) -> bool:
        """Whether every action was tried in every state seen."""
        return len(self.never) == 0

    def __str__(self) -> str:
        tried = self.counts[self.counts > 0]
        text = (
            f"{self.steps:,} steps in {self.episodes:,} episodes saw {len(self.states):,} of "
            f"{len(self.counts):,} states and tried {self.n_pairs:,} state-action pairs, each "
            f"at least {int(tried.min(initial=self.steps)):,} times"
        )
        if self.complete:
            return text + "; no pair of a state seen was left out"
        some = ", ".join(f"({s}, {a})" for s, a in self.never[:5].tolist())
        more = ", ..." if len(self.never) > 5 else ""
        return f"{text}; pairs (state, action) never tried: {len(self.never):,}: {some}{more}"


def explore(env: Any, steps: int, seed: int, *, masks: bool = True) -> tuple[Outcomes, Coverage]:
    """Return estimated outcomes, and what they rest on.

    Each step takes an action that was tried least often in the current state; probabilities are
    frequencies. The environment is reset with the seed, so the same seed gives the same estimate.
    Where `info` has an `action_mask`, a state has the actions that any of its masks allowed.

    Args:
        env: the environment; its spaces must be discrete.
        steps: how many to make.
        seed: for every random choice.
        masks: whether masks count.
    """
    source = source_of(env)
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise ArgumentError(f"steps is {steps!r}; give a whole number of at least 1")
    observations = codes(env.observation_space, "state", source)
    actions = codes(env.action_space, "action", source)
    walk = _Walk(env, observations, actions, source, masks)
    seen, starts = walk.run(int(steps), checked_seed(seed))
    counts, available = walk.counts, walk.available | ~walk.available.any(axis=1, keepdims=True)
    rows = np.array([key for key, _ in sorted(seen.items())], dtype=np.int64)
    times = np.array([count for _, count in sorted(seen.items())], dtype=np.float64)
    known = np.zeros(observations.n, dtype=np.bool_)
    known[list(starts)] = known[rows[:, 0]] = known[rows[:, 2]] = True
    outcomes = Outcomes(
        source, observations, actions, rows[:, 0], rows[:, 1], rows[:, 2],
        probability=times / counts[rows[:, 0], rows[:, 1]],
        ended=rows[:, 3].astype(np.bool_),
        initial=tuple((s, n / starts.total()) for s, n in sorted(starts.items())),
        known=known,
        available=available,
    )  # fmt: skip
    never = np.argwhere((counts == 0) & available & (known & going_on(outcomes))[:, None])
    found = Coverage(int(steps), starts.total(), np.flatnonzero(known), counts, never)
    return outcomes, found


class _Walk:
    """Acts in an environment and counts what happens.

    Attributes:
        counts: int64[S, A], how often each pair was tried.
        available: bool[S, A], the actions that some mask of a state allowed; none where no mask
            was seen.
    """

    def __init__(
        self, env: Any, observations: Codes, actions: Codes, source: str, masks: bool
    ) -> None:
        self.env, self.observations, self.actions = env, observations, actions
        self.source, self.masks = source, masks
        self.counts = np.zeros((observations.n, actions.n), dtype=np.int64)
        self.available = np.zeros(self.counts.shape, dtype=np.bool_)

    def run(
        self, steps: int, seed: int
    ) -> tuple[Counter[tuple[int, int, int, bool]], Counter[int]]:
        """Count outcomes (state, action, next state, ended) and first states."""
        rng = np.random.default_rng(seed)
        seen: Counter[tuple[int, int, int, bool]] = Counter()
        starts: Counter[int] = Counter()
        state, over = -1, True
        info: dict[str, Any] = {}
        for step in range(steps):
            if over:
                first, info = self.env.reset(seed=seed if step == 0 else None)
                state = self.observations.number(first)
                starts[state] += 1
            action = self._chosen(state, info, rng)
            taken = self.actions.member(action)
            observation, _, terminated, truncated, info = self.env.step(taken)
            following = self.observations.number(observation)
            self.counts[state, action] += 1
            seen[state, action, following, bool(terminated)] += 1
            state, over = following, bool(terminated) or bool(truncated)
        return seen, starts

    def _chosen(self, state: int, info: dict[str, Any], rng: np.random.Generator) -> int:
        """Return an action that was tried least often, of those that the mask allows."""
        place = f"{self.source}: state {self.observations.member(state)}"
        told = info.get("action_mask") if self.masks else None
        mask = mask_of(told, self.actions.n, place)
        tried = self.counts[state]
        if mask is not None:
            self.available[state] |= mask
            tried = np.where(mask, tried, tried.max() + 1)
        least = np.flatnonzero(tried == tried.min())
        return int(least[rng.integers(len(least))])
