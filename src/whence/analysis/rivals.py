"""Statements that the prior prefers and the demonstrations hardly do.

A simpler machine is likelier beforehand. Where a rival explains what was seen as well, a statement
that it denies was not learned from the demonstrations, however probable it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from whence._arrays import Bools, Floats
from whence.analysis.claims import Stated
from whence.analysis.facts import Answer, Fact
from whence.analysis.plans import Plans
from whence.analysis.routes import Course
from whence.analysis.untested import MOST_STEPS, NEVER, Pairs, same, shown_by
from whence.analysis.wording import phrase, shown
from whence.likelihood.ended import BesideSteps
from whence.model.expert import Expert
from whence.model.machine import RewardMachine

HARDLY = 1.0  # nats: what speaks less for a statement hardly does
MOST_RIVALS = 3  # plans that deny a statement, and are asked whether the steps tell
FAINT = 0.01  # of the sample: what is less probable is no rival, however well it explains
LARGEST = 100_000  # states of a product up to which rivals are made up
BARELY = "was hardly put to the test"


@dataclass(frozen=True, eq=False)
class Untold:
    """A statement that the demonstrations hardly put to the test.

    Attributes:
        fact: says so.
        own: the heaviest machine that the statement holds for.
        other: a machine that denies it, and explains what was seen as well.
        wants: what the optimal agents of the two head for, in words.
    """

    fact: Fact
    own: RewardMachine
    other: RewardMachine
    wants: tuple[str, str]


class _Rival(NamedTuple):
    """A plan that denies a statement, and whether no step tells."""

    course: Course
    machine: RewardMachine
    never: bool


def not_shown(
    answer: Answer, pairs: Pairs, expert: Expert, most: int, beside: Sequence[BesideSteps] = ()
) -> tuple[frozenset[int], tuple[Untold, ...]]:
    """Return which statements rest on the prior alone, by number, and say so.

    These are the ones that a rival denies while the demonstrations speak for the heaviest plan
    that they hold for by less than a nat. Rivals are the heaviest plans of at least 1% that a
    statement does not hold for, and, since a sample may have missed them, machines that ask for
    one label more before all else. Of routes only the most special is said not to be shown.

    Args:
        answer: what was stated.
        pairs: each world with its demonstrations.
        expert: who demonstrates.
        most: states that a machine may have.
        beside: endings, and answers to questions, which speak for statements as steps do.
    """
    if sum(demos.n_steps for _, demos in pairs) > MOST_STEPS:
        return frozenset(), ()
    plans = answer.weighed.plans
    asked = _Asked(plans, pairs, expert, beside)
    likely = answer.weighed.weight >= FAINT
    gated = _gated(answer, most)
    extra = None if gated is None else _Asked(gated, pairs, expert, beside)
    found: set[int] = set()
    facts: dict[str, Untold] = {}
    for number, each in enumerate(answer.every):
        at = int(np.flatnonzero(each.holds)[0])
        own = asked.likely(at)
        rival = asked.rival(each, own, likely)
        if rival is None and extra is not None and each.claim.kind == "route":
            rival = extra.rival(each, own)
        if rival is not None:
            found.add(number)
            untold = _untold(each, plans, at, rival)
            kind = each.claim.kind  # of routes the first is the most special: it says enough
            facts.setdefault(kind if kind == "route" else untold.fact.text, untold)
    return frozenset(found), tuple(facts.values())


class _Asked:
    """Plans, and how likely each makes every demonstrated step, the endings and the answers."""

    def __init__(
        self, plans: Plans, pairs: Pairs, expert: Expert, beside: Sequence[BesideSteps]
    ) -> None:
        self.plans = plans
        self._beside = beside
        self._pairs, self._expert = pairs, expert
        self._known: dict[int, Floats] = {}

    def likely(self, at: int) -> Floats:
        """Return float64[T + B], of each step under a plan, and of what is beside steps."""
        if at not in self._known:
            who = replace(self._expert, discount=self.plans.discounts[at])
            machine = self.plans.machines[at]
            self._known[at] = shown_by(self._pairs, machine, who, self._beside)
        return self._known[at]

    def rival(self, stated: Stated, own: Floats, likely: Bools | None = None) -> _Rival | None:
        """Return a plan that denies a statement and explains as much, or None.

        Of a sample the heaviest that are `likely`, bool[P], are asked, of others all.
        """
        denied = ~stated.claim.test(self.plans)
        asked = np.flatnonzero(denied if likely is None else denied & likely)
        for at in asked[: len(asked) if likely is None else MOST_RIVALS].tolist():
            other = self.likely(at)
            if _gained(own, other) < HARDLY:
                return _Rival(self.plans.courses[at], self.plans.machines[at], same(own, other))
        return None


def _gained(one: Floats, other: Floats) -> float:
    """Return by how much all steps together are more probable; equal infinities are equal."""
    with np.errstate(invalid="ignore"):
        return float(np.where(one == other, 0.0, one - other).sum())


def _gated(answer: Answer, most: int) -> Plans | None:
    """Return the heaviest machine with one label that is asked for first, for each label."""
    plans = answer.weighed.plans
    machine = plans.machines[0].minimised()
    size = machine.n_states * max(mdp.n_states for mdp in plans.worlds)
    if machine.n_states >= most or size > LARGEST:
        return None
    gates = [gate(machine, column) for column in range(len(plans.alphabet))]
    return Plans.of(plans.worlds, plans.alphabet, gates, [plans.discounts[0]] * len(gates))


def gate(machine: RewardMachine, column: int) -> RewardMachine:
    """Return a machine that is as another once a label was read.

    Before, other labels pay nothing and change nothing, but for those that end everything in
    the other machine's first state: they still do.
    """
    first = machine.transitions[0]
    ends = ~machine.can_pay[first] & (machine.rewards[0] == 0)
    transitions = np.vstack([np.where(ends, first + 1, 0), machine.transitions + 1])
    rewards = np.vstack([np.zeros((1, len(first))), machine.rewards])
    transitions[0, column] = 1
    return RewardMachine(machine.alphabet, transitions, rewards)


def _untold(stated: Stated, plans: Plans, at: int, rival: _Rival) -> Untold:
    names = shown(plans.alphabet)
    wants = [
        phrase(course.moves, names, by_start=course.by_start)
        for course in (plans.courses[at], rival.course)
    ]
    text = f"whether {stated.claim.text}"
    if stated.claim.kind == "route":
        text = f"whether it wants {stated.claim.text}, or rather {wants[1]},"
    text += f" {NEVER if rival.never else BARELY}"
    fact = Fact("indifferent", text, 1.0, 0.0, stated.claim.labels)
    return Untold(fact, plans.machines[at], rival.machine, (wants[0], wants[1]))
