"""How a sweep stands, read from its folder without touching it."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import msgspec

from whence import _files as files
from whence.cli.sweeps import cells
from whence.cli.sweeps.carrying import COUNT, ROWS
from whence.errors import FormatError
from whence.report.html import counted
from whence.runs import lock


def is_sweep(folder: Path) -> bool:
    """Return whether a folder is a sweep's."""
    return (folder / cells.KEY).is_file()


def standing(folder: Path) -> dict[str, Any]:
    """Return how a sweep stands, for JSON."""
    rows = [_row(path) for path in sorted((folder / ROWS).glob("*.json"))]
    told = {row["run"] for row in rows}
    begun = [path.name for path in sorted((folder / cells.RUNS).glob("*")) if path.is_dir()]
    process = lock.holder(folder)
    took = [row["seconds"] for row in rows if row["status"] == "done"]
    total = _count(folder)
    over = process is None and len(rows) == total
    workers: dict[str, dict[str, float]] = {}
    for row in rows:
        mine = workers.setdefault(row.get("worker", "?"), {"inferences": 0, "seconds": 0.0})
        mine["inferences"] += 1
        mine["seconds"] = round(mine["seconds"] + row.get("seconds", 0.0), 2)
    return {
        "sweep": str(folder),
        "status": "running" if process is not None else "finished" if over else "stopped",
        "process": process,
        "inferences": total,
        "done": len(took),
        "failed": len(rows) - len(took),
        "under_way": [name for name in begun if f"{cells.RUNS}/{name}" not in told],
        "seconds_each": round(mean(took), 2) if took else None,
        "workers": workers,
    }


def lines(document: dict[str, Any]) -> list[str]:
    """Return how a sweep stands, for people."""
    failed = document["failed"]
    again = f", {failed} failed; the same whence sweep tries them again" if failed else ""
    words = {
        "running": f"running, process {document['process']}",
        "finished": f"finished{again}",
        "stopped": "stopped; go on with the same whence sweep",
    }
    each, total = document["seconds_each"], document["inferences"]
    pace = "" if each is None else f"; {each:g} s each"
    under_way = "under way" if document["status"] == "running" else "begun"
    found = [
        f"{document['sweep']}: {words[document['status']]}",
        f"{document['done']}{'' if total is None else f' of {total}'} inferences done, "
        f"{failed} failed, {len(document['under_way'])} {under_way}{pace}",
    ]
    for name, mine in document["workers"].items():
        count = counted(int(mine["inferences"]), "inference")
        found.append(f"  {name}: {count} in {mine['seconds']:,.1f} s")
    return found


def _row(path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(files.read_bytes(path), type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise FormatError(f"{path}: {error}; remove it, and whence sweep again") from None


def _count(folder: Path) -> int | None:
    """Return how many inferences there are in all; sweeps that were begun long ago do not say."""
    place = folder / COUNT
    text = files.read_bytes(place).decode("ascii", "replace") if place.is_file() else ""
    return int(text) if text.isdecimal() else None
