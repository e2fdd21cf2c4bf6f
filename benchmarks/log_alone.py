"""Is the task found from a log alone? Coffee as a table of names, the dynamics unknown.

For each demonstration set: whether the best machine is the task in the true world, how much of
the dynamics the log shows, and what the run doubts.

    python benchmarks/log_alone.py [--episodes 300,30] [--seeds 20]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import whence
from whence import Demonstrations, Expert, LabeledMDP

EXPERT = Expert(50, 0.92)


def main() -> None:
    """Print a line for each demonstration set, and a summary for each number of episodes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", default="300,30")
    parser.add_argument("--seeds", type=int, default=20)
    chosen = parser.parse_args()
    for episodes in [int(part) for part in chosen.episodes.split(",")]:
        found = [measured(episodes, seed) for seed in range(chosen.seeds)]
        right = sum(bool(each["right"]) for each in found)
        print(f"{episodes} episodes: the right machine in {right} of {chosen.seeds}", flush=True)


def measured(episodes: int, seed: int) -> dict[str, object]:
    """Write a log, read it back without the world, infer, and compare in the true world."""
    world = whence.worlds.coffee()
    shown = whence.simulate(
        world.mdp, world.task, world.expert, episodes=episodes, length=100, seed=seed
    )
    with tempfile.TemporaryDirectory() as place:
        shown.save(Path(place) / "log.csv", world.mdp)
        log = Demonstrations.load(Path(place) / "log.csv")
    mdp = LabeledMDP.from_demonstrations(log)
    run = whence.infer(mdp, log, states=3, expert=EXPERT, seed=seed)
    assert run.posterior is not None
    covered = log.coverage(mdp)
    result: dict[str, object] = {
        "episodes": episodes, "seed": seed,
        "right": run.best.over(world.mdp.alphabet).same_in(world.task, world.mdp),
        "probability": float(run.posterior.weights[0]), "seen": covered.seen / covered.pairs,
        "doubts": run.doubts, "seconds": run.seconds,
    }  # fmt: skip
    print(json.dumps(result), flush=True)
    return result


if __name__ == "__main__":
    main()
