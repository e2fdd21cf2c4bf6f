"""whence report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whence import _files as files
from whence.cli._console import Output, output_options, workers_option

if TYPE_CHECKING:
    from whence.report import Study
    from whence.runs.events import OnEvent
    from whence.runs.result import Run

ENDINGS = (".html", ".htm")


@click.command("report")
@click.argument("run")
@click.option("-o", "--output", metavar="FILE", required=True, help="The page, FILE.html.")
@click.option("--predict", is_flag=True, help="Predict new episodes of an unfinished run, too.")
@click.option("--no-held-out", is_flag=True, help="Do not infer again to predict new episodes.")
@click.option(
    "--minutes",
    type=float,
    default=5.0,
    show_default=True,
    help="Most minutes for that inference.",
)
@click.option("--threads", type=int, help="[default: all cores]")
@workers_option
@click.option("--pdf", is_flag=True, help="Print it to FILE.pdf, too; needs a Chromium.")
@output_options
def command(
    run: str,
    output: str,
    predict: bool,
    no_held_out: bool,
    minutes: float,
    threads: int | None,
    workers: str | None,
    pdf: bool,
    out: Output,
) -> None:
    """Write a report on RUN: one HTML file that needs nothing else.

    Of a run that is not finished it shows what is known so far, and infers nothing itself.
    """
    from whence.cli._live import loading, watching

    with loading(out):
        from whence.report.page import render
        from whence.report.pdf import needed, page_pdf
        from whence.runs.posterior_document import facts_document
        from whence.runs.workers import opened

    _check(output, minutes)
    if pdf:
        needed()
    if predict and no_held_out:
        raise click.UsageError("--predict and --no-held-out contradict each other; leave one out")
    compare = True if predict else False if no_held_out else None
    with loading(out, "reading the run"):
        found = loaded(run, threads)
    with watching(out) as show, opened(workers) as executor:
        study = study_of(
            found, run, compare=compare, minutes=minutes, threads=threads, executor=executor,
            on_event=show,
        )  # fmt: skip
    with loading(out, "drawing the report"):
        page = render(study)
        files.write_bytes(output, page.encode("utf-8"))
    printed = str(Path(output).with_suffix(".pdf")) if pdf else None
    if printed is not None:
        with loading(out, "printing the report"):
            files.write_bytes(printed, page_pdf(page))
    out.document(
        {
            "written": output,
            "pdf": printed,
            "bytes": Path(output).stat().st_size,
            "answer": study.run.answer,
            "facts": facts_document(study.run),
            "held_out": _held_out(study),
            "left_out": study.left_out or None,
        }
    )
    out.show(f"wrote {output}" + ("" if printed is None else f" and {printed}"))
    if study.left_out and compare is None and not study.run.provisional:
        out.warn(f"new episodes are not predicted: {study.left_out}")


def loaded(folder: str, threads: int | None) -> Run:
    """Return the run of a folder."""
    from whence.runs.resuming import load

    return load(folder, threads=threads)


def study_of(
    run: Run,
    folder: str,
    *,
    compare: bool | None = None,
    minutes: float = 5.0,
    threads: int | None = None,
    executor: Any = None,
    on_event: OnEvent | None = None,
) -> Study:
    """Return what a report needs, from a run and its folder.

    Where nobody says whether to `compare`, a run that is finished is.
    """
    from whence.report import Study
    from whence.report.study import Ladders
    from whence.runs.status import status_document

    job, manifest = run.job, run.manifest
    assert manifest is not None  # a run that was read has one
    called = [
        (
            _short(each.world.name, f"world {number}"),
            _short(each.demos.name, f"demonstrations {number}"),
        )
        for number, each in enumerate(manifest.inputs, start=1)
    ]
    return Study.of(
        run,
        list(job.pairs),
        names=[name for name, _ in called],
        sources=[source for _, source in called],
        command=_typed(folder, manifest.command, manifest.job, job.settings),
        versions=manifest.versions,
        fix=job.fix,
        discounts=job.unknowns.discounts,
        ladders=Ladders.told(status_document(Path(folder))["last"]),
        folder=folder,
        compare=not run.provisional if compare is None else compare,
        minutes=minutes,
        threads=threads,
        executor=executor,
        on_event=on_event,
    )


def _short(name: str | None, usual: str) -> str:
    """Return the name of a file without its folders, which may be private."""
    return usual if name is None else Path(name).name or name


def _typed(folder: str, command: list[str] | None, began: dict[str, Any], settings: Any) -> str:
    """Return the command that makes a run again, and a second one where it was extended."""
    from shlex import join

    if not command:
        return ""
    steps = getattr(settings, "steps", None)
    if steps == began.get("settings", {}).get("steps"):
        return join(command)
    return join(command) + "\n" + join(["whence", "resume", folder, "--steps", str(steps)])


def _held_out(study: Study) -> dict[str, Any] | None:
    """Return the comparison for JSON, where None stands for what is not finite."""
    import math

    found = study.comparison
    if found is None:
        return None

    def finite(value: float) -> float | None:
        return value if math.isfinite(value) else None

    return {
        "episodes": found.episodes,
        "steps": found.steps,
        "training_episodes": found.training_episodes,
        "same_machine": found.same,
        "log_likelihood_per_step": {
            each.method: finite(each.per_step) for each in found.predictions
        },
        "errors": {each.method: finite(each.error) for each in found.predictions},
    }


def _check(output: str, minutes: float) -> None:
    """Refuse what would fail after all the work is done."""
    from whence.errors import ArgumentError, FileError

    if not output.lower().endswith(ENDINGS):
        raise ArgumentError(f"{output}: a report is one HTML file; name it FILE.html")
    if not 0 < minutes < float("inf"):
        raise ArgumentError(f"--minutes {minutes}: give a finite number above 0")
    path = Path(output)
    if path.is_dir():
        raise FileError(f"{output}: a folder; name a file in it, such as {path / 'report.html'}")
    if not path.parent.is_dir():
        raise FileError(f"{output}: there is no folder {path.parent}; make it first")
