from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import BrokenExecutor, Future
from typing import Any

import pytest

import whence
from whence.errors import ArgumentError, WhenceError, WorkerError
from whence.paper import experiment, triples
from whence.paper.experiment import Plan


def test_variants_change_one_thing_each() -> None:
    world = whence.worlds.multi_coffee()
    usual = triples.PAPER.settings(world, None)
    assert usual == whence.Annealing.preset("multi-coffee")
    assert triples.PAPER.prior(world) == whence.Prior()
    by_name = {variant.name: variant for variant in triples.ABLATION}
    uniform = by_name["uniform-prior"].prior(world)
    assert (uniform.p_self, uniform.p_zero) == (1 / 4, 1 / 3)
    assert by_name["standard-rule"].settings(world, None).rule == "standard"
    assert by_name["one-change"].settings(world, None).neighbours == "one"
    assert [by_name[f"alpha-{a}"].alpha for a in (5, 500)] == [5, 500]
    assert triples.BINARY.levels(world) == (0, 1)


def test_a_triple_is_what_infer_finds_on_its_own_demonstrations() -> None:
    world = whence.worlds.coffee()
    found = triples.anneal(triples.Job("coffee", 3, triples.PAPER, steps=30))
    demos = world.demonstrations(3)
    run = whence.infer(
        world.mdp, demos, states=3, expert=whence.Expert(50, 0.92), seed=3, steps=30,
        method="annealing",
        settings=whence.Annealing.preset("coffee"),
    )  # fmt: skip
    assert found.machine.same_as(run.best)
    assert found.score == run.score
    policy = whence.plan(world.mdp, run.best, 0.92)
    assert found.agent == pytest.approx(
        whence.evaluate(world.mdp, policy, world.task, 100).expected_return, abs=1e-12
    )
    posterior = whence.Posterior(world.mdp, demos, expert=whence.Expert(50, 0.92), temperature=300)
    tables = world.task.transitions[None], world.task.rewards[None]
    assert found.truth_score == pytest.approx(posterior.score(*tables)[0], abs=1e-4)
    assert 0.3 < found.watched < 0.8


def test_what_binary_machines_cannot_pay_has_no_score() -> None:
    found = triples.anneal(triples.Job("multi-coffee", 0, triples.BINARY, steps=2))
    assert found.truth_score is None
    assert set(found.machine.rewards.flat) <= {0, 1}


def test_jobs_come_back_in_order_from_processes_with_one_thread() -> None:
    told: list[tuple[int, int]] = []
    before = dict(os.environ)
    jobs = ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "WHENCE_NONE"]
    seen = experiment.done_all(os.getenv, jobs, 2, lambda done, of: told.append((done, of)))
    assert seen == ["1", "1", None]
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert dict(os.environ) == before


def test_a_failing_job_ends_the_others_and_a_dying_one_is_a_message() -> None:
    def interrupted(done: int, of: int) -> None:
        raise KeyboardInterrupt

    before = set(multiprocessing.active_children())
    with pytest.raises(KeyboardInterrupt):
        experiment.done_all(time.sleep, [0.0, 600.0, 600.0], 2, interrupted)
    assert set(multiprocessing.active_children()) == before
    with pytest.raises(WhenceError, match="use fewer threads"):
        experiment.done_all(os._exit, [1], 1, lambda done, of: None)


def test_plans_that_make_no_sense_are_refused() -> None:
    for change in ({"worlds": ("tea",)}, {"triples": 0}, {"seed": -1}, {"steps": 0}):
        with pytest.raises(ArgumentError):
            Plan(**({"worlds": ("coffee",)} | change))
    assert Plan(("coffee",), triples=3, seed=5).seeds == (5, 6, 7)
    assert [v.name for v in Plan(("multi-coffee",)).variants("multi-coffee")] == [
        "paper",
        "binary",
    ]


def test_workers_of_an_executor_do_jobs_and_lose_none() -> None:
    class Losing:
        """Loses the second job once."""

        def __init__(self) -> None:
            self.sent = self.renewed = 0

        def submit(self, function: Any, job: int) -> Future[int]:
            self.sent += 1
            future: Future[int] = Future()
            if self.sent == 2:
                future.set_exception(BrokenExecutor("a process ended abruptly"))
            else:
                future.set_result(function(job))
            return future

        def renew(self) -> bool:
            self.renewed += 1
            return True

    told: list[tuple[int, int]] = []
    executor = Losing()
    found = experiment.done_by(executor, abs, [-3, -1, 2], lambda *how: told.append(how))
    assert found == [3, 1, 2]
    assert executor.renewed == 1
    assert told[-1] == (3, 3)
    executor = Losing()
    executor.renew = lambda: False  # type: ignore[method-assign]
    with pytest.raises(WorkerError, match="the workers are gone"):
        experiment.done_by(executor, abs, [-3, -1], lambda *how: None)
