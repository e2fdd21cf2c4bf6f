"""Everything in a project as files that whence reads."""

from __future__ import annotations

import re
import tempfile
import zipfile
from pathlib import Path
from typing import IO

from whence._files import own
from whence.errors import ArgumentError, FileError
from whence.io import demos_csv, world_json
from whence.io.demos_jsonl import loads
from whence.studio import files as places
from whence.studio.project import Project

TYPES = {
    "json": "application/json",
    "jsonl": "application/jsonl",
    "csv": "text/csv",
    "map": "text/plain; charset=utf-8",
    "npz": "application/octet-stream",
    "zip": "application/zip",
}
NO_ROWS = re.compile(rb'"history":|"states":\s*\[\s*\]')  # what a table cannot hold, in a line
LABELS, SYMBOL = b'"labels":', re.compile(rb'"labels":\s*\[[^"\]]*"')
IN_MEMORY = 2**20  # bytes; what is larger waits on the disk to be sent


def kinds(project: Project) -> list[str]:
    """Return what can be had now."""
    found = [project.world_path.name]
    if found[0] != "world.json" and project.mdp.n_states <= places.MANY:
        found.append("world.json")
    if project.lines:
        found += [places.DEMOS, *(["demos.csv"] if _tabular(project.lines) else [])]
    if _last_run(project) is not None:
        found += ["machine.json", "run.zip"]
    return [*found, "all.zip"]


def _tabular(lines: list[bytes]) -> bool:
    """Whether a table can hold demonstrations: rows, without histories or labels all blank."""
    labelled = [line for line in lines if LABELS in line]
    blank = bool(labelled) and not any(SYMBOL.search(line) for line in labelled)
    return not blank and not any(NO_ROWS.search(line) for line in lines)


def content(project: Project, kind: str) -> IO[bytes]:
    """Return a file's content, to be read from its beginning."""
    if kind not in kinds(project):
        raise FileError(f"{kind[:60]}: there is no such file in {project.name}")
    file: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 (the caller closes)
    if kind == "all.zip":
        _zip(file, project.folder, project.name)
    elif kind == "run.zip":
        run = _last_run(project)
        assert run is not None
        _zip(file, run, f"{project.name}-run-{run.name}")
    else:
        file.write(_single(project, kind))
    file.seek(0)
    return file


def _single(project: Project, kind: str) -> bytes:
    if kind == project.world_path.name:
        return own(project.folder, kind).read_bytes()
    if kind == "world.json":
        return world_json.dumps(project.mdp)
    if kind == "machine.json":
        run = _last_run(project)
        assert run is not None
        return own(run, "best.json").read_bytes()
    data = b"".join(line + b"\n" for line in project.lines)
    if kind == places.DEMOS:
        return data
    table = demos_csv.dumps(loads(data, places.DEMOS, project.mdp), project.mdp)
    return table if isinstance(table, bytes) else table.encode("utf-8")


def _last_run(project: Project) -> Path | None:
    """Return the last run that has a machine, or None."""
    runs = own(project.folder, places.RUNS)
    found = [path for path in runs.glob("[0-9]*") if (path / "best.json").is_file()]
    return max(found, key=lambda path: int(path.name), default=None)


def _zip(file: IO[bytes], folder: Path, name: str) -> None:
    """Pack a folder; links and what is being written are left out."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            hidden = any(part.startswith(".") for part in inside.parts)
            if path.is_file() and not path.is_symlink() and not hidden:
                try:
                    archive.write(path, Path(name) / inside)
                except FileNotFoundError:
                    continue  # replaced or removed meanwhile
                except OSError as error:
                    raise ArgumentError(f"{inside}: {error.strerror}") from None
