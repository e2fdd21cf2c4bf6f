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
from typing import Any

import numpy as np

from whence._arrays import Bools, Floats
from whence.likelihood.posterior import Posterior
from whence.search import neighbours
from whence.search.machines import Machines, check_space, uniform
from whence.search.method import Finding, Found, Method, Row, best_of, within
from whence.search.placing import placed
from whence.search.problem import Problem, one_size
from whence.search.settings import Annealing
from whence.search.tape import Tape
from whence.search.target import Chains
from whence.search.unknowns import Experts


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
    current: Chains
    best: Chains


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

    proposed: Chains
    temperature: float
    p: float
    log_ratio: Floats
    accepted: Bools


class SimulatedAnnealing(Method[Annealing, State, Info]):
    """The paper's method: several runs, of which the best machine is kept."""

    settings_type = Annealing

    def __init__(self, problem: Problem, settings: Annealing) -> None:
        super().__init__(placed(problem, settings.at_once), settings)

    def init(self, rng: np.random.Generator) -> State:
        """Return the runs before the first iteration: valid machines, uniformly at random."""
        posterior = self.problem.plain("annealing")
        return init(rng, posterior, one_size(self.problem.sizes, "annealing"), self.settings)

    def step(self, rng: np.random.Generator, state: State) -> tuple[State, Info]:
        """Advance every run by one iteration."""
        return step(rng, state, self.problem.posteriors[0], self.settings)

    def finish(self, state: State, records: Tape[Chains]) -> Finding:
        """Return the best machine of all runs."""
        return Finding(self.best(state), self.evaluations(state))

    def ended(self, state: State, records: Tape[Chains]) -> str | None:
        """Stop when the steps are spent."""
        return "steps" if state.step >= self.settings.steps else None

    def steps(self, state: State) -> int:
        """Return N, the iterations of each run."""
        return self.settings.steps

    def row(self, state: State, info: Info) -> Row:
        """Return the scores of the runs at the lowest temperature."""
        score = state.current.score(self.settings.t_min)
        best = state.best.score(self.settings.t_min)
        return Row(score, best, np.full(len(score), float(info.temperature)), info.accepted)

    def best(self, state: State) -> Found:
        """Return the best machine of all runs."""
        score = state.best.score(self.problem.posteriors[0].temperature)
        return best_of(state.best, score, self.problem)

    def evaluations(self, state: State) -> int:
        """Return one machine a run and iteration, and one to begin with."""
        return state.best.size * (state.step + 1)

    def details(self, state: State) -> dict[str, Any]:
        """Return where the schedules stand."""
        return {"temperature": state.temperature, "p": state.p}

    def sound(self, state: State, block: Chains | None) -> bool:
        """Return whether targets and levels are in range."""
        levels = len(self.problem.posteriors[0].levels)
        return all(
            within(chains.machines.transitions, chains.machines.transitions.shape[1])
            and within(chains.machines.paid, levels)
            and bool((chains.machines.n_states == self.problem.sizes[0]).all())
            for chains in (state.current, state.best)
        )


def init(rng: np.random.Generator, target: Posterior, n: int, settings: Annealing) -> State:
    """Return the runs before the first iteration: valid machines, uniformly at random."""
    m = len(target.alphabet)
    check_space(n, m, target.levels)
    start = scored(target, uniform(rng, settings.runs, n, m, target.levels))
    return State(0, settings.t0, settings.p0, start, start)


def step(
    rng: np.random.Generator, state: State, target: Posterior, settings: Annealing
) -> tuple[State, Info]:
    """Advance every run by one iteration."""
    propose = neighbours.KINDS[settings.neighbours]
    here = state.current
    proposed = scored(target, propose(rng, here.machines, target.levels, state.p))
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


def scored(target: Posterior, machines: Machines) -> Chains:
    """Score machines of a known expert, all in one batch."""
    tables = machines.tables(target.levels)
    who, size = target.expert, machines.size
    experts = Experts(
        np.full(size, float(who.alpha)), np.full(size, float(who.lapse)), np.zeros(size, np.int64)
    )
    return Chains(machines, experts, target.log_likelihood(*tables), target.log_prior(*tables))


def log_ratio(old: Chains, new: Chains, temperature: float, rule: str) -> Floats:
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
