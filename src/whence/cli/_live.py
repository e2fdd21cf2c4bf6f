"""What is shown while work goes on: a live picture on a terminal, else one line a minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from whence.cli._console import Output
from whence.drawing import terminal
from whence.runs.events import FINISHED, Event, OnEvent

if TYPE_CHECKING:
    from rich.console import RenderableType

LINE_SECONDS = 60.0
BARS = "▁▂▃▄▅▆▇█"
MOST_LINES = 16  # of a drawing


@contextmanager
def watching(out: Output) -> Iterator[OnEvent]:
    """Show how a run is doing, unless silence was asked for; yields what to call with events."""
    if out.quiet:
        yield lambda event: None
    elif sys.stderr is not None and sys.stderr.isatty():
        with _live() as show:
            yield show
    else:
        yield _lines()


def line(document: dict[str, Any]) -> str:
    """Return an event in one line."""
    score = document.get("score")
    parts = [
        f"step {document['step']:,} of {document['steps']:,}",
        "no machine yet" if score is None else f"best score {score:,.2f}",
        f"{_rate(document):,.0f} machines/s",
        f"{_clock(document['seconds'])} so far",
    ]
    left = _left(document)
    if left is not None:
        parts.append(f"at most {_clock(left)} left")
    if "round_trips" in document:
        parts.append(_ladders(document))
    return "inferring: " + ", ".join(parts)


def picture(document: dict[str, Any], drawing: str | None) -> RenderableType:
    """Return an event and the best machine so far, for a terminal."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    bar = ProgressBar(total=max(document["steps"], 1), completed=document["step"], width=30)
    head = Table.grid(padding=(0, 2))
    left = _left(document)
    head.add_row(
        Text("inferring", style="bold"),
        bar,
        f"step {document['step']:,} of {document['steps']:,}",
        _clock(document["seconds"]) + ("" if left is None else f", at most {_clock(left)} left"),
    )
    facts = Table.grid(padding=(0, 2))
    score = document.get("score")
    facts.add_row("best score", "none yet" if score is None else f"{score:,.2f}")
    facts.add_row("scored", f"{document['evaluations']:,} machines, {_rate(document):,.0f}/s")
    for name, value in _facts(document):
        facts.add_row(name, value)
    shown = [] if drawing is None else [Text(""), Text(drawing), Text("")]
    return Group(head, *shown, facts)


def drawing_of(machine: Any) -> str | None:
    """Return a machine as a small drawing, or None if it is too large for one."""
    if machine is None:
        return None
    text = terminal.machine_text(machine)
    return text if text.count("\n") < MOST_LINES else None


def _facts(document: dict[str, Any]) -> list[tuple[str, str]]:
    if "round_trips" not in document:
        if "temperature" in document:
            return [("temperature", f"{document['temperature']:,.0f}")]
        return []
    temperatures = document["temperatures"]
    rates = [rate for rate in document["swap_rates"] if rate is not None]
    stage = "sampling" if document.get("warm") else "warming up: rungs and moves adapt"
    rows = [
        ("stage", stage),
        ("ladders", _ladders(document)),
        ("temperatures", f"{temperatures[0]:,.3g} to {temperatures[-1]:,.3g}"),
    ]
    if rates:
        rows.append(("swap rates", f"{_bars(rates)}  lowest {min(rates):.0%}"))
    return rows


def _ladders(document: dict[str, Any]) -> str:
    trips = " and ".join(str(count) for count in document["round_trips"])
    best = document["best_likelihoods"]
    known = [value for value in best if value is not None]
    same = len(known) == len(best) and max(known) - min(known) < 0.02
    word = "the same best machine" if same else "different best machines"
    return f"{word}, round trips {trips}" if len(best) > 1 else f"round trips {trips}"


def _bars(values: list[float]) -> str:
    top = len(BARS) - 1
    return "".join(BARS[min(max(round(value * top), 0), top)] for value in values)


def _rate(document: dict[str, Any]) -> float:
    return float(document["evaluations"] / max(document["seconds"], 1e-3))


def _left(document: dict[str, Any]) -> float | None:
    done, seconds = document["step"], document["seconds"]
    if not done or seconds <= 0:
        return None
    return float(seconds / done * (document["steps"] - done))


def _clock(seconds: float) -> str:
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    return (
        f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
    )


@contextmanager
def _live() -> Iterator[OnEvent]:
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True, refresh_per_second=5) as live:
        yield lambda event: live.update(picture(event.document(), drawing_of(event.machine)))


def _lines() -> OnEvent:
    said = [-LINE_SECONDS]

    def show(event: Event) -> None:
        now = time.monotonic()
        if event.kind != FINISHED and now - said[0] >= LINE_SECONDS:
            said[0] = now
            click.echo(line(event.document()), err=True)

    return show


@contextmanager
def progress(out: Output, what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how far a task has come, unless silence was asked for; yields `advance(done, of)`."""
    if out.quiet:
        yield lambda done, of: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=Console(stderr=True))
    task = bar.add_task(what, total=None)

    def advance(done: int, of: int) -> None:
        bar.start()  # only now: a task that fails at once leaves nothing but its message
        bar.update(task, completed=done, total=of)

    try:
        yield advance
    finally:
        if bar.live.is_started:
            bar.stop()
