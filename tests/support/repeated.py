"""One inference, printed to the last bit; run it anywhere and compare what it prints.

python tests/repeated.py [THREADS]
"""

from __future__ import annotations

import hashlib
import json
import sys

import whence


def main(threads: int) -> None:
    """Print the best machine, the posterior's weights and the trace, as digests and in hex."""
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=20, length=40, seed=3)
    run = whence.infer(
        world.mdp, demos, states=(2, 3), rewards=world.rewards, seed=5, steps=150, threads=threads
    )
    assert run.posterior is not None
    found = {
        "demonstrations": hashlib.sha256(demos.actions.tobytes()).hexdigest(),
        "best": [run.best.transitions.tolist(), run.best.rewards.tolist()],
        "score": run.score.hex(),
        "weights": hashlib.sha256(run.posterior.weights.tobytes()).hexdigest(),
        "heaviest": float(run.posterior.weights[0]).hex(),
        "trace": hashlib.sha256(run.trace.score.tobytes()).hexdigest(),
    }
    sys.stdout.write(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
