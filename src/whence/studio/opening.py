"""What `whence studio WHAT` stands for: a project that is there, or a new one."""

from __future__ import annotations

from pathlib import Path

from whence import _files as files
from whence.errors import FileError
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP
from whence.paper.worlds import BUILT_IN
from whence.runs import manifest
from whence.studio import files as places
from whence.studio import uploads
from whence.studio.project import Project
from whence.studio.studio import begun, opened_run


def studio_folder(what: str | None, output: str) -> Path:
    """Return the folder of a studio: the one that is named, or a new one."""
    named = what is not None and Path(what).is_dir() and not _is_run(Path(what))
    folder = Path(what) if named and what is not None else Path(output)
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder}: a file, not a folder; name another with -o")
    if _is_run(folder):
        raise FileError(f"{folder}: a run; name another folder for the studio with -o")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: {(error.strerror or '').lower()}; choose another") from None
    return folder.resolve()


def _is_run(folder: Path) -> bool:
    return (folder / manifest.NAME).is_file()


def opened(folder: Path, what: str | None, *, repair: bool = False) -> str:
    """Return the project that an argument stands for, as addresses have it; empty for none.

    Args:
        folder: the studio's.
        what: a built-in world, a world's file, a run, a log, the studio's own folder, or None.
        repair: make the repairs that are suggested for a log.
    """
    return _project(folder, what, repair).replace(" ", "%20")


def _project(folder: Path, what: str | None, repair: bool) -> str:
    if what is None or Path(what).resolve() == folder:
        return next(iter(places.project_names(folder)), "")
    if what in BUILT_IN:
        known = _known(folder, what, BUILT_IN[what](None).mdp)
        return known or begun(folder, what)
    path = Path(what)
    if path.is_dir():
        job = manifest.job_of(path, manifest.read(path))
        known = _known(folder, path.resolve().name, job.pairs[0][0])
        return known or opened_run(folder, path)
    found = uploads.read(files.read_bytes(path), str(path), None, repair=repair)
    assert found.mdp is not None  # without a world nothing else is read
    known = _known(folder, uploads.stem(str(path)), found.mdp, found.demos)
    return known or places.create(folder, uploads.stem(str(path)), found.mdp, found.demos)


def _known(
    folder: Path, name: str, mdp: LabeledMDP, demos: Demonstrations | None = None
) -> str | None:
    """Return a project of that name and world, with which one goes on, or None."""
    if name not in places.project_names(folder):
        return None
    project = Project(folder / name)
    lines = [] if demos is None else uploads.lines_of(demos)
    same = project.mdp == mdp and project.lines[: len(lines)] == lines
    return name if same else None
