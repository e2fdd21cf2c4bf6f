"""The same seed gives the same result, bit for bit: in any process, on any number of threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "support" / "repeated.py"
INFER = "infer coffee {} -o {} --states 2 --seed 4 --steps 60 -q --threads {}"


def printed(threads: int, seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(PROGRAM), str(threads)],
        env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_processes_with_other_hash_seeds_and_threads_print_the_same() -> None:
    one = printed(1, "0")
    assert len(json.loads(one)) == 6
    assert printed(2, "77") == one


@pytest.mark.slow
def test_runs_write_the_same_best_machine_and_draws(tmp_path: Path) -> None:
    import numpy as np

    from whence import cli

    demos = tmp_path / "d.jsonl"
    assert cli.run(f"simulate coffee -o {demos} --episodes 10 --seed 1 -q".split()) == 0
    runs = [tmp_path / "one", tmp_path / "two"]
    for threads, run in enumerate(runs, start=1):
        assert cli.run(INFER.format(demos, run, threads).split()) == 0
    first, second = ((run / "best.json").read_bytes() for run in runs)
    assert first == second
    with np.load(runs[0] / "draws.npz") as one, np.load(runs[1] / "draws.npz") as two:
        assert set(one.files) == set(two.files)
        for name in one.files:
            assert np.array_equal(one[name], two[name], equal_nan=one[name].dtype.kind == "f")
