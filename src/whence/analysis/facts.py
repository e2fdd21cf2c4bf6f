"""Facts: what a posterior says of the expert's wishes, each with its own probability.

The most probable machine may be one of many that act alike. So an answer is a set of statements,
each about all machines of the sample together, and one sentence of those that are sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from whence._arrays import Bools
from whence.analysis.claims import FIRST, KINDS, Claim, Stated, stated
from whence.analysis.plans import Plans, Weighed
from whence.analysis.routes import Course, Moves
from whence.analysis.wording import phrase, shown
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP

SURE = 0.9  # what is stated without a "probably"
IMPLIED = 0.005  # a statement is left out if a more special one is as probable but for this
NOTABLE = 0.1  # of the heaviest class of a route: a lighter machine does not illustrate it
GRANTED = "so says every machine considered, whatever was demonstrated"


@dataclass(frozen=True)
class Fact:
    """A statement about what the expert wants.

    Attributes:
        kind: `route`, `ends`, `avoids` or `pays`; `indifferent`: the demonstrations never put it
            to the test; `untellable`: no demonstration would.
        text: the statement; labels that are no words stand between backquotes.
        probability: that it holds, over the whole sample.
        error: its Monte-Carlo standard error; 0 where it is exact.
        labels: the labels that it is about, in order.
    """

    kind: str
    text: str
    probability: float
    error: float
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Route:
    """Machines whose optimal agents head for the same labels in the same order.

    Attributes:
        text: the route in words, such as `first a, then b, over and over`.
        probability: of all these machines together.
        error: its standard error.
        labels: the labels in the order in which they come up.
        machine: the simplest of them, fewest pays and states; it illustrates the route.
        classes: their numbers in the sample, the heaviest first.
        moves: the route as an automaton: for each node (symbol, node) of what is wanted next.
    """

    text: str
    probability: float
    error: float
    labels: tuple[str, ...]
    machine: RewardMachine
    classes: tuple[int, ...]
    moves: Moves


def routes(weighed: Weighed) -> tuple[Route, ...]:
    """Return the routes of a sample, the most probable first."""
    together: dict[Moves, list[int]] = {}
    for at, course in enumerate(weighed.plans.courses):
        together.setdefault(course.moves, []).append(at)
    found = [_route(weighed, moves, members) for moves, members in together.items()]
    return tuple(sorted(found, key=lambda route: -route.probability))


def _route(weighed: Weighed, moves: Moves, members: list[int]) -> Route:
    alphabet = weighed.plans.alphabet
    holds = np.zeros(len(weighed.plans), dtype=np.bool_)
    holds[members] = True
    lead: Course = weighed.plans.courses[members[0]]
    symbols = dict.fromkeys(symbol for move in moves for symbol, _ in move if symbol >= 0)
    return Route(
        phrase(moves, shown(alphabet), by_start=lead.by_start),
        *weighed.probability(holds),
        tuple(alphabet[symbol] for symbol in symbols),
        weighed.plans.machines[_simplest(weighed, members)],
        tuple(dict.fromkeys(weighed.kind[members].tolist())),
        moves,
    )


def _simplest(weighed: Weighed, members: list[int]) -> int:
    """Return the machine with the fewest pays and states that is heavy enough."""
    least = NOTABLE * float(weighed.weight[members].max())
    heavy = [at for at in members if weighed.weight[at] >= least]
    machines = weighed.plans.machines
    return min(
        heavy,
        key=lambda at: (int((machines[at].rewards != 0).sum()), machines[at].n_states, at),
    )


@dataclass(frozen=True, eq=False)
class Answer:
    """What is known: claims with the plans that they hold for, and the sentence of the sure ones.

    Attributes:
        weighed: the plans of the sample.
        every: all that is likely.
        untested: of those, the numbers of what the demonstrations hardly put to the test: they
            are not told, however probable.
        granted: whether every machine considered says so, whatever was demonstrated.
    """

    weighed: Weighed
    every: tuple[Stated, ...]
    untested: frozenset[int] = frozenset()
    granted: bool = False

    @classmethod
    def of(cls, weighed: Weighed, machine: RewardMachine, levels: Sequence[float]) -> Answer:
        """Work out what a sample says.

        Args:
            weighed: the plans of the sample.
            machine: the one that illustrates it.
            levels: that machines may pay.
        """
        return cls(weighed, tuple(stated(weighed, machine, levels)))

    @cached_property
    def told(self) -> tuple[Stated, ...]:
        """All that is likely and tested, but for routes that a more special one says as surely."""
        kept: list[Stated] = []
        for at, each in enumerate(self.every):
            implied = each.claim.kind == "route" and any(
                other.claim.kind == "route" and other.probability >= each.probability - IMPLIED
                for other in kept
            )
            if at not in self.untested and not implied:
                kept.append(each)
        return tuple(kept)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What is told, as facts: routes first, the most special of them first."""
        return tuple(
            Fact(s.claim.kind, s.claim.text, s.probability, s.error, s.claim.labels)
            for s in self.told
        )

    @cached_property
    def sure(self) -> tuple[Stated, ...]:
        """The statements of the sentence: the most special that hold together at 90%."""
        chosen: list[Stated] = []
        holds = np.ones(len(self.weighed.plans), dtype=np.bool_)
        for kind in KINDS:
            for at, each in enumerate(self.every):
                if each.claim.kind != kind or at in self.untested:
                    continue
                both = holds & each.holds
                if self.weighed.probability(both)[0] >= SURE:
                    chosen.append(each)
                    holds = both
                    if kind == "route":
                        break
        return tuple(chosen)

    @property
    def confidence(self) -> tuple[float, float]:
        """The probability that the whole sentence is true, and its error."""
        holds = np.ones(len(self.weighed.plans), dtype=np.bool_)
        for each in self.sure:
            holds &= each.holds
        return self.weighed.probability(holds)

    @property
    def statement(self) -> str:
        """The sentence without its probability; empty where nothing is sure."""
        return sentence([each.claim for each in self.sure])

    @property
    def surety(self) -> str:
        """How sure the sentence is, in words."""
        return GRANTED if self.granted else f"{percent(self.confidence[0])} sure"

    @property
    def sentence(self) -> str:
        """The sentence with its probability; where nothing is sure, what is likeliest."""
        if self.sure:
            return f"{self.statement} ({self.surety})."
        likely = next((each for each in self.every if each.claim.kind == "route"), None)
        if likely is not None:
            return (
                f"Nothing is sure yet; probably the expert wants {likely.claim.text} "
                f"({percent(likely.probability)})."
            )
        possible = routes(self.weighed)
        return (
            f"What the expert wants is open; the likeliest of {len(possible):,} possibilities is "
            f"{possible[0].text} ({percent(possible[0].probability)})."
        )

    def truth(self, plans: Plans) -> list[Bools]:
        """Return, for each that is told, which of some other plans it holds for."""
        return [each.claim.test(plans) for each in self.told]


