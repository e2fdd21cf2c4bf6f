"""What workers cost and gain: a run with none, with one worker and with two, on an idle machine.

Whole calls of `infer` on the clock, the start of the workers included, one thread each; the three
must find the same bytes. `enumeration` scores every coffee machine of at most three states, the
others sample: `ladders` on multi coffee with two ladders, the default, `eight` with eight, `large`
in a 20 x 20 grid with slip. `--share` makes shorter runs.

    PYTHONPATH=tests python benchmarks/cluster_speed.py enumeration
    PYTHONPATH=tests python benchmarks/cluster_speed.py eight --share 0.25
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import whence
from cluster import digest, problem
from whence.paper.growing import Growing, growing
from whence.runs.workers import opened

WITH = (0, 1, 2)  # workers


def enumeration(share: float) -> tuple[Any, dict[str, Any]]:
    """Return every coffee machine of at most three states; a share by a lower discount."""
    world, mdp, demos = problem("coffee")
    expert = world.expert if share == 1 else whence.Expert(world.expert.alpha, 0.5)
    said = {"states": (1, 3), "expert": expert, "method": "exhaustive", "rewards": world.rewards}
    return (mdp, demos), said


def sampling(share: float, name: str) -> tuple[Any, dict[str, Any]]:
    """Return a run of tempering, of about two minutes on one core."""
    if name == "large":
        world = growing(Growing("sequence", 4, 8, 20, 0.1, False, 0))
        mdp, states = world.mdp, (4, 4)
        demos = whence.simulate(
            mdp, world.task, world.expert, episodes=world.episodes, length=world.length, seed=0
        )
    else:
        world, mdp, demos = problem("multi_coffee")
        states = (1, 5)
    steps = {"ladders": 60_000, "eight": 20_000, "large": 4_000}[name]
    settings = whence.Tempering(
        steps=int(share * steps), until_agreed=False, ladders=8 if name == "eight" else 2
    )
    return (mdp, demos), {
        "states": states, "expert": world.expert, "rewards": world.rewards, "settings": settings,
    }  # fmt: skip


def timed(given: Any, said: dict[str, Any], count: int) -> tuple[float, str, dict[str, Any]]:
    """Return the seconds of a run with some workers, a hash of what it found, and its traffic."""
    told: list[Any] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        began = time.perf_counter()
        with opened(count or None) as executor:
            whence.infer(
                *given, **said, seed=1, threads=1, executor=executor, on_event=told.append,
                folder=folder,
            )  # fmt: skip
            took, details = time.perf_counter() - began, told[-1].details
            details = details | {"peak": _peak(list(details.get("workers", {})))}
        return took, digest(folder), details


def _peak(workers: list[str]) -> int:
    """Return the most memory that any of some workers of this machine has held, in MiB."""
    found = [0]
    for name in workers:
        text = Path(f"/proc/{name.rpartition(':')[2]}/status").read_text()
        found.append(int(text.partition("VmHWM:")[2].split()[0]) // 1024)
    return max(found)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=["enumeration", "ladders", "eight", "large"])
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--workers", type=int, nargs="+", default=WITH)
    said = parser.parse_args()
    made = (
        enumeration(said.share) if said.name == "enumeration" else sampling(said.share, said.name)
    )
    whence.infer(*made[0], **made[1], threads=1, minutes=0.05, progress=False)  # kernels compile
    took: dict[int, float] = {}
    for count in said.workers:
        took[count], found, details = timed(*made, count)
        units = sum(each["units"] for each in details.get("workers", {}).values())
        line = f"{said.name}: {count} workers: {took[count]:.1f} s, {found}"
        if units:
            sent, back = details["bytes_sent"] / units, details["bytes_received"] / units
            line += f", {units} units, {sent:,.0f} bytes there and {back:,.0f} back a unit"
            line += f", at most {details['peak']} MiB a worker"
        print(f"{line}, load {os.getloadavg()[0]:.1f}", flush=True)
    if {0, 1} <= took.keys():
        print(f"one worker against none: {took[1] / took[0] - 1:+.1%}")
    if {1, 2} <= took.keys():
        print(
            f"two workers: {took[1] / took[2]:.2f} times one, {took[0] / took[2]:.2f} times none"
        )


if __name__ == "__main__":
    main()
