"""What a search found: the best machine, the posterior, and how sure each arrow is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from whence.analysis.certainty import arrow_certainty
from whence.analysis.discounting import doubts_of_discount
from whence.analysis.granted import doubts_of_choice
from whence.analysis.greed import notes_of_greed
from whence.analysis.levels import notes_of_levels
from whence.analysis.questions import open_questions
from whence.analysis.sample import PosteriorSample
from whence.likelihood.posterior import Posterior
from whence.model.machine import RewardMachine
from whence.runs import events, folder, subjects, weighing
from whence.runs.groups import Groups
from whence.runs.job import Job
from whence.runs.reported import error_of_facts
from whence.runs.result import UNFINISHED, Run, Trace
from whence.runs.searching import Search
from whence.runs.signals import Stopped
from whence.search.draws import Draws
from whence.search.method import Row
from whence.search.problem import Problem
from whence.search.tape import Tape

WARMING = (
    "the warm-up has not ended: probabilities are those of the {} machines that chains stand at, "
    "beside each other"
)
GO_ON = "stopped while what is known was worked out; nothing is lost: go on with whence resume {}"
AS_ONE = "everybody counts as one expert until the search is over"


def finished(search: Search, first: str) -> Run:
    """Search to the end, work out what was found, and write it where the run has a folder."""
    search.so_far = lambda: result(search, UNFINISHED, search.walk.seconds, ())
    search.write_so_far = folder.write_provisional
    stopped = search.run(first)
    search.stop.patient = False
    if search.on_event is not None:
        search.on_event(search.event(events.ANALYSING))
    try:
        run = result(search, stopped)
    except Stopped:
        if search.keeper is None:
            raise
        raise Stopped(GO_ON.format(search.keeper.folder)) from None
    if search.keeper is not None:
        folder.write(search.keeper.folder, run)
    search.tell(events.FINISHED)
    return run


def result(
    search: Search,
    stopped: str,
    seconds: float | None = None,
    level_notes: tuple[str, ...] | None = None,
) -> Run:
    """Return what a search has found so far.

    Args:
        search: the job and where it stands.
        stopped: why it ended; `unfinished` where it goes on, and all of it is provisional.
        seconds: what it took; by default until now.
        level_notes: what is known of other levels of rewards; worked out by default.
    """
    began = time.perf_counter()
    job, walk, problem = search.job, search.walk, search.problem
    finding = walk.method.finish(walk.state, walk.records)
    machine, expert, _ = finding.best
    kept = None if search.keeper is None else search.keeper.folder
    place = problem.unknowns.places.index((expert.kind, expert.discount))
    posterior = problem.posteriors[place].of_expert(expert)
    draws, provisional = finding.draws, stopped == UNFINISHED
    if draws is None and provisional:
        draws = walk.method.met_so_far(walk.state)
    warming = draws is not finding.draws
    tell = partial(_tell, search, began)
    aloud = None if provisional else tell
    groups, found = _weighed(search, posterior, draws, kept, aloud)
    machine, expert = weighing.leading(found, machine, expert, posterior.temperature)
    posterior, sample = posterior.of_expert(expert), found.sample
    log_likelihood = posterior.finest(machine)
    log_prior = float(posterior.log_prior(machine.transitions[None], machine.rewards[None])[0])
    every = _groups_of(job, groups) or [_Part("", posterior, machine, problem)]
    doubts = (
        *((WARMING.format(draws.size),) if warming and draws is not None else finding.doubts),
        *_doubts_of_facts(job, sample),
        *found.doubts,
        *((AS_ONE,) if job.by_subject and provisional else ()),
        *(() if job.by_subject else doubts_of_choice(job.shown, machine, expert)),
        *_said(every, lambda part: doubts_of_discount(*part[1:])),
    )
    if level_notes is None:
        level_notes = _said(every, lambda part: notes_of_levels(part.posterior, part.machine))
    return Run(
        best=machine,
        score=log_likelihood / posterior.temperature + log_prior,
        log_likelihood=log_likelihood,
        log_prior=log_prior,
        temperature=posterior.temperature,
        trace=_trace(walk.rows),
        steps=walk.rows.offered,
        evaluations=finding.evaluations,
        seconds=_since(walk.seconds, began) if seconds is None else seconds,
        job=job,
        expert=expert,
        stopped=stopped,
        doubts=doubts,
        draws=None if warming else found.draws,
        posterior=sample,
        rough=found.rough,
        certainty=() if sample is None else arrow_certainty(posterior, machine, sample),
        open_questions=() if sample is None else open_questions(sample, expert=expert),
        exact=finding.exact if found.rough is None else None,
        log_evidence=dict(finding.log_evidence) if found.rough is None else {},
        level_notes=level_notes,
        expert_notes=_said(every, _greed_of),
        groups=groups,
        ladders=_ladders(walk.method.details(walk.state)),
        manifest=None if search.keeper is None else search.keeper.manifest,
        folder=kept,
        answers=job.answers,
    )


def _weighed(
    search: Search,
    posterior: Posterior,
    draws: Draws | None,
    kept: Path | None,
    tell: Callable[[str], None] | None,
) -> tuple[Groups | None, weighing.Weighed]:
    """Return groups of subjects, where they are asked for, and the sample of everybody together.

    Of several groups that sample is nobody's, and not worth to wait for. `tell` is None where all
    is provisional.
    """
    job = search.job
    groups = subjects.grouped(job, draws, kept, tell) if job.by_subject and tell else None
    several = groups is not None and len(groups.groups) > 1
    found = weighing.weighed(
        search.problem, posterior, draws, job.seed, kept, search.walk.known,
        None if several else tell, () if several else (weighing.SO_FAR,), job.most_seconds,
    )  # fmt: skip
    return groups, found


class _Part(NamedTuple):
    """Some or all of the subjects, with their posterior, machine and problem."""

    who: str
    posterior: Posterior
    machine: RewardMachine
    problem: Problem


def _groups_of(job: Job, groups: Groups | None) -> list[_Part]:
    """Return the parts of several groups.

    What everybody shows together says nothing of a discount, of levels or of errors then.
    """
    several = () if groups is None or len(groups.groups) < 2 else groups.groups
    found = []
    for each in several:
        problem = job.of_subjects(each.subjects).problem(device="cpu")
        expert = each.draws.expert(int(each.draws.weight.argmax()))
        place = problem.unknowns.places.index((expert.kind, expert.discount))
        posterior = problem.posteriors[place].of_expert(expert)
        found.append(_Part(f"{each.called}: ", posterior, each.best, problem))
    return found


def _said(parts: Sequence[_Part], told: Callable[[_Part], list[str]]) -> tuple[str, ...]:
    """Return what is told of each part, by its name."""
    return tuple(part.who + text for part in parts for text in told(part))


def _greed_of(part: _Part) -> list[str]:
    return notes_of_greed(part.posterior, part.machine, part.problem.unknowns.inferred)


def _tell(search: Search, began: float, doing: str) -> None:
    """Tell whoever watches what is being worked out."""
    if search.on_event is not None:
        event = search.event(events.ANALYSING)
        details = event.details | {"doing": doing}
        seconds = _since(search.walk.seconds, began)
        search.on_event(replace(event, seconds=seconds, details=details))


def _doubts_of_facts(job: Job, sample: PosteriorSample | None) -> tuple[str, ...]:
    """Return what to say where the facts of a sample are not as exact as was asked."""
    wanted = getattr(job.settings, "precision", None)
    if wanted is None or sample is None or sample.drawn.exact or job.by_subject:
        return ()
    error = error_of_facts(sample)
    if not error > wanted:
        return ()
    return (
        f"the probability of a fact has an error of {error:.3f}, more than {wanted:g}: give more "
        "steps",
    )


def _ladders(details: dict[str, Any]) -> dict[str, Any]:
    """Return how ladders did, from what a method tells."""
    names = ("temperatures", "swap_rates", "round_trips", "copies")
    return {name: details[name] for name in names if name in details}


def _since(before: float, began: float) -> float:
    return before + time.perf_counter() - began


def _trace(rows: Tape[Row]) -> Trace:
    """Return the rows of a trace below each other."""
    block = rows.together()
    if block is None:
        nothing = np.zeros((0, 0))
        return Trace(rows.places, nothing, nothing, nothing, np.zeros((0, 0), dtype=np.bool_))
    return Trace(rows.places + 1, *block)
