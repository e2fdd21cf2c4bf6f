"""Carries a sweep out: every inference once, by this process or by workers, and goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future
from pathlib import Path
from typing import Any

import msgspec

from whence import _files as files
from whence.cli.sweeps import cells
from whence.cli.sweeps.plan import Cell, Plan
from whence.errors import FileError, FormatError, WorkerError
from whence.runs.bell import Bell
from whence.runs.crew import MOST_LOST, seats_of
from whence.runs.workers import adopted

ROWS = "rows"
COUNT = "sweep.count"
POLL_SECONDS = 0.2

Told = Callable[[int, int, str], None]


def opened(plan: Plan, folder: Path) -> None:
    """Make the folder of a sweep, or refuse that of another one."""
    key = folder / cells.KEY
    if key.is_file():
        if files.read_bytes(key) != plan.key.encode():
            raise FormatError(
                f"{folder}: another sweep was begun here, or its file has changed since; put the "
                "file back, or name a new folder"
            )
        return
    if folder.is_dir() and any(folder.iterdir()):
        raise FileError(f"{folder}: the folder is not empty; name a new one for the sweep")
    for part in (folder, folder / cells.RUNS, folder / ROWS):
        part.mkdir(exist_ok=True)
    files.write_bytes(folder / COUNT, str(len(plan.cells)).encode())
    files.write_bytes(key, plan.key.encode())


def carried_out(
    plan: Plan, folder: Path, executor: Any, threads: int | None, told: Told
) -> list[dict[str, Any]]:
    """Make all inferences that are not done yet; return a row for each, in the plan's order."""
    left = [cell for cell in plan.cells if not _done(folder, cell)]
    told(len(plan.cells) - len(left), len(plan.cells), "")
    for cell, reply in _replies(plan, left, folder, adopted(executor), threads):
        for name, data in reply.get("files", {}).items():
            place = folder / cells.RUNS / cell.name / name
            place.parent.mkdir(parents=True, exist_ok=True)
            files.write_bytes(place, data)
        row = {**_head(cell), **reply["row"], "worker": reply["worker"]}
        files.write_bytes(_place(folder, cell), msgspec.json.encode(row))
        left.remove(cell)
        told(len(plan.cells) - len(left), len(plan.cells), cell.name)
    return [msgspec.json.decode(files.read_bytes(_place(folder, cell))) for cell in plan.cells]


def _replies(
    plan: Plan, left: list[Cell], folder: Path, executor: Any, threads: int | None
) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Yield the reply for each cell, as they come; one is in hand for each worker."""
    waiting = list(left)
    under_way: dict[Any, Cell] = {}
    lost: dict[str, int] = {}
    bell = Bell()
    while waiting or under_way:
        while waiting and len(under_way) < (1 if executor is None else seats_of(executor)):
            cell = waiting.pop(0)
            future = _sent(executor, cells.request(plan, cell, folder, threads))
            under_way[future] = cell
            bell.hear(future)
        back = [future for future in under_way if future.done()]
        for future in back:
            cell = under_way.pop(future)
            try:
                reply = future.result()
            except (BrokenExecutor, CancelledError, OSError) as error:
                lost[cell.name] = lost.get(cell.name, 0) + 1
                renew = getattr(executor, "renew", None)
                if lost[cell.name] >= MOST_LOST or renew is None or not renew():
                    raise WorkerError(
                        f"{cell.name}: the workers are gone ({type(error).__name__}: {error}); "
                        f"what is done is kept: go on with the same whence sweep, -o {folder}"
                    ) from None
                waiting.insert(0, cell)
                continue
            if "refused" in reply:
                raise WorkerError(f"worker {reply['worker']}: {reply['refused']}")
            yield cell, reply
        if not back:
            bell.wait(POLL_SECONDS)


def _sent(executor: Any, asked: dict[str, Any]) -> Any:
    if executor is None:
        future: Future[dict[str, Any]] = Future()
        future.set_result(cells.work(asked))
        return future
    named = getattr(executor, "submit_named", None)
    if named is not None:
        return named(asked["name"], cells.work, asked)
    return executor.submit(cells.work, asked)


def _head(cell: Cell) -> dict[str, Any]:
    shown = cell.demos if isinstance(cell.demos, str) else f"simulated, seed {cell.demos}"
    return {
        "run": f"{cells.RUNS}/{cell.name}",
        "world": cell.world.world,
        "demonstrations": shown,
        "variant": cell.variant,
        "seed": cell.seed,
    }


def _place(folder: Path, cell: Cell) -> Path:
    return folder / ROWS / f"{cell.name}.json"


def _done(folder: Path, cell: Cell) -> bool:
    """Return whether a cell was inferred; one that failed is tried again."""
    place = _place(folder, cell)
    if not place.is_file():
        return False
    try:
        return bool(msgspec.json.decode(files.read_bytes(place)).get("status") == "done")
    except (msgspec.DecodeError, AttributeError):
        return False
