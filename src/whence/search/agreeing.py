"""When ladders agree: at which steps that is asked, and what speaks against it, in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from whence._arrays import Floats
from whence.search import adapting, diagnostics, functionals, taped
from whence.search.problem import Problem
from whence.search.settings import Tempering
from whence.search.taped import Records
from whence.search.tempering import State

SAME_MODE = 3.0  # nats below the best at which a search of its own has found the same
SETTLING = 100  # steps after which copies have gone their own ways, and are samples


def doubts(state: State, records: Records, problem: Problem, settings: Tempering) -> list[str]:
    """Return, in words, what speaks against trusting the result."""
    if not len(records):
        return ["the warm-up did not end: give more steps"]
    early = early_doubts(state, problem, settings)
    return early + late_doubts(state, records, problem, settings)


def early_doubts(state: State, problem: Problem, settings: Tempering) -> list[str]:
    """Return what the state alone tells."""
    found = []
    if settings.ladders < 2:
        found.append("there is one ladder only, so nothing can be compared")
    if np.isneginf(state.best.log_likelihood).all():
        found.append(
            "no machine met can have produced the demonstrations: give the expert a finite alpha, "
            "or a lapse above 0"
        )
    gap = adapting.apart(of_ladders(problem.target().score(state.best), state))
    if gap > adapting.same_score(problem.target()):
        found.append(f"the ladders' best machines differ by {gap:.2f} nats")
    searched = bool((state.alone >= problem.target().score(state.best).max() - SAME_MODE).all())
    trips = int(state.trips.reshape(state.ladders, -1).sum(axis=1).min())
    if settings.rungs > 1 and trips < settings.trips and not searched:
        found.append(
            f"a ladder made {trips} round trips from hot to cold, fewer than {settings.trips}"
        )
    return found


def late_doubts(
    state: State, records: Records, problem: Problem, settings: Tempering
) -> list[str]:
    """Return what all the samples tell: that takes a while, and is asked for last."""
    found = []
    ladders = settings.ladders
    chains = taped.in_order(records, ladders * state.strands)
    codes = taped.coded(chains, problem).reshape(ladders, -1)
    apart = diagnostics.disagreement(codes) if ladders > 1 else 0.0
    if apart > diagnostics.MOST_ERRORS:
        found.append(f"the ladders' frequencies of a machine are {apart:.1f} errors apart")
    error = functionals.largest_error(codes, chains.machines, ladders)
    if error > settings.precision:
        found.append(
            f"a probability that is reported has an error of {error:.3f}, more than "
            f"{settings.precision:g}: give more steps"
        )
    return found


def of_ladders(values: Floats, state: State) -> Floats:
    """Return float64[ladders]: the largest value of each ladder's copies."""
    return np.asarray(values.reshape(state.ladders, -1).max(axis=1))


def _span(settings: Tempering, state: State) -> int:
    """Return the steps in which all copies of a ladder make `every` steps together."""
    return max(settings.every // state.strands, 1)


def look(state: State, settings: Tempering) -> int | None:
    """Return the next step after which the ladders may be found to agree, if it is known."""
    if state.strands == 1:
        return next_look(settings, state.step)
    first = state.warm + SETTLING
    span = SimpleNamespace(until_agreed=settings.until_agreed, every=_span(settings, state))
    found = next_look(span, max(state.step - first, 0))
    return None if found is None else first + found


def looking(state: State, kept: int, settings: Tempering) -> bool:
    """Return whether to look now if the ladders agree."""
    if state.strands == 1:
        return due(state.step, kept, settings.every)
    made = state.step - state.warm - SETTLING
    return made > 0 and due(made, kept, _span(settings, state))


def due(step: int, kept: int, every: int) -> bool:
    """Return whether to look if the ladders agree: after 1, ... 8, 10, ... 16, 20, ... spans."""
    spans, rest = divmod(step, every)
    unit = _unit(spans)
    return rest == 0 and kept >= every and spans % unit == 0


def next_look(settings: Any, step: int) -> int | None:
    """Return the next step after which tempering may end by itself, if it may: see `ended`."""
    if not getattr(settings, "until_agreed", False):
        return None
    spans = step // settings.every + 1
    unit = _unit(spans)
    return int(-(-spans // unit) * unit * settings.every)


def _unit(spans: int) -> int:
    """Return how many spans lie between looks: a look costs less than a quarter of them would."""
    return 1 << max(spans.bit_length() - 3, 0)
