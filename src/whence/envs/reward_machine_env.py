"""An environment that is paid by a machine."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.envs.labelling import Label, Labelling, label_place, labelling, shown
from whence.envs.observing import Observing, observing
from whence.envs.outcomes import source_of
from whence.errors import ArgumentError, MachineError, WorldError
from whence.model.machine import RewardMachine
from whence.model.product import with_blank


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
                a mapping from observations to such. By default `info["label"]` is read, which
                `LabeledMDPEnv` provides.
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
