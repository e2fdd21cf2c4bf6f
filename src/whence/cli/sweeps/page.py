"""What a sweep found: one table, as CSV, and one page."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from whence import _files as files
from whence._files import __version__
from whence.drawing import machine_svg
from whence.errors import WhenceError
from whence.model.machine import RewardMachine
from whence.report.html import LINE, Html, counted, figure, fill, join, paragraph, section, table
from whence.report.page import PAGE, POLICY
from whence.report.style import css

TABLE, PAGE_NAME = "table.csv", "index.html"
COLUMNS = (
    "run", "world", "demonstrations", "variant", "seed", "status", "stopped", "steps",
    "evaluations", "seconds", "states", "score", "log_likelihood", "alpha", "discount", "lapse",
    "doubts", "answer", "error", "worker",
)  # fmt: skip
SHOWN = ("world", "demonstrations", "variant", "seed", "states", "score", "doubts", "seconds")
MOST_DRAWN = 60


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
    """Return rows as one HTML page, with the machine that each inference found."""
    failed = [row for row in rows if row["status"] != "done"]
    done = len(rows) - len(failed)
    head = paragraph(f"{counted(done, 'inference')} done, {len(failed)} failed. The same table "
                     f"with all columns is in {TABLE}.")  # fmt: skip
    cells = [[_text(row.get(name)) for name in SHOWN] for row in rows]
    parts = [
        section("table", "All inferences", head,
                table("All inferences", SHOWN, cells, numbers=(3, 4, 5, 6, 7))),
        section("machines", "What was found", *(_found(folder, row) for row in rows[:MOST_DRAWN])),
    ]  # fmt: skip
    if failed:
        wrong = [[row["run"], row.get("error", "")] for row in failed]
        parts.append(section("failed", "Failed", table("Failed", ("run", "why"), wrong)))
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


def _found(folder: Path, row: dict[str, Any]) -> str:
    """Return the machine of an inference, and what it says in a sentence."""
    place = folder / row["run"] / "best.json"
    title = f"{row['world']}, {row['demonstrations']}, {row['variant']}, seed {row['seed']}"
    try:
        drawing = machine_svg(RewardMachine.load(place))
    except WhenceError:
        return paragraph(f"{title}: no machine. {row.get('error', '')}")
    return figure(drawing, f"{title}: {row.get('answer') or ''}")


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.2f}"
    return "" if value is None else str(value)
