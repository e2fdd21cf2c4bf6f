"""Go on with a run that was stopped, or read what it found, from its folder."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from whence.errors import ArgumentError, DeviceError, FormatError, MissingExtraError
from whence.likelihood.engines import CPU
from whence.runs import answers, events, keeper, manifest, signals, watching
from whence.runs import checkpoint as checkpoints
from whence.runs import folder as results
from whence.runs.answers import Ledger
from whence.runs.crew import Crew, checked_executor
from whence.runs.events import OnEvent
from whence.runs.job import Job, checked_threads
from whence.runs.keeper import Keeper
from whence.runs.outcome import finished, result
from whence.runs.result import UNFINISHED, Run
from whence.runs.reweighing import with_answers
from whence.runs.searching import Search
from whence.runs.walk import Walk
from whence.search.problem import Problem


def resume(
    folder: str | os.PathLike[str],
    *,
    steps: int | None = None,
    minutes: float | None = None,
    copies: bool = False,
    checkpoint: float | None = None,
    threads: int | None = None,
    executor: Any = None,
    on_event: OnEvent | None = None,
    progress: bool | None = None,
) -> Run:
    """Go on with a run where its last checkpoint left it, to the result of an unbroken run.

    Answers that it was given weigh the result, as in `load`.

    Args:
        folder: the run's.
        steps: at most, in all, in place of what the run began with; more than are done.
        minutes: in all, in place of what the run began with.
        copies: go on with the run's copies, even if the files that they were made from changed.
        checkpoint: seconds between two checkpoints.
        threads: how many to use.
        executor: who does the work; see `infer`. It need not be what the run began with.
        on_event: called with each `Event`.
        progress: whether to show how it goes; see `infer`.
    """
    run = _resumed(
        Path(folder), steps, minutes, copies, checkpoint, threads, executor, on_event, progress
    )
    return _with_answers(run, Path(folder), threads)


def _resumed(
    folder: Path,
    steps: int | None,
    minutes: float | None,
    copies: bool,
    checkpoint: float | None,
    threads: int | None,
    executor: Any,
    on_event: OnEvent | None,
    progress: bool | None,
) -> Run:
    """Return the run itself, without what it was answered."""
    with (
        keeper.opened(folder, checkpoint) as kept,
        signals.caught() as stop,
        watching.telling(progress, on_event) as tell,
    ):
        _check_originals(kept, copies)
        job, found = _kept_job(kept)
        done = None if found is None else found.header
        job = _extended(job, done, steps, minutes)
        more = steps is not None or minutes is not None
        problem = _scored_by(job, kept, threads)
        crew = None if checked_executor(executor) is None else Crew(executor, job, threads)
        if found is None:
            search = Search(job, problem, Walk.start(job, problem), kept, tell, stop, crew)
            return finished(search, events.STARTED)
        walk = kept.restore(found, job, problem)
        search = Search(job, problem, walk, kept, tell, stop, crew)
        if found.header.stopped is not None and not more and results.complete(kept.folder):
            return _ended(search, found.header)
        if more:
            results.discard(kept.folder)
        return finished(search, events.EXTENDED if more else events.RESUMED)


def _scored_by(job: Job, kept: Keeper, threads: int | None) -> Problem:
    """Return the job's problem, on the device that it began with."""
    try:
        return job.problem(checked_threads(threads))
    except (DeviceError, MissingExtraError) as error:
        raise DeviceError(
            f"{kept.folder}: the run began with device {job.device!r} and goes on with it alone; "
            f"bring the card back, or start a new run with whence infer ({error})"
        ) from None


def load(folder: str | os.PathLike[str], *, threads: int | None = None) -> Run:
    """Return a run from its folder, as far as it came, with the answers that it was given.

    Nothing there is changed.
    """
    return _with_answers(_loaded(Path(folder), threads), Path(folder), threads)


def sampled(folder: Path, ledger: Ledger, threads: int | None = None) -> Run:
    """Return what a run sampled last: with answers in the target, or the run itself."""
    if ledger.sampled is None:
        return _loaded(folder, threads)
    found = _loaded(answers.sampled_in(folder, ledger.sampled), threads)
    return replace(found, folder=folder, manifest=manifest.read(folder))


def _with_answers(run: Run, folder: Path, threads: int | None) -> Run:
    """Return a run as the answers in its folder make it."""
    ledger = answers.read(folder)
    if not ledger.answers:
        return run
    basis = run if ledger.sampled is None else sampled(folder, ledger, threads)
    return with_answers(basis, ledger.answers, threads)


def _loaded(folder: Path, threads: int | None) -> Run:
    """Return a run from its folder, without what it was answered."""
    kept = Keeper(folder, manifest.read(folder), None)
    job, found = _kept_job(kept)
    if found is None:
        raise FormatError(
            f"{folder}: the run was stopped as it began; try: whence resume {folder}"
        )
    problem = job.problem(checked_threads(threads), CPU)  # a card need not be there to read a run
    return _ended(Search(job, problem, kept.restore(found, job, problem), kept), found.header)


def _ended(search: Search, header: checkpoints.Header) -> Run:
    """Return what a run has found, without going on."""
    kept = None
    if header.stopped is not None and search.keeper is not None:
        kept = results.level_notes(search.keeper.folder)
    return result(search, header.stopped or UNFINISHED, header.seconds, kept)


def _kept_job(kept: Keeper) -> tuple[Job, checkpoints.Found | None]:
    """Return the job of a folder, with its limits as they are now, and its checkpoint."""
    found = checkpoints.read(kept.folder)
    keeper.check_same(kept.folder, kept.manifest.job, found)
    job = manifest.job_of(kept.folder, kept.manifest)
    if found is None:
        return job, None
    header = found.header
    try:
        settings = manifest.settings_of(job.method, header.settings)
    except (TypeError, ValueError, ArgumentError) as error:
        raise FormatError(
            f"{kept.folder / checkpoints.NAME}: settings: {error}; restore the run from a copy, "
            "or start it again with whence infer"
        ) from None
    return replace(job, settings=settings, minutes=header.minutes), found


def _check_originals(kept: Keeper, copies: bool) -> None:
    changed = [] if copies else manifest.changed(kept.manifest)
    if changed:
        raise FormatError(
            f"{changed[0]}: changed since the run began; put it back, start a new run, or go on "
            "with the copy that the run has (--copies)"
        )


def _extended(
    job: Job, done: checkpoints.Header | None, steps: int | None, minutes: float | None
) -> Job:
    """Return the job with new limits, which must leave something to do."""
    seconds = 0.0 if done is None else done.seconds
    made = 0 if done is None else done.rows.offered
    if steps is not None and steps <= made:
        raise ArgumentError(f"steps is {steps}; the run has made {made} steps: give more, in all")
    if minutes is not None and 60 * minutes <= seconds:
        raise ArgumentError(
            f"minutes is {minutes:g}; the run has taken {seconds / 60:.3g}: give more, in all"
        )
    return job.extended(steps, minutes, done is not None and done.stopped == "agreed")
