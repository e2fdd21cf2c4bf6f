"""One process at a time works on a run.

The lock belongs to the process that holds the file open: when it dies, however it dies, the
system lets go of it. The file stays and names the last holder.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from whence.errors import FileError

NAME = "lock"


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the run, or refuse with the number of the process that does."""
    path = folder / NAME
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise FileError(
            f"{path}: cannot be opened: {(error.strerror or '').lower()}; a run needs a folder "
            "that you may write to"
        ) from None
    try:
        if not _taken(handle, path):
            raise FileError(
                f"{folder}: process {_holder(handle)} is working on this run; wait for it, or "
                "stop it, then try again"
            )
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


def holder(folder: Path) -> int | None:
    """Return the number of the process that works on a run, or None."""
    try:
        handle = os.open(folder / NAME, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if _taken(handle, folder / NAME):
            return None
        number = _holder(handle)
        return int(number) if number.isdecimal() else None
    finally:
        os.close(handle)


def _taken(handle: int, path: Path) -> bool:
    """Take the lock if it is free; say whether it was."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise FileError(
            f"{path}: cannot be locked: {(error.strerror or '').lower()}; keep runs on a file "
            "system that knows locks"
        ) from None
    return True


def _holder(handle: int) -> str:
    text = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
    return text if text.isdecimal() else "unknown"
