"""What moves on a terminal while a run goes on: `infer`, and `status --watch` beside it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from runs import small

pty = pytest.importorskip("pty")
WHENCE = [sys.executable, "-m", "whence"]


def _on_terminal(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run whence with all its streams on a terminal; return its exit code and what was shown."""
    master, slave = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    with subprocess.Popen(
        [*WHENCE, *arguments],
        cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=slave,
    ) as process:  # fmt: skip
        os.close(slave)
        shown = bytearray()
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        process.wait(120)
    os.close(master)
    return process.returncode, shown.decode()


def _files(folder: Path) -> None:
    mdp = small.world()
    mdp.save(folder / "world.json")
    small.demonstrations(mdp).save(folder / "demos.jsonl")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "shown"), [("tempering", "round trips"), ("annealing", "temperature")]
)
def test_a_run_shows_how_it_does(method: str, shown: str, tmp_path: Path) -> None:
    _files(tmp_path)
    code, text = _on_terminal(
        tmp_path, "infer", "world.json", "demos.jsonl", "-o", "run", "--states", "2",
        "--alpha", "20", "--lapse", "0", "--discount", "0.9", "--method", method,
        "--steps", "1500",
    )  # fmt: skip
    assert code == 0, text
    assert shown in text
    assert "Traceback" not in text
    assert (tmp_path / "run" / "result.json").exists()


@pytest.mark.slow
def test_a_run_is_watched_from_another_terminal(tmp_path: Path) -> None:
    _files(tmp_path)
    command = [
        *WHENCE, "infer", "world.json", "demos.jsonl", "-o", "run", "--states", "2", "--quiet",
        "--steps", "100000000", "--minutes", "0.12",
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=tmp_path) as running:
        ready = threading.Event()
        while not (tmp_path / "run" / "journal.jsonl").exists() and running.poll() is None:
            ready.wait(0.05)
        code, text = _on_terminal(tmp_path, "status", "run", "--watch")
        assert running.wait(120) == 0
    assert code == 0, text
    assert "Traceback" not in text
    assert "round trips" in text