def told_alone(worlds: Sequence[LabeledMDP], machine: RewardMachine, discount: float) -> str:
    """Return what a machine's optimal agent wants, for a method that gives no probabilities."""
    course = Plans.of(worlds, machine.alphabet, [machine], [discount]).courses[0]
    text = phrase(course.moves, shown(machine.alphabet), by_start=course.by_start)
    return f"With the best machine that was met, the expert wants {text}; how sure is not known."


def sentence(claims: Sequence[Claim]) -> str:
    """Return claims as one sentence, without its full stop."""
    if not claims:
        return ""
    parts = []
    route = next((claim for claim in claims if claim.kind == "route"), None)
    end = next((claim for claim in claims if claim.kind == "ends"), None)
    over = route is not None and end is not None and end.last == route.last
    for claim in claims:
        if claim is route:
            text = claim.text.removesuffix(FIRST) if over else claim.text
            more = ", and after that nothing more" if over else ""
            parts.append(f"the expert wants {text}{more}")
        elif claim is not end or not over:
            parts.append(claim.text)
    text = "; ".join(parts)
    return text[:1].upper() + text[1:]


def percent(value: float) -> str:
    """Return a probability for people."""
    if value >= 0.9995:
        return "more than 99.9%"
    if value > 0.99:
        return f"{value:.1%}"
    return "less than 1%" if value < 0.01 else f"{value:.0%}"
