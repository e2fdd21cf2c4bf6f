"""How far an enumeration scales, on paper: 10 to 10,000 workers from measured unit times.

Measured here: what a batch of coffee machines costs a worker, what joining it costs the client,
what a task costs client and scheduler (a Dask cluster of two processes), and the bytes of a unit's
messages. Simulated, event by event: a client that sends and takes back one unit after the other,
as `whence.runs.crew` does, with units sent ahead, joined in their order and shorter towards the
end; a line of limited width; workers of uneven speed that die now and then and take a while to
come back, and whose units others do.

    PYTHONPATH=tests python benchmarks/cluster_simulation.py [--svg docs/images/cluster.svg]
"""

from __future__ import annotations

import argparse
import heapq
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

import whence
from support.dask_cluster import clustered
from whence.drawing.chart import Line, Panel, panels_svg
from whence.runs import wire
from whence.runs.crew import IN_HAND, LONGEST_SECONDS, TASKS_PER_SECOND, UNIT_SECONDS
from whence.runs.workers import opened
from whence.search.batches import NOTHING
from whence.search.exhaustive import AHEAD, SHORTEST, ExactEnumeration
from whence.search.method import Part

R = TypeVar("R")
WORKERS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
PRICE = 0.04  # dollars for an hour of a core, of the order of what clouds ask for
TASKS = 300  # that a Dask cluster is given to see what one costs
CALLS = 5  # of which the fastest counts, where others compute as well
EACH = 20  # whole units of each worker in a simulated run


@dataclass(frozen=True)
class Costs:
    """What a unit costs.

    Attributes:
        batch: seconds of a worker for a batch.
        machines: of a batch.
        take: seconds of the client to unpack a unit that came back.
        join: seconds of the client for each of its batches.
        task: seconds of client and scheduler for a unit, there and back.
        sent: bytes of a unit's message.
        received: bytes of a batch in a unit's reply.
        width: bytes a second between client and workers.
        spread: deviation of the log of a worker's speed.
        deaths: of a worker, an hour.
        rebirth: seconds until another one takes its place.
    """

    batch: float
    machines: int
    take: float
    join: float
    task: float
    sent: int
    received: int
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
    part = Part("unit", (), bare, None, batches)
    began = time.process_time()
    done = method.carried(rng, part)
    worked = time.process_time() - began
    message, data = wire.packed("state", bare), wire.reply_of(done)
    taking, back = _fastest(lambda: wire.carried_of(method, part, data))
    joining, (state, _, _) = _fastest(lambda: method.met(state, [back]))
    return Costs(
        worked / batches, state.position // batches, taking, joining / batches,
        _task(len(message)), len(message), len(data) // batches,
    )  # fmt: skip


def _fastest(function: Callable[[], R]) -> tuple[float, R]:
    """Return the processor seconds of the fastest of some calls, and what it returns."""
    found: list[float] = []
    for _ in range(CALLS):
        began = time.process_time()
        result = function()
        found.append(time.process_time() - began)
    return min(found), result


def _task(size: int) -> float:
    """Return the processor seconds that client and scheduler take for a task that does nothing."""
    with (
        tempfile.TemporaryDirectory() as place,
        clustered(Path(place), 2) as cluster,
        opened(cluster.address) as dask,
    ):
        scheduler = cluster.scheduler.pid
        dask.submit_named("first", len, b"x").result()
        began = time.process_time() + _processor_seconds(scheduler)
        futures = [dask.submit_named(f"{n}", len, b"x" * size) for n in range(TASKS)]
        for future in futures:
            future.result()
        return (time.process_time() + _processor_seconds(scheduler) - began) / TASKS


