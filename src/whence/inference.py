"""Infer a machine from demonstrations: one function, whatever the method."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from whence.arrows import said_arrows
from whence.certainty import arrow_certainty
from whence.demos import Demonstrations
from whence.errors import ArgumentError
from whence.expert import Expert
from whence.machine import RewardMachine
from whence.mdp import LabeledMDP
from whence.posterior import Posterior, Worlds
from whence.prior import Prior
from whence.runs.result import Run, Trace
from whence.sample import PosteriorSample
from whence.search.draws import Draws
from whence.search.methods import Method, Row
from whence.search.methods import method as find_method
from whence.search.problem import Problem
from whence.search.sizes import Sizes, checked_sizes
from whence.search.unknowns import Unknowns, unknowns
from whence.simulation import checked_seed
from whence.telling import telling_sequences

STREAM = 1  # apart from the stream of `simulate`, which uses the seed itself

OnStep = Callable[[int, int], None]


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
    on_step: OnStep | None = None,
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
        temperature: at which scores are compared; 1, the Bayesian posterior, by default.
        method: `tempering`, `annealing`, the paper's, or `exhaustive`, every machine.
        settings: the method's, such as `Tempering(rungs=30)` or `Annealing.preset("coffee")`.
        init: a machine to start from.
        fix: arrows that are known, such as "a -c-> b", first the initial state.
        seed: of every random choice.
        steps: at most, in place of the settings'.
        minutes: stop after so many, even if there are steps left.
        threads: how many to use; all cores by default. The result does not depend on it.
        on_step: called after each step with the steps done and the steps in all.
    """
    began = time.perf_counter()
    how = find_method(method)
    chosen = _settled(how, settings, steps, temperature)
    unknown = unknowns(expert, alpha, lapse, discount)
    posteriors = _posteriors(
        mdp, demos, unknown, prior=prior, rewards=rewards,
        temperature=how.temperature(chosen), threads=_checked_threads(threads),
    )  # fmt: skip
    known = said_arrows(list(fix), posteriors[0].alphabet)
    problem = Problem(posteriors, unknown, checked_sizes(states), known, init)
    run = _searched(how, problem, chosen, seed, began + _seconds(minutes), on_step)
    return replace(run, method=method, seed=int(seed), seconds=time.perf_counter() - began)


def _searched(
    how: Method,
    problem: Problem,
    settings: Any,
    seed: int,
    deadline: float,
    on_step: OnStep | None,
) -> Run:
    """Search until the method ends or time is up."""
    rng = np.random.default_rng(np.random.SeedSequence(checked_seed(seed), spawn_key=(STREAM,)))
    state = how.init(rng, problem, settings)
    rows: list[Row] = []
    records: list[Any] = []
    stopped = how.ended(state, records, problem, settings)
    while stopped is None and time.perf_counter() < deadline:
        state, info = how.step(rng, state, problem, settings)
        rows.append(how.row(state, info, problem, settings))
        kept = how.record(state, settings)
        if kept is not None:
            records.append(kept)
        if on_step is not None:
            on_step(state.step, how.steps(state, settings))
        stopped = how.ended(state, records, problem, settings)
    run = _run(how, state, problem, settings, records)
    return replace(run, trace=_trace(rows), stopped=stopped or "minutes")


def _run(how: Method, state: Any, problem: Problem, settings: Any, records: list[Any]) -> Run:
    """Return what was found; who asked for it, and what it took, is filled in later."""
    machine, expert = how.found(state, problem)
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
        trace=_trace([]),
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
        doubts=tuple(how.doubts(state, records, problem, settings)),
        draws=draws,
        posterior=sample,
        certainty=() if sample is None else arrow_certainty(posterior, machine, sample),
        telling=() if sample is None else telling_sequences(sample, expert=expert),
        exact=how.exact(state, problem),
    )


def _sample(posterior: Posterior, draws: Draws) -> PosteriorSample:
    return PosteriorSample.from_draws(list(posterior.worlds), draws, posterior.alphabet)


def _posteriors(
    mdp: LabeledMDP | Worlds, demos: Demonstrations | None, unknown: Unknowns, **settings: Any
) -> tuple[Posterior, ...]:
    """Return a posterior for each discount, all over the same evidence."""
    alpha = 1.0 if unknown.alpha is None else unknown.alpha
    lapse = 0.0 if unknown.lapse is None else unknown.lapse
    experts = [Expert(alpha, discount, lapse) for discount in unknown.discounts]
    first = Posterior(mdp, demos, expert=experts[0], **settings)
    return (first, *(first.of_expert(expert) for expert in experts[1:]))


def _trace(rows: list[Row]) -> Trace:
    """Put the rows of a trace below each other."""
    if not rows:
        nothing = np.zeros((0, 0))
        return Trace(nothing, nothing, nothing, np.zeros((0, 0), dtype=np.bool_))
    return Trace(
        score=np.array([row.score for row in rows]),
        best=np.array([row.best for row in rows]),
        temperature=np.array([row.temperature for row in rows]),
        accepted=np.array([row.accepted for row in rows]),
    )


def _settled(how: Method, settings: Any, steps: int | None, temperature: float | None) -> Any:
    """Return the settings to use: those given or the defaults, with what else was asked for."""
    kind = type(how.defaults)
    chosen = how.defaults if settings is None else settings
    if not isinstance(chosen, kind):
        raise ArgumentError(f"settings are {chosen!r}; give {kind.__name__} settings")
    if steps is not None and not hasattr(chosen, "steps"):
        raise ArgumentError(
            f"steps is {steps}; this method ends when every machine is scored: leave steps out, "
            "or limit the minutes"
        )
    if steps is not None:
        chosen = replace(chosen, steps=steps)
    return chosen if temperature is None else how.with_temperature(chosen, temperature)


def _checked_threads(threads: object) -> int | None:
    if threads is None:
        return None
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ArgumentError(f"threads is {threads!r}; give a whole number of at least 1")
    return threads


def _seconds(minutes: float | None) -> float:
    if minutes is None:
        return math.inf
    if not 0 < minutes < math.inf:
        raise ArgumentError(f"minutes is {minutes}; give a finite number above 0")
    return 60 * minutes
