"""What a sweep found: one table, as CSV, and one page."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from whence import _files as files
from whence._files import __version__
from whence.drawing import machine_svg
from whence.errors import WhenceError
from whence.model.machine import RewardMachine
from whence.report.html import (
    LINE,
    Html,
    bullets,
    code,
    counted,
    figure,
    fill,
    join,
    listed,
    marked,
    paragraph,
    section,
    table,
)
from whence.report.page import PAGE, POLICY
from whence.report.style import css

TABLE, PAGE_NAME = "table.csv", "index.html"
COLUMNS = (
    "run", "world", "demonstrations", "variant", "seed", "status", "stopped", "steps",
    "evaluations", "seconds", "states", "score", "log_likelihood", "alpha", "discount", "lapse",
    "doubts", "answer", "error", "worker",
)  # fmt: skip
SHOWN = ("world", "demonstrations", "variant", "seed", "states", "score", "doubts", "seconds")
NUMBERS = (0, 4, 5, 6, 7, 8)  # columns of the page that are set flush right
MOST_DRAWN = 60
LEGEND = (
    "The seed is that of the search, the score is log likelihood plus log prior in nats, and "
    "doubts are how many reasons there are not to trust a result yet. A result in full: "
)


class Found(NamedTuple):
    """A machine that was found in a world, and what is said by those who found it.

    Attributes:
        world: its name.
        machine: the best one.
        by: the inferences that found it, counted from 1.
        answers: their sentences, with who says each.
    """

    world: str
    machine: RewardMachine
    by: list[int]
    answers: dict[str, list[int]]


def write(folder: Path, rows: list[dict[str, Any]]) -> None:
    """Write the table and the page into the folder of a sweep."""
    files.write_bytes(folder / TABLE, as_csv(rows).encode("utf-8"))
    files.write_bytes(folder / PAGE_NAME, as_page(folder, rows).encode("utf-8"))


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_page(folder: Path, rows: list[dict[str, Any]]) -> str:
    """Return rows as one HTML page, with each machine that was found."""
    failed = [row for row in rows if row["status"] != "done"]
    machines = _machines(folder, rows)
    parts = [
        section("table", "All inferences", *_head(folder, rows, len(failed)),
                table("All inferences", ("", *SHOWN, "machine"),
                      _lines(rows, machines), numbers=NUMBERS)),
        section("machines", "The machines that were found", *_drawings(machines)),
    ]  # fmt: skip
    if failed:
        wrong = [[row["run"], row.get("error", "")] for row in failed]
        again = paragraph("The same ", code("whence sweep"), " tries these again.")
        parts.append(section("failed", "Failed", again, table("Why", ("run", "why"), wrong)))
    names = ("table", "machines", *(("failed",) if failed else ()))
    return fill(
        PAGE,
        policy=Html(POLICY),
        version=__version__,
        title="A sweep of inferences",
        style=Html(css()),
        subtitle=f"{counted(len(rows), 'inference')} of whence sweep",
        contents=join(
            fill('<li><a href="#{name}">{shown}</a></li>', name=name, shown=name.capitalize())
            for name in names
        ),
        sections=join(parts, LINE),
    )


def _head(folder: Path, rows: list[dict[str, Any]], failed: int) -> list[Html]:
    """Return how many are done, what the columns mean, and where there is more."""
    first = next((row["run"] for row in rows if row["status"] == "done"), rows[0]["run"])
    return [
        paragraph(f"{counted(len(rows) - failed, 'inference')} done, {failed} failed. The same "
                  "table with all columns is in ", code(TABLE), "."),
        paragraph(LEGEND, code(f"whence report {quote(str(folder / first))} -o report.html"), "."),
    ]  # fmt: skip


def _lines(rows: list[dict[str, Any]], machines: list[Found]) -> Iterator[list[str]]:
    """Yield the cells of each inference, its number first."""
    drawn = enumerate(machines[:MOST_DRAWN], 1)
    drawn_at = {number: at for at, each in drawn for number in each.by}
    for number, row in enumerate(rows, 1):
        at = str(drawn_at.get(number, ""))
        link = fill('<a href="#machine-{at}">{at}</a>', at=at) if at else "not drawn"
        where = link if row["status"] == "done" else Html('<a href="#failed">failed</a>')
        yield [str(number), *(_text(row.get(name)) for name in SHOWN), where]


def _machines(folder: Path, rows: list[dict[str, Any]]) -> list[Found]:
    """Return the best machines of all inferences, each once a world."""
    found: dict[tuple[str, bytes], Found] = {}
    for number, row in enumerate(rows, 1):
        place = folder / row["run"] / "best.json"
        if row["status"] == "done":
            with suppress(WhenceError):
                machine = RewardMachine.load(place)
                key = row["world"], files.read_bytes(place)
                one = found.setdefault(key, Found(row["world"], machine, [], {}))
                one.by.append(number)
                one.answers.setdefault(row.get("answer") or "No answer.", []).append(number)
    return list(found.values())


def _drawings(machines: list[Found]) -> Iterator[Html]:
    """Yield drawings of machines, with what is said by those who found them."""
    for at, each in enumerate(machines[:MOST_DRAWN], 1):
        caption = f"Machine {at}, {each.world}: found by {_numbered(each.by)}"
        said = (join((f"{_numbered(by)}: ", marked(text))) for text, by in each.answers.items())
        yield fill(
            '<div id="machine-{at}">{drawing}{said}</div>',
            at=str(at),
            drawing=figure(machine_svg(each.machine), caption),
            said=bullets(said),
        )
    if len(machines) > MOST_DRAWN:
        more = len(machines) - MOST_DRAWN
        yield paragraph(f"Not drawn here: {more} more; whence show RUN draws that of a run.")


def _numbered(several: list[int]) -> str:
    return f"inference{'' if len(several) == 1 else 's'} {listed([str(one) for one in several])}"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    return "" if value is None else str(value)
