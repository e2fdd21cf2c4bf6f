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
from whence.search import annealing
from whence.search.population import Population, Target
from whence.search.settings import Annealing


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
        defaults: its settings where none are given; they have `steps`.
        with_temperature: its settings, with scores compared at another temperature.
        temperature: at which its settings compare scores.
        init: (rng, target, n, settings) -> State, which has `step`.
        step: (rng, state, target, settings) -> (State, Info).
        row: (state, info, settings) -> Row, the trace of a step.
        best: the machines of a state that the best one is chosen from.
    """

    defaults: Any
    with_temperature: Callable[[Any, float], Any]
    temperature: Callable[[Any], float]
    init: Callable[[np.random.Generator, Target, int, Any], Any]
    step: Callable[[np.random.Generator, Any, Target, Any], tuple[Any, Any]]
    row: Callable[[Any, Any, Any], Row]
    best: Callable[[Any], Population]


def method(name: str) -> Method:
    """Return a method by its name."""
    if name not in METHODS:
        raise ArgumentError(f"method is {name!r}; known are {', '.join(METHODS)}")
    return METHODS[name]


def _annealing_row(state: annealing.State, info: annealing.Info, settings: Annealing) -> Row:
    score = state.current.score(settings.t_min)
    best = state.best.score(settings.t_min)
    return Row(score, best, np.full(len(score), info.temperature), info.accepted)


METHODS: dict[str, Method] = {
    "annealing": Method(
        defaults=Annealing(),
        with_temperature=lambda settings, temperature: replace(settings, t_min=temperature),
        temperature=lambda settings: settings.t_min,
        init=annealing.init,
        step=annealing.step,
        row=_annealing_row,
        best=lambda state: state.best,
    ),
}
