"""What was never put to the test, and what no demonstration could tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whence._arrays import Floats
from whence.analysis.apart import told_apart
from whence.analysis.design import NOTHING_TOLD, best_start
from whence.analysis.facts import Fact, Route
from whence.analysis.questions import OpenQuestion
from whence.analysis.routes import longest
from whence.analysis.sample import PosteriorSample
from whence.analysis.wording import in_turn, listed, shown
from whence.likelihood.ended import BesideSteps
from whence.likelihood.steps import steps
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP

SAME = 1e-9  # by how much the log probability of a step may differ
MOST_STEPS = 500_000  # demonstrated steps up to which they are compared one by one
MOST_OTHERS, MOST_PLACES = 3, 200_000  # machines and joint places that are compared
NEVER = "was never put to the test"
FALLS = ", behaviour cannot say: these are the same plan"

Pairs = Sequence[tuple[LabeledMDP, Demonstrations]]


def indifferent(
    sample: PosteriorSample,
    questions: Sequence[OpenQuestion],
    pairs: Pairs,
    expert: Expert,
    beside: Sequence[BesideSteps] = (),
) -> tuple[Fact, ...]:
    """Return which open questions the demonstrations never put to the test.

    These are the ones whose two likeliest answers, as the heaviest machines of each give them,
    make no demonstrated step more or less probable, nor what is beside steps: endings, answers.
    """
    if sum(demos.n_steps for _, demos in pairs) > MOST_STEPS:
        return ()
    names = dict(zip(sample.alphabet, shown(sample.alphabet), strict=True))
    known: dict[int, Floats] = {}
    found = []
    for each in questions:
        for at in each.between:
            if at not in known:
                known[at] = shown_by(pairs, sample.machines[at], expert, beside)
        if same(*(known[at] for at in each.between)):
            word = in_turn([names[label] for label in each.labels])
            text = f"what {word} alone pays {NEVER}"
            found.append(Fact("indifferent", text, 1.0, 0.0, each.labels))
    return tuple(found)


def shown_by(
    pairs: Pairs, machine: RewardMachine, expert: Expert, beside: Sequence[BesideSteps]
) -> Floats:
    """Return float64[T + B], how likely each step is, and each of what is beside steps."""
    tables = machine.transitions[None], machine.rewards[None]
    told = [steps(pairs, machine, expert).log_likelihood, *(term(*tables) for term in beside)]
    return np.concatenate(told)


def same(one: Floats, other: Floats) -> bool:
    """Whether no step is more or less probable."""
    with np.errstate(invalid="ignore"):
        apart = np.where(one == other, 0.0, np.abs(one - other))
    return float(apart.max(initial=0.0)) <= SAME


def untellable(sample: PosteriorSample, expert: Expert) -> tuple[Fact, ...]:
    """Return in what the machines of the heaviest route differ that no demonstration tells.

    No demonstration tells two machines apart where the expected log Bayes factor of an episode is
    below 0.001 nats from every state of every world.
    """
    route = sample.routes[0]
    own = route.machine
    found: dict[str, Fact] = {}
    others = [sample.machines[at] for at in route.classes if sample.machines[at] != own]
    for other in others[:MOST_OTHERS]:
        if not _small(sample, own, other):
            continue
        start = best_start(sample.worlds, (own, other), (0.5, 0.5), expert)
        if start.nats < NOTHING_TOLD:
            fact = _untold(sample, route, other)
            found.setdefault(fact.text, fact)
    return tuple(found.values())


def _small(sample: PosteriorSample, one: RewardMachine, other: RewardMachine) -> bool:
    size = max(mdp.n_states * mdp.n_actions for mdp in sample.worlds)
    return size * one.n_states * other.n_states <= MOST_PLACES


def _untold(sample: PosteriorSample, route: Route, other: RewardMachine) -> Fact:
    """Return in what a machine differs from the one of its route."""
    names = dict(zip(sample.alphabet, shown(sample.alphabet), strict=True))
    plans = sample.plans.plans
    at = next(i for i, each in enumerate(plans.courses) if each.moves == route.moves)
    word = [sample.alphabet[symbol] for symbol in plans.courses[at].word]
    own, theirs = route.machine.run(word).rewards, other.run(word).rewards
    if own != theirs:
        what = f"which of {listed([names[label] for label in dict.fromkeys(word)])} pays"
        if longest(route.moves) is None:
            what = "where on the loop it is paid"
        return Fact("untellable", what + FALLS, 1.0, 0.0, tuple(word))
    told = [
        labels
        for mdp in sample.worlds
        if (labels := told_apart(route.machine, other, mdp)) is not None
    ]
    labels = min(told, key=len)
    what = f"what {in_turn([names[label] for label in labels])} pays"
    return Fact("untellable", what + FALLS, 1.0, 0.0, tuple(labels))
