"""The whole experiment: which jobs there are, who does them, and what they found."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from whence.errors import ArgumentError, WhenceError, WorkerError
from whence.model.machine import RewardMachine
from whence.paper import published as paper
from whence.paper.baselines import Baselines, baselines
from whence.paper.nearby import Nearby, nearby
from whence.paper.triples import ABLATION, BINARY, PAPER, Found, Job, Variant, anneal
from whence.paper.worlds import BUILT_IN
from whence.planning.simulation import checked_seed
from whence.runs.bell import Bell

J = TypeVar("J")
R = TypeVar("R")

THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")

POLL_SECONDS = 0.05

OnDone = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """What to do.

    Attributes:
        worlds: their names.
        triples: how many for each world and variant.
        seed: of the first triple; the others count on from it.
        ablation: whether to test the paper's claims as well.
        steps: what takes the place of Table 1's N, for trials.
    """

    worlds: tuple[str, ...]
    triples: int = 20
    seed: int = 0
    ablation: bool = False
    steps: int | None = None

    def __post_init__(self) -> None:
        for name in self.worlds:
            if name not in BUILT_IN:
                known = ", ".join(BUILT_IN)
                raise ArgumentError(f"{name}: no built-in world; built in are {known}")
        if self.triples < 1:
            raise ArgumentError(f"triples is {self.triples}; give a whole number of at least 1")
        if self.steps is not None and self.steps < 1:
            raise ArgumentError(f"steps is {self.steps}; give a whole number of at least 1")
        checked_seed(self.seed)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seed of each triple."""
        return tuple(range(self.seed, self.seed + self.triples))

    def variants(self, world: str) -> tuple[Variant, ...]:
        """Return the variants annealed on a world; one world alone pays more than 0 and 1."""
        binary = (BINARY,) if len(BUILT_IN[world](None).rewards) > 2 else ()
        return (PAPER, *binary, *(ABLATION if self.ablation else ()))


@dataclass(frozen=True)
class Results:
    """What came out.

    Attributes:
        plan: what was done.
        references: what is known of each world beforehand, by name.
        found: every triple of every variant.
        baselines: what they earn, for every triple.
        surroundings: what lies around the most frequent machine of each world.
    """

    plan: Plan
    references: dict[str, paper.Reference]
    found: tuple[Found, ...]
    baselines: tuple[Baselines, ...]
    surroundings: tuple[Nearby, ...] = ()

    def of(self, world: str, variant: str = PAPER.name) -> tuple[Found, ...]:
        """Return the triples of a variant on a world, by seed."""
        return tuple(f for f in self.found if (f.world, f.variant) == (world, variant))

    def baselines_of(self, world: str) -> tuple[Baselines, ...]:
        """Return the baselines on a world, by seed."""
        return tuple(b for b in self.baselines if b.world == world)


def carry_out(plan: Plan, workers: int, on_done: OnDone, executor: Any = None) -> Results:
    """Do everything that is planned, the longest jobs first, by an executor where one is given."""
    if executor is None:
        every = done_all(_do, _jobs(plan), workers, on_done)
    else:
        every = done_by(executor, _do, _jobs(plan), on_done, _name)
    results = Results(
        plan=plan,
        references={name: paper.reference(BUILT_IN[name](None)) for name in plan.worlds},
        found=tuple(r for r in every if isinstance(r, Found)),
        baselines=tuple(r for r in every if isinstance(r, Baselines)),
    )
    return surveyed(results, workers)


def surveyed(results: Results, workers: int) -> Results:
    """Look around the machine that most triples found, in the first triple that found it."""
    jobs = []
    for world in results.plan.worlds:
        found = results.of(world)
        machine, _ = most_frequent(found)
        seed = next(f.seed for f in found if f.machine == machine)
        jobs.append(Job(world, seed, PAPER, results.plan.steps))
    seen = done_all(nearby, jobs, workers, lambda done, of: None)
    return replace(results, surroundings=tuple(seen))


def most_frequent(found: Sequence[Found]) -> tuple[RewardMachine, int]:
    """Return the machine that most triples found, and how many did; the first one in a tie."""
    machine, count = Counter(f.machine for f in found).most_common(1)[0]
    return machine, count


def _jobs(plan: Plan) -> Sequence[Job | tuple[str, int]]:
    worlds = sorted(plan.worlds, key=lambda name: name != "multi-coffee")
    jobs: list[Job | tuple[str, int]] = [
        Job(name, seed, variant, plan.steps)
        for name in worlds
        for variant in plan.variants(name)
        for seed in plan.seeds
    ]
    return jobs + [(name, seed) for name in worlds for seed in plan.seeds]


def _do(job: Job | tuple[str, int]) -> Found | Baselines:
    return anneal(job) if isinstance(job, Job) else baselines(*job)


def done_all(
    function: Callable[[J], R], jobs: Sequence[J], workers: int, on_done: OnDone
) -> list[R]:
    """Return function(job) for every job, in the order of the jobs.

    Args:
        function: one at the top of a module, so that other processes can import it.
        jobs: what to do; put long ones first.
        workers: how many processes.
        on_done: called with how many are done, and out of how many.
    """
    results: dict[int, R] = {}
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),  # it is this process that is interrupted
    )
    try:
        with _one_thread_each():
            waiting = {pool.submit(function, job): i for i, job in enumerate(jobs)}
        for future in as_completed(waiting):
            results[waiting[future]] = future.result()
            on_done(len(results), len(jobs))
    except BrokenProcessPool:
        raise WhenceError(
            "a process ended before its work was done, perhaps for lack of memory; "
            "use fewer threads"
        ) from None
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return [results[i] for i in range(len(jobs))]


def done_by(
    executor: Any,
    function: Callable[[J], R],
    jobs: Sequence[J],
    on_done: OnDone,
    name: Callable[[J], str] = str,
) -> list[R]:
    """Return function(job) for every job, as `done_all` does, by the workers of an executor.

    Where its workers are watched, a job is called by its `name`.
    """
    named = getattr(executor, "submit_named", None)
    bell = Bell()

    def sent(job: J) -> Any:
        future = executor.submit(function, job) if named is None else named(
            name(job), function, job
        )  # fmt: skip
        bell.hear(future)
        return future

    results: dict[int, R] = {}
    waiting = {place: sent(job) for place, job in enumerate(jobs)}
    while waiting:
        for place in [place for place, future in waiting.items() if future.done()]:
            try:
                results[place] = waiting.pop(place).result()
            except (BrokenExecutor, CancelledError) as error:
                renew = getattr(executor, "renew", None)
                if renew is None or not renew():
                    raise WorkerError(
                        f"the workers are gone ({type(error).__name__}: {error}); start others, "
                        "and whence reproduce again"
                    ) from None
                waiting[place] = sent(jobs[place])
                continue
            on_done(len(results), len(jobs))
        if waiting:
            bell.wait(POLL_SECONDS)
    return [results[place] for place in range(len(jobs))]


def _name(job: Job | tuple[str, int]) -> str:
    """Return what a job is called where people watch."""
    if isinstance(job, Job):
        return f"{job.world}, {job.variant.name}, triple {job.seed}"
    return f"{job[0]}, baselines of triple {job[1]}"


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Start processes whose linear algebra keeps to one thread; more would fight for cores."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
