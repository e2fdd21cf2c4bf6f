"""The methods that `infer` knows, each in one entry.

A method is its settings, `init` and `step`, and what is read off a state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from whence._types import Bools, Floats
from whence.errors import ArgumentError
from whence.expert import Expert
from whence.machine import RewardMachine
from whence.search import annealing, exhaustive, sampling, tempering
from whence.search.draws import Draws, Exact
from whence.search.population import Population
from whence.search.problem import Problem
from whence.search.settings import Annealing, Tempering
from whence.search.sizes import one_size
from whence.search.target import Chains


class Row(NamedTuple):
    """One step of a trace, for each of the B runs or ladders.

    Attributes:
        score: float64[B], of the current machine at the temperature that scores are compared at.
        best: float64[B], the best score so far.
        temperature: float64[B], of the step.
        accepted: bool[B], whether the proposal was.
    """

    score: Floats
    best: Floats
    temperature: Floats
    accepted: Bools


class Found(NamedTuple):
    """The best machine, and the expert that it was found with."""

    machine: RewardMachine
    expert: Expert


@dataclass(frozen=True)
class Method:
    """How a run is made of a search.

    Attributes:
        defaults: its settings where none are given; they have `steps` where it could go on.
        with_temperature: its settings, with scores compared at another temperature.
        temperature: at which its settings compare scores.
        init: (rng, problem, settings) -> State, which has `step`.
        step: (rng, state, problem, settings) -> (State, Info).
        steps: (state, settings) -> how many there are in all, at most.
        ended: (state, records, problem, settings) -> why to stop, or None.
        row: (state, info, problem, settings) -> Row, the trace of a step.
        found: (state, problem) -> the best machine.
        evaluations: how many machines were scored until a state.
        record: (state, settings) -> what to keep of a step, or None.
        draws: (state, records, problem) -> machines with their weights, or None.
        exact: (state, problem) -> what is known of all machines together, or None.
        doubts: (state, records, problem, settings) -> what speaks against the result.
    """

    defaults: Any
    with_temperature: Callable[[Any, float], Any]
    temperature: Callable[[Any], float]
    init: Callable[[np.random.Generator, Problem, Any], Any]
    step: Callable[[np.random.Generator, Any, Problem, Any], tuple[Any, Any]]
    steps: Callable[[Any, Any], int]
    ended: Callable[[Any, list[Any], Problem, Any], str | None]
    row: Callable[[Any, Any, Problem, Any], Row]
    found: Callable[[Any, Problem], Found]
    evaluations: Callable[[Any], int]
    record: Callable[[Any, Any], Any] = lambda state, settings: None
    draws: Callable[[Any, list[Any], Problem], Draws | None] = lambda state, records, problem: None
    exact: Callable[[Any, Problem], Exact | None] = lambda state, problem: None
    doubts: Callable[[Any, list[Any], Problem, Any], list[str]] = lambda *arguments: []


def method(name: str) -> Method:
    """Return a method by its name."""
    if name not in METHODS:
        raise ArgumentError(f"method is {name!r}; known are {', '.join(METHODS)}")
    return METHODS[name]


def _of_population(population: Population, problem: Problem) -> Found:
    """Return the best of machines with a known expert."""
    posterior = problem.posteriors[0]
    first = int(np.argmax(population.score(posterior.temperature)))
    machine = RewardMachine(
        posterior.alphabet, population.transitions[first], population.rewards[first]
    )
    return Found(machine.canonical(), posterior.expert)


def _annealing_init(
    rng: np.random.Generator, problem: Problem, settings: Annealing
) -> annealing.State:
    size = one_size(problem.sizes, "annealing")
    return annealing.init(rng, problem.plain("annealing"), size, settings)


def _annealing_row(
    state: annealing.State, info: annealing.Info, problem: Problem, settings: Annealing
) -> Row:
    score = state.current.score(settings.t_min)
    best = state.best.score(settings.t_min)
    return Row(score, best, np.full(len(score), info.temperature), info.accepted)


def _exhaustive_row(
    state: exhaustive.State,
    info: exhaustive.Kept,
    problem: Problem,
    settings: exhaustive.Exhaustive,
) -> Row:
    nothing = np.zeros(0)  # nothing is drawn, so there are no runs to trace
    return Row(nothing, nothing, nothing, np.zeros(0, dtype=np.bool_))


def _exact_draws(state: exhaustive.State, problem: Problem) -> Draws | None:
    return exhaustive.draws(state, problem.posteriors[0]) if state.complete else None


def _exact(state: exhaustive.State, problem: Problem) -> Exact | None:
    found = _exact_draws(state, problem)
    return None if found is None else exhaustive.exact(state, found)


def _tempering_row(
    state: tempering.State, info: tempering.Info, problem: Problem, settings: Tempering
) -> Row:
    target = problem.target()
    cold = np.arange(settings.ladders) * settings.rungs
    temperature = state.temperatures[:, 0]
    score = target.score(state.chains.rows(cold))
    return Row(score, target.score(state.best), temperature, info.accepted[cold])


def _tempering_found(state: tempering.State, problem: Problem) -> Found:
    target = problem.target()
    chains: Chains = state.best.rows(np.array([int(np.argmax(target.score(state.best)))]))
    n = int(chains.machines.n_states[0])
    machine = RewardMachine(
        problem.posteriors[0].alphabet,
        chains.machines.transitions[0, :n],
        target.space.rewards(chains.machines)[0, :n],
    )
    experts = chains.experts
    discount = problem.unknowns.discounts[int(experts.discount[0])]
    expert = Expert(float(experts.alpha[0]), discount, float(experts.lapse[0]))
    return Found(machine.canonical(), expert)


METHODS: dict[str, Method] = {
    "tempering": Method(
        defaults=Tempering(),
        with_temperature=lambda settings, temperature: replace(settings, temperature=temperature),
        temperature=lambda settings: settings.temperature,
        init=sampling.init,
        step=lambda rng, state, problem, settings: tempering.step(
            rng, state, problem.target(), settings
        ),
        steps=lambda state, settings: settings.steps,
        ended=sampling.ended,
        row=_tempering_row,
        found=_tempering_found,
        evaluations=lambda state: state.chains.size * (state.step + 1),
        record=sampling.record,
        draws=lambda state, records, problem: sampling.draws(records, problem),
        doubts=sampling.doubts,
    ),
    "annealing": Method(
        defaults=Annealing(),
        with_temperature=lambda settings, temperature: replace(settings, t_min=temperature),
        temperature=lambda settings: settings.t_min,
        init=_annealing_init,
        step=lambda rng, state, problem, settings: annealing.step(
            rng, state, problem.posteriors[0], settings
        ),
        steps=lambda state, settings: settings.steps,
        ended=lambda state, records, problem, settings: (
            "steps" if state.step >= settings.steps else None
        ),
        row=_annealing_row,
        found=lambda state, problem: _of_population(state.best, problem),
        evaluations=lambda state: state.best.size * (state.step + 1),
    ),
    "exhaustive": Method(
        defaults=exhaustive.Exhaustive(),
        with_temperature=lambda settings, temperature: replace(settings, temperature=temperature),
        temperature=lambda settings: settings.temperature,
        init=lambda rng, problem, settings: exhaustive.init(
            rng, problem.plain("exhaustive"), problem.sizes, settings
        ),
        step=lambda rng, state, problem, settings: exhaustive.step(
            rng, state, problem.posteriors[0], settings
        ),
        steps=lambda state, settings: state.space.batches(settings.batch),
        ended=lambda state, records, problem, settings: "steps" if state.complete else None,
        row=_exhaustive_row,
        found=lambda state, problem: _of_population(exhaustive.best(state), problem),
        evaluations=lambda state: state.position,
        draws=lambda state, records, problem: _exact_draws(state, problem),
        exact=_exact,
    ),
}
