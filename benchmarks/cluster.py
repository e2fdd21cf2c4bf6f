"""The same run on threads, on a process pool and on a Dask cluster of real processes.

`same`: coffee, multi coffee with 1 to 5 states, and exhaustive coffee, byte for byte.
`kill`: runs of which a worker is killed at a random moment, one whose scheduler is killed, and
one whose client is killed and that goes on with other workers.
`overhead`: processor seconds and bytes a unit, one worker beside none.

    python benchmarks/cluster.py same --steps 1000
    python benchmarks/cluster.py kill --runs 20
    python benchmarks/cluster.py overhead
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import whence
from whence.errors import WorkerError
from whence.runs.workers import LocalWorkers, opened

PORT = 18_786
FILES = ("best.json", "draws.npz", "trace.npz")


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


class Cluster:
    """A Dask scheduler and workers, each a process of this machine."""

    def __init__(self, count: int, port: int) -> None:
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"
        )
        self.workers = [self.worker() for _ in range(count)]

    def worker(self) -> subprocess.Popen[bytes]:
        """Start a worker."""
        return self._start(
            "dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
            "--memory-limit", "0", "--local-directory", tempfile.mkdtemp(),
        )  # fmt: skip

    def close(self) -> None:
        """End all of them."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def clustered(count: int, port: int) -> Iterator[Cluster]:
    """Open a cluster."""
    found = Cluster(count, port)
    try:
        time.sleep(2)
        yield found
    finally:
        found.close()


def same(steps: int) -> None:
    """Print a hash of each run, by who made it."""
    runs = {
        "coffee": ("coffee", {"states": 3, "steps": steps}),
        "multi coffee, 1 to 5 states": ("multi_coffee", {"states": (1, 5), "steps": steps}),
        "coffee, every machine of 1 or 2 states": (
            "coffee", {"states": (1, 2), "method": "exhaustive",
                       "settings": whence.Exhaustive(batch=512)},
        ),
    }  # fmt: skip
    with clustered(3, PORT) as cluster, opened(2) as pool, opened(cluster.address) as dask:
        for name, (world, said) in runs.items():
            given, mdp, demos = problem(world)
            common = {"expert": given.expert, "rewards": given.rewards, "seed": 1} | said
            for who, executor, threads in (
                ("1 thread", None, 1), ("2 threads", None, 2), ("2 processes", pool, 1),
                ("3 Dask workers", dask, 1),
            ):  # fmt: skip
                with tempfile.TemporaryDirectory() as place:
                    folder = Path(place) / "run"
                    run = whence.infer(
                        mdp, demos, **common, executor=executor, threads=threads, folder=folder
                    )
                    print(f"{name}: {who}: {run.steps} steps, {digest(folder)}", flush=True)


def small(folder: Path, executor: Any, on_event: Any = None) -> Any:
    """Make a run of a few seconds."""
    given, mdp, demos = problem("coffee", 20)
    return whence.infer(
        mdp, demos, states=3, expert=given.expert, seed=3, threads=1, folder=folder,
        executor=executor, on_event=on_event, settings=whence.Tempering(
            steps=2_000, warm_up=200, until_agreed=True), checkpoint=1.0,
    )  # fmt: skip


def kill(count: int) -> None:
    """Kill workers, a scheduler and a client at random moments."""
    lots = random.Random(0)
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place) / "whole"
        began = time.perf_counter()
        small(whole, None)
        took, expected = time.perf_counter() - began, digest(whole)
        print(f"unbroken: {expected}, {took:.1f} s", flush=True)
        hit = good = number = 0
        with opened(2) as pool:
            while hit < count and number < 5 * count:
                number += 1
                killed, same_bytes, took = _killed(Path(place), pool, lots, took, number, expected)
                hit += killed
                good += killed and same_bytes
        print(f"a worker of a pool killed: {good} of {hit} the same bytes", flush=True)
        _without_scheduler(Path(place), expected)
        _without_client(Path(place), expected)


