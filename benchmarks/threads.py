"""How much faster are scoring and inference on more threads? The same bits on any number.

Scoring: 8,000 random machines at once. Inference: a fixed number of steps, the finder among them,
of coffee and multi coffee with a known and with an unknown expert, and of one growing task of
eight states.

    python benchmarks/threads.py [--threads 1 2 4 8 16] [--steps 3000] [--tasks coffee growing]

Seconds, and how many times faster than on the first number of threads.
"""

from __future__ import annotations

import argparse
import hashlib
import time

import numpy as np

import whence
from whence import Posterior, Tempering
from whence.paper.growing import Growing, growing
from whence.paper.worlds import World
from whence.search.machines import uniform

MACHINES = 8_000
SEED = 100
GROWING = Growing("sequence", 8, 8, 40, 0.0, avoid=False, seed=9000)


def worlds(names: list[str]) -> dict[str, tuple[World, whence.Demonstrations]]:
    """Return worlds with their demonstrations."""
    made = {
        "coffee": whence.worlds.coffee,
        "multi": whence.worlds.multi_coffee,
        "growing": lambda: growing(GROWING),
    }
    found = {name: made[name]() for name in names}
    return {name: (world, world.demonstrations(SEED)) for name, world in found.items()}


def scored(world: World, demos: whence.Demonstrations, threads: int) -> tuple[float, str]:
    """Return the seconds of scoring many machines, and a digest of what came out."""
    posterior = Posterior(
        world.mdp, demos, expert=world.expert, rewards=world.rewards, threads=threads
    )
    n, levels = world.task.n_states, posterior.levels
    machines = uniform(np.random.default_rng(0), MACHINES, n, len(posterior.alphabet), levels)
    began = time.perf_counter()
    found = posterior.log_likelihood(*machines.tables(levels), remember=False)
    return time.perf_counter() - began, hashlib.sha256(found.tobytes()).hexdigest()[:8]


def inferred(
    world: World, demos: whence.Demonstrations, threads: int, steps: int, unknown: bool
) -> tuple[float, str]:
    """Return the seconds of an inference, and a digest of what was drawn."""
    began = time.perf_counter()
    run = whence.infer(
        world.mdp, demos, states=world.task.n_states, expert=None if unknown else world.expert,
        rewards=world.rewards, settings=Tempering(steps=steps, until_agreed=False),
        threads=threads, progress=False,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    trace = run.trace.score.tobytes()
    return seconds, hashlib.sha256(trace).hexdigest()[:8]


def main() -> None:
    """Print a line for each number of threads and each kind of work."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2, 4, 8, 16])
    parser.add_argument("--steps", type=int, default=3_000)
    parser.add_argument("--tasks", nargs="*", default=["coffee", "multi", "growing"])
    parser.add_argument("--known", action="store_true", help="leave out unknown experts")
    given = parser.parse_args()
    for name, (world, demos) in worlds(given.tasks).items():
        kinds = {
            "scoring": lambda threads, w=world, d=demos: scored(w, d, threads),
            "infer": lambda threads, w=world, d=demos: inferred(
                w, d, threads, given.steps, unknown=False
            ),
        }
        if name != "growing" and not given.known:
            kinds["infer, expert unknown"] = lambda threads, w=world, d=demos: inferred(
                w, d, threads, given.steps // 3, unknown=True
            )
        for kind, work in kinds.items():
            work(given.threads[0])  # kernels are compiled, or loaded
            first: tuple[float, str] | None = None
            for threads in given.threads:
                seconds, digest = work(threads)
                first = first or (seconds, digest)
                same = "" if digest == first[1] else "  OTHER BITS"
                print(
                    f"{name}, {kind}: {threads} threads {seconds:.2f} s, "
                    f"{first[0] / seconds:.2f} times{same}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
