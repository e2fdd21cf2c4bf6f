"""The same run on threads, on a process pool and on a Dask cluster of three real processes.

`same`: coffee, multi coffee with 1 to 5 states, and exhaustive coffee, byte for byte.
`kill`: runs on a Dask cluster of which a worker is killed at a random moment, and one with a
worker that stands still.
`orphan`: a run whose scheduler is killed and that goes on alone, and some whose client is killed
after a random step and that go on with the workers of another scheduler.
`sweep`: forty inferences, killed and gone on with twice.

    PYTHONPATH=tests python benchmarks/cluster.py same
    PYTHONPATH=tests python benchmarks/cluster.py kill --runs 20
    PYTHONPATH=tests python benchmarks/cluster.py orphan --runs 3
    PYTHONPATH=tests python benchmarks/cluster.py sweep -o sweep
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import whence
from support.dask_cluster import Cluster, clustered
from whence.errors import WorkerError
from whence.runs import crew, journal
from whence.runs.workers import opened

FILES = ("best.json", "draws.npz", "trace.npz")
WORKERS = 3
STEPS = 800  # of a small run
SHORT_SECONDS = 0.3  # that its units take, so that there are many to be lost


def problem(name: str, episodes: int | None = None) -> tuple[Any, Any, Any]:
    """Return a built-in world with demonstrations."""
    world = getattr(whence.worlds, name)()
    count = episodes or world.episodes
    demos = whence.simulate(
        world.mdp, world.task, world.expert, episodes=count, length=world.length, seed=0
    )
    return world, world.mdp, demos


def digest(folder: Path) -> str:
    """Return a hash of what a run has found."""
    found = hashlib.sha256()
    for name in FILES:
        found.update((folder / name).read_bytes())
    return found.hexdigest()[:16]


RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "coffee": ("coffee", {"states": 3}),
    "multi-coffee": ("multi_coffee", {"states": (1, 5)}),
    "exhaustive": ("coffee", {"states": (1, 3), "method": "exhaustive"}),
}


def same(place: Path, names: list[str], whose: list[str]) -> None:
    """Print a hash of each run, by who made it; all but the third are whole default runs."""
    with (
        clustered(place / "cluster", WORKERS) as cluster,
        opened(2) as pool,
        opened(cluster.address) as dask,
    ):
        dask.client.wait_for_workers(WORKERS, timeout=60)
        executors = {"1 thread": None, "2 threads": None, "2 processes": pool, "Dask": dask}
        for name in names or list(RUNS):
            world, said = RUNS[name]
            given, mdp, demos = problem(world)
            common = {"expert": given.expert, "rewards": given.rewards, "seed": 1} | said
            for who in whose or list(executors):
                folder = place / f"{name} {who}"
                threads = 2 if who == "2 threads" else 1
                run = whence.infer(
                    mdp, demos, **common, executor=executors[who], threads=threads, folder=folder
                )
                print(
                    f"{name}: {who}: {run.method}, {run.steps} steps, {run.stopped}, "
                    f"{run.seconds:.1f} s, {digest(folder)}", flush=True,
                )  # fmt: skip


def small(folder: Path, executor: Any, on_event: Any = None) -> Any:
    """Make a run of a few seconds, with a ladder for each worker and a checkpoint a meeting."""
    crew.UNIT_SECONDS = SHORT_SECONDS
    given, mdp, demos = problem("coffee", 20)
    settings = whence.Tempering(ladders=WORKERS, steps=STEPS, warm_up=200, until_agreed=False)
    return whence.infer(
        mdp, demos, states=3, expert=given.expert, seed=3, threads=1, folder=folder,
        executor=executor, on_event=on_event, settings=settings,
        checkpoint=None if executor is None else 0.0,
    )  # fmt: skip


def kill(place: Path, count: int, seed: int) -> None:
    """Kill workers at random moments, and let one stand still."""
    lots = random.Random(seed)
    expected, took = _unbroken(place)
    good = busy = 0
    with clustered(place / "cluster", WORKERS) as cluster:
        for number in range(count):
            equal, had_work, took = _killed(place, cluster, lots, took, number, expected)
            good += equal
            busy += had_work
        print(f"a worker killed: {good} of {count} the same bytes, {busy} with a unit in hand")
        _standing_still(place, cluster, expected)


def orphan(place: Path, count: int, seed: int) -> None:
    """Kill a scheduler, and clients after random steps."""
    lots = random.Random(seed)
    expected, _ = _unbroken(place)
    _without_scheduler(place, expected)
    for number in range(count):
        _without_client(place / f"client-{number}", lots.randrange(1, STEPS), expected)


def _unbroken(place: Path) -> tuple[str, float]:
    """Return what a run in one process finds, as a hash, and how long it takes."""
    small(place / "first", None)  # kernels are loaded
    whole = small(place / "whole", None)
    expected = digest(place / "whole")
    print(f"unbroken, in one process: {expected}, {whole.seconds:.1f} s", flush=True)
    return expected, whole.seconds


def _killed(
    place: Path, cluster: Cluster, lots: random.Random, took: float, number: int, expected: str
) -> tuple[bool, bool, float]:
    """Kill a worker at a random moment of a run, if it takes as long as the last one."""
    after, victim = lots.uniform(0.0, took), lots.randrange(WORKERS)
    told: list[Any] = []
    dead, working = threading.Event(), 0
    with opened(cluster.address) as dask:
        dask.client.wait_for_workers(WORKERS, timeout=60)
        named = dict(dask.client.run(os.getpid))
        address = next(who for who, pid in named.items() if pid == cluster.workers[victim].pid)

        def shoot() -> None:
            nonlocal working
            working = len(dask.client.processing().get(address, ()))
            os.kill(cluster.workers[victim].pid, signal.SIGKILL)
            dead.set()

        timer = threading.Timer(after, shoot)
        timer.start()
        run = small(place / f"killed-{number}", dask, told.append)
        hit = dead.is_set()
        dead.wait()
        cluster.workers[victim].wait()
        cluster.workers[victim] = cluster.worker()
    equal = digest(place / f"killed-{number}") == expected
    print(
        f"{number}: worker {victim} killed after {after:.1f} s with {working} units in hand"
        f"{'' if hit else ', after the run'}, {run.seconds:.1f} s, noted "
        f"{len(told[-1].details['mended'])}, {'the same' if equal else 'OTHER BYTES'}",
        flush=True,
    )
    return equal, bool(working and hit), run.seconds


def _standing_still(place: Path, cluster: Cluster, expected: str) -> None:
    """Stop a worker without ending it: whoever waits for it must give its work to others."""
    folder, told = place / "slow", []
    victim = cluster.workers[0].pid
    with opened(cluster.address) as dask:
        dask.client.wait_for_workers(WORKERS, timeout=60)

        def stop(event: Any) -> None:
            told.append(event)
            if event.step > 200:
                os.kill(victim, signal.SIGSTOP)

        run = small(folder, dask, stop)
        os.kill(victim, signal.SIGCONT)
    print(
        f"a worker that stands still: {digest(folder) == expected}, {run.seconds:.1f} s, "
        f"{told[-1].details['mended']}", flush=True,
    )  # fmt: skip


def _without_scheduler(place: Path, expected: str) -> None:
    """Kill the scheduler, and go on without it."""
    folder = place / "scheduler"
    with clustered(place / "second", WORKERS) as cluster, opened(cluster.address) as dask:

        def shoot(event: Any) -> None:
            if event.step > 400:
                cluster.scheduler.kill()

        try:
            small(folder, dask, shoot)
            print("the run ended before the scheduler died", flush=True)
        except WorkerError as error:
            print(f"scheduler killed: {error}", flush=True)
    run = whence.resume(folder, threads=1)
    print(f"gone on alone: {digest(folder) == expected}, {run.steps} steps", flush=True)


def _without_client(place: Path, step: int, expected: str) -> None:
    """Kill a client after a step, and go on with the workers of another scheduler."""
    folder = place / "run"
    program = [sys.executable, __file__, "client", "-o", str(folder), "--address"]
    with clustered(place / "first", WORKERS) as cluster:
        client = subprocess.Popen([*program, cluster.address])
        while client.poll() is None and _kept(folder) < step:
            time.sleep(0.02)
        early = client.poll() is None
        client.kill()
        client.wait()
    begun, told = _kept(folder), []
    with clustered(place / "second", 2) as cluster, opened(cluster.address) as dask:
        run = whence.resume(folder, threads=1, executor=dask, on_event=told.append)
    print(
        f"client killed after step {step}, its run {'not ' if early else ''}over; checkpoint of "
        f"step {begun}; gone on from step {told[0].step} to {run.steps} with another scheduler's "
        f"two workers: {'the same' if digest(folder) == expected else 'OTHER BYTES'}",
        flush=True,
    )


def _kept(folder: Path) -> int:
    """Return the step of a run's last checkpoint, as its journal says; 0 before there is one."""
    if not folder.exists():
        return 0
    told = [event for event in journal.tail(folder) if event["event"] == "checkpoint"]
    return int(told[-1]["step"]) if told else 0


