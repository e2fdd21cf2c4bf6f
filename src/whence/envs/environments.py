"""Environments to act in: a world, and any environment that a machine pays."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces

from whence._arrays import Bools, Floats, Ints
from whence.envs.labelling import Label, Labelling, label_place, labelling, shown
from whence.envs.outcomes import source_of
from whence.errors import ArgumentError, MachineError, WorldError
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import with_blank
from whence.planning.simulation import cumulative

WAYS = ("dict", "tuple", "one-hot")  # of showing the machine's state


class Counterfactuals(NamedTuple):
    """What the last step would have done from every state of the machine.

    Attributes:
        states: int64[n], the machine's state after it.
        rewards: float64[n], what it would have paid.
        terminated: bool[n], whether the episode would have ended.
    """

    states: Ints
    rewards: Floats
    terminated: Bools


class RewardMachineEnv(
    gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs
):
    """Pays what a machine pays, and shows its state beside the observation.

    The machine reads a label at every step; the first observation of an episode is not read.
    `info` holds `env_reward`, the environment's own reward, `label`, what was read (None for
    blank), and `machine_state`.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        machine: RewardMachine,
        *,
        label: Label | None = None,
        observation: str = "dict",
        end_when_settled: bool = False,
    ) -> None:
        """Wrap an environment.

        Args:
            env: the environment.
            machine: what pays.
            label: a function of (next observation), of (observation, action, next observation)
                or of these and `info`, which returns a symbol, a set of propositions or None; or
                a mapping from observations to one of these. By default `info["label"]` is read,
                which `LabeledMDPEnv` provides.
            observation: `dict`, with the keys `observation` and `machine`; `tuple`, the same two;
                or `one-hot`, a flat array with the machine's state appended.
            end_when_settled: whether an episode is terminated when the machine can pay nothing
                more.
        """
        source_of(env)
        if not isinstance(machine, RewardMachine):
            raise ArgumentError(f"machine is {machine!r}; give a RewardMachine")
        gymnasium.utils.RecordConstructorArgs.__init__(
            self, machine=machine, label=label, observation=observation,
            end_when_settled=end_when_settled,
        )  # fmt: skip
        gymnasium.Wrapper.__init__(self, env)
        self.machine = machine
        self.end_when_settled = bool(end_when_settled)
        self._labelling = _by_info() if label is None else labelling(label)
        self._looks_back = label is not None and not self._labelling.of_states
        self._following, self._paid = with_blank(machine.transitions, machine.rewards)
        self._settled = ~machine.can_pay
        self._show: Observing = observing(observation, env.observation_space, machine.n_states)
        self.observation_space = self._show.space
        self._state, self._before = 0, None
        self._last: tuple[int, bool] | None = None

    @property
    def machine_state(self) -> int:
        """The state that the machine is in."""
        return self._state

    @property
    def counterfactuals(self) -> Counterfactuals:
        """What the last step would have done from every state of the machine."""
        if self._last is None:
            raise ArgumentError("there is no last step yet; call step first")
        column, terminated = self._last
        states = self._following[:, column].astype(np.int64)
        ended = self._settled[states] if self.end_when_settled else np.zeros(len(states), bool)
        return Counterfactuals(states, self._paid[:, column].copy(), ended | terminated)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode with the machine in its initial state."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._state, self._last = 0, None
        self._remember(observation)
        return self._show(observation, 0), {**info, "machine_state": 0}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make a step; the machine reads its label and pays."""
        observation, own, terminated, truncated, info = self.env.step(action)
        symbol = self._labelling(self._before, action, observation, info)
        column = self._column(symbol, action, observation)
        self._last = column, bool(terminated)
        reward = float(self._paid[self._state, column])
        self._state = int(self._following[self._state, column])
        self._remember(observation)
        terminated = bool(terminated) or (
            self.end_when_settled and bool(self._settled[self._state])
        )
        told = {**info, "env_reward": own, "label": symbol, "machine_state": self._state}
        return self._show(observation, self._state), reward, terminated, truncated, told

    def _remember(self, observation: Any) -> None:
        """Keep an observation that the environment may overwrite."""
        if self._looks_back:
            self._before = deepcopy(observation)

    def _column(self, symbol: str | None, action: Any, observation: Any) -> int:
        if symbol is None:
            return -1
        try:
            return self.machine.index(symbol)
        except MachineError as error:
            known = (self._before, action, observation) if self._looks_back else (observation,)
            raise MachineError(
                f"{label_place(*known)}: {error}; correct the label, or return None for steps "
                "that the machine is not to read"
            ) from None


def _by_info() -> Labelling:
    """Return a labelling that takes what the environment itself says."""

    def told(state: Any, action: Any, following: Any, info: dict[str, Any]) -> Any:
        if "label" not in info:
            raise WorldError(f"no info['label'] on entering state {shown(following)}; give label=")
        return info["label"]

    return Labelling(told, 4)


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


class LabeledMDPEnv(gymnasium.Env[Any, Any]):
    """A world to act in: observations are its states, and nothing is paid.

    `info["label"]` is the label of the state entered, None for blank; `RewardMachineEnv` reads it.
    Where some state lacks an action, `info["action_mask"]`, int8[A], is 1 for those that the state
    has; one that it does not have is refused. Episodes never terminate; with `length`, they are
    truncated. `reset(options={"state": s})` starts in a chosen state.
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
        return np.int64(state), self._info(state)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make a step."""
        if self._state is None:
            raise ArgumentError("the episode has not begun; call reset first")
        chosen = self._checked(action, self.mdp.n_actions, "action")
        if not self.mdp.available[self._state, chosen]:
            raise ArgumentError(
                f"action {self.mdp.actions[chosen]!r} is not available in state "
                f"{self.mdp.state_name(self._state)}; take one that info['action_mask'] allows"
            )
        self._state = self._drawn(self._state * self.mdp.n_actions + chosen)
        self._steps += 1
        truncated = self.length is not None and self._steps >= self.length
        return np.int64(self._state), 0.0, False, truncated, self._info(self._state)

    def _info(self, state: int) -> dict[str, Any]:
        info: dict[str, Any] = {"label": self.mdp.label(state)}
        if self.mdp.is_masked:
            info["action_mask"] = self.mdp.available[state].astype(np.int8)
        return info

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
