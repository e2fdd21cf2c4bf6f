"""Is the number of states found? Every built-in world, one to five states.

python benchmarks/unknown_size.py [--seeds 10] [--worlds coffee,recharge]
"""

from __future__ import annotations

import argparse
import json

import whence
from whence import Expert
from whence.paper.worlds import BUILT_IN


def main() -> None:
    """Print the posterior of the minimised machine's number of states, and a summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--worlds", default=",".join(BUILT_IN))
    chosen = parser.parse_args()
    for name in chosen.worlds.split(","):
        world = BUILT_IN[name](None)
        right = 0
        for seed in range(chosen.seeds):
            run = whence.infer(
                world.mdp, world.demonstrations(seed), states=(1, 5), rewards=world.rewards,
                expert=Expert(50, 0.92), seed=seed,
            )  # fmt: skip
            assert run.posterior is not None
            states = run.posterior.n_states
            likeliest = max(states, key=lambda n: states[n])
            right += likeliest == world.task.n_states
            print(
                json.dumps(
                    {"world": name, "seed": seed, "states": states, "seconds": run.seconds,
                     "stopped": run.stopped, "doubts": run.doubts}
                ),
                flush=True,
            )  # fmt: skip
        print(f"{name}: {world.task.n_states} states are likeliest in {right} of {chosen.seeds}")


if __name__ == "__main__":
    main()
