"""The questions worth asking a run, the best for a person's time first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

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
TOGETHER = 2_000_000  # numbers that are weighed at the same time

Words = tuple[tuple[int, ...], ...]


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
    found: list[Question | _Finite] = []
    if SEQUENCE in kinds:
        found += maker.sequences()
    if PREFERENCE in kinds:
        found += maker.preferences()
    if DEMONSTRATION in kinds:
        found += maker.demonstrations()
    told = [each for each in found if each.gain > LEAST]
    ranked = heapq.nlargest(most + len(maker.before), told, key=lambda each: each.rate)
    asked = map(maker.question, ranked)
    fresh = [each for each in asked if each.id not in maker.before]
    return tuple(maker.shown(each) for each in fresh[:most])


class _Finite(NamedTuple):
    """A question with few answers that may be asked, and what it is expected to tell."""

    kind: str
    words: Words
    chance: Callable[[], Floats]  # float64[K, answers]
    seconds: float
    gain: float

    @property
    def rate(self) -> float:
        return self.gain / self.seconds


class _Maker:
    """Makes questions for one run, with what each is expected to tell."""

    def __init__(
        self, run: Run, known: Belief, about: str, time: Mapping[str, float], seed: int
    ) -> None:
        self.run, self.known, self.time, self.seed = run, known, time, seed
        self.unit = "reward" if about == REGRET else "nats"
        self.aim = Aim(known.weight, known.fact, losses(known) if about == REGRET else None)
        self.before = frozenset(each.question.id for each in standing(run.answers))
        self._chances: dict[str, Floats] = {}
        self._walked = sequences(known, _answered(run, known))

    def sequences(self) -> list[_Finite]:
        """Return what label sequences to ask about; of those that ask the same, the shortest."""
        different: dict[bytes, Asked] = {}
        for asked in self._walked:
            different.setdefault(asked.last.tobytes(), asked)
        levels = np.array(self.run.rewards)
        some = [asked for asked in different.values() if asked.split(self.known)]
        return self._finite(
            SEQUENCE,
            [(asked.word,) for asked in some],
            lambda at: levels_likely(some[at].last, levels).at(self.known.error),
        )

    def preferences(self) -> list[_Finite]:
        """Return what pairs of label sequences to put beside each other."""
        some = [asked for asked in self._walked if asked.divided(self.known)][:PAIRED]
        pairs = [
            (one, other, one.total - other.total)
            for one, other in combinations(some, 2)
            if np.ptp(one.total - other.total) > 0
        ]
        return self._finite(
            PREFERENCE,
            [(one.word, other.word) for one, other, _ in pairs],
            lambda at: preference_likely(pairs[at][2], self.rationality).at(self.known.error),
        )

    def _finite(
        self, kind: str, words: list[Words], chance: Callable[[int], Floats]
    ) -> list[_Finite]:
        """Return questions of a finite kind.

        Args:
            kind: sequences or preferences.
            words: of each question.
            chance: of a question by its number, P(a | k), float64[K, answers].
        """
        found: list[_Finite] = []
        answers = len(self.run.rewards) if kind == SEQUENCE else 2
        block = max(1, TOGETHER // (self.known.size * answers))
        for first in range(0, len(words), block):
            numbers = range(first, min(first + block, len(words)))
            gains = self.aim.of_questions(np.stack([chance(at) for at in numbers]))
            found += [
                _Finite(kind, words[at], partial(chance, at), self._seconds(kind, words[at]), gain)
                for at, gain in zip(numbers, gains.tolist(), strict=True)
            ]
        return found

    def _seconds(self, kind: str, words: Words) -> float:
        return self.time[kind] + self.time[LABEL] * sum(len(word) for word in words)

    @property
    def rationality(self) -> float:
        """How surely a person prefers what is paid more, for one unit of reward."""
        return RATIONALITY / max(abs(level) for level in self.run.rewards)

    def question(self, found: Question | _Finite) -> Question:
        """Return a question in words."""
        if isinstance(found, Question):
            return found
        chance, alphabet = found.chance(), self.known.sample.alphabet
        both = (FIRST, SECOND)
        question = Question(
            kind=found.kind,
            text=self._text(found),
            gain=found.gain,
            seconds=found.seconds,
            answers=self.run.rewards if found.kind == SEQUENCE else both,
            chances=tuple((self.known.weight @ chance).tolist()),
            labels=tuple(tuple(alphabet[symbol] for symbol in word) for word in found.words),
            rationality=self.rationality if found.kind == PREFERENCE else 0.0,
            unit=self.unit,
        )
        self._chances[question.id] = chance
        return question

    def _text(self, found: _Finite) -> str:
        alphabet = self.known.sample.alphabet
        if found.kind == SEQUENCE:
            return wording.sequence(alphabet, found.words[0])
        return wording.preference(alphabet, *found.words)

    def shown(self, question: Question) -> Question:
        """Return a question with what it would settle, and an execution of each sequence."""
        if question.kind == DEMONSTRATION:
            return question
        names = [each if isinstance(each, str) else f"{each:g}" for each in question.answers]
        told = wording.settles(self.known, self._chances[question.id], names)
        ways = [execution(self.known.sample.worlds, word) for word in question.labels]
        found = tuple(way for way in ways if way is not None)
        every = found if len(found) == len(ways) else ()
        return replace(question, settles=told, executions=every)

    def demonstrations(self) -> list[Question]:
        """Return where a person might show something."""
        found: list[Question] = []
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
