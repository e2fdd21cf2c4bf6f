"""A world as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from whence.errors import ArgumentError
from whence.model.mdp import LabeledMDP
from whence.planning.simulation import cumulative


class LabeledMDPEnv(gymnasium.Env[Any, Any]):
    """A world to act in: observations are its states, and nothing is paid.

    `info["label"]` is the label of the state entered, None for blank; `RewardMachineEnv` reads it.
    Episodes never terminate; with `length`, they are truncated. `reset(options={"state": s})`
    starts in a state of choice.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, mdp: LabeledMDP, *, length: int | None = None) -> None:
        """Make the environment.

        Args:
            mdp: the world.
            length: the number of steps after which an episode is truncated.
        """
        if not isinstance(mdp, LabeledMDP):
            raise ArgumentError(f"mdp is {mdp!r}; give a LabeledMDP")
        if length is not None and (
            isinstance(length, bool) or not isinstance(length, int | np.integer) or length < 1
        ):
            raise ArgumentError(f"length is {length!r}; give a whole number of at least 1")
        self.mdp, self.length = mdp, length
        self.observation_space = gymnasium.spaces.Discrete(mdp.n_states)
        self.action_space = gymnasium.spaces.Discrete(mdp.n_actions)
        self._starts = cumulative(mdp.initial_probabilities)
        self._sums = np.cumsum(mdp.probabilities)
        self._state: int | None = None
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode where the world says, or in `options["state"]`."""
        super().reset(seed=seed)
        self._steps = 0
        if options is not None and "state" in options:
            state = self._checked(options["state"], self.mdp.n_states, "state")
        else:
            drawn = np.searchsorted(self._starts, self.np_random.random(), side="right")
            state = int(self.mdp.initial_states[drawn])
        self._state = state
        return np.int64(state), {"label": self.mdp.label(state)}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make a step."""
        if self._state is None:
            raise ArgumentError("the episode has not begun; call reset first")
        chosen = self._checked(action, self.mdp.n_actions, "action")
        self._state = self._drawn(self._state * self.mdp.n_actions + chosen)
        self._steps += 1
        truncated = self.length is not None and self._steps >= self.length
        label = self.mdp.label(self._state)
        return np.int64(self._state), 0.0, False, truncated, {"label": label}

    def _drawn(self, pair: int) -> int:
        """Return a successor of a state-action pair, by its running sum of probabilities."""
        first, last = int(self.mdp.offsets[pair]), int(self.mdp.offsets[pair + 1]) - 1
        if first == last:
            return int(self.mdp.successors[first])
        low = self._sums[first - 1] if first else 0.0
        draw = low + self.np_random.random() * (self._sums[last] - low)
        place = first + np.searchsorted(self._sums[first:last], draw, side="right")
        return int(self.mdp.successors[place])

    def _checked(self, value: Any, limit: int, what: str) -> int:
        number = np.asarray(value)
        if number.shape != () or number.dtype.kind not in "iu" or not 0 <= number < limit:
            raise ArgumentError(f"{what} {value!r} does not exist; use 0 to {limit - 1}")
        return int(number)