PLAN = """
format = "whence/sweep/1"
seeds = [0, 1]
[[worlds]]
world = "recharge"
simulate = {episodes = 20, length = 25, seeds = [0, 1, 2, 3, 4]}
[[worlds]]
world = "coffee"
simulate = {episodes = 10, length = 60, seeds = [0, 1, 2, 3, 4]}
[settings]
discount = 0.92
lapse = 0.0
states = 2
method = "tempering"
steps = 300
[[variants]]
name = "alpha known"
alpha = 30
[[variants]]
name = "alpha unknown"
"""


def sweep(folder: Path) -> None:
    """Kill a sweep of forty inferences twice, and look whether anything was done twice."""
    file = folder.with_name(f"{folder.name}.toml")
    file.write_text(PLAN)
    command = [sys.executable, "-m", "whence", "sweep", str(file), "-o", str(folder)]
    command += ["--workers", "2", "-q"]
    rows: dict[str, int] = {}
    for wanted in (10, 25):
        process = subprocess.Popen(command)
        while len(list((folder / "rows").glob("*.json"))) < wanted:
            time.sleep(0.05)
        process.kill()
        process.wait()
        time.sleep(2)  # its workers end with it
        done = _rows(folder)
        begun = len(list((folder / "runs").iterdir())) - len(done)
        again = sum(done[name] != at for name, at in rows.items())
        print(f"killed with {len(done)} done and {begun} begun; {again} done twice", flush=True)
        rows = done
    subprocess.run(command, check=True)
    done = _rows(folder)
    again = sum(done[name] != at for name, at in rows.items())
    lines = (folder / "table.csv").read_text().splitlines()
    good = sum(",done," in line for line in lines)
    print(f"{len(lines) - 1} rows, {good} done, {again} done twice", flush=True)


def _rows(folder: Path) -> dict[str, int]:
    """Return when each row was written, by name."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "rows").glob("*.json")}


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["same", "kill", "orphan", "sweep", "client"])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--name", nargs="+", choices=list(RUNS), default=[])
    parser.add_argument("--who", nargs="+", default=[])
    parser.add_argument("--address")
    parser.add_argument("-o", "--output", type=Path)
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        if said.part == "same":
            same(Path(place), said.name, said.who)
        elif said.part == "kill":
            kill(Path(place), said.runs, said.seed)
        elif said.part == "orphan":
            orphan(Path(place), said.runs, said.seed)
        elif said.part == "sweep":
            sweep(said.output or Path(place) / "sweep")
        else:
            with opened(said.address) as dask:
                small(said.output, dask)


if __name__ == "__main__":
    main()
