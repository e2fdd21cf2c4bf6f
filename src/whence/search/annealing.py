"""Simulated annealing over reward machines: the paper's Algorithm 1.

    p := p0;  T := T0;  R1 := a valid machine, uniformly at random;  Rmax := R1
    for i = 1 .. N:
        R2 := a valid neighbour of R1: each entry changed with probability p
        if (P(D|R2) / P(D|Rmax))^(1/Tmin) P(R2) / P(Rmax) > 1:  Rmax := R2
        with probability min(1, (P(D|R2) / P(D|R1))^(1/T) P(R2) / P(R1)):  R1 := R2
        if i mod k = 0:  T := max(T beta_T, Tmin);  p := max(p beta_p, pmin)

Several independent runs advance together: one batch of B machines is scored a step. `State` and
the generator's state are all that the next step needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import Bools, Floats
from whence.search import neighbours
from whence.search.population import Population, Target, check_space, scored, uniform
from whence.search.settings import Annealing


@dataclass(frozen=True, eq=False)
class State:
    """Where the runs stand after `step` iterations.

    Attributes:
        step: iterations done, i.
        temperature: T of the next iteration.
        p: the probability of a change in the next iteration.
        current: R1 of each run.
        best: Rmax of each run.
    """

    step: int
    temperature: float
    p: float
    current: Population
    best: Population


@dataclass(frozen=True, eq=False)
class Info:
    """What an iteration did.

    Attributes:
        proposed: R2 of each run.
        temperature: T of the iteration.
        p: the probability of a change.
        log_ratio: float64[B], the logarithm of the acceptance ratio.
        accepted: bool[B], whether R1 became R2.
    """

    proposed: Population
    temperature: float
    p: float
    log_ratio: Floats
    accepted: Bools


def init(rng: np.random.Generator, target: Target, n: int, settings: Annealing) -> State:
    """Return the runs before the first iteration: valid machines, uniformly at random."""
    m = len(target.alphabet)
    check_space(n, m, target.levels)
    tables = uniform(rng, settings.runs, n, m, target.levels)
    start = scored(target, tables)
    return State(0, settings.t0, settings.p0, start, start)


def step(
    rng: np.random.Generator, state: State, target: Target, settings: Annealing
) -> tuple[State, Info]:
    """Advance every run by one iteration."""
    propose = neighbours.KINDS[settings.neighbours]
    here = state.current
    tables = propose(rng, (here.transitions, here.rewards), target.levels, state.p)
    proposed = scored(target, tables)
    better = proposed.score(settings.t_min) > state.best.score(settings.t_min)
    ratio = log_ratio(here, proposed, state.temperature, settings.rule)
    accepted = accept(rng, ratio)
    done = state.step + 1
    temperature, p = scheduled(done, state.temperature, state.p, settings)
    following = State(
        step=done,
        temperature=temperature,
        p=p,
        current=here.replaced(proposed, accepted),
        best=state.best.replaced(proposed, better),
    )
    return following, Info(proposed, state.temperature, state.p, ratio, accepted)


def log_ratio(old: Population, new: Population, temperature: float, rule: str) -> Floats:
    """Return float64[B], the logarithm of the acceptance ratio of R2 = `new` over R1 = `old`.

    modified   (P(D|R2) / P(D|R1))^(1/T)  P(R2) / P(R1)
    standard  ((P(D|R2)  P(R2)) / (P(D|R1)  P(R1)))^(1/T)
    """
    likelihood = _difference(new.log_likelihood, old.log_likelihood)
    prior = _difference(new.log_prior, old.log_prior)
    if rule == "standard":
        return np.asarray((likelihood + prior) / temperature)
    return np.asarray(likelihood / temperature + prior)


def accept(rng: np.random.Generator, log_ratio: Floats) -> Bools:
    """Return bool[B]: true with probability min(1, exp(log_ratio))."""
    chance = np.exp(np.minimum(log_ratio, 0.0))
    return np.asarray(rng.random(len(chance)) < chance)


def scheduled(done: int, temperature: float, p: float, settings: Annealing) -> tuple[float, float]:
    """Return T and p after `done` iterations: both decay every k iterations, down to a floor.

    T := max(T beta_T, Tmin);  p := max(p beta_p, pmin)
    """
    if done % settings.every:
        return temperature, p
    return (
        max(temperature * settings.beta_t, settings.t_min),
        max(p * settings.beta_p, settings.p_min),
    )


def _difference(new: Floats, old: Floats) -> Floats:
    """Return new - old, and 0 where both are the same infinity."""
    with np.errstate(invalid="ignore"):
        return np.where(new == old, 0.0, new - old)
