"""What can go wrong, as a tree.

WhenceError
├── FileError             a file that cannot be read or written
├── FormatError           a file whose content does not follow its format
├── WorldError            a world that is not a labelled MDP
├── MachineError          a machine, or an operation on machines, that makes no sense
├── DemonstrationsError   demonstrations that do not fit together, or do not fit their world
├── ArgumentError         an argument outside its range
├── MissingExtraError     an optional dependency that is not installed
└── DeviceError           a graphics card that is not there, is full, or does not answer

WhenceWarning             something legal that is probably not meant

Every message names the place, the culprit and the cure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self


class WhenceError(Exception):
    """Base of every error that whence raises on purpose.

    Attributes:
        problems: the single ones, where several are told together; else empty.
    """

    problems: tuple[str, ...] = ()

    @classmethod
    def of(cls, problems: Sequence[str]) -> Self:
        """Return one error that tells several problems, a line each."""
        error = cls("\n".join(problems))
        error.problems = tuple(problems) if len(problems) > 1 else ()
        return error


class FileError(WhenceError):
    """A file that cannot be read or written."""


class FormatError(WhenceError):
    """A file whose content does not follow its format."""


class WorldError(WhenceError):
    """A world that is not a labelled MDP."""


class MachineError(WhenceError):
    """A machine, or an operation on machines, that makes no sense."""


class DemonstrationsError(WhenceError):
    """Demonstrations that do not fit together, or do not fit their world."""


class ArgumentError(WhenceError):
    """An argument outside its range."""


class MissingExtraError(WhenceError):
    """An optional dependency that is not installed."""


class DeviceError(WhenceError):
    """A graphics card that is not there, is full, or does not answer."""


class WorkerError(WhenceError):
    """A worker that is gone, does not fit, or cannot be reached."""


class WhenceWarning(UserWarning):
    """Something legal that is probably not meant."""
