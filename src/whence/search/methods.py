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
from whence.posterior import Posterior
from whence.search import annealing, exhaustive
from whence.search.draws import Draws, Exact
from whence.search.population import Population
from whence.search.settings import Annealing
from whence.search.sizes import one_size


class Row(NamedTuple):
    """One step of a trace, for each of the B runs.

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


@dataclass(frozen=True)
class Method:
    """How a run is made of a search.

    Attributes:
        defaults: its settings where none are given; they have `steps` where it could go on.
        with_temperature: its settings, with scores compared at another temperature.
        temperature: at which its settings compare scores.
        init: (rng, target, sizes, settings) -> State, which has `step`.
        step: (rng, state, target, settings) -> (State, Info).
        steps: (state, settings) -> how many there are in all.
        row: (state, info, settings) -> Row, the trace of a step.
        best: the machines of a state that the best one is chosen from.
        evaluations: how many machines were scored until a state.
        exact: (state, target) -> the posterior, where it is known exactly.
    """

    defaults: Any
    with_temperature: Callable[[Any, float], Any]
    temperature: Callable[[Any], float]
    init: Callable[[np.random.Generator, Posterior, range, Any], Any]
    step: Callable[[np.random.Generator, Any, Posterior, Any], tuple[Any, Any]]
    steps: Callable[[Any, Any], int]
    row: Callable[[Any, Any, Any], Row]
    best: Callable[[Any], Population]
    evaluations: Callable[[Any], int]
    exact: Callable[[Any, Posterior], tuple[Draws, Exact] | None] = lambda state, target: None


def method(name: str) -> Method:
    """Return a method by its name."""
    if name not in METHODS:
        raise ArgumentError(f"method is {name!r}; known are {', '.join(METHODS)}")
    return METHODS[name]


def _annealing_row(state: annealing.State, info: annealing.Info, settings: Annealing) -> Row:
    score = state.current.score(settings.t_min)
    best = state.best.score(settings.t_min)
    return Row(score, best, np.full(len(score), info.temperature), info.accepted)


def _annealing_init(
    rng: np.random.Generator, target: Posterior, sizes: range, settings: Annealing
) -> annealing.State:
    return annealing.init(rng, target, one_size(sizes, "annealing"), settings)


def _exhaustive_row(
    state: exhaustive.State, info: exhaustive.Kept, settings: exhaustive.Exhaustive
) -> Row:
    nothing = np.zeros(0)  # nothing is drawn, so there are no runs to trace
    return Row(nothing, nothing, nothing, np.zeros(0, dtype=np.bool_))


def _exact(state: exhaustive.State, target: Posterior) -> tuple[Draws, Exact] | None:
    if not state.complete:
        return None
    found = exhaustive.draws(state, target)
    return found, exhaustive.exact(state, found)


METHODS: dict[str, Method] = {
    "annealing": Method(
        defaults=Annealing(),
        with_temperature=lambda settings, temperature: replace(settings, t_min=temperature),
        temperature=lambda settings: settings.t_min,
        init=_annealing_init,
        step=annealing.step,
        steps=lambda state, settings: settings.steps,
        row=_annealing_row,
        best=lambda state: state.best,
        evaluations=lambda state: state.best.size * (state.step + 1),
    ),
    "exhaustive": Method(
        defaults=exhaustive.Exhaustive(),
        with_temperature=lambda settings, temperature: replace(settings, temperature=temperature),
        temperature=lambda settings: settings.temperature,
        init=exhaustive.init,
        step=exhaustive.step,
        steps=lambda state, settings: state.space.batches(settings.batch),
        row=_exhaustive_row,
        best=exhaustive.best,
        evaluations=lambda state: state.position,
        exact=_exact,
    ),
}
