"""Infer a machine from demonstrations: one function, whatever the method."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from whence.errors import ArgumentError
from whence.likelihood.posterior import Worlds, world_pairs
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.prior import Prior
from whence.planning.simulation import checked_seed
from whence.runs import events, keeper, signals
from whence.runs.events import OnEvent
from whence.runs.job import Job, check_minutes, check_steps, checked_threads
from whence.runs.manifest import Names
from whence.runs.outcome import finished
from whence.runs.result import Run
from whence.runs.searching import Search
from whence.runs.walk import Walk
from whence.search.methods import method as find_method
from whence.search.problem import Sizes, checked_sizes
from whence.search.unknowns import unknowns


def infer(
    mdp: LabeledMDP | Worlds,
    demos: Demonstrations | None = None,
    *,
    states: Sizes,
    expert: Expert | None = None,
    alpha: float | str | None = None,
    lapse: float | str | None = None,
    discount: float | str | Sequence[float] | None = None,
    rewards: tuple[float, ...] = (0.0, 1.0),
    prior: Prior | None = None,
    temperature: float | None = None,
    method: str = "tempering",
    settings: Any = None,
    init: RewardMachine | None = None,
    fix: Sequence[str] = (),
    seed: int = 0,
    steps: int | None = None,
    minutes: float | None = None,
    threads: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    checkpoint: float | None = None,
    on_event: OnEvent | None = None,
    names: Names | None = None,
    command: list[str] | None = None,
) -> Run:
    """Return the machine that explains the demonstrations best, and how sure that is.

    Args:
        mdp: a world, or pairs of a world and its demonstrations, which one machine explains.
        demos: the demonstrations of the one world.
        states: n, the number of machine states, or the least and the most, such as (1, 5).
        expert: who demonstrates. Where nothing is said, alpha and lapse are inferred, and the
            discount is 0.95.
        alpha: in place of the expert's: a number, or `infer`.
        lapse: in place of the expert's: a number, or `infer`.
        discount: in place of the expert's: a number, `infer`, or the values to choose among.
        rewards: the levels that machines may pay.
        prior: over machines; the paper's by default.
        temperature: scores are compared at it; 1, the Bayesian posterior, by default.
        method: `tempering`, `annealing`, the paper's, or `exhaustive`, every machine.
        settings: the method's, such as `Tempering(rungs=30)` or `Annealing.preset("coffee")`.
        init: a machine to start from.
        fix: arrows that are known, such as "a -c-> b", first the initial state.
        seed: of every random choice.
        steps: at most, in place of the settings'.
        minutes: stop after this time, even if there are steps left.
        threads: how many to use; all cores by default. The result does not depend on it.
        folder: a new folder to keep the run in, so that it survives a kill: see `resume`.
        checkpoint: seconds between two checkpoints in the folder; 10 by default.
        on_event: called with an `Event` as the run begins, a few times a second, and at its end.
        names: what each world and its demonstrations are called, for the folder's manifest.
        command: what was typed, for the folder's manifest.
    """
    if minutes is not None:
        check_minutes(minutes)
    job = Job(
        pairs=world_pairs(mdp, demos),
        unknowns=unknowns(expert, alpha, lapse, discount),
        sizes=checked_sizes(states),
        rewards=rewards,
        prior=prior or Prior(),
        method=method,
        settings=_settled(find_method(method).settings_type, settings, steps, temperature),
        seed=checked_seed(seed),
        fix=tuple(fix),
        init=init,
        minutes=minutes,
    )
    began = time.perf_counter()
    if folder is not None:
        keeper.check_free(folder)
    problem = job.problem(checked_threads(threads))
    walk = Walk.start(job, problem)
    walk.seconds = time.perf_counter() - began
    if folder is None:
        return finished(Search(job, problem, walk, on_event=on_event), events.STARTED)
    with keeper.created(folder, job, names, command, checkpoint) as kept, signals.caught() as stop:
        return finished(Search(job, problem, walk, kept, on_event, stop), events.STARTED)


def _settled(kind: type, settings: Any, steps: int | None, temperature: float | None) -> Any:
    """Return the settings to use: those given or the defaults, with what else was asked for."""
    chosen: Any = kind() if settings is None else settings
    if type(chosen) is not kind:
        raise ArgumentError(f"settings are {chosen!r}; give {kind.__name__} settings")
    if steps is not None:
        check_steps(chosen, steps)
        chosen = replace(chosen, steps=steps)  # type: ignore[type-var]
    return chosen if temperature is None else chosen.at(temperature)
