"""What the user sees: results on stdout, everything else on stderr."""

from __future__ import annotations

import io
import os
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TextIO, TypeVar

import click

from whence.errors import WhenceWarning

if TYPE_CHECKING:
    from rich.console import Console

P = ParamSpec("P")
R = TypeVar("R")


class Output:
    """Where a verb puts its result: one JSON document, or text for people."""

    def __init__(self, *, json: bool, quiet: bool) -> None:
        self.json = json
        self.quiet = quiet

    def document(self, value: dict[str, Any]) -> None:
        """Print the JSON document, where one was asked for."""
        if self.json:
            import msgspec

            click.echo(msgspec.json.format(msgspec.json.encode(_utf8(value)), indent=2).decode())

    def show(self, *parts: Any) -> None:
        """Print text or rich renderables, unless JSON or silence was asked for."""
        if self.json or self.quiet:
            return
        console = stdout_console()
        for part in parts:
            if isinstance(part, str):
                console.print(part, markup=False, highlight=False, soft_wrap=True)
            else:
                console.print(part)

    def note(self, message: str) -> None:
        """Print a line on stderr, unless silence was asked for."""
        if not self.quiet:
            click.echo(printable(message), err=True)

    def warn(self, message: str) -> None:
        """Print a line that starts with `warning:` on stderr, unless silence was asked for."""
        if not self.quiet:
            click.echo(_styled("warning: ", "yellow") + printable(message), err=True)


def output_options(function: Callable[P, R]) -> Callable[..., R]:
    """Give a command `--json` and `-q`; the function gets an `Output` as `out`."""

    @click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
    @click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors and JSON.")
    @wraps(function)
    def wrapped(*args: Any, as_json: bool, quiet: bool, **kwargs: Any) -> R:
        if quiet:
            warnings.simplefilter("ignore", WhenceWarning)
        out = Output(json=as_json, quiet=quiet)
        return function(*args, out=out, **kwargs)  # type: ignore[arg-type]

    return wrapped


def available_option(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command `--available`, for a world that is a log."""
    return click.option(
        "--available",
        type=click.Choice(["all", "seen"]),
        help="Where WORLD is a log: states have all actions, or those ever taken.  [default: all]",
    )(function)


COLUMNS = {
    "episode": ("--episode", "A table's column of episodes.  [default: episode]"),
    "step": ("--order", "Its column of steps or times, which orders rows.  [default: step]"),
    "state": ("--state", "Its column of states.  [default: state]"),
    "action": ("--action", "Its column of actions.  [default: action]"),
    "label": ("--label", "Its column of labels.  [default: label]"),
    "ended": ("--ended", "Its column that says whether the task was over.  [default: ended]"),
    "subject": ("--subject", "Its column that says who acted.  [default: subject]"),
}
BIN = "Cut a column of numbers into bins, such as x:20 or x:20:0:2.5; they make up the states."
BOXES = "Label binned states by a table of boxes, such as label,x_low,x_high,y_low,y_high."


def table_options(function: Callable[..., R]) -> Callable[..., R]:
    """Give a command options for the columns of tables; it gets those said as `table`."""

    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> R:
        said = {name: kwargs.pop(f"column_{name}") for name in COLUMNS}
        said |= {name: kwargs.pop(name) for name in ("gaps", "boxes")}
        said["bin"] = kwargs.pop("bin") or None
        table = {name: value for name, value in said.items() if value is not None}
        return function(*args, table=table, **kwargs)

    result: Callable[..., R] = wrapped
    gaps = "Refuse a table's episodes that lack a step, keep what is before it, or ignore it."
    kinds = click.Choice(["error", "cut", "ignore"])
    result = click.option("--gaps", type=kinds, help=gaps)(result)
    result = click.option("--boxes", metavar="FILE", help=BOXES)(result)
    result = click.option("--bin", metavar="COLUMN:N", multiple=True, help=BIN)(result)
    for name, (option, text) in reversed(COLUMNS.items()):
        result = click.option(option, f"column_{name}", metavar="COLUMN", help=text)(result)
    return result


def repair_options(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command `--repair` and `--as-is`, for a table alone."""
    same = "Of a table alone: names that are almost alike are different ones."
    option = click.option("--as-is", is_flag=True, help=same)(function)
    text = "Of a table alone: make all the repairs that are suggested for it."
    return click.option("--repair", is_flag=True, help=text)(option)


def endings_option(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command `--endings`."""
    return click.option(
        "--endings",
        type=click.Choice(["ignore", "task"]),
        default="ignore",
        show_default=True,
        help="What it means that episodes ended: nothing, or that the task was over.",
    )(function)


def expert_option(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command `--expert`."""
    return click.option(
        "--expert",
        "expert_kind",
        type=click.Choice(["boltzmann", "soft"]),
        default="boltzmann",
        show_default=True,
        help="Follows the best plan and errs, or plans with its own errors in mind.",
    )(function)


def typed() -> list[str]:
    """Return the command that runs now, as it was typed."""
    context = click.get_current_context(silent=True)
    arguments = None if context is None else context.find_root().obj
    return ["whence", *(arguments if isinstance(arguments, list) else sys.argv[1:])]


def stdout_console() -> Console:
    """Return a console on stdout, wide enough for tables where stdout is a file."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=max(console.width, 100))


def say_error(message: str, *more: str) -> None:
    """Print a line that starts with `error:` on stderr, and further lines below it."""
    click.echo(_styled("error: ", "red") + printable(message), err=True)
    for line in more:
        click.echo(printable(line), err=True)


def never_fail_to_print() -> None:
    """Print a question mark for each character that the terminal's encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _styled(text: str, colour: str) -> str:
    return text if os.environ.get("NO_COLOR") else click.style(text, fg=colour, bold=True)


def _utf8(value: Any) -> Any:
    """Return a document in which file names that are not UTF-8 are spelled out."""
    if isinstance(value, dict):
        return {key: _utf8(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_utf8(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


@contextmanager
def note_warnings() -> Iterator[None]:
    """Print whence's own warnings as one line each."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, WhenceWarning):
                click.echo(_styled("warning: ", "yellow") + printable(str(message)), err=True)
            else:
                usual(message, category, filename, lineno, file, line)

        warnings.simplefilter("always", WhenceWarning)
        warnings.showwarning = show
        yield


def printable(text: str) -> str:
    """Return text with control characters spelled out, so that a terminal obeys none of them."""
    return "".join(
        c if unicodedata.category(c) not in ("Cc", "Cf", "Cs") else ascii(c)[1:-1] for c in text
    )


def workers_option(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command `--workers`."""
    return click.option(
        "--workers",
        metavar="N",
        help="Processes to use, or a Dask scheduler, tls://node1:8786.  [default: this one]",
    )(function)
