"""A report as a folder of files."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from whence._files import write_bytes
from whence.cli.benchmarks.page import page
from whence.cli.benchmarks.picture import picture
from whence.cli.benchmarks.report import Report
from whence.errors import FileError


def make(folder: str) -> None:
    """Make a folder, where it is not there yet."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"-o {folder}: no such folder can be made: {os.strerror(error.errno or 0).lower()}; "
            "choose a place that you may write to"
        ) from None


def save(report: Report, folder: str) -> list[str]:
    """Write `bench.json`, `README.md` and, of growth, `growth.svg`; return their paths."""
    contents = files(report)
    paths = {name: str(Path(folder) / name) for name in contents}
    for name, content in contents.items():
        write_bytes(paths[name], content)
    return list(paths.values())


def files(report: Report) -> dict[str, bytes]:
    """Return the content of each file."""
    contents = {
        "bench.json": msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n",
        "README.md": page(report).encode(),
    }
    if report.growth is not None:
        contents["growth.svg"] = picture(report.growth).encode()
    return contents