def _processor_seconds(process: int) -> float:
    """Return the processor seconds of a process, as Linux counts them."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


class Simulated:
    """A run of an enumeration on paper."""

    def __init__(self, costs: Costs, workers: int, seed: int) -> None:
        self.costs, self.workers = costs, workers
        self.rng = np.random.default_rng(seed)
        self.speed = np.exp(self.rng.normal(0, costs.spread, workers))
        seconds = min(max(UNIT_SECONDS, workers / TASKS_PER_SECOND), LONGEST_SECONDS)
        self.whole = max(1, int(seconds / costs.batch))
        self.total = EACH * workers * self.whole
        self.planned = self.joined = 0
        self.client = self.line = 0.0
        self.free = list(range(workers))
        self.queue: deque[tuple[int, int, float]] = deque()  # units sent, not begun
        self.sizes: list[int] = []
        self.back: set[int] = set()
        self.events: list[tuple[float, int, int, int]] = []  # when, unit or -1, worker, batches

    def efficiency(self) -> float:
        """Return the share of the workers' time that is spent on batches."""
        self._send(0.0, out=0)
        out = len(self.sizes)
        while self.events:
            now, unit, worker, batches = heapq.heappop(self.events)
            self.free.append(worker)
            if unit >= 0:
                out -= 1
                self.line = max(self.line, now) + batches * self.costs.received / self.costs.width
                self.client = max(self.client, self.line)
                self.back.add(unit)
                self._join()
                before = len(self.sizes)
                self._send(now, out)
                out += len(self.sizes) - before
            self._begin(now)
        return self.total * self.costs.batch / (self.client * float((1 / self.speed).sum()))

    def _join(self) -> None:
        """Join what is next in order."""
        while self.joined in self.back:
            self.client += self.costs.take + self.sizes[self.joined] * self.costs.join
            self.back.discard(self.joined)
            self.joined += 1

    def _send(self, now: float, out: int) -> None:
        """Send as many units as may be under way."""
        while (
            self.planned < self.total
            and out < IN_HAND * self.workers
            and len(self.sizes) - self.joined < AHEAD * self.workers
        ):
            left = self.total - self.planned
            size = min(self.whole, -(-left // (2 * self.workers)))
            size = min(max(size, -(-self.whole // SHORTEST)), left)
            self.client = max(self.client, now) + self.costs.task
            self.line = max(self.line, self.client) + self.costs.sent / self.costs.width
            self.queue.append((len(self.sizes), size, self.line))
            self.sizes.append(size)
            self.planned += size
            out += 1
        self._begin(now)

    def _begin(self, now: float) -> None:
        """Let free workers take what was sent."""
        while self.free and self.queue:
            unit, size, came = self.queue.popleft()
            worker = self.free.pop()
            takes = size * self.costs.batch * self.speed[worker]
            begins = max(now, came)
            dies = self.rng.exponential(3600 / self.costs.deaths) if self.costs.deaths else np.inf
            if dies < takes:  # another worker does the unit; this one comes back later
                self.queue.appendleft((unit, size, begins + dies))
                heapq.heappush(self.events, (begins + dies + self.costs.rebirth, -1, worker, 0))
                continue
            heapq.heappush(self.events, (begins + takes, unit, worker, size))


def main() -> None:
    """Print what was measured, and what follows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=29)
    parser.add_argument("--svg")
    said = parser.parse_args()
    costs = measured(said.batches)
    print(
        f"a batch of {costs.machines:,} machines: {costs.batch:.2f} s of a worker, "
        f"{costs.join * 1e3:.3f} ms to join, {costs.received} bytes back; a unit is "
        f"{UNIT_SECONDS / costs.batch:.0f} batches or more, {costs.task * 1e3:.1f} ms of client "
        f"and scheduler, {costs.take * 1e3:.1f} ms to unpack, {costs.sent / 1e3:.1f} kB to send"
    )
    kinds = {
        "as it is": costs,
        "a client at no cost": replace(costs, take=0.0, join=0.0, task=0.0),
        "a death an hour": replace(costs, deaths=1.0),
    }
    found: dict[str, list[float]] = {name: [] for name in kinds}
    for workers in WORKERS:
        for name, each in kinds.items():
            found[name].append(Simulated(each, workers, workers).efficiency())
        shares = ", ".join(f"{name} {values[-1]:.0%}" for name, values in found.items())
        print(f"{workers:,} workers: {shares}", flush=True)
    hours = 1e12 / costs.machines * costs.batch / 3600
    print(f"10^12 machines: {hours:,.0f} core hours, {hours * PRICE:,.0f} dollars at {PRICE}")
    for workers, share in zip(WORKERS, found["as it is"], strict=True):
        print(f"  {workers:,} workers: {hours / workers / share:,.1f} hours")
    if said.svg:
        draw(said.svg, found)


def draw(path: str, found: dict[str, list[float]]) -> None:
    """Draw how many times one worker many are."""
    ideal = Line("ideal", tuple((n, float(n)) for n in WORKERS), guide=True)
    lines = [
        Line(name, tuple((n, n * share) for n, share in zip(WORKERS, shares, strict=True)))
        for name, shares in found.items()
        if name != "a death an hour"  # as far as can be seen on the line of those that live
    ]
    panel = Panel("An enumeration", "workers", "times one worker", (*lines, ideal))
    Path(path).write_text(panels_svg([panel], "How far an enumeration scales"), encoding="utf-8")


if __name__ == "__main__":
    main()
