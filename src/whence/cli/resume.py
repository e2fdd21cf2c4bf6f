"""whence resume."""

from __future__ import annotations

import click

from whence.cli._console import Output, output_options, workers_option


@click.command("resume")
@click.argument("run")
@click.option("--steps", type=int, help="Most steps in all; extends the run.")
@click.option("--minutes", type=float, help="Most minutes in all; extends the run.")
@click.option(
    "--copies", is_flag=True, help="Go on even if the files that it was made from have changed."
)
@click.option("--checkpoint", type=float, help="Seconds between checkpoints.  [default: 10]")
@click.option("--threads", type=int, help="[default: all cores]")
@workers_option
@output_options
def command(
    run: str,
    steps: int | None,
    minutes: float | None,
    copies: bool,
    checkpoint: float | None,
    threads: int | None,
    workers: str | None,
    out: Output,
) -> None:
    """Go on with RUN, to exactly the result of a run that was never stopped."""
    from whence.cli import _findings as findings
    from whence.cli._live import watching
    from whence.runs.resuming import resume
    from whence.runs.workers import opened

    with watching(out) as show, opened(workers) as executor:
        found = resume(
            run,
            steps=steps,
            minutes=minutes,
            copies=copies,
            checkpoint=checkpoint,
            threads=threads,
            executor=executor,
            on_event=show,
        )
    findings.tell(out, found, run)
