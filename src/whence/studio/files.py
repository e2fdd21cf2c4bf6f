"""The studio's folder: one project a folder in it, and nothing outside of it is ever touched.

STUDIO/NAME/world.map, world.json or world.npz    the world
STUDIO/NAME/demos.jsonl                           demonstrations, one a line
STUDIO/NAME/withdrawn.jsonl                       those that were taken back
STUDIO/NAME/walks/WHO.json                        walks that go on
STUDIO/NAME/studio.json                           how to infer, and the run that was asked for
STUDIO/NAME/belief.json                           what was found last, for the page
STUDIO/NAME/runs/1, 2, ...                        runs, as `whence infer -o` writes them
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from whence import _files as files
from whence.errors import ArgumentError, FileError, WhenceError
from whence.io import demos_jsonl, world_map
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,59}", re.ASCII)
WORLDS = ("world.map", "world.json", "world.npz")
DEMOS, WITHDRAWN, WALKS, RUNS = "demos.jsonl", "withdrawn.jsonl", "walks", "runs"
MANY = 20_000  # states from which a world is kept as arrays
MOST_PROJECTS = 500


def free_name(studio: Path, wanted: str) -> str:
    """Return a name for a project that is not taken: letters, digits and a few signs."""
    plain = re.sub(r"[^A-Za-z0-9 _.-]+", "-", wanted, flags=re.ASCII)[:50].strip(" .-_")
    stem = plain if NAME.fullmatch(plain) else "world"
    name, number = stem, 1
    while (studio / name).exists():
        number += 1
        name = f"{stem}-{number}"
    return name


def project_names(studio: Path) -> list[str]:
    """Return the projects of a studio, those changed last first."""
    found = [
        entry
        for entry in studio.iterdir()
        if NAME.fullmatch(entry.name) and not entry.is_symlink() and world_file(entry) is not None
    ]
    return [entry.name for entry in sorted(found, key=_changed, reverse=True)]


def _changed(folder: Path) -> float:
    return max(path.stat().st_mtime for path in (folder, folder / DEMOS) if path.exists())


def project_folder(studio: Path, name: str) -> Path:
    """Return the folder of a project that exists; names that lead elsewhere are refused."""
    folder = studio / name
    if not NAME.fullmatch(name) or folder.is_symlink() or world_file(folder) is None:
        raise FileError(f"{name[:60]}: there is no such project in the studio")
    return folder


def world_file(folder: Path) -> Path | None:
    """Return the file of a project's world, or None."""
    paths = (folder / name for name in WORLDS)
    return next((path for path in paths if path.is_file() and not path.is_symlink()), None)


def create(
    studio: Path,
    wanted: str,
    mdp: LabeledMDP,
    demos: Demonstrations | None = None,
    more: Callable[[Path], object] | None = None,
) -> str:
    """Make a project, all at once; returns its name.

    Args:
        studio: the studio's folder.
        wanted: what to call it; a number is added where that is taken.
        mdp: its world.
        demos: its demonstrations.
        more: called with the folder before it is put in place.
    """
    if len(project_names(studio)) >= MOST_PROJECTS:
        raise ArgumentError(f"{studio}: {MOST_PROJECTS} projects are the most; remove some")
    draft = Path(tempfile.mkdtemp(prefix=".new-", dir=studio))
    try:
        draft.chmod(0o755)
        for part in (WALKS, RUNS):
            (draft / part).mkdir()
        _save_world(mdp, draft)
        lines = [] if demos is None else demos_jsonl.episode_lines(demos)
        files.write_bytes(draft / DEMOS, b"".join(line + b"\n" for line in lines))
        if more is not None:
            more(draft)
        name = free_name(studio, wanted)
        draft.replace(studio / name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return name


def _save_world(mdp: LabeledMDP, folder: Path) -> None:
    """Write a world as a drawing where it is one, else as JSON, and a large one as arrays."""
    if mdp.n_states > MANY:
        mdp.save(folder / WORLDS[2])
        return
    try:
        drawing = world_map.dumps(mdp)
    except WhenceError:
        mdp.save(folder / WORLDS[1])
    else:
        files.write_bytes(folder / WORLDS[0], drawing.encode("utf-8"))


def replace_quickly(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, as far as this process may be killed.

    Unlike `whence._files.write_bytes` it does not wait for the disk, which may take longer than
    a step of a walk should.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise FileError(f"{path}: cannot be written: {error.strerror}; make room") from None
