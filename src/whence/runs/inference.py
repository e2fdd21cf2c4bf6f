"""Infer a machine from demonstrations: one function, whatever the method."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from whence.errors import ArgumentError
from whence.likelihood.endings import IGNORE, checked_endings
from whence.likelihood.engines import CPU, checked_device
from whence.likelihood.given import Worlds, world_pairs
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.expert_prior import AlphaPrior, LapsePrior, alpha_prior_of, lapse_prior_of
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.prior import Prior, checked_levels
from whence.planning.simulation import checked_seed
from whence.runs import events, keeper, signals, watching
from whence.runs.crew import Crew, checked_executor
from whence.runs.events import OnEvent
from whence.runs.job import (
    ONE_TASK,
    SHARED,
    Job,
    check_minutes,
    check_steps,
    check_subjects,
    checked_tasks,
    checked_threads,
)
from whence.runs.keeper import Keeper
from whence.runs.manifest import Names
from whence.runs.outcome import finished
from whence.runs.result import Run
from whence.runs.searching import Search
from whence.runs.walk import Walk
from whence.search.choosing import AUTO, chosen
from whence.search.methods import method as find_method
from whence.search.methods import method_of
from whence.search.problem import Sizes, checked_sizes
from whence.search.settings import Tempering
from whence.search.unknowns import unknowns

TOGETHER = Tempering(steps=3_000, precision=0.05)  # of everybody, where subjects are asked about


def infer(
    mdp: LabeledMDP | Worlds,
    demos: Demonstrations | None = None,
    *,
    states: Sizes,
    expert: Expert | None = None,
    expert_kind: str | None = None,
    alpha: float | str | None = None,
    lapse: float | str | None = None,
    discount: float | str | Sequence[float] | None = None,
    rewards: tuple[float, ...] = (0.0, 1.0),
    prior: Prior | None = None,
    sizes_prior: float | Sequence[float] | None = None,
    alpha_prior: AlphaPrior | Sequence[float] | None = None,
    lapse_prior: LapsePrior | Sequence[float] | None = None,
    temperature: float | None = None,
    method: str = AUTO,
    precision: float | None = None,
    settings: Any = None,
    init: RewardMachine | None = None,
    fix: Sequence[str] = (),
    seed: int = 0,
    steps: int | None = None,
    minutes: float | None = None,
    endings: str = IGNORE,
    experts: str = SHARED,
    tasks: int | range | tuple[int, int] = 1,
    threads: int | None = None,
    device: str = CPU,
    executor: Any = None,
    folder: str | os.PathLike[str] | None = None,
    checkpoint: float | None = None,
    on_event: OnEvent | None = None,
    progress: bool | None = None,
    names: Names | None = None,
    command: list[str] | None = None,
) -> Run:
    """Return the machine that explains the demonstrations best, and how sure that is.

    Args:
        mdp: a world, or pairs of a world and its demonstrations, which one machine explains.
        demos: the demonstrations of the one world.
        states: n, the number of machine states, or the least and the most, such as (1, 5).
        expert: who demonstrates. Where nothing is said, alpha, lapse and discount are inferred.
        expert_kind: in place of the expert's: `boltzmann`, the usual one; `soft`, who plans with
            its own errors in mind; or `infer`, which compares them.
        alpha: in place of the expert's: a number, or `infer`.
        lapse: in place of the expert's: a number, or `infer`.
        discount: in place of the expert's: a number, `infer`, or the values to choose among.
        rewards: the levels that machines may pay.
        prior: over machines; the paper's by default.
        sizes_prior: how likely a number of states is compared to the next lower one, 0.5 by
            default; or weights, one for each number.
        alpha_prior: over alpha, such as AlphaPrior(centre=30, spread=2), or (30, 2).
        lapse_prior: over the lapse, such as LapsePrior(1, 19), or (1, 19).
        temperature: scores are compared at it; 1, the Bayesian posterior, by default.
        method: `tempering`, a sample; `exhaustive`, every machine; `annealing`, the paper's; by
            default `exhaustive` where the counted work is small, else `tempering`.
        precision: the Monte-Carlo error that reported probabilities must reach before tempering
            stops by itself; 0.01 by default.
        settings: the method's, such as `Tempering(rungs=30)` or `Annealing.preset("coffee")`.
        init: a machine to start from.
        fix: arrows that are known, such as "a -c-> b", first the initial state.
        seed: of every random choice.
        steps: at most, in place of the settings'.
        minutes: stop searching after this time, even if there are steps left. What was found is
            then worked out: dynamics that a log shows roughly, and what subjects show, may take
            as long again each; plans and facts take what they take.
        endings: `ignore`, or `task`: an episode that says that it ended did so because the task
            was over, and one that went on because it was not; one such statement in a thousand
            or so may be wrong, as the demonstrations tell.
        experts: `shared`, or `by-subject`: one who acted has an alpha and a lapse of its own,
            which are alike as far as subjects are.
        tasks: how many groups of subjects there may be, each with a machine of its own, or the
            least and the most: see `run.groups`.
        threads: how many to use; all cores by default. The result does not depend on it.
        device: what scores machines: `cpu`, or `cuda`, a graphics card (needs `whence[cuda]`).
        executor: who does the work: anything with `submit` as in `concurrent.futures`, such as a
            process pool or a Dask client; this process by default. The result does not depend on
            it, and workers on which it would are refused.
        folder: a new folder to keep the run in, so that it survives a kill: see `resume`.
        checkpoint: seconds between two checkpoints in the folder; 10 by default.
        on_event: called with an `Event` as the run begins, a few times a second, and at its end.
        progress: whether to show how it goes; by default on a terminal and in a notebook, where
            there is no `on_event`. False is silence.
        names: what each world and its demonstrations are called, for the folder's manifest.
        command: what was typed, for the folder's manifest.
    """
    if minutes is not None:
        check_minutes(minutes)
    pairs, sizes, groups = world_pairs(mdp, demos), checked_sizes(states), checked_tasks(tasks)
    known = unknowns(
        expert, alpha, lapse, discount, alpha_prior_of(alpha_prior), lapse_prior_of(lapse_prior),
        expert_kind,
    )  # fmt: skip
    if method == AUTO:
        free = settings is None and steps is None and init is None and not fix
        levels = checked_levels(rewards)
        method = chosen(pairs, sizes, levels, known) if free else method_of(settings)
    job = Job(
        pairs=pairs,
        unknowns=known,
        sizes=sizes,
        rewards=rewards,
        prior=_prior(prior, sizes_prior),
        method=method,
        settings=_settled(
            find_method(method).settings_type,
            settings,
            steps,
            temperature,
            precision,
            experts != SHARED or groups != ONE_TASK,
        ),
        seed=checked_seed(seed),
        fix=tuple(fix),
        init=init,
        minutes=minutes,
        endings=checked_endings(endings),
        device=checked_device(device),
        experts=experts,
        tasks=groups,
    )
    check_subjects(job)
    checked_executor(executor)
    _check_card(executor, device)
    if folder is not None:
        keeper.check_free(folder)
    with watching.telling(progress, on_event) as tell:
        return carried_out(
            job, checked_threads(threads), tell, folder,
            lambda where: keeper.created(where, job, names, command, checkpoint), executor,
        )  # fmt: skip


def carried_out(
    job: Job,
    threads: int | None,
    on_event: OnEvent | None,
    folder: str | os.PathLike[str] | None = None,
    created: Callable[[str | os.PathLike[str]], AbstractContextManager[Keeper]] | None = None,
    executor: Any = None,
) -> Run:
    """Search, from the first step to the last, and keep it in a folder where one is named.

    Args:
        job: what to do.
        threads: how many to use.
        on_event: called with each `Event`.
        folder: where to keep the run.
        created: makes that folder, and holds it.
        executor: who does the work; this process where it is None.
    """
    began = time.perf_counter()
    problem = job.problem(threads)
    walk = Walk.start(job, problem)
    walk.seconds = time.perf_counter() - began
    crew = None if executor is None else Crew(executor, job, threads)
    if folder is None:
        return finished(Search(job, problem, walk, None, on_event, crew=crew), events.STARTED)
    made = keeper.created(folder, job, None, None, None) if created is None else created(folder)
    with made as kept, signals.caught() as stop:
        return finished(Search(job, problem, walk, kept, on_event, stop, crew), events.STARTED)


def _check_card(executor: Any, device: str) -> None:
    if executor is not None and device != CPU:
        raise ArgumentError(
            f"device is {device!r} and there is an executor; a card works in this process: leave "
            "one of them out"
        )


def _prior(prior: Prior | None, sizes: float | Sequence[float] | None) -> Prior:
    """Return the prior over machines, with another one over their sizes where it is given."""
    usual = prior or Prior()
    if sizes is None:
        return usual
    return replace(usual, sizes=float(sizes) if isinstance(sizes, float | int) else tuple(sizes))


def _settled(
    kind: type,
    settings: Any,
    steps: int | None,
    temperature: float | None,
    precision: float | None,
    by_subject: bool = False,
) -> Any:
    """Return the settings to use: those given or the defaults, with what else was asked for.

    Of subjects, a search of everybody together is to find machines, and need not be exact.
    """
    brief = by_subject and kind is Tempering and steps is None
    found: Any = (TOGETHER if brief else kind()) if settings is None else settings
    if type(found) is not kind:
        raise ArgumentError(f"settings are {found!r}; give {kind.__name__} settings")
    if steps is not None:
        check_steps(found, steps)
        found = replace(found, steps=steps)  # type: ignore[type-var]
    if precision is not None and hasattr(found, "precision"):
        found = replace(found, precision=precision)
    return found if temperature is None else found.at(temperature)
