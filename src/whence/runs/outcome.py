"""What a search found: the best machine, the posterior, and how sure each arrow is."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from whence.analysis import discounting, unseen
from whence.analysis.certainty import arrow_certainty
from whence.analysis.questions import telling_sequences
from whence.analysis.sample import PosteriorSample
from whence.likelihood.posterior import Posterior
from whence.runs import events, folder
from whence.runs.result import Run, Trace
from whence.runs.searching import Search
from whence.search.draws import Draws
from whence.search.methods import Method, Row
from whence.search.problem import Problem
from whence.search.tape import Tape


def finished(search: Search, first: str) -> Run:
    """Search to the end, work out what was found, and write it where the run has a folder."""
    stopped = search.run(first)
    search.stop.patient = False
    began = time.perf_counter()
    run = result(search, stopped)
    run = replace(run, seconds=search.walk.seconds + time.perf_counter() - began)
    if search.keeper is not None:
        folder.write(search.keeper.folder, run)
    search.tell(events.FINISHED)
    return run


def result(search: Search, stopped: str) -> Run:
    """Return what a search has found so far."""
    job, walk = search.job, search.walk
    run = _run(job.how, walk.state, search.problem, job.settings, walk.records)
    trace = _trace(walk.rows)
    return replace(
        run,
        trace=trace,
        steps=walk.rows.offered,
        stopped=stopped,
        method=job.method,
        seed=job.seed,
    )


def _run(how: Method, state: Any, problem: Problem, settings: Any, records: Tape[Any]) -> Run:
    """Return what was found; who asked for it, and what it took, is filled in later."""
    machine, expert, _ = how.found(state, problem)
    place = problem.unknowns.discounts.index(expert.discount)
    posterior = problem.posteriors[place].of_expert(expert)
    log_likelihood = posterior.finest(machine)
    draws = how.draws(state, records, problem)
    sample = None if draws is None else _sample(posterior, draws)
    tables = machine.transitions[None], machine.rewards[None]
    log_prior = float(posterior.log_prior(*tables)[0])
    return Run(
        best=machine,
        score=log_likelihood / posterior.temperature + log_prior,
        log_likelihood=log_likelihood,
        log_prior=log_prior,
        temperature=posterior.temperature,
        trace=_trace(Tape()),
        steps=0,
        evaluations=how.evaluations(state),
        seconds=0.0,
        states=problem.sizes,
        seed=0,
        method="",
        settings=settings,
        expert=expert,
        inferred=problem.unknowns.inferred,
        prior=posterior.prior,
        rewards=posterior.levels,
        stopped="",
        doubts=(
            *how.doubts(state, records, problem, settings),
            *unseen.doubts(posterior, sample),
            *discounting.doubts(posterior, machine, problem.unknowns.inferred),
        ),
        draws=draws,
        posterior=sample,
        certainty=() if sample is None else arrow_certainty(posterior, machine, sample),
        telling=() if sample is None else telling_sequences(sample, expert=expert),
        exact=how.exact(state, problem),
    )


def _sample(posterior: Posterior, draws: Draws) -> PosteriorSample:
    return PosteriorSample.from_draws(list(posterior.worlds), draws, posterior.alphabet)


def _trace(rows: Tape[Row]) -> Trace:
    """Return the rows of a trace below each other."""
    block = rows.together()
    if block is None:
        nothing = np.zeros((0, 0))
        return Trace(rows.places, nothing, nothing, nothing, np.zeros((0, 0), dtype=np.bool_))
    return Trace(rows.places + 1, *block)
