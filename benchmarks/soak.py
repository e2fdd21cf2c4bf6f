"""Does memory stay where it is? One long run, or many short ones of everything, for hours.

python benchmarks/soak.py [--hours 2] [--log soak.csv] [--rounds]

One run of the default search on multi coffee goes on for so long, in a folder, with checkpoints.
With --rounds everything is used again and again instead: each round takes the next built-in
world and the next seed; demonstrations are simulated, written and read back, a short inference
runs on them, machines are scored through a fresh posterior, the best one is planned for and
written and read in every format.

Resident memory is recorded each minute. It may grow while kernels are compiled and pools filled;
after ten minutes it must not: the script fails where the last ten minutes lie more than five
percent above the minutes 10 to 20.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import whence
from whence import Demonstrations, LabeledMDP, Posterior, RewardMachine, Tempering
from whence.paper.worlds import BUILT_IN
from whence.runs.events import Event

MINUTE = 60.0
WARM_UP = 10.0  # minutes
ALLOWED = 1.05
ENDINGS = (".json", ".dot", ".mmd", ".tex")


def resident() -> float:
    """Return the resident memory of this process in MiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("no VmRSS in /proc/self/status; run this on Linux")


def one_round(name: str, seed: int, folder: Path) -> int:
    """Use everything once; return the number of machines scored."""
    world = BUILT_IN[name](None)
    demos = round_trip(world.mdp, world.demonstrations(seed), folder)
    run = whence.infer(
        world.mdp, demos, states=world.task.n_states, rewards=world.rewards,
        expert=world.expert, steps=40, seed=seed,
    )  # fmt: skip
    posterior = Posterior(world.mdp, demos, expert=world.expert, rewards=world.rewards)
    rng = np.random.default_rng(seed)
    n, m = world.task.transitions.shape
    transitions = rng.integers(n, size=(500, n, m))
    rewards = rng.choice(world.rewards, size=(500, n, m))
    assert np.isfinite(posterior.log_likelihood(transitions, rewards)).all()
    policy = whence.plan(world.mdp, run.best, discount=0.92)
    assert whence.evaluate(world.mdp, policy, truth=world.task, length=50).regret > -1e-6
    for ending in ENDINGS:
        path = folder / f"machine{ending}"
        run.best.save(path)
        assert RewardMachine.load(path).over(run.best.alphabet).same_as(run.best)
    return run.evaluations + 500


def round_trip(mdp: LabeledMDP, demos: Demonstrations, folder: Path) -> Demonstrations:
    """Write and read world and demonstrations in both formats; return what was read."""
    for ending in (".json", ".npz"):
        mdp.save(folder / f"world{ending}")
        assert LabeledMDP.load(folder / f"world{ending}").n_states == mdp.n_states
    for ending in (".jsonl", ".npz"):
        demos.save(folder / f"demos{ending}")
        demos = Demonstrations.load(folder / f"demos{ending}")
    return demos


def rounds(folder: Path) -> Iterator[int]:
    """Yield the machines scored by each round, without end."""
    for seed in itertools.count():
        for name in BUILT_IN:
            yield one_round(name, seed, folder)


class Memory:
    """Resident memory, minute by minute."""

    def __init__(self, log: Path | None) -> None:
        self.began = time.monotonic()
        self.log = log
        self.kept: list[tuple[float, float]] = []

    @property
    def minutes(self) -> float:
        """Since the beginning."""
        return (time.monotonic() - self.began) / MINUTE

    def note(self, *figures: float) -> None:
        """Print memory and some figures, if a minute has passed since the last time."""
        minutes = self.minutes
        if minutes < len(self.kept) + 1:
            return
        gc.collect()
        self.kept.append((minutes, resident()))
        line = ",".join([f"{minutes:.1f}", f"{self.kept[-1][1]:.1f}", *map(str, figures)])
        print(line, flush=True)
        if self.log is not None:
            with self.log.open("a") as log:
                log.write(line + "\n")


def one_long_run(folder: Path, memory: Memory, hours: float) -> None:
    """Infer until the time is over, whatever the ladders say; note steps and machines scored."""
    world = BUILT_IN["multi-coffee"](None)

    def watch(event: Event) -> None:
        memory.note(event.step, event.evaluations)

    run = whence.infer(
        world.mdp, world.demonstrations(0), states=world.task.n_states, rewards=world.rewards,
        expert=world.expert, settings=Tempering(steps=10**9, until_agreed=False),
        minutes=60 * hours, folder=folder / "run", on_event=watch,
    )  # fmt: skip
    size = sum(path.stat().st_size for path in (folder / "run").rglob("*") if path.is_file())
    print(f"{run.steps:,} steps, {run.evaluations:,} machines; the folder: {size / 1e6:.0f} MB")


def many_rounds(folder: Path, memory: Memory, hours: float) -> None:
    """Use everything again and again; note rounds and machines scored."""
    done = scored = 0
    for count in rounds(folder):
        done, scored = done + 1, scored + count
        memory.note(done, scored)
        if memory.minutes >= 60 * hours:
            return


def main() -> None:
    """Run for so many hours; print memory each minute and a verdict."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--log", type=Path, default=None)
    parser.add_argument("--rounds", action="store_true", help="everything, again and again")
    chosen = parser.parse_args()
    memory = Memory(chosen.log)
    with tempfile.TemporaryDirectory() as folder:
        work = many_rounds if chosen.rounds else one_long_run
        work(Path(folder), memory, chosen.hours)
    sys.exit(verdict(memory.kept))


def verdict(kept: list[tuple[float, float]]) -> int:
    """Print memory after the warm-up and at the end; return 1 where it grew."""
    warm = [size for minutes, size in kept if WARM_UP <= minutes < 2 * WARM_UP]
    if not warm:
        print("too short for a verdict; run for twenty minutes or more")
        return 1
    late = [size for _, size in kept[-int(WARM_UP) :]]
    ratio = statistics.median(late) / statistics.median(warm)
    print(
        f"resident after {WARM_UP:.0f} minutes: {warm[0]:.1f} MiB; at the end: {late[-1]:.1f} MiB"
    )
    print(f"median of the last ten minutes over that of minutes 10 to 20: {ratio:.3f}")
    return int(ratio > ALLOWED)


if __name__ == "__main__":
    main()
