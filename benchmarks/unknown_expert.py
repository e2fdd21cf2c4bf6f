"""Is the expert found with the machine? Coffee, experts of alpha 10, 30 and 100.

Prints for each demonstration set the 95% interval of alpha, and how often it holds the truth.

    python benchmarks/unknown_expert.py [--seeds 10] [--alphas 10,30,100]
"""

from __future__ import annotations

import argparse
import json

import whence
from whence import Expert


def main() -> None:
    """Print a line for each demonstration set, and a summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--alphas", default="10,30,100")
    chosen = parser.parse_args()
    world = whence.worlds.coffee()
    held = narrow = total = 0
    for alpha in [float(part) for part in chosen.alphas.split(",")]:
        for seed in range(chosen.seeds):
            expert = Expert(alpha, 0.92)
            demos = whence.simulate(
                world.mdp, world.task, expert, episodes=100, length=100, seed=seed
            )
            run = whence.infer(
                world.mdp, demos, states=3, alpha="infer", lapse=0.0, discount=0.92, seed=seed
            )
            assert run.posterior is not None
            found = run.posterior.alpha
            total += 1
            held += found.low <= alpha <= found.high
            narrow += found.high <= 2 * found.low
            same = run.best.same_in(world.task, world.mdp)
            print(
                json.dumps(
                    {"alpha": alpha, "seed": seed, "low": found.low, "high": found.high,
                     "task_found": same, "seconds": run.seconds, "stopped": run.stopped}
                ),
                flush=True,
            )  # fmt: skip
    print(f"held in {held} of {total}; upper end at most twice the lower in {narrow} of {total}")


if __name__ == "__main__":
    main()
