"""How a run stands, read from its folder without touching it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from whence import _files as files
from whence.errors import WhenceError
from whence.model.machine import RewardMachine
from whence.runs import events, folder, journal, lock, manifest

RUNNING, FINISHED, STOPPED, KILLED = "running", "finished", "stopped", "killed"


class Said(msgspec.Struct, omit_defaults=True):
    """An event as the journal keeps it, for whoever shows it; keys as in `Event`."""

    at: str
    event: str
    step: int
    steps: int
    seconds: float
    evaluations: int
    score: float | None
    compiling: float = 0.0
    look: int | None = None
    most_seconds: float | None = None
    process: int | None = None
    temperature: float | None = None
    p: float | None = None
    warm: bool | None = None
    temperatures: list[float] | None = None
    swap_rates: list[float | None] | None = None
    round_trips: list[int] | None = None
    copies: int | None = None
    best_likelihoods: list[float | None] | None = None
    workers: dict[str, dict[str, float]] | None = None
    bytes_sent: int | None = None
    bytes_received: int | None = None
    mended: list[str] | None = None


def status_document(path: Path) -> dict[str, Any]:
    """Return how a run stands, for JSON; `last` is what it said last of itself.

    `provisional` is what it had found at its last checkpoint, as in `result.json`, while it has
    not ended.
    """
    told = manifest.read(path)
    last = _last(journal.tail(path))
    process = lock.holder(path)
    return {
        "run": str(path),
        "status": _word(process, None if last is None else last["event"]),
        "process": process,
        "created": told.created,
        "method": told.job.get("method"),
        "last": last,
        "provisional": None if folder.complete(path) else folder.provisional(path),
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


def _last(events: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the last event that makes sense."""
    for event in reversed(events):
        try:
            said = msgspec.convert(event, Said)
        except msgspec.ValidationError:
            continue
        ladders = (said.temperatures, said.round_trips, said.best_likelihoods)
        if (all(ladders) and said.swap_rates is not None) or not any(ladders):
            document: dict[str, Any] = msgspec.to_builtins(said)
            return document
    return None
