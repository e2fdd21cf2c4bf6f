"""Who watches a run sees something within a second, and hears of it every few seconds.

On a terminal a picture is drawn anew several times a second, in a notebook one cell's output is;
elsewhere a line is written every few seconds. A thread does this, so that nothing that takes
long, such as compiling, leaves the watcher alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from threading import Event as Signal
from threading import Thread
from typing import TYPE_CHECKING, Any

from whence.runs import times
from whence.runs.display import Pace, drawing_of, line, picture
from whence.runs.events import FINISHED, Event, OnEvent

if TYPE_CHECKING:
    from rich.console import RenderableType

LINE_SECONDS = 5.0
SOON = 0.7  # seconds after which a silence is explained
STARTING = "getting ready"
AFTER = "inferred; going on"
COMPILING = "compiling"


class Watch:
    """What is known of a run by whoever watches it: its last event, or what goes on before."""

    def __init__(self) -> None:
        self.began = self.told = time.monotonic()
        self.last: Event | None = None
        self.pace = Pace()
        self._compiling = times.compiling()
        self._compiled = self._compiling.seconds

    def see(self, event: Event) -> None:
        """Take in an event."""
        self.pace.see(event.document())
        self.last, self.told = event, time.monotonic()

    @property
    def line(self) -> str:
        """How it stands, in one line."""
        if self._compiling.now or self.last is None or self.last.kind == FINISHED:
            return self.waiting
        return line(self.last.document(), self.pace, self.waited)

    @property
    def waited(self) -> float:
        """Seconds since the last event."""
        return time.monotonic() - self.told

    @property
    def waiting(self) -> str:
        """What goes on before the first event or after the last, and how long it took so far."""
        if self.last is not None and self.last.kind == FINISHED and not self._compiling.now:
            return f"{AFTER}, {self.waited:.0f} s so far"
        before = times.last(COMPILING)
        if self._compiling.now:
            past = "" if before is None else f"; the last time it took {before:.0f} s"
            return f"{COMPILING} the kernels, {self.compiled:.0f} s so far{past}"
        return f"{STARTING}, {time.monotonic() - self.began:.0f} s so far"

    @property
    def compiled(self) -> float:
        """Seconds of compiling since the watch began."""
        return self._compiling.seconds - self._compiled

    def close(self) -> None:
        """Remember how long compiling took."""
        times.remember(COMPILING, self.compiled)

    def __rich__(self) -> RenderableType:
        """Return the picture of now."""
        if self._compiling.now or self.last is None or self.last.kind == FINISHED:
            from rich.text import Text

            return Text(self.waiting)
        drawing = drawing_of(self.last.machine)
        return picture(self.last.document(), drawing, self.pace, self.waited)


@contextmanager
def watched(kind: str) -> Iterator[OnEvent]:
    """Show how a run does; yields what to call with events.

    Args:
        kind: `terminal`, `notebook`, `lines` or `nothing`; see `surroundings`.
    """
    if kind == "nothing":
        yield lambda event: None
        return
    watch = Watch()
    show = {"terminal": _on_terminal, "notebook": _in_notebook, "lines": _in_lines}[kind]

    def see(event: Event) -> None:
        first = watch.last is None
        watch.see(event)
        if first and kind == "lines":
            _write(watch.line)

    try:
        with show(watch):
            yield see
    finally:
        watch.close()


def surroundings() -> str:
    """Return where this runs: in a notebook, on a terminal, or elsewhere (`lines`)."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None and type(shell).__name__ == "ZMQInteractiveShell":
        return "notebook"
    return "terminal" if sys.stderr is not None and sys.stderr.isatty() else "lines"


def chosen(progress: bool | None, on_event: OnEvent | None) -> str:
    """Return how `infer` shows its progress.

    Args:
        progress: True to show it anywhere, False for silence; by default it is shown on a
            terminal and in a notebook, unless `on_event` takes care of it.
        on_event: who else is told.
    """
    if progress is False or (progress is None and on_event is not None):
        return "nothing"
    where = surroundings()
    return "nothing" if progress is None and where == "lines" else where


@contextmanager
def telling(progress: bool | None, on_event: OnEvent | None) -> Iterator[OnEvent | None]:
    """Show progress as `chosen` says; yields who is to be told, if anybody is."""
    kind = chosen(progress, on_event)
    if kind == "nothing":
        yield on_event
        return
    with watched(kind) as show:
        yield show if on_event is None else _both(show, on_event)


def _both(one: OnEvent, other: OnEvent) -> OnEvent:
    def tell(event: Event) -> None:
        one(event)
        other(event)

    return tell


@contextmanager
def _on_terminal(watch: Watch) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live

    with Live(watch, console=Console(stderr=True), transient=True, refresh_per_second=5):
        yield


@contextmanager
def _in_notebook(watch: Watch) -> Iterator[None]:
    from html import escape
    from importlib import import_module

    show = import_module("IPython.display")

    def html() -> Any:
        return show.HTML(f"<pre>{escape(watch.line)}</pre>")

    handle = show.display(html(), display_id=True)
    with _ticking(1.0, 1.0, lambda: handle.update(html())):
        yield
    handle.update(show.HTML(""))


@contextmanager
def _in_lines(watch: Watch) -> Iterator[None]:
    with _ticking(SOON, LINE_SECONDS, lambda: _write(watch.line)):
        yield


@contextmanager
def patience(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Say what goes on where it takes longer than a moment, and how long it took last time."""
    before = times.last(what)
    past = "" if before is None else f"; the last time it took {before:.1f} s"
    began = time.perf_counter()

    def say() -> None:
        passed = time.perf_counter() - began
        _write(f"{what} ...{past}" if passed < LINE_SECONDS else f"{what}, {passed:.0f} s so far")

    with nullcontext() if quiet else _ticking(SOON, LINE_SECONDS, say):
        yield
    times.remember(what, time.perf_counter() - began)


@contextmanager
def _ticking(first: float, every: float, tick: Callable[[], object]) -> Iterator[None]:
    """Call a function after so many seconds, and then again and again, from another thread."""
    done = Signal()

    def loop() -> None:
        wait = first
        while not done.wait(wait):
            tick()
            wait = every

    thread = Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _write(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
