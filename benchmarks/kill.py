"""Are killed runs resumed to the same bytes? Runs of every method, SIGKILL at random moments.

python benchmarks/kill.py [--runs 100] [--seed 0]
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import whence

RESULTS = ("best.json", "trace.npz", "draws.npz")
SAID = {
    "tempering": "--method tempering --alpha 50 --steps 1500",
    "unknowns": "--method tempering --states 2-4 --alpha infer --lapse infer --steps 700",
    "annealing": "--method annealing --steps 4000",
    "exhaustive": "--method exhaustive --states 1-2",
}


def main() -> None:
    """Print one line for each run, and how many ended as the unbroken one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    rng = np.random.default_rng(chosen.seed)
    world = whence.worlds.coffee()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        demos = whence.simulate(
            world.mdp, world.task, world.expert, episodes=20, length=50, seed=0
        )
        demos.save(place / "d.npz")
        whole, seconds = {}, {}
        for kind in SAID:
            finish(begin(place, kind, "compile-" + kind))
            began = time.perf_counter()
            finish(begin(place, kind, "whole-" + kind))
            seconds[kind] = time.perf_counter() - began
            whole[kind] = contents(place / f"whole-{kind}")
        same = total = 0
        for number in range(chosen.runs):
            kind = list(SAID)[number % len(SAID)]
            times = int(rng.integers(1, 5))
            moments = rng.uniform(0, seconds[kind], times)
            kills = killed(place, kind, f"run-{number}", moments)
            while not kills:  # it was over before the first kill
                shutil.rmtree(place / f"run-{number}")
                moments *= 0.8
                kills = killed(place, kind, f"run-{number}", moments)
            total += kills
            equal = contents(place / f"run-{number}") == whole[kind]
            same += equal
            print(
                json.dumps({"run": number, "kind": kind, "kills": kills, "same": equal}),
                flush=True,
            )
            shutil.rmtree(place / f"run-{number}")
    print(f"{total} kills; {same} of {chosen.runs} runs ended with the bytes of the unbroken run")
    sys.exit(0 if same == chosen.runs else 1)


def killed(place: Path, kind: str, name: str, moments: np.ndarray) -> int:
    """Kill a run after each of some times, then let it end; returns how often that hit."""
    hits = 0
    process = begin(place, kind, name)
    for moment in moments:
        try:
            process.wait(moment)
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            hits += 1
            process = go_on(place, kind, name)
    finish(process)
    return hits


def begin(place: Path, kind: str, name: str) -> subprocess.Popen[bytes]:
    """Start a run."""
    said = f"infer coffee d.npz -o {name} -q --checkpoint 0.05 {SAID[kind]}"
    return subprocess.Popen([sys.executable, "-m", "whence", *said.split()], cwd=place)


def go_on(place: Path, kind: str, name: str) -> subprocess.Popen[bytes]:
    """Resume a run; one that was killed before it had a folder begins again."""
    if not (place / name).exists():
        return begin(place, kind, name)
    said = ["resume", name, "-q", "--checkpoint", "0.05"]
    return subprocess.Popen([sys.executable, "-m", "whence", *said], cwd=place)


def finish(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a run, which must be a good one."""
    if process.wait() != 0:
        raise SystemExit(f"a run ended with {process.returncode}")


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a result."""
    return {name: (folder / name).read_bytes() for name in RESULTS if (folder / name).exists()}


if __name__ == "__main__":
    main()
