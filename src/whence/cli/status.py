"""whence status."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from whence.cli._console import Output, output_options

WORDS = {
    "running": "running, process {process}",
    "finished": "finished",
    "stopped": "stopped; go on with: whence resume {run}",
    "killed": "killed; go on with: whence resume {run}",
}

Ask = Callable[[Path], dict[str, Any]]
Parts = Callable[[Path, dict[str, Any]], list[Any]]
MOST_LINES = 3  # of what is probable so far, and of what is open


@click.command("status")
@click.argument("run")
@click.option("--watch", is_flag=True, help="Show it anew each second, until it ends.")
@output_options
def command(run: str, watch: bool, out: Output) -> None:
    """Say how RUN stands: how far it has come, how well it does, and who works on it.

    RUN may be the folder of a sweep, too.
    """
    from whence.cli.sweeps import standing
    from whence.runs.status import status_document

    folder = Path(run)
    ask: Ask = status_document
    parts = _parts
    if standing.is_sweep(folder):
        ask, parts = standing.standing, _sweep_parts
    document = ask(folder)
    if watch and not (out.json or out.quiet):
        document = _watched(folder, document, ask, parts)
    out.document(document)
    out.show(*parts(folder, document))


def _sweep_parts(path: Path, document: dict[str, Any]) -> list[Any]:
    """Return how a sweep stands, for a terminal."""
    from whence.cli.sweeps import standing

    return standing.lines(document)


def _parts(path: Path, document: dict[str, Any]) -> list[Any]:
    """Return how the run stands, for a terminal."""
    from whence.runs.display import Pace, drawing_of, picture
    from whence.runs.status import best_so_far

    line = f"{document['run']}: " + WORDS[document["status"]].format(**document)
    if document["last"] is None:
        return [line]
    pace = Pace()
    pace.see_alone(document["last"])
    shown = picture(document["last"], drawing_of(best_so_far(path)), pace)
    return [line, "", shown, *_provisional(document["provisional"])]


def _provisional(found: dict[str, Any] | None) -> list[str]:
    """Return what was found so far, what is probable, and the next demonstrations."""
    from whence.cli._findings import fact_lines, open_lines

    if found is None:
        return []
    doubts = [f"  provisional: {doubt}" for doubt in found["doubts"][:1]]
    more = [*fact_lines(found["facts"])[:MOST_LINES], *open_lines(found["telling"])[:MOST_LINES]]
    return ["", found["answer"], *doubts, *more]


def _watched(path: Path, document: dict[str, Any], ask: Ask, parts: Parts) -> dict[str, Any]:
    """Show a run or a sweep as long as it goes on; return how it stands in the end."""
    from rich.console import Group
    from rich.live import Live

    from whence.runs.status import RUNNING

    with Live(transient=True, refresh_per_second=4) as live:
        while document["status"] == RUNNING:
            live.update(Group(*parts(path, document)))
            time.sleep(1.0)
            document = ask(path)
    return document
