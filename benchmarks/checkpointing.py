"""What do checkpoints cost? The share of a run's time that goes into keeping it.

python benchmarks/checkpointing.py [--world multi-coffee] [--seeds 3] [--every 10]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import whence
from whence import Expert
from whence.paper.worlds import BUILT_IN
from whence.runs.keeper import Keeper


class Stopwatch:
    """Adds up the time that calls of a function take."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, timed."""

        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.perf_counter()
            result = function(*arguments, **named)
            self.seconds += time.perf_counter() - began
            self.calls += 1
            return result

        return timed


def main() -> None:
    """Print, for each seed, what went into checkpoints and the journal."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--world", default="multi-coffee")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--every", type=float, default=10.0)
    chosen = parser.parse_args()
    world = BUILT_IN[chosen.world](None)
    save = Keeper.save
    for seed in range(chosen.seeds):
        watch = Stopwatch()
        Keeper.save = watch.around(save)  # type: ignore[method-assign]
        with tempfile.TemporaryDirectory(dir=".") as place:
            run = whence.infer(
                world.mdp, world.demonstrations(seed), states=world.task.n_states,
                rewards=world.rewards, expert=Expert(50, world.expert.discount), seed=seed,
                folder=Path(place) / "run", checkpoint=chosen.every,
            )  # fmt: skip
            size = sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())
        told = {
            "seed": seed, "seconds": run.seconds, "checkpoints": watch.calls,
            "checkpoint_seconds": watch.seconds, "share": watch.seconds / run.seconds,
            "megabytes": size / 1e6,
        }  # fmt: skip
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
