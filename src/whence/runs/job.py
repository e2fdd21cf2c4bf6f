"""What a run is asked to do: all that its result depends on, apart from when it is stopped."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from whence.errors import ArgumentError, MachineError
from whence.io.arrows import said_arrows
from whence.likelihood.cuda import FEW
from whence.likelihood.endings import IGNORE
from whence.likelihood.engines import CPU
from whence.likelihood.given import with_answers
from whence.likelihood.posterior import Posterior, Worlds
from whence.model.asking import Answer
from whence.model.machine import RewardMachine
from whence.model.prior import Prior, checked_levels
from whence.model.product import checked_sharpness
from whence.search.method import Method
from whence.search.methods import method
from whence.search.problem import Problem
from whence.search.unknowns import Unknowns

SHARED, BY_SUBJECT = "shared", "by-subject"
ONE_TASK = range(1, 2)
MOST_TASKS = 4


@dataclass(frozen=True, eq=False)
class Job:
    """A task of inference.

    Attributes:
        pairs: worlds, each with its demonstrations.
        unknowns: what is known of the expert.
        sizes: the numbers of states that a machine may have.
        rewards: the levels that machines may pay.
        prior: over machines.
        method: its name.
        settings: the method's.
        seed: of every random choice.
        fix: arrows that are known, in words.
        init: a machine to start from.
        minutes: after which to stop.
        endings: what the ends of episodes mean: `ignore` or `task`.
        device: what scores machines: `cpu` or `cuda`.
        answers: to questions; those that are demonstrations count as such.
        experts: whether subjects share an expert: `shared` or `by-subject`.
        tasks: how many groups of subjects there may be, each with a machine of its own.
    """

    pairs: Worlds
    unknowns: Unknowns
    sizes: range
    rewards: tuple[float, ...]
    prior: Prior
    method: str
    settings: Any
    seed: int
    fix: tuple[str, ...] = ()
    init: RewardMachine | None = None
    minutes: float | None = None
    endings: str = IGNORE
    device: str = CPU
    answers: tuple[Answer, ...] = ()
    experts: str = SHARED
    tasks: range = ONE_TASK

    @cached_property
    def shown(self) -> Worlds:
        """The worlds, each with all that was demonstrated in it, answers to questions included."""
        return with_answers(self.pairs, self.answers)

    @property
    def by_subject(self) -> bool:
        """Whether anything is asked of single subjects."""
        return self.experts != SHARED or self.tasks != ONE_TASK

    def of_subjects(self, names: Collection[str]) -> Job:
        """Return the job of some subjects alone, who share a task and an expert."""
        own = [[str(name) in names for name in demos.subjects or ()] for _, demos in self.pairs]
        pairs = [
            (mdp, demos.subset(np.flatnonzero(some)))
            for (mdp, demos), some in zip(self.pairs, own, strict=True)
        ]
        return replace(self, pairs=pairs, experts=SHARED, tasks=ONE_TASK, init=None)

    def search(self, problem: Problem) -> Method[Any, Any, Any]:
        """Return the method, at work on a problem."""
        return method(self.method)(problem, self.settings)

    @property
    def most_seconds(self) -> float:
        """The time after which to stop."""
        return math.inf if self.minutes is None else 60 * self.minutes

    def problem(self, threads: int | None = None, device: str | None = None) -> Problem:
        """Return what the methods search: a posterior for each discount, over one evidence.

        Machines are scored by `device`, where it is given in place of the job's.
        """
        largest = max(abs(level) for level in checked_levels(self.rewards))
        unknown = replace(self.unknowns, largest=largest or 1.0)
        self._check_sharpness(unknown)
        alpha = 1.0 if unknown.alpha is None else unknown.alpha
        lapse = 0.0 if unknown.lapse is None else unknown.lapse
        experts = [unknown.expert(place, alpha, lapse) for place in range(len(unknown.places))]
        first = Posterior(
            self.shown, expert=experts[0], prior=self.prior, rewards=self.rewards,
            temperature=self.settings.temperature, threads=threads, endings=self.endings,
            device=self.device if device is None else device, answers=self.answers,
        )  # fmt: skip
        posteriors = [first]
        for expert in experts[1:]:
            posteriors.append(posteriors[-1].of_expert(expert))
        known = said_arrows(list(self.fix), first.alphabet)
        return Problem(tuple(posteriors), unknown, self.sizes, known, self.init)

    @property
    def notes(self) -> tuple[str, ...]:
        """What could be asked for, but was not, and what was asked for in vain, in words."""
        found = []
        over = [demos.ended is not None and (demos.ended == 1).any() for _, demos in self.pairs]
        if self.endings == IGNORE and any(over):
            found.append(
                "the demonstrations say which episodes ended because the task was over, and that "
                'was ignored; endings="task" (--endings task) learns from it'
            )
        if self.device != CPU and self.method != "exhaustive" and self.settings.at_once < FEW:
            found.append(
                f"the cores scored the {self.settings.at_once} chains, the card only long lists "
                f"of machines: steps of fewer than {FEW} take it longer"
            )
        return tuple(found)

    def _check_sharpness(self, unknown: Unknowns) -> None:
        """Refuse a prior over alpha that may ask for more than floating point has."""
        if unknown.alpha is not None:
            return
        try:
            checked_sharpness(np.array(self.rewards), unknown.alphas[1], max(unknown.discounts))
        except MachineError:
            raise ArgumentError(
                f"alpha may be up to {unknown.alphas[1]:g} at a discount of "
                f"{max(unknown.discounts):g}, more than numbers are exact enough for; give an "
                "alpha, a lower bound of alpha_prior, or a lower discount"
            ) from None

    def extended(self, steps: int | None, minutes: float | None, agreed: bool) -> Job:
        """Return the job with more steps or minutes in all; where it had agreed, to the end."""
        settings = self.settings
        if steps is not None:
            check_steps(settings, steps)
            settings = replace(settings, steps=steps)
            if agreed:
                settings = replace(settings, until_agreed=False)
        if minutes is not None:
            check_minutes(minutes)
        return replace(self, settings=settings, minutes=minutes or self.minutes)


def check_steps(settings: Any, steps: int) -> None:
    """Refuse a number of steps where the method has none to choose."""
    if not hasattr(settings, "steps"):
        raise ArgumentError(
            f"steps is {steps}; this method ends when every machine is scored: leave steps out, "
            "or limit the minutes"
        )


def check_minutes(minutes: float) -> None:
    """Refuse a time that is not a finite number above 0."""
    if not 0 < minutes < math.inf:
        raise ArgumentError(f"minutes is {minutes}; give a finite number above 0")


def check_subjects(job: Job) -> None:
    """Refuse to ask of single subjects what cannot be told."""
    if job.experts not in (SHARED, BY_SUBJECT):
        raise ArgumentError(f"experts is {job.experts!r}; known are {SHARED}, {BY_SUBJECT}")
    if not job.by_subject:
        return
    for _, demos in job.pairs:
        if demos.subjects is None or None in demos.subjects:
            at = 0 if demos.subjects is None else demos.subjects.index(None)
            raise ArgumentError(
                f"{demos.place(at)}: nobody is named who acted; give every episode a subject, or "
                "leave out experts='by-subject' and tasks"
            )
    names = {str(name) for _, demos in job.pairs for name in demos.subjects or ()}
    if job.tasks[0] > len(names):
        raise ArgumentError(
            f"tasks asks for {job.tasks[0]} groups of subjects or more, and the demonstrations "
            f"name {len(names)} who acted; ask for {len(names)} at most"
        )
    if job.endings != IGNORE:
        raise ArgumentError(
            "experts='by-subject' and tasks read actions alone: how often endings are wrong is "
            "everybody's; leave out endings, or leave out experts and tasks"
        )
    if job.settings.temperature != 1:
        cure = "infer by tempering" if job.method == "annealing" else "leave out temperature"
        raise ArgumentError(
            "experts='by-subject' and tasks are weighed at temperature 1, and this is "
            f"{job.settings.temperature:g}; {cure}"
        )
    if len(job.unknowns.kinds) > 1:
        raise ArgumentError(
            "experts='by-subject' and tasks take one kind of expert at a time; infer with "
            "expert_kind='boltzmann' and again with 'soft', and compare run.groups.log_evidence"
        )


def checked_tasks(tasks: int | range | tuple[int, int]) -> range:
    """Return the numbers of groups that there may be."""
    if isinstance(tasks, range):
        ends = (tasks.start, tasks.stop - 1) if tasks.step == 1 else (0, 0)
    else:
        ends = tasks if isinstance(tasks, tuple) else (tasks, tasks)
    whole = len(ends) == 2 and all(
        isinstance(end, int) and not isinstance(end, bool) for end in ends
    )
    if not whole or not 1 <= ends[0] <= ends[1] <= MOST_TASKS:
        raise ArgumentError(
            f"tasks is {tasks!r}; give how many groups of subjects there may be, 1 to "
            f"{MOST_TASKS}, or the least and the most, such as (1, 3)"
        )
    return range(ends[0], ends[1] + 1)


def checked_threads(threads: object) -> int | None:
    """Return how many threads to use; None stands for all cores."""
    if threads is None:
        return None
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ArgumentError(f"threads is {threads!r}; give a whole number of at least 1")
    return threads
