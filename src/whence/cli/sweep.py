"""whence sweep."""

from __future__ import annotations

import click

from whence.cli._console import Output, output_options, workers_option


@click.command("sweep")
@click.argument("file")
@click.option("-o", "--output", metavar="FOLDER", required=True, help="New, or begun.")
@click.option("--threads", type=int, help="Of each inference.  [default: 1]")
@workers_option
@output_options
def command(file: str, output: str, threads: int | None, workers: str | None, out: Output) -> None:
    """Make the inferences that FILE describes: worlds x demonstrations x settings x seeds.

    Killed or stopped, the same command goes on: what is done is not done again. At the end the
    folder has table.csv, index.html and a run for each inference.
    """
    from pathlib import Path

    from whence.cli._live import loading, progress

    with loading(out):
        from whence.cli.sweeps import carrying, page, plan
        from whence.runs import lock
        from whence.runs.job import checked_threads
        from whence.runs.workers import opened

        planned = plan.read(file)
        folder = Path(output)
        checked_threads(threads)
        carrying.opened(planned, folder)
    with lock.held(folder), opened(workers) as executor, progress(out, "inferences") as advance:
        rows = carrying.carried_out(
            planned, folder, executor, threads, lambda done, of, name: advance(done, of)
        )
        page.write(folder, rows)
    failed = [row for row in rows if row["status"] != "done"]
    out.document({"folder": output, "inferences": len(rows), "failed": len(failed), "rows": rows})
    out.show(
        f"{len(rows)} inferences, {len(failed)} failed.\n"
        f"The table: {folder / page.TABLE}\nThe page: {folder / page.PAGE_NAME}"
    )
    if failed:
        out.note(f"the first that failed: {failed[0]['run']}: {failed[0]['error']}")
