"""Reading and writing files: whole, or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from whence.errors import FileError, FormatError

__version__ = "0.1.0"  # what files say that wrote them


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file."""
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode) and not Path(path).is_dir():
            raise FileError(f"{path}: not a file but a device or a pipe; copy it to a file")
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read: {_reason(error)}; check the path") from None


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the content of a UTF-8 text file, a byte order mark left out."""
    return decode_text(read_bytes(path), str(path))


def decode_text(data: bytes, source: str) -> str:
    """Return `data` as text; line ends become a single newline character."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"{source}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8 text; "
            "save the file as UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that a failure or a kill leaves the old one as it was."""
    target = Path(os.path.realpath(path))
    temporary = ""
    try:
        if target.is_file() and not os.access(target, os.W_OK):
            raise PermissionError(None, "it is read-only")
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _keep_mode(target, temporary)
        Path(temporary).replace(target)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        raise FileError(
            f"{path}: cannot be written: {_reason(error)}; choose a folder that exists "
            "and that you may write to"
        ) from None


def remove(path: Path) -> None:
    """Remove a file, if there is one."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(
            f"{path}: cannot be removed: {_reason(error)}; make the folder writable"
        ) from None


def sync_folder(path: Path) -> None:
    """Have the names in a folder on the disk before this returns."""
    with contextlib.suppress(OSError):  # some file systems know no such thing
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def own(folder: Path, name: str) -> Path:
    """Return the path of a file that belongs to a folder; links, which lead out, are refused."""
    path = folder / name
    for part in (path, *path.parents[: len(Path(name).parts) - 1]):
        if part.is_symlink():
            raise FileError(f"{part}: a link; the files of a run are its own: put a copy there")
    return path


def _keep_mode(target: Path, temporary: str) -> None:
    """Give the new file the old one's permissions, or the process's default ones."""
    if target.exists():
        mode = target.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    Path(temporary).chmod(mode)


def _reason(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
