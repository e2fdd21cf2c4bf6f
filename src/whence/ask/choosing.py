"""The questions worth asking a run, the best for a person's time first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from whence._arrays import Floats
from whence.ask import demonstrating, wording
from whence.ask.belief import FACTS, REGRET, Belief, belief
from whence.ask.information import Aim
from whence.ask.regret import losses
from whence.ask.sequences import Sequence as Asked
from whence.ask.sequences import sequences
from whence.ask.ways import execution
from whence.errors import ArgumentError
from whence.likelihood.answers import levels_likely, preference_likely
from whence.model.asking import (
    DEMONSTRATION,
    FIRST,
    KINDS,
    PREFERENCE,
    RATIONALITY,
    SECOND,
    SEQUENCE,
    Question,
    standing,
)
from whence.planning.simulation import checked_seed
from whence.runs.result import Run

LABEL = "label"
SECONDS = {SEQUENCE: 6.0, PREFERENCE: 8.0, DEMONSTRATION: 45.0, LABEL: 2.0}  # a person's time
LEAST = 1e-6  # what tells less is no question
PAIRED = 16  # sequences that are put beside each other


def questions(
    run: Run,
    *,
    kinds: Sequence[str] = KINDS,
    about: str = FACTS,
    most: int = 5,
    seconds: Mapping[str, float] | None = None,
    seed: int = 0,
) -> tuple[Question, ...]:
    """Return what to ask a person, the most expected information a second first.

    What was answered is not asked again, though another sequence may come to the same.

    Args:
        run: with a sample; the answers that it was given count.
        kinds: of questions to consider.
        about: what the answers should tell about: `route`, what the expert heads for in which
            order; `facts`, that and whatever else is told; or `regret`, what acting on the
            sample would lose.
        most: how many to return at most.
        seconds: of a person's time: by kind, by default 6 for a `sequence`, 8 for a `preference`
            and 45 for a `demonstration`, and 2 more for each `label` that one must read.
        seed: of the episodes that demonstrations are judged by.
    """
    time = _checked(kinds, most, seconds)
    maker = _Maker(run, belief(run, about), about, time, checked_seed(seed))
    found = []
    if SEQUENCE in kinds:
        found += maker.sequences()
    if PREFERENCE in kinds:
        found += maker.preferences()
    if DEMONSTRATION in kinds:
        found += maker.demonstrations()
    ranked = sorted(filter(maker.fresh, found), key=lambda each: -each.rate)
    return tuple(maker.shown(each) for each in ranked[:most])


class _Maker:
    """Makes questions for one run, with what each is expected to tell."""

    def __init__(
        self, run: Run, known: Belief, about: str, time: Mapping[str, float], seed: int
    ) -> None:
        self.run, self.known, self.time, self.seed = run, known, time, seed
        self.unit = "reward" if about == REGRET else "nats"
        self.aim = Aim(known.weight, known.fact, losses(known) if about == REGRET else None)
        self._before = frozenset(each.question.id for each in standing(run.answers))
        self._settling: dict[str, tuple[Floats, tuple[str, ...]]] = {}
        self._walked = sequences(known, _answered(run, known))

    def sequences(self) -> list[Question]:
        """Return what label sequences to ask about."""
        levels = np.array(self.run.rewards)
        names = tuple(f"{level:g}" for level in self.run.rewards)
        found = []
        for asked in self._walked:
            if asked.split(self.known):
                chance = levels_likely(asked.last, levels).at(self.known.error)
                words = (asked.word,)
                text = wording.sequence(self.known.sample.alphabet, asked.word)
                found.append(self._finite(SEQUENCE, text, words, chance, self.run.rewards, names))
        return found

    def preferences(self) -> list[Question]:
        """Return what pairs of label sequences to put beside each other."""
        some = [asked for asked in self._walked if asked.divided(self.known)][:PAIRED]
        found = []
        for one, other in combinations(some, 2):
            more = one.total - other.total
            if np.ptp(more) > 0:
                found.append(self._preference(one, other, more))
        return found

    def _preference(self, one: Asked, other: Asked, more: Floats) -> Question:
        chance = preference_likely(more, self.rationality).at(self.known.error)
        words = one.word, other.word
        text = wording.preference(self.known.sample.alphabet, *words)
        both = (FIRST, SECOND)
        return self._finite(PREFERENCE, text, words, chance, both, both)

    def fresh(self, question: Question) -> bool:
        """Whether a question tells anything, and was not answered before: one answers the same."""
        return question.gain > LEAST and question.id not in self._before

    @property
    def rationality(self) -> float:
        """How surely a person prefers what is paid more, for one unit of reward."""
        return RATIONALITY / max(abs(level) for level in self.run.rewards)

    def _finite(
        self,
        kind: str,
        text: str,
        words: tuple[tuple[int, ...], ...],
        chance: Floats,
        answers: tuple[float | str, ...],
        names: tuple[str, ...],
    ) -> Question:
        """Return a question of a finite kind, from P(a | k), float64[K, answers]."""
        alphabet = self.known.sample.alphabet
        question = Question(
            kind=kind,
            text=text,
            gain=self.aim.of_answers(chance),
            seconds=self.time[kind] + self.time[LABEL] * sum(len(word) for word in words),
            answers=answers,
            chances=tuple((self.known.weight @ chance).tolist()),
            labels=tuple(tuple(alphabet[symbol] for symbol in word) for word in words),
            rationality=self.rationality if kind == PREFERENCE else 0.0,
            unit=self.unit,
        )
        self._settling[question.id] = chance, names
        return question

    def shown(self, question: Question) -> Question:
        """Return a question with what it would settle, and an execution of each sequence."""
        if question.kind == DEMONSTRATION:
            return question
        told = wording.settles(self.known, *self._settling[question.id])
        ways = [execution(self.known.sample.worlds, word) for word in question.labels]
        found = tuple(way for way in ways if way is not None)
        every = found if len(found) == len(ways) else ()
        return replace(question, settles=told, executions=every)

    def demonstrations(self) -> list[Question]:
        """Return where a person might show something."""
        found = []
        if len(np.unique(self.known.fact)) < 2:
            return []
        for number in range(len(self.known.sample.worlds)):
            places = demonstrating.starts(self.known, number)
            crowd = demonstrating.crowd(self.known, number) if places else None
            for place in places:
                assert crowd is not None
                found.append(self._demonstration(crowd, place))
        return found

    def _demonstration(self, crowd: demonstrating.Crowd, place: demonstrating.Place) -> Question:
        alphabet = self.known.sample.alphabet
        history = tuple(alphabet[symbol] for symbol in place.history)
        told = demonstrating.judged(self.aim, crowd, place, history, self.seed)
        return Question(
            kind=DEMONSTRATION,
            text=wording.demonstration(self.known.sample, place.world, place.state, place.history),
            gain=told.mean,
            error=told.error,
            seconds=self.time[DEMONSTRATION] + self.time[LABEL] * len(history),
            settles=wording.rivals(self.known),
            labels=(history,),
            world=place.world,
            state=place.state,
            length=demonstrating.LENGTH,
            unit=self.unit,
        )


def _answered(run: Run, known: Belief) -> frozenset[tuple[int, ...]]:
    """Return the label sequences that were answered, as symbols."""
    index = known.sample.alphabet.index
    return frozenset(
        tuple(index(label) for label in each.question.labels[0])
        for each in standing(run.answers)
        if each.question.kind == SEQUENCE
    )


def _checked(
    kinds: Sequence[str], most: int, seconds: Mapping[str, float] | None
) -> dict[str, float]:
    """Return the seconds of each kind, all arguments checked."""
    time = SECONDS | dict(seconds or {})
    for kind in (*kinds, *time):
        if kind not in KINDS and (kind != LABEL or kind in kinds):
            raise ArgumentError(f"kind is {kind!r}; questions are {', '.join(KINDS)}")
    for kind, value in time.items():
        if not (0 if kind == LABEL else 1e-9) <= value < np.inf:
            raise ArgumentError(f"seconds of a {kind} are {value}; give a number above 0")
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ArgumentError(f"most is {most!r}; give a whole number of at least 1")
    return time
