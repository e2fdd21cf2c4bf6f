"""A report as a folder of files: its figures, a page of Markdown, and a picture."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from whence._files import write_bytes
from whence.cli.benchmarks.picture import picture
from whence.cli.benchmarks.report import Computer, Report
from whence.cli.benchmarks.tables import Table, tables
from whence.errors import FileError


def make(folder: str) -> None:
    """Make a folder, unless it is there."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"-o {folder}: the folder cannot be made: {os.strerror(error.errno or 0).lower()}; "
            "choose a place that you may write to"
        ) from None


def save(report: Report, folder: str) -> list[str]:
    """Write `bench.json`, `README.md` and, for growth, `growth.svg`; return their paths."""
    contents = files(report)
    paths = {name: str(Path(folder) / name) for name in contents}
    for name, content in contents.items():
        write_bytes(paths[name], content)
    return list(paths.values())


def files(report: Report) -> dict[str, bytes]:
    """Return the content of each file."""
    contents = {
        "bench.json": msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n",
        "README.md": page(report).encode(),
    }
    if report.growth is not None:
        contents["growth.svg"] = picture(report.growth).encode()
    return contents


def page(report: Report) -> str:
    """Return the page; it links to `growth.svg` beside it where growth was measured."""
    parts = ["# Measured", _computer(report.computer, report.seed)]
    if report.growth is not None:
        parts.append("![How the time a machine takes grows](growth.svg)")
    parts += [_section(table) for table in tables(report)]
    return "\n\n".join(parts) + "\n"


def _computer(computer: Computer, seed: int) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in computer.packages.items())
    return (
        f"Written by `whence bench -o`, which also wrote `bench.json`; seed {seed}.\n"
        f"{computer.processor}, {computer.cores} cores, {computer.system}, "
        f"Python {computer.python}, {packages}."
    )


def _section(table: Table) -> str:
    rule = "|".join("---" for _ in table.columns)
    rows = [" | ".join(row) for row in (table.columns, *table.rows)]
    lines = [f"| {rows[0]} |", f"|{rule}|", *(f"| {row} |" for row in rows[1:])]
    return f"## {table.title}\n\n" + "\n".join(lines) + f"\n\n{table.note}"
