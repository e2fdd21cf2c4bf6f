"""How do replicas travel? Round trips beside what the barrier predicts, and CPU time to the stop.

The paper's worlds, the expert known or nothing said of it, and the mice, of which all is inferred
by tempering with two states. Predicted are scans / (2 + 2 sum of r / (1 - r)) trips a ladder and
copy, r the rejection rates of neighbours: what chains would make that forget at every step where
they were.

    python benchmarks/round_trips.py coffee [--sets 0 1 2] [--unknown] [--steps 20000] [--all]
    python benchmarks/round_trips.py mice --steps 5000 --all

`--all` makes all steps, also where the ladders agree before.
"""

from __future__ import annotations

import argparse
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import whence
from whence import Demonstrations, Expert, LabeledMDP, Tempering
from whence.search import tempering
from whence.search.diagnostics import trips_predicted
from whence.search.sampling import ParallelTempering

MICE = Path(__file__).parents[1] / "examples" / "mice"
EXPERT = Expert(alpha=50, discount=0.92)
WARMING = 77  # a set that is run first, so that kernels are compiled


def asked(world: str, number: int, unknown: bool) -> tuple[LabeledMDP, Demonstrations, dict]:
    """Return a world, its demonstrations and what is said of machine and expert."""
    if world == "mice":
        windows = Demonstrations.load(MICE / "windows.npz")
        return LabeledMDP.load(MICE / "labyrinth.json"), windows, {"states": 2}
    own = getattr(whence.worlds, world)()
    demos = whence.simulate(own.mdp, own.task, EXPERT, episodes=100, length=100, seed=number)
    levels = tuple(sorted({0.0, *np.unique(own.task.rewards).tolist()}))
    said: dict[str, Any] = {"states": own.task.n_states, "rewards": levels}
    return own.mdp, demos, said if unknown else said | {"expert": EXPERT}


@cache
def watched() -> list[tempering.State]:
    """Return a list to which the last state of every run by tempering is added from now on."""
    last: list[tempering.State] = []
    finish = ParallelTempering.finish

    def watching(self: ParallelTempering, state: tempering.State, records: Any) -> Any:
        last.append(state)
        return finish(self, state, records)

    ParallelTempering.finish = watching  # type: ignore[method-assign]
    return last


def travelled(run: whence.Run, state: tempering.State) -> tuple[list[int], float]:
    """Return the round trips of each ladder, and how many are predicted."""
    rejected = 1 - np.array(run.ladders["swap_rates"])
    scans = (state.step - state.warm) * state.strands
    return run.ladders["round_trips"], trips_predicted(rejected, scans)


def main() -> None:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("world", choices=["coffee", "recharge", "multi_coffee", "mice"])
    parser.add_argument("--sets", type=int, nargs="*", default=[0])
    parser.add_argument("--unknown", action="store_true")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    last = watched()
    if given.world != "mice":
        mdp, demos, said = asked(given.world, WARMING, given.unknown)
        whence.infer(mdp, demos, **said, settings=Tempering(steps=900), threads=1, progress=False)
    for number in given.sets:
        mdp, demos, said = asked(given.world, number, given.unknown)
        settings = Tempering(steps=given.steps, until_agreed=not given.all)
        began = time.process_time()
        run = whence.infer(
            mdp, demos, **said, settings=settings, seed=number, threads=1, progress=False
        )
        took, state = time.process_time() - began, last[-1]
        trips, predicted = travelled(run, state)
        barrier = 1 - np.array(run.ladders["swap_rates"])
        print(
            f"{given.world} {number}: {run.stopped} after {state.step} steps ({state.warm} of "
            f"warm-up), {took:.1f} CPU s; trips {trips}, predicted {predicted:.1f}, share "
            f"{min(trips) / predicted:.2f}, Lambda {barrier.sum():.1f}; {run.answer}",
            flush=True,
        )


if __name__ == "__main__":
    main()
