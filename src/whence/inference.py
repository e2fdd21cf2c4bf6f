"""Infer a machine from demonstrations: one function, whatever the method."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from whence.demos import Demonstrations
from whence.errors import ArgumentError
from whence.expert import Expert
from whence.machine import RewardMachine
from whence.mdp import LabeledMDP
from whence.posterior import Posterior, Worlds
from whence.prior import Prior
from whence.runs.result import Run, Trace
from whence.search.methods import Method, Row
from whence.search.methods import method as find_method
from whence.search.sizes import Sizes, checked_sizes
from whence.simulation import checked_seed

STREAM = 1  # apart from the stream of `simulate`, which uses the seed itself

OnStep = Callable[[int, int], None]


def infer(
    mdp: LabeledMDP | Worlds,
    demos: Demonstrations | None = None,
    *,
    states: Sizes,
    expert: Expert,
    rewards: tuple[float, ...] = (0.0, 1.0),
    prior: Prior | None = None,
    temperature: float | None = None,
    method: str = "annealing",
    settings: Any = None,
    seed: int = 0,
    steps: int | None = None,
    minutes: float | None = None,
    threads: int | None = None,
    on_step: OnStep | None = None,
) -> Run:
    """Return the machine that explains the demonstrations best, and how it was found.

    Args:
        mdp: a world, or pairs of a world and its demonstrations, which one machine explains.
        demos: the demonstrations of the one world.
        states: n, the number of machine states; with `exhaustive` also the least and the most,
            such as (2, 5), or a range.
        expert: who demonstrates.
        rewards: the levels that machines may pay.
        prior: over machines; the paper's by default.
        temperature: at which scores are compared; annealing ends at it, in place of `t_min`.
        method: `annealing`, the paper's, or `exhaustive`, which scores every machine.
        settings: the method's, such as `Annealing.preset("coffee")` or `Exhaustive(limit=10**8)`.
        seed: of every random choice.
        steps: iterations, in place of the settings'.
        minutes: stop after so many, even if there are steps left.
        threads: how many to use; all cores by default. The result does not depend on it.
        on_step: called after each step with the steps done and the steps in all.
    """
    began = time.perf_counter()
    how = find_method(method)
    chosen = _settled(how, settings, steps, temperature)
    deadline = began + _seconds(minutes)
    posterior = Posterior(
        mdp, demos, expert=_checked_expert(expert, method), prior=prior, rewards=rewards,
        temperature=how.temperature(chosen), threads=_checked_threads(threads),
    )  # fmt: skip
    rng = np.random.default_rng(np.random.SeedSequence(checked_seed(seed), spawn_key=(STREAM,)))
    sizes = checked_sizes(states)
    state = how.init(rng, posterior, sizes, chosen)
    steps_in_all = how.steps(state, chosen)
    rows: list[Row] = []
    while state.step < steps_in_all and time.perf_counter() < deadline:
        state, info = how.step(rng, state, posterior, chosen)
        rows.append(how.row(state, info, chosen))
        if on_step is not None:
            on_step(state.step, steps_in_all)
    run = _run(how, state, rows, posterior, chosen)
    return replace(
        run, method=method, states=sizes, seed=int(seed), seconds=time.perf_counter() - began
    )


def _run(how: Method, state: Any, rows: list[Row], posterior: Posterior, settings: Any) -> Run:
    """Return what was found; who asked for it, and what it took, is filled in later."""
    best, log_likelihood, log_prior = _best(how, state, posterior)
    draws, exact = how.exact(state, posterior) or (None, None)
    return Run(
        best=best,
        score=log_likelihood / posterior.temperature + log_prior,
        log_likelihood=log_likelihood,
        log_prior=log_prior,
        temperature=posterior.temperature,
        trace=_trace(rows, how.best(state).size),
        evaluations=how.evaluations(state),
        seconds=0.0,
        states=range(0),
        seed=0,
        method="",
        settings=settings,
        expert=posterior.expert,
        prior=posterior.prior,
        rewards=posterior.levels,
        stopped="steps" if state.step == how.steps(state, settings) else "minutes",
        draws=draws,
        exact=exact,
    )


def _best(how: Method, state: Any, posterior: Posterior) -> tuple[RewardMachine, float, float]:
    """Return the best machine of all runs, its log likelihood and its log prior."""
    found = how.best(state)
    first = int(np.argmax(found.score(posterior.temperature)))
    machine = RewardMachine(posterior.alphabet, found.transitions[first], found.rewards[first])
    return machine.canonical(), posterior.finest(machine), float(found.log_prior[first])


def _trace(rows: list[Row], runs: int) -> Trace:
    """Put the rows of a trace below each other."""
    if not rows:
        nothing = np.zeros((0, runs))
        return Trace(nothing, nothing, nothing, np.zeros((0, runs), dtype=np.bool_))
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


def _checked_expert(expert: object, method: str) -> Expert:
    if not isinstance(expert, Expert):
        raise ArgumentError(
            f"expert is {expert!r}; {method} needs a known one: give an Expert, such as "
            "Expert(alpha=50, discount=0.92)"
        )
    return expert


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
