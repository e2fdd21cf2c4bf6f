"""How long a new process takes until its first score, with kernels in the disk cache."""

from __future__ import annotations

import subprocess
import sys
import time

from whence.errors import WhenceError

PROGRAM = """
import whence
world = whence.worlds.coffee()
demos = world.demonstrations(seed=0)
expert = whence.Expert(alpha=50, discount=0.92)
posterior = whence.Posterior(world.mdp, demos, expert=expert)
print(posterior.log_likelihood(world.task.transitions[None], world.task.rewards[None])[0])
"""
REPEATS = 3


def cold_start() -> float:
    """Return seconds from starting Python to the end of a process that scores one machine.

    The process simulates the coffee world's demonstrations first. A run that is not counted
    fills the disk cache; where none can be written, every run compiles.
    """
    _run()
    return min(_run() for _ in range(REPEATS))


def _run() -> float:
    began = time.perf_counter()
    done = subprocess.run(  # noqa: S603 (this very Python, and a fixed program)
        [sys.executable, "-P", "-c", PROGRAM], capture_output=True, text=True
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise WhenceError(
            f"cold start: a new process of {sys.executable} cannot score a machine: {last}; "
            "see what `whence doctor` says"
        )
    return time.perf_counter() - began
