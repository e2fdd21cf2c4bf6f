"""The journal of a run: one JSON document a line, appended as things happen."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from whence.errors import FileError

NAME = "journal.jsonl"
TAIL = 100_000  # bytes


def append(folder: Path, document: dict[str, Any], *, sync: bool) -> None:
    """Add one line, whole; with `sync`, it is on the disk before this returns."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = msgspec.json.encode({"at": at} | document) + b"\n"
    path = folder / NAME
    try:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            written = os.write(handle, line)
            if written != len(line):
                raise OSError(0, "no space left on device")
            if sync:
                os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise FileError(
            f"{path}: cannot be written: {(error.strerror or '').lower()}; make room, or make the "
            f"folder writable, then go on with: whence resume {folder}"
        ) from None


def mend(folder: Path) -> None:
    """Drop a last line that was not written whole."""
    path = folder / NAME
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FileError(
            f"{path}: cannot be written: {(error.strerror or '').lower()}; make the folder "
            "writable"
        ) from None
    with os.fdopen(handle, "r+b") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            file.truncate(whole)


def read(folder: Path) -> list[dict[str, Any]]:
    """Return the events of a journal; what is not a whole line of JSON is left out."""
    return _events(_bytes(folder, None))


def tail(folder: Path) -> list[dict[str, Any]]:
    """Return the last events of a journal, however long it is."""
    return _events(_bytes(folder, TAIL))


def _bytes(folder: Path, most: int | None) -> bytes:
    path = folder / NAME
    try:
        with path.open("rb") as file:
            if most is not None:
                file.seek(max(0, path.stat().st_size - most))
            return file.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise FileError(
            f"{path}: cannot be read: {(error.strerror or '').lower()}; check the folder"
        ) from None


def _events(data: bytes) -> list[dict[str, Any]]:
    events = []
    for line in data.splitlines(keepends=True):
        try:
            event = msgspec.json.decode(line) if line.endswith(b"\n") else None
        except (msgspec.DecodeError, RecursionError, ValueError):
            continue
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            events.append(event)
    return events
