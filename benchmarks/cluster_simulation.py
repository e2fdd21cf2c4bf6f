"""How far an enumeration scales, on paper: 10 to 10,000 workers from measured unit times.

Measured in this process: what a batch of coffee machines costs a worker, what joining its reply
costs the client, and the bytes of both messages. Simulated, event by event: a client that sends
and joins units one after the other, a line of limited width, a scheduler that takes a moment for
each task, workers of uneven speed that die now and then and take a while to come back, and rounds
after which all wait for the last unit, with late units sent twice, as `whence.runs.crew` does.

    python benchmarks/cluster_simulation.py [--batches 6] [--svg docs/images/cluster.svg]
"""

from __future__ import annotations

import argparse
import heapq
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import whence
from whence.drawing.chart import Line, Panel, panels_svg
from whence.runs import wire
from whence.runs.crew import LATE, UNIT_SECONDS
from whence.search.batches import NOTHING
from whence.search.exhaustive import AHEAD, ExactEnumeration
from whence.search.method import Part

WORKERS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
PRICE = 0.04  # dollars for an hour of a core, of the order of what clouds ask for


@dataclass(frozen=True)
class Costs:
    """What a unit costs.

    Attributes:
        batch: seconds of a worker for a batch.
        machines: of a batch.
        join: seconds of the client for a batch's reply.
        send: seconds of the client for a unit's message.
        sent: bytes of a unit's message.
        received: bytes of a batch's reply.
        batches: of a unit.
        task: seconds that a scheduler takes for a task.
        width: bytes a second between client and workers.
        spread: deviation of the log of a worker's speed.
        deaths: of a worker, an hour.
        rebirth: seconds until another one takes its place.
    """

    batch: float
    machines: int
    join: float
    send: float
    sent: int
    received: int
    batches: int = 1
    task: float = 1e-3
    width: float = 1.25e8
    spread: float = 0.1
    deaths: float = 0.02
    rebirth: float = 60.0


def measured(batches: int) -> Costs:
    """Measure a few batches of coffee machines of three states, in processor seconds."""
    world = whence.worlds.coffee()
    demos = whence.simulate(
        world.mdp, world.task, world.expert, episodes=world.episodes, length=world.length, seed=0
    )
    run = whence.infer(world.mdp, demos, states=1, expert=world.expert, method="exhaustive")
    job = replace(run.job, sizes=range(3, 4))
    method = ExactEnumeration(job.problem(1), job.settings)
    rng = np.random.default_rng(0)
    state = method.init(rng)
    bare = replace(state, kept=NOTHING)
    method.carried(rng, Part("first", (), bare, None, 1))
    began = time.process_time()
    done = method.carried(rng, Part("unit", (), bare, None, batches))
    worked = time.process_time() - began
    began = time.process_time()
    message = wire.packed("state", bare)
    sending = time.process_time() - began
    data = wire.reply_of(done)
    began = time.process_time()
    part = Part("unit", (), bare, None, batches)
    state, _, _ = method.met(state, [wire.carried_of(method, part, data)])
    joining = time.process_time() - began
    machines = state.position // batches
    return Costs(
        worked / batches, machines, joining / batches, sending, len(message), len(data) // batches
    )


def simulated(costs: Costs, workers: int, rounds: int, seed: int) -> float:
    """Return the share of the workers' time that is spent on batches."""
    rng = np.random.default_rng(seed)
    costs = replace(costs, batches=max(1, int(UNIT_SECONDS / costs.batch)))
    speed = np.exp(rng.normal(0, costs.spread, workers))
    usual = costs.batches * costs.batch
    clock = useful = 0.0
    for _ in range(rounds):
        units = AHEAD * workers
        line = client = clock
        free = [(clock, worker) for worker in range(workers)]
        heapq.heapify(free)
        ends = np.empty(units)
        for unit in range(units):
            client += costs.send + costs.task
            line = max(line, client) + costs.sent / costs.width
            at, worker = heapq.heappop(free)
            begins = max(at, line)
            takes = usual * speed[worker]
            takes = min(takes, LATE * usual + usual)
            died = rng.exponential(3600 / costs.deaths) if costs.deaths else np.inf
            ends[unit] = begins + takes
            idle = ends[unit]
            if died < takes:  # another worker does the unit; this one comes back later
                ends[unit] += died
                idle = max(ends[unit], begins + died + costs.rebirth)
            useful += usual
            heapq.heappush(free, (idle, worker))
        for end in np.sort(ends):
            came = max(end, line) + costs.received * costs.batches / costs.width
            line = came
            client = max(client, came) + costs.join * costs.batches
        clock = client
    return useful / (clock * workers)


def main() -> None:
    """Print what was measured, and what follows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--svg")
    said = parser.parse_args()
    costs = measured(said.batches)
    print(
        f"a batch of {costs.machines:,} machines: {costs.batch:.2f} s of a worker, "
        f"{costs.join * 1e3:.2f} ms to join, {costs.received} bytes back; a unit is "
        f"{UNIT_SECONDS / costs.batch:.0f} batches, {costs.send * 1e3:.1f} ms and "
        f"{costs.sent / 1e3:.1f} kB to send"
    )
    kinds = {
        "as it is": costs,
        "joined at no cost": replace(costs, join=0.0),
        "a death an hour": replace(costs, deaths=1.0),
    }
    found: dict[str, list[float]] = {name: [] for name in kinds}
    for workers in WORKERS:
        for name, each in kinds.items():
            found[name].append(simulated(each, workers, rounds=2, seed=workers))
        shares = ", ".join(f"{name} {values[-1]:.0%}" for name, values in found.items())
        print(f"{workers:,} workers: {shares}")
    hours = 1e12 / costs.machines * costs.batch / 3600
    print(f"10^12 machines: {hours:,.0f} core hours, {hours * PRICE:,.0f} dollars at {PRICE}")
    for workers, share in zip(WORKERS, found["as it is"], strict=True):
        print(f"  {workers:,} workers: {hours / workers / share:,.1f} hours")
    if said.svg:
        draw(said.svg, found)


def draw(path: str, found: dict[str, list[float]]) -> None:
    """Draw how many times one worker many are."""
    ideal = Line("all of their time", tuple((n, float(n)) for n in WORKERS), guide=True)
    lines = [
        Line(name, tuple((n, n * share) for n, share in zip(WORKERS, shares, strict=True)))
        for name, shares in found.items()
    ]
    panel = Panel("An enumeration", "workers", "times one worker", (*lines, ideal))
    Path(path).write_text(panels_svg([panel], "How far an enumeration scales"), encoding="utf-8")


if __name__ == "__main__":
    main()
