"""Does search find machines of five states and more? A stratified draw of growing tasks.

Every task is drawn once, of a kind, with or without something to avoid, in a deterministic 40 x 40
grid or with slip 0.1 at 20 x 20, all in turn. `infer` runs with its defaults until it has the
score of the polished truth: the true machine after the best single changes. What it has not found
within the time allowed counts as failed.

    python benchmarks/growing_tasks.py --states 5-6 --tasks 20 --seed 7000 -o found.json
    python benchmarks/growing_tasks.py --states 10-12 --symbols 12 --tasks 10 --minutes 6
    python benchmarks/growing_tasks.py --states 5-6 --unknown     only the rewards are said
    python benchmarks/growing_tasks.py --states 12 --symbols 12 --device cuda --threads 2
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product
from pathlib import Path

import numpy as np

from whence.errors import ArgumentError
from whence.likelihood.posterior import Posterior
from whence.paper.growing import KINDS, Growing, growing, sizes, task_of
from whence.paper.worlds import World
from whence.runs.events import Event
from whence.runs.inference import infer
from whence.search.finding.climbing import Scorer
from whence.search.problem import Problem
from whence.search.unknowns import Experts, unknowns

SAME = 0.05  # nats


class ReachedError(Exception):
    """The score of the polished truth was reached."""


def drawn(seed: int, tasks: int, states: tuple[int, int], symbols: int) -> list[Growing]:
    """Return tasks that differ in kind, avoidance and slip, in turn; sizes are drawn."""
    rng = np.random.default_rng(seed)
    strata = list(product((False, True), (0.0, 0.1), KINDS))
    result: list[Growing] = []
    number = 0
    while len(result) < tasks:
        avoid, slip, kind = strata[number % len(strata)]
        side = 20 if slip else 40
        fit = [n for n in sizes(kind, avoid) if states[0] <= n <= states[1]]
        fit = [n for n in fit if _names_enough(Growing(kind, n, symbols, side, slip, avoid))]
        if fit:
            n = int(rng.choice(fit))
            result.append(Growing(kind, n, symbols, side, slip, avoid, seed + number))
        number += 1
    return result


def _names_enough(asked: Growing) -> bool:
    try:
        task_of(asked)
    except ArgumentError:
        return False
    return True


def polished(world: World, posterior: Posterior, states: range) -> float:
    """Return the score of the true machine after the best single changes."""
    known = unknowns(world.expert, None, None, None)
    problem = Problem((posterior,), known, states, {}, world.task)
    target = problem.target()
    start = problem.started(target.space)
    if start is None:
        raise AssertionError("the truth is not a machine of its own size")
    expert = Experts(np.array([world.expert.alpha]), np.zeros(1), np.zeros(1, dtype=np.int64))
    scorer = Scorer(target)
    return float(scorer.climbed(scorer.at_one(start, expert)).score[0])


def attempt(
    asked: Growing,
    minutes: float,
    unknown: bool,
    device: str = "cpu",
    threads: int | None = None,
) -> dict[str, object]:
    """Search for one task; say whether, when and after how many machines it was found."""
    world = growing(asked)
    demos = world.demonstrations(asked.seed)
    n = world.task.n_states
    posterior = Posterior(world.mdp, demos, expert=world.expert, rewards=world.rewards)
    goal = polished(world, posterior, range(n, n + 1))
    truth = posterior.finest(world.task)
    last: list[Event] = []
    began = time.perf_counter()

    def on_event(event: Event) -> None:
        last[:] = [event]
        if _reached(event, posterior, goal, truth, unknown):
            raise ReachedError

    try:
        infer(
            world.mdp, demos, states=(1, n + 1) if unknown else n,
            expert=None if unknown else world.expert, rewards=world.rewards, seed=asked.seed,
            minutes=minutes, on_event=on_event, device=device, threads=threads,
        )  # fmt: skip
        found = False
    except ReachedError:
        found = True
    event = last[0]
    return {
        "kind": asked.kind, "states": n, "symbols": asked.symbols, "side": asked.side,
        "slip": asked.slip, "avoid": asked.avoid, "seed": asked.seed, "found": found,
        "seconds": round(time.perf_counter() - began, 1), "machines": event.evaluations,
        "short": None if unknown else round(goal - float(event.score or -np.inf), 2),
    }  # fmt: skip


def _reached(event: Event, posterior: Posterior, goal: float, truth: float, unknown: bool) -> bool:
    if event.machine is None or event.score is None:
        return False
    if not unknown:
        return event.score >= goal - SAME
    return posterior.finest(event.machine) >= truth - 6.0  # what spare arrows may cost


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", default="5-6")
    parser.add_argument("--symbols", type=int, default=8)
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7000)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--unknown", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    low, _, high = asked.states.partition("-")
    rows = []
    for task in drawn(asked.seed, asked.tasks, (int(low), int(high or low)), asked.symbols):
        rows.append(attempt(task, asked.minutes, asked.unknown, asked.device, asked.threads))
        print(rows[-1], flush=True)
        if asked.output:
            asked.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    seconds = np.array([row["seconds"] for row in rows if row["found"]])
    print(f"found {len(seconds)} of {len(rows)}", end="")
    print(
        f", median {np.median(seconds):.1f} s, worst {seconds.max():.1f} s" if len(seconds) else ""
    )


if __name__ == "__main__":
    main()
