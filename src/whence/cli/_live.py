"""What is shown while work goes on: a live picture on a terminal, else a line now and then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from whence.cli._console import Output
from whence.runs.events import OnEvent
from whence.runs.watching import patience, surroundings, watched


def watching(out: Output) -> AbstractContextManager[OnEvent]:
    """Show how a run is doing, unless silence was asked for; gives what to call with events."""
    return watched("nothing" if out.quiet else surroundings())


def loading(out: Output, what: str = "loading") -> AbstractContextManager[None]:
    """Say what is loaded where that takes longer than a moment, unless silence was asked for."""
    return patience(what, quiet=out.quiet)


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
