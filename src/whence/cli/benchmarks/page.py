"""The measured figures as a page of Markdown."""

from __future__ import annotations

from whence.cli.benchmarks.report import Computer, Report
from whence.cli.benchmarks.tables import Table, tables


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
