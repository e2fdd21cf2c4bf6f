"""One process at a time works on a run.

The lock is the system's and belongs to the process that holds it: when that dies, however it
dies, the system lets go of it. Another file names the last holder, because on some systems
nobody else can read a file that is locked.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import filelock

from whence import _files as files
from whence.errors import FileError

NAME = "lock"
HOLDER = "process"


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the run, or refuse with the number of the process that does."""
    lock = filelock.FileLock(files.own(folder, NAME), timeout=0, thread_local=False)
    try:
        _take(lock)
    except filelock.Timeout:
        raise FileError(
            f"{folder}: process {_number(folder) or 'unknown'} is working on this run; wait for "
            "it, or stop it, then try again"
        ) from None
    except OSError as error:
        raise _unlockable(folder / NAME, error) from None
    try:
        files.write_bytes(files.own(folder, HOLDER), f"{os.getpid()}\n".encode())
        yield
    finally:
        lock.release()


def holder(folder: Path) -> int | None:
    """Return the number of the process that works on a run, or None."""
    return _number(folder) if _is_taken(folder / NAME) else None


def _take(lock: filelock.BaseFileLock) -> None:
    """Take the system's lock, never the file's mere existence, which would outlive a kill."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lock.acquire()
    if isinstance(lock, filelock.SoftFileLock):
        lock.release()
        raise OSError("the file system knows no locks")


def _is_taken(path: Path) -> bool:
    """Whether a process holds the lock; on Unix asked of a file that need not be writable."""
    if path.is_symlink() or not path.is_file():
        return False
    if sys.platform == "win32":
        return _is_refused(path)
    import fcntl

    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        raise _unlockable(path, error) from None
    finally:
        os.close(handle)
    return False


def _is_refused(path: Path) -> bool:
    """Whether the lock cannot be had just now."""
    try:
        with filelock.FileLock(path, timeout=0):
            return False
    except filelock.Timeout:
        return True


def _unlockable(path: Path, error: OSError) -> FileError:
    return FileError(
        f"{path}: cannot be locked: {(error.strerror or str(error)).lower()}; a run needs a "
        "folder that you may write to, on a file system that knows locks"
    )


def _number(folder: Path) -> int | None:
    try:
        text = files.own(folder, HOLDER).read_bytes()[:32].decode("ascii", "replace").strip()
    except (OSError, FileError):
        return None
    return int(text) if text.isdecimal() else None