def _killed(
    place: Path, pool: LocalWorkers, lots: random.Random, took: float, number: int, expected: str
) -> tuple[bool, bool, float]:
    """Kill a worker of a pool at a random moment of a run, if it takes as long as the last."""
    after = lots.uniform(0.0, took)
    victims: list[int] = []

    def shoot() -> None:
        alive = list((pool._pool._processes or {}).values())
        if alive:
            victims.append(lots.choice(alive).pid or 0)
            os.kill(victims[0], signal.SIGKILL)

    timer = threading.Timer(after, shoot)
    timer.start()
    told: list[Any] = []
    run = small(place / f"killed-{number}", pool, told.append)
    timer.cancel()
    same_bytes = digest(place / f"killed-{number}") == expected
    mended = len(told[-1].details["mended"])
    print(
        f"{number}: killed {victims} after {after:.1f} s, {mended} units sent again, "
        f"{run.seconds:.1f} s, {'the same' if same_bytes else 'OTHER BYTES'}",
        flush=True,
    )
    return bool(victims), same_bytes, run.seconds


def _without_scheduler(place: Path, expected: str) -> None:
    """Kill the scheduler, and go on without it."""
    folder = place / "scheduler"
    with clustered(2, PORT + 1) as cluster, opened(cluster.address) as dask:
        timer = threading.Timer(0.0, cluster.scheduler.kill)

        def shoot(event: Any) -> None:
            if event.details.get("workers") and not timer.finished.is_set():
                timer.run()

        try:
            small(folder, dask, shoot)
            print("the run ended before the scheduler died", flush=True)
        except WorkerError as error:
            print(f"scheduler killed: {error}", flush=True)
    run = whence.resume(folder, threads=1)
    print(f"gone on alone: {digest(folder) == expected}, {run.steps} steps", flush=True)


def _without_client(place: Path, expected: str) -> None:
    """Kill a client, and go on with other workers."""
    folder = place / "client"
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, 'benchmarks'); import cluster\n"
        "from whence.runs.workers import opened\n"
        "if __name__ == '__main__':\n"
        "    with opened(2) as pool: cluster.small(Path(sys.argv[1]), pool)\n"
    )
    script = place / "client.py"
    script.write_text(code)
    client = subprocess.Popen([sys.executable, str(script), str(folder)])
    while not (folder / "checkpoint.npz").exists():
        time.sleep(0.2)
    time.sleep(3)
    client.kill()
    client.wait()
    with opened(1) as other:
        run = whence.resume(folder, threads=1, executor=other)
    print(
        f"client killed, gone on with another worker: {digest(folder) == expected}, {run.steps} "
        "steps", flush=True,
    )  # fmt: skip


def overhead(steps: int) -> None:
    """Print processor seconds of a run with one worker beside none, and bytes a unit."""
    given, mdp, demos = problem("coffee")
    settings = whence.Tempering(steps=steps, until_agreed=False)
    common = {"states": 3, "expert": given.expert, "seed": 1, "threads": 1, "settings": settings}

    def seconds() -> float:
        own = resource.getrusage(resource.RUSAGE_SELF)
        return own.ru_utime + own.ru_stime

    whence.infer(mdp, demos, **(common | {"settings": whence.Tempering(steps=10)}))
    began = seconds()
    whence.infer(mdp, demos, **common)
    alone = seconds() - began
    told: list[Any] = []
    with opened(1) as pool:
        whence.infer(mdp, demos, executor=pool, on_event=told.append, **common)
        began, said = seconds(), []
        whence.infer(mdp, demos, executor=pool, on_event=said.append, **common)
        client = seconds() - began
    details = said[-1].details
    (done,) = details["workers"].values()
    worker = done["steps"] / done["steps_per_second"]
    sent = (details["bytes_sent"] + details["bytes_received"]) / done["units"]
    print(
        f"alone {alone:.1f} s of processor; with a worker {client:.1f} s here and {worker:.1f} s "
        f"of its time (not processor time) in {done['units']} units, {sent / 1000:.1f} kB a unit"
    )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["same", "kill", "overhead"])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--steps", type=int, default=1_000)
    said = parser.parse_args()
    if said.part == "same":
        same(said.steps)
    elif said.part == "kill":
        kill(said.runs)
    else:
        overhead(said.steps)


if __name__ == "__main__":
    main()
