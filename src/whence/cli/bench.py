"""whence bench."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whence.cli._console import Output, output_options

if TYPE_CHECKING:
    from whence.cli.benchmarks.report import Report


@click.command("bench")
@click.option(
    "--part",
    default="engine",
    show_default=True,
    metavar="PART",
    help="engine (compared with other programs), growth, card (a graphics card), or all but card.",
)
@click.option(
    "--machines", type=int, default=200, show_default=True, help="Machines to score in each case."
)
@click.option(
    "--largest",
    type=int,
    default=100_000,
    show_default=True,
    metavar="S",
    help="States of the largest world to measure growth on.",
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    help="Write bench.json, README.md and growth.svg there.",
)
@output_options
def command(
    part: str, machines: int, largest: int, seed: int, output: str | None, out: Output
) -> None:
    """Measure how fast machines are scored, and how that grows."""
    from whence.cli.benchmarks import folder, report
    from whence.planning.simulation import checked_seed

    _check(part, machines, largest)
    checked_seed(seed)
    if output is not None:
        folder.make(output)

    def tell(what: str) -> None:
        if not out.quiet:
            click.echo(f"measuring {what} ...", err=True)

    measured = report.measure(part, machines, largest, seed, tell)
    written = [] if output is None else folder.save(measured, output)
    out.document(measured.document() | {"written": written})
    _show(measured, out)
    out.show(*(f"wrote {path}" for path in written))


def _check(part: str, machines: int, largest: int) -> None:
    from whence.cli.benchmarks.growth import LARGEST, SMALLEST
    from whence.cli.benchmarks.report import PARTS
    from whence.errors import ArgumentError

    if part not in PARTS:
        raise ArgumentError(f"--part {part}: no such part; known are {', '.join(PARTS)}")
    if machines < 1:
        raise ArgumentError(f"--machines {machines}: give a number of at least 1")
    if not SMALLEST <= largest <= LARGEST:
        raise ArgumentError(
            f"--largest {largest}: give a number of states from {SMALLEST} to {LARGEST}"
        )


def _show(measured: Report, out: Output) -> None:
    """Print a table for each part, with its note below."""
    import rich.table

    from whence.cli.benchmarks.tables import tables

    for table in tables(measured):
        shown = rich.table.Table(*table.columns, title=table.title, title_justify="left")
        for row in table.rows:
            shown.add_row(*row)
        out.show(shown, table.note)
