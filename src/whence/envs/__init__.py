"""Gymnasium in and out: worlds from environments, and environments that a machine pays.

Every name is loaded when it is first asked for, so that Gymnasium stays optional.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from whence.errors import MissingExtraError

if TYPE_CHECKING:
    from whence.envs.environments import Counterfactuals, LabeledMDPEnv, RewardMachineEnv
    from whence.envs.exploration import Coverage
    from whence.envs.recorder import Recorder, Recording
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
    "Counterfactuals": "environments",
    "Coverage": "exploration",
    "GymWorld": "world",
    "LabeledMDPEnv": "environments",
    "Recorder": "recorder",
    "Recording": "recorder",
    "RewardMachineEnv": "environments",
}


def need_gymnasium(what: str) -> None:
    """Refuse to go on without Gymnasium, on behalf of `what`."""
    try:
        import gymnasium  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            f"{what} needs the package gymnasium; install it with: pip install 'whence[gym]'"
        ) from None


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    need_gymnasium(f"whence.envs.{name}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
