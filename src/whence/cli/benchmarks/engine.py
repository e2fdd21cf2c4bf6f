"""How fast machines are scored, beside other programs, and how soon the first one is."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np

from whence.cli.benchmarks.peers import QuantEconPeer, on_one_thread
from whence.cli.benchmarks.timing import least, unremembered
from whence.errors import WhenceError
from whence.likelihood import reference
from whence.likelihood.posterior import Posterior
from whence.model.expert import Expert
from whence.model.prior import Prior
from whence.paper.worlds import BUILT_IN

CASES = (("coffee", 0.92), ("coffee", 0.99), ("recharge", 0.92), ("multi-coffee", 0.92))
ALPHA = 50.0
READ = 10  # machines, at most, that the readable engine scores
STARTS = 3  # new processes, of which the fastest counts
PROGRAM = """
import whence
world = whence.worlds.coffee()
demos = world.demonstrations(seed=0)
expert = whence.Expert(alpha=50, discount=0.92)
posterior = whence.Posterior(world.mdp, demos, expert=expert)
print(posterior.log_likelihood(world.task.transitions[None], world.task.rewards[None])[0])
"""


@dataclass(frozen=True)
class Result:
    """Microseconds per machine, and ratios; one thread each, machines drawn from the prior.

    Attributes:
        world: its name.
        discount: the expert's.
        cells: distinct (history, state, action).
        microseconds: ours, one thread.
        quantecon: how many times as long QuantEcon takes.
        reference: how many times as long the readable engine takes.
        threads: how much faster all cores are than one.
        difference: the largest difference to QuantEcon's log likelihood, in nats.
    """

    world: str
    discount: float
    cells: int
    microseconds: float
    quantecon: float
    reference: float
    threads: float
    difference: float


def measure(name: str, discount: float, machines: int, seed: int) -> Result:
    """Measure one case on machines drawn from the prior."""
    world = BUILT_IN[name](None)
    demos = world.demonstrations(seed)
    expert = Expert(ALPHA, discount)
    rng = np.random.default_rng(seed)
    m = len(world.mdp.alphabet)
    tables = Prior().sample(rng, world.task.n_states, m, world.rewards, machines)
    one = Posterior(world.mdp, demos, expert=expert, rewards=world.rewards, threads=1)
    all_cores = Posterior(world.mdp, demos, expert=expert, rewards=world.rewards)
    peer = QuantEconPeer(world.mdp, one.evidence[0], discount, ALPHA)

    def ask_peer() -> list[float]:
        return [peer.log_likelihood(tables[0][i], tables[1][i]) for i in range(machines)]

    def read() -> list[float]:
        return [
            reference.log_likelihood(world.mdp, demos, tables[0][i], tables[1][i], expert)
            for i in range(few)
        ]

    few = min(machines, READ)
    taken = least(lambda: unremembered(one, tables))
    every = least(lambda: unremembered(all_cores, tables))
    ours = taken.core / machines
    with on_one_thread():
        slow = least(ask_peer).core / machines
        readable = least(read).core / few
    difference = np.abs(unremembered(one, tables) - ask_peer()).max()
    return Result(
        world=name,
        discount=discount,
        cells=one.evidence[0].n_cells,
        microseconds=1e6 * ours,
        quantecon=slow / ours,
        reference=readable / ours,
        threads=taken.wall / every.wall,
        difference=float(difference),
    )


def cold_start() -> float:
    """Return seconds from starting Python to the end of a process that scores one machine.

    The process simulates the coffee world's demonstrations first. A run that is not counted
    fills the disk cache; where none can be written, every run compiles.
    """
    _started()
    return min(_started() for _ in range(STARTS))


def _started() -> float:
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
