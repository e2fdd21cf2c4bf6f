"""A progress bar on stderr, where somebody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from whence.cli.console import Output


@contextmanager
def progress(out: Output, what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how far a task is, unless silence was asked for; yields `advance(done, of)`."""
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
