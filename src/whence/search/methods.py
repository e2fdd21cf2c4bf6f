"""The methods that `infer` knows, each in one entry.

A method is its settings, `init` and `step`, and what is read off a state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from whence._arrays import Bools, Floats
from whence.errors import ArgumentError
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.search import annealing, exhaustive, sampling, tempering
from whence.search.draws import Draws, Exact
from whence.search.population import Population
from whence.search.problem import Problem
from whence.search.settings import Annealing, Tempering
from whence.search.sizes import one_size
from whence.search.tape import Tape
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
    """The best machine, the expert that it was found with, and its score."""

    machine: RewardMachine
    expert: Expert
    score: float


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
        any_found: (state) -> whether there is one.
        evaluations: how many machines were scored until a state.
        record: (state, settings) -> what to keep of a step, or None.
        draws: (state, records, problem) -> machines with their weights, or None.
        exact: (state, problem) -> what is known of all machines together, or None.
        doubts: (state, records, problem, settings) -> what speaks against the result.
        details: (state, settings) -> what to tell who watches, for JSON.
        recorded: (state) -> a value like those that `record` keeps, or None.
        sound: (state, block of records or None, problem) -> whether every index is in range.
    """

    defaults: Any
    with_temperature: Callable[[Any, float], Any]
    temperature: Callable[[Any], float]
    init: Callable[[np.random.Generator, Problem, Any], Any]
    step: Callable[[np.random.Generator, Any, Problem, Any], tuple[Any, Any]]
    steps: Callable[[Any, Any], int]
    ended: Callable[[Any, Tape[Any], Problem, Any], str | None]
    row: Callable[[Any, Any, Problem, Any], Row]
    found: Callable[[Any, Problem], Found]
    evaluations: Callable[[Any], int]
    any_found: Callable[[Any], bool] = lambda state: True
    record: Callable[[Any, Any], Any] = lambda state, settings: None
    draws: Callable[[Any, Tape[Any], Problem], Draws | None] = lambda state, records, problem: None
    exact: Callable[[Any, Problem], Exact | None] = lambda state, problem: None
    doubts: Callable[[Any, Tape[Any], Problem, Any], list[str]] = lambda *arguments: []
    details: Callable[[Any, Any], dict[str, Any]] = lambda state, settings: {}
    recorded: Callable[[Any], Any] = lambda state: None
    sound: Callable[[Any, Any, Problem], bool] = lambda state, block, problem: True


def method(name: str) -> Method:
    """Return a method by its name."""
    if name not in METHODS:
        raise ArgumentError(f"method is {name!r}; known are {', '.join(METHODS)}")
    return METHODS[name]


def _of_population(population: Population, problem: Problem) -> Found:
    """Return the best of machines with a known expert."""
    posterior = problem.posteriors[0]
    score = population.score(posterior.temperature)
    first = int(np.argmax(score))
    machine = RewardMachine(
        posterior.alphabet, population.transitions[first], population.rewards[first]
    )
    return Found(machine.canonical(), posterior.expert, float(score[first]))


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
    return Row(score, best, np.full(len(score), float(info.temperature)), info.accepted)


def _annealing_sound(state: annealing.State, block: None, problem: Problem) -> bool:
    both = (state.current, state.best)
    return all(
        bool((machines.transitions >= 0).all())
        and bool((machines.transitions < machines.transitions.shape[1]).all())
        and bool(np.isfinite(machines.rewards).all())
        for machines in both
    )


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
    score = target.score(state.best)
    first = int(np.argmax(score))
    chains: Chains = state.best.rows(np.array([first]))
    n = int(chains.machines.n_states[0])
    machine = RewardMachine(
        problem.posteriors[0].alphabet,
        chains.machines.transitions[0, :n],
        target.space.rewards(chains.machines)[0, :n],
    )
    experts = chains.experts
    discount = problem.unknowns.discounts[int(experts.discount[0])]
    expert = Expert(float(experts.alpha[0]), discount, float(experts.lapse[0]))
    return Found(machine.canonical(), expert, float(score[first]))


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
        details=sampling.details,
        recorded=lambda state: state.best,
        sound=sampling.sound,
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
        details=lambda state, settings: {"temperature": state.temperature, "p": state.p},
        sound=_annealing_sound,
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
        any_found=lambda state: len(state.kept.position) > 0,
        sound=lambda state, block, problem: state.sound,
    ),
}
