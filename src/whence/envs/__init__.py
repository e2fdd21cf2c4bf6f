"""Gymnasium in and out: worlds from environments, and environments that a machine pays.

Every name is loaded when it is first asked for, so that Gymnasium stays optional.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whence.envs.exploration import Coverage
    from whence.envs.mdp_env import LabeledMDPEnv
    from whence.envs.recorder import Recorder
    from whence.envs.recording import Recording
    from whence.envs.reward_machine_env import Counterfactuals, RewardMachineEnv
    from whence.envs.world import GymWorld

__all__ = [
    "Counterfactuals",
    "Coverage",
    "GymWorld",
    "LabeledMDPEnv",
    "Recorder",
    "Recording",
    "RewardMachineEnv",
]

_MODULES = {
    "Counterfactuals": "reward_machine_env",
    "Coverage": "exploration",
    "GymWorld": "world",
    "LabeledMDPEnv": "mdp_env",
    "Recorder": "recorder",
    "Recording": "recording",
    "RewardMachineEnv": "reward_machine_env",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from whence.envs.extra import need_gymnasium

    need_gymnasium(f"whence.envs.{name}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
