"""What every engine must do: random problems, each with the readable engine's answer.

An engine is a function of a world, its evidence, a discount and a number of threads, listed in
`ENGINES` by its name; None as its answer says that it does not take on that world.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

import whence
from support.problems import masked, random_machine, random_world
from whence import Demonstrations, Episode, Expert, LabeledMDP, RewardMachine
from whence._arrays import Ints
from whence.errors import WhenceError
from whence.likelihood import reference
from whence.likelihood.compiled import CompiledEngine
from whence.likelihood.cuda.card import Card, first_card
from whence.likelihood.cuda.engine import CudaEngine
from whence.likelihood.engines import Engine
from whence.likelihood.evidence import Evidence
from whence.likelihood.hub_map import is_deterministic, map_hubs
from whence.likelihood.hubs import HubEngine

Builder = Callable[[LabeledMDP, Evidence, float, int | None], Engine | None]


def sweeping(
    mdp: LabeledMDP, evidence: Evidence, discount: float, threads: int | None
) -> Engine | None:
    """Return the engine that sweeps over the whole world."""
    return CompiledEngine(mdp, evidence, discount, threads)


def by_hubs(
    mdp: LabeledMDP, evidence: Evidence, discount: float, threads: int | None
) -> Engine | None:
    """Return the engine of deterministic worlds, whatever it costs."""
    hubs = map_hubs(mdp, evidence.visited) if is_deterministic(mdp) else None
    return None if hubs is None else HubEngine(mdp, evidence, discount, threads, hubs)


def on_card(card: Card) -> dict[str, Builder]:
    """Return the engines of a card: all rows of a world, or its hubs alone."""

    def rows(
        mdp: LabeledMDP, evidence: Evidence, discount: float, threads: int | None
    ) -> Engine | None:
        return CudaEngine(mdp, evidence, discount, threads, card, unrolled=False)

    def hubs(
        mdp: LabeledMDP, evidence: Evidence, discount: float, threads: int | None
    ) -> Engine | None:
        found = map_hubs(mdp, evidence.visited) if is_deterministic(mdp) else None
        if found is None:
            return None
        return CudaEngine(mdp, evidence, discount, threads, card, found, unrolled=False)

    return {"card rows": rows, "card hubs": hubs}


ENGINES: dict[str, Builder] = {"sweeping": sweeping, "hubs": by_hubs}
with suppress(WhenceError):  # where there is no card, `test_cuda` tries the kernels without one
    ENGINES |= on_card(first_card())


@dataclass(frozen=True, eq=False)
class Problem:
    """A machine to be scored.

    Attributes:
        mdp: the world.
        demos: in it.
        machine: to be scored.
        expert: who demonstrates.
    """

    mdp: LabeledMDP
    demos: Demonstrations
    machine: RewardMachine
    expert: Expert

    @cached_property
    def exact(self) -> float:
        """What the readable engine says; found when it is first asked for."""
        tables = self.machine.transitions, self.machine.rewards
        return reference.log_likelihood(self.mdp, self.demos, *tables, self.expert)


@lru_cache(maxsize=4)
def problems(kind: str, seed: int, count: int) -> tuple[Problem, ...]:
    """Return random problems of one kind: "any" world or a "deterministic" one.

    In those of "masked any" and "masked deterministic", states lack some of the actions.
    """
    rng = np.random.default_rng([seed, len(kind)])
    return tuple(_problem(rng, kind) for _ in range(count))


def _problem(rng: np.random.Generator, kind: str) -> Problem:
    mdp = _any_world(rng) if kind.endswith("any") else deterministic_world(rng)
    if kind.startswith("masked"):
        mdp = masked(rng, mdp)
    alpha = float(rng.choice([0, 0.5, 5, 50, 500, np.inf]))
    discounts = [0, 0.3, 0.9, 0.92, 0.99, 0.999, 0.9999]
    few = 6 if kind.endswith("any") and alpha < np.inf else 7
    expert = Expert(alpha, float(rng.choice(discounts[:few])), float(rng.choice([0, 0, 0.1, 0.5])))
    demos = walks(rng, mdp)
    machine = random_machine(rng, mdp.alphabet, int(rng.integers(1, 7)))
    return Problem(mdp, demos, machine, expert)


def endless_problem(seed: int) -> Problem:
    """Return a deterministic problem with values near 10^4, where the best actions are taken."""
    rng = np.random.default_rng([seed, 77])
    mdp = deterministic_world(rng)
    demos = walks(rng, mdp)
    rng.choice(4)
    machine = random_machine(rng, mdp.alphabet, int(rng.integers(1, 7)))
    expert = Expert(np.inf, 0.9999, float(rng.choice([0, 0.1, 0.5])))
    return Problem(mdp, demos, machine, expert)


def _any_world(rng: np.random.Generator) -> LabeledMDP:
    return random_world(
        rng,
        states=int(rng.integers(2, 61)),
        actions=int(rng.integers(1, 5)),
        symbols=int(rng.integers(1, 7)),
        successors=int(rng.choice([1, 1, 2, 3, 6])),
        blank=float(rng.choice([0, 0.5, 0.9])),
    )


def deterministic_world(rng: np.random.Generator) -> LabeledMDP:
    """Return a world in which every action has one outcome.

    Some lead anywhere, some stay put now and then, some only onward: there blank states have no
    cycle, and whoever enters the last ones cannot but come to a label. Some have no label at
    all, or none that can be reached from everywhere.
    """
    states, actions = int(rng.integers(2, 61)), int(rng.integers(1, 5))
    symbols = int(rng.integers(1, 7))
    here = np.arange(states)[:, None]
    anywhere = rng.integers(0, states, size=(states, actions))
    onward = np.minimum(here + rng.integers(1, 4, size=(states, actions)), states - 1)
    nearby = np.clip(here + rng.integers(-1, 2, size=(states, actions)), 0, states - 1)
    after = [anywhere, onward, nearby][int(rng.integers(3))]
    after = np.where(rng.random((states, actions)) < 0.02, anywhere, after)
    labels = rng.integers(0, symbols, size=states)
    labels[rng.random(states) < rng.choice([0, 0.5, 0.9, 1.0])] = -1
    if rng.random() < 0.5:
        labels[-1] = 0
    return table_world(after, labels, symbols)


def table_world(after: Ints, labels: Ints, symbols: int) -> LabeledMDP:
    """Return the world where action a in state s leads to after[s, a]; episodes start anywhere."""
    states, actions = after.shape
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", whence.WhenceWarning)  # labels that nothing can read
        return LabeledMDP.from_triples(
            [(s, a, int(after[s, a]), 1.0) for s in range(states) for a in range(actions)],
            states=states,
            actions=actions,
            labels=labels,
            alphabet=[chr(ord("a") + i) for i in range(symbols)],
            initial=[(s, 1 / states) for s in range(states)],
        )


def walks(rng: np.random.Generator, mdp: LabeledMDP) -> Demonstrations:
    """Return episodes of random actions, some with labels or a history of their own."""
    episodes = []
    own = rng.random() < 0.2
    for _ in range(int(rng.integers(1, 20))):
        length = int(rng.integers(1, 30))
        states = [int(rng.integers(mdp.n_states))]
        actions = rng.integers(0, mdp.n_actions, size=length).tolist()
        for step, drawn in enumerate(actions):
            has = np.flatnonzero(mdp.available[states[-1]])
            action = actions[step] = int(has[drawn % len(has)])
            pair = states[-1] * mdp.n_actions + action
            entry = rng.integers(mdp.offsets[pair], mdp.offsets[pair + 1])
            states.append(int(mdp.successors[entry]))
        symbols = [None, *mdp.alphabet]
        labels = [symbols[i] for i in rng.integers(0, len(symbols), size=length + 1)]
        history = rng.choice(mdp.alphabet, size=int(rng.integers(4))).tolist()
        episodes.append(Episode(states, actions, labels if own else None, history if own else ()))
    return whence.Demonstrations.from_episodes(episodes)
