"""A line on stderr says that kernels are compiled, where they are and where it is wanted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LINE = "compiling the kernels, once on this machine: about 10 s\n"
PROGRAM = """
import click
import numpy as np
from whence.cli._console import Output, output_options
from whence.likelihood.compiled import canonical_tables

@click.command()
@output_options
def command(out: Output) -> None:
    tables = np.zeros((1, 2, 2), dtype=np.int64), np.zeros((1, 2, 2))
    counts = canonical_tables(*tables, np.ones(2, dtype=np.bool_))[2]
    out.document({"counts": counts.tolist()})

command()
"""


def test_the_line_comes_once_and_only_where_nothing_was_kept(tmp_path: Path) -> None:
    assert _run(tmp_path) == ("", LINE)
    assert _run(tmp_path) == ("", "")


@pytest.mark.parametrize("switch", ["-q", "-Wignore"])
def test_the_line_does_not_come_where_silence_is_asked_for(tmp_path: Path, switch: str) -> None:
    before, after = ([switch], []) if switch.startswith("-W") else ([], [switch])
    assert _run(tmp_path, before, after) == ("", "")


def test_a_document_stays_alone_on_stdout(tmp_path: Path) -> None:
    document, line = _run(tmp_path, after=["--json"])
    assert json.loads(document) == {"counts": [1]}
    assert line == LINE


def _run(
    folder: Path, before: list[str] | None = None, after: list[str] | None = None
) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, *(before or []), "-c", PROGRAM, *(after or [])],
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr
