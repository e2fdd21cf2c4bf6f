"""Writes the page, its pictures and its figures to a folder."""

from __future__ import annotations

from pathlib import Path

import msgspec

from whence import _files as files
from whence import io as formats
from whence.errors import FileError
from whence.paper.documents import document
from whence.paper.experiment import Results
from whence.paper.page import machines, page

PAGE, FIGURES = "README.md", "results.json"


def prepare(output: str) -> None:
    """Make the folder, or say why it cannot be."""
    try:
        Path(output).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{output}: cannot be made: {(error.strerror or '').lower()}; name another folder"
        ) from None


def write(output: str, results: Results) -> list[str]:
    """Write everything; return the files written, the page first."""
    prepare(output)
    contents = {PAGE: page(results).encode("utf-8"), FIGURES: _json(results)}
    for name, machine in machines(results).items():
        contents[f"{name}.svg"] = formats.machine_bytes(machine, "svg")
        contents[f"{name}.tex"] = formats.machine_bytes(machine, "tikz")
    for name, content in contents.items():
        files.write_bytes(Path(output) / name, content)
    return [str(Path(output) / name) for name in contents]


def _json(results: Results) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document(results)), indent=1) + b"\n"
