"""Keeps a run in its folder while the search goes on: events, checkpoints, results."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whence import _files as files
from whence.errors import ArgumentError, FileError, FormatError
from whence.runs import checkpoint, journal, lock, manifest
from whence.runs.events import CHECKPOINT, EXTENDED, PROGRESS, RESUMED, STARTED, Event
from whence.runs.job import Job
from whence.runs.manifest import Manifest, Names
from whence.runs.walk import Walk
from whence.search.problem import Problem

CHECKPOINT_SECONDS = 10.0
JOURNAL_SECONDS = 2.0
BEST = "best.json"


class Keeper:
    """The folder of a run that this process holds.

    Attributes:
        folder: where.
        job: what the run is to do, with its limits as they are now.
    """

    def __init__(self, folder: Path, told: Manifest, every: float | None) -> None:
        self.folder = folder
        self.manifest = told
        self.every = CHECKPOINT_SECONDS if every is None else every
        self._parts = checkpoint.Parts(folder)
        self._checkpointed = time.perf_counter()
        self._noted = 0.0

    def note(self, event: Event) -> None:
        """Write an event to the journal; progress now and then only."""
        now = time.perf_counter()
        if event.kind == PROGRESS and now - self._noted < JOURNAL_SECONDS:
            return
        self._noted = now
        more = {"process": os.getpid()} if event.kind in (STARTED, RESUMED, EXTENDED) else {}
        journal.append(self.folder, event.document() | more, sync=event.kind != PROGRESS)

    @property
    def due(self) -> bool:
        """Whether it is time for a checkpoint."""
        return time.perf_counter() - self._checkpointed >= self.every

    def save(self, walk: Walk, job: Job, event: Event, stopped: str | None = None) -> None:
        """Write a checkpoint, and the best machine so far."""
        self._parts.add(walk)
        header = checkpoint.Header(
            format=checkpoint.TAG,
            job=self.manifest.job,
            settings=dataclasses.asdict(job.settings),
            minutes=job.minutes,
            seconds=walk.seconds,
            stopped=stopped,
            generator=checkpoint.generator_document(walk.rng),
            rows=checkpoint.Spacing(walk.rows.offered, walk.rows.every),
            records=checkpoint.Spacing(walk.records.offered, walk.records.every),
            parts=self._parts.parts,
        )
        checkpoint.write(self.folder, header, walk.state)
        self._parts.forget()
        if event.machine is not None:
            event.machine.save(files.own(self.folder, BEST))
        self.note(dataclasses.replace(event, kind=CHECKPOINT))
        self._checkpointed = time.perf_counter()

    def restore(self, found: checkpoint.Found, job: Job, problem: Problem) -> Walk:
        """Return the search where the last checkpoint left it; go on from there."""
        walk = checkpoint.restored(self.folder, found, Walk.start(job, problem))
        self._parts = checkpoint.Parts(self.folder, found.header)
        return walk


@contextmanager
def created(
    path: str | os.PathLike[str],
    job: Job,
    names: Names | None,
    command: list[str] | None,
    every: float | None,
) -> Iterator[Keeper]:
    """Make the folder of a new run, all at once, and hold it."""
    check_every(every)
    check_free(path)
    folder = Path(path)
    known = names or [(None, None)] * len(job.pairs)
    try:
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name[:100]}.", dir=folder.parent))
    except OSError as error:
        raise FileError(f"{path}: {(error.strerror or '').lower()}; name another folder") from None
    try:
        draft.chmod(0o755)
        (draft / checkpoint.STEPS).mkdir()
        told = manifest.begin(draft, job, known, command)
        draft.replace(folder)
    except OSError as error:
        raise FileError(f"{path}: {(error.strerror or '').lower()}; name another folder") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    with lock.held(folder):
        yield Keeper(folder, told, every)


@contextmanager
def opened(path: str | os.PathLike[str], every: float | None = None) -> Iterator[Keeper]:
    """Hold the folder of a run that exists."""
    check_every(every)
    folder = Path(path)
    told = manifest.read(folder)
    with lock.held(folder):
        journal.mend(folder)
        yield Keeper(folder, told, every)


def check_same(folder: Path, asked: dict[str, Any], found: checkpoint.Found | None) -> None:
    """Refuse a manifest whose settings are not those that the run began with, by name."""
    if found is None:
        return
    began = found.header.job
    for name in [*began, *(name for name in asked if name not in began)]:
        if began.get(name) != asked.get(name):
            raise FormatError(
                f"{folder / manifest.NAME}: {name} is {asked.get(name)!r}, but the run began with "
                f"{began.get(name)!r}; put it back, or start a new run with whence infer"
            )


def check_free(path: str | os.PathLike[str]) -> None:
    """Refuse a place where no run can be written: one that is taken, or that cannot be made."""
    folder = Path(path)
    try:
        if (folder / manifest.NAME).is_file():
            raise FileError(
                f"{path}: there is a run already; go on with it: whence resume {path}, or name a "
                "new folder"
            )
        if folder.is_dir():
            if any(folder.iterdir()):
                raise FileError(f"{path}: the folder is not empty; name a new one for the run")
        elif folder.exists():
            raise FileError(f"{path}: a file, not a folder; name a new folder for the run")
        elif not folder.parent.is_dir():
            raise FileError(f"{path}: there is no folder {folder.parent}; make it first")
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}; name another folder") from None


def check_every(every: float | None) -> None:
    """Refuse a time between checkpoints that is negative or not a number."""
    if every is not None and not every >= 0:
        raise ArgumentError(f"checkpoint is {every}; give a number of seconds, at least 0")
