from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

import whence
from runs import small
from whence import cli

STEPS = "--states 2 --alpha 20 --discount 0.9 --lapse 0 --rungs 4 --seed 5"


def _saved(folder: Path) -> str:
    mdp = small.world()
    mdp.save(folder / "w.json")
    small.demonstrations(mdp).save(folder / "d.jsonl")
    return f"infer {folder / 'w.json'} {folder / 'd.jsonl'} {STEPS}"


def _process(line: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "whence", *line.split()], text=True, stderr=subprocess.PIPE
    )


def _wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    while not path.exists():
        assert process.poll() is None
        time.sleep(0.05)


def test_a_killed_process_is_resumed_and_a_live_one_respected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line, run = _saved(tmp_path), tmp_path / "run"
    process = _process(f"{line} -o {run} --steps 1000000 --checkpoint 0.01")
    _wait_for(run / "steps" / "000002.npz", process)
    assert cli.run(["status", str(run), "--json"]) == 0
    document = msgspec.json.decode(capsys.readouterr().out)
    assert (document["status"], document["process"]) == ("running", process.pid)
    assert cli.run(["resume", str(run)]) == 1
    assert f"process {process.pid} is working on this run" in capsys.readouterr().err
    process.kill()
    process.communicate()
    assert cli.run(["status", str(run)]) == 0
    assert "killed; go on with: whence resume" in capsys.readouterr().out
    done = whence.load(run).steps
    assert cli.run(["resume", str(run), "--steps", str(done + 20), "-q"]) == 0
    assert whence.load(run).steps == done + 20


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_exits_with_130_and_says_how_to_go_on(number: int, tmp_path: Path) -> None:
    line, run = _saved(tmp_path), tmp_path / "run"
    process = _process(f"{line} -o {run} --steps 1000000")
    _wait_for(run / "checkpoint.npz", process)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.splitlines()[-1].startswith("error: stopped after")
    assert err.splitlines()[-1].endswith(f"whence resume {run}")
    events = (run / "journal.jsonl").read_bytes().splitlines()
    assert msgspec.json.decode(events[-1])["event"] == "stopped"
    assert cli.run(["status", str(run), "-q"]) == 0


def test_progress_is_a_line_now_and_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = _saved(tmp_path).split()
    assert cli.run([*line, "-o", str(tmp_path / "run"), "--steps", "30"]) == 0
    err = capsys.readouterr().err.splitlines()
    told = [each for each in err if each.startswith("inferring")]
    assert len(told) == 1
    assert told[0].startswith("inferring: step 0 of 30 at most, best score")
