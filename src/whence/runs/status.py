"""How a run stands, read from its folder without touching it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whence import files
from whence.errors import WhenceError
from whence.machine import RewardMachine
from whence.runs import events, folder, journal, lock, manifest

RUNNING, FINISHED, STOPPED, KILLED = "running", "finished", "stopped", "killed"
COUNTS = ("step", "steps", "seconds", "evaluations")


def status_document(path: Path) -> dict[str, Any]:
    """Return how a run stands, for JSON; `last` is what it said last of itself."""
    told = manifest.read(path)
    said = [each for each in journal.tail(path) if _sound(each)]
    last = said[-1] if said else None
    process = lock.holder(path)
    return {
        "run": str(path),
        "status": _word(process, None if last is None else last["event"]),
        "process": process,
        "created": told.created,
        "method": told.job.get("method"),
        "last": last,
    }


def best_so_far(path: Path) -> RewardMachine | None:
    """Return the best machine of the last checkpoint, if there is one."""
    try:
        return RewardMachine.load(files.own(path, folder.BEST))
    except WhenceError:
        return None


def _word(process: int | None, last: str | None) -> str:
    if process is not None:
        return RUNNING
    if last in (events.FINISHED, events.STOPPED):
        return FINISHED if last == events.FINISHED else STOPPED
    return KILLED


def _sound(event: dict[str, Any]) -> bool:
    return all(isinstance(event.get(name), int | float) for name in COUNTS)
