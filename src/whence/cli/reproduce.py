"""whence reproduce."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whence.cli._console import Output, output_options, workers_option

if TYPE_CHECKING:
    from rich.table import Table

    from whence.paper.experiment import Results


@click.command("reproduce")
@click.argument("world", required=False)
@click.option("--triples", type=int, default=20, show_default=True, help="Triples for each world.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the first triple.")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    default="docs/reproduction",
    show_default=True,
    help="The folder for the page and its pictures.",
)
@click.option(
    "--ablation/--no-ablation",
    default=False,
    show_default=True,
    help="Also test the paper's claims about its choices: six times the work.",
)
@click.option("--steps", type=int, help="Steps in place of the paper's N, for a trial.")
@click.option("--threads", type=int, help="Processes to use.  [default: all cores]")
@workers_option
@output_options
def command(
    world: str | None,
    triples: int,
    seed: int,
    output: str,
    ablation: bool,
    steps: int | None,
    threads: int | None,
    workers: str | None,
    out: Output,
) -> None:
    """Run the paper's experiments again, and write a page that compares the figures."""
    import time

    from whence.cli._live import progress
    from whence.errors import ArgumentError
    from whence.likelihood.threads import threads_available
    from whence.paper import experiment, writing
    from whence.paper.worlds import BUILT_IN
    from whence.runs.workers import opened

    began = time.perf_counter()
    worlds = tuple(BUILT_IN) if world is None else (world,)
    plan = experiment.Plan(worlds, triples, seed, ablation, steps)
    processes = threads_available() if threads is None else threads
    if processes < 1:
        raise ArgumentError(f"--threads {processes}: give a whole number of at least 1")
    writing.prepare(output)
    with opened(workers) as executor, progress(out, "triples and baselines") as advance:
        results = experiment.carry_out(plan, processes, advance, executor)
    written = writing.write(output, results)
    seconds = time.perf_counter() - began
    out.document(writing.document(results) | {"written": written, "seconds": seconds})
    if not (out.json or out.quiet):
        out.show(_table(results), f"{seconds:.0f} s; wrote {written[0]}")


def _table(results: Results) -> Table:
    from rich.table import Table

    from whence.paper.figures import figure, percent, rows

    table = Table("world", "", "the paper", "ours, median", "reach it", "the truth's own")
    for world in results.plan.worlds:
        for row in rows(results, world):
            table.add_row(
                world, row.quantity, figure(row.paper), figure(row.ours), percent(row.reached),
                figure(row.truth),
            )  # fmt: skip
        table.add_section()
    return table
