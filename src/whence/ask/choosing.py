"""The questions worth asking a run, the best for a person's time first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from whence._arrays import Floats
from whence.analysis.facts import percent
from whence.analysis.wording import in_turn, shown
from whence.ask.belief import FACTS, Belief, belief
from whence.ask.information import information
from whence.ask.sequences import Sequence as Asked
from whence.ask.sequences import sequences
from whence.ask.ways import execution
from whence.errors import ArgumentError
from whence.likelihood.answers import levels_likely
from whence.model.asking import DEMONSTRATION, KINDS, PREFERENCE, SEQUENCE, Question
from whence.runs.result import Run

LABEL = "label"
SECONDS = {SEQUENCE: 6.0, PREFERENCE: 8.0, DEMONSTRATION: 45.0, LABEL: 2.0}  # a person's time
LEAST = 1e-6  # nats: what tells less is no question


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
    known = belief(run, about)
    found = []
    if SEQUENCE in kinds:
        found += _sequences(run, known, time)
    ranked = sorted(found, key=lambda each: -each.rate)
    return tuple(ranked[:most])


def _sequences(run: Run, known: Belief, time: Mapping[str, float]) -> list[Question]:
    """Return the questions of the first kind."""
    levels = np.array(run.rewards)
    found = []
    for asked in sequences(known):
        if not asked.split(known):
            continue
        chance = levels_likely(asked.last, levels).at(known.error)
        gain = information(chance, known.weight, known.fact)
        if gain > LEAST:
            seconds = time[SEQUENCE] + time[LABEL] * len(asked.word)
            found.append(_sequence(run, known, asked, chance, gain, seconds))
    return found


def _sequence(
    run: Run, known: Belief, asked: Asked, chance: Floats, gain: float, seconds: float
) -> Question:
    alphabet = known.sample.alphabet
    names = shown(alphabet)
    word = [names[symbol] for symbol in asked.word]
    before = f"after {in_turn(word[:-1])}: " if len(word) > 1 else "at the very beginning: "
    labels = tuple(alphabet[symbol] for symbol in asked.word)
    way = execution(known.sample.worlds, labels)
    return Question(
        kind=SEQUENCE,
        text=f"{before}{word[-1]}. Does that count, and how much?",
        gain=gain,
        seconds=seconds,
        answers=tuple(run.rewards),
        chances=tuple((known.weight @ chance).tolist()),
        settles=settles(known, chance, [f"{level:g}" for level in run.rewards]),
        labels=(labels,),
        executions=() if way is None else (way,),
    )


def settles(known: Belief, chance: Floats, names: Sequence[str]) -> str:
    """Return what the expert would probably want after each answer, in words.

    Args:
        known: what is believed now.
        chance: float64[K, answers].
        names: of the answers.
    """
    parts = []
    for answer, name in enumerate(names):
        mass = known.weight * chance[:, answer]
        if mass.sum() < 1e-3:
            continue
        by_route = np.bincount(known.route + 1, weights=mass)[1:] / mass.sum()
        if len(by_route):
            at = int(np.argmax(by_route))
            wants = known.sample.routes[at].text
            parts.append(f"if {name}, {wants} ({percent(float(by_route[at]))})")
    return "; ".join(parts)


def _checked(
    kinds: Sequence[str], most: int, seconds: Mapping[str, float] | None
) -> dict[str, float]:
    """Return the seconds of each kind, all arguments checked."""
    time = SECONDS | dict(seconds or {})
    for kind in (*kinds, *time):
        if kind not in KINDS and (kind != LABEL or kind in kinds):
            raise ArgumentError(f"kind is {kind!r}; questions are {', '.join(KINDS)}")
    for kind, value in time.items():
        if not 0 < value < np.inf:
            raise ArgumentError(f"seconds of a {kind} are {value}; give a number above 0")
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ArgumentError(f"most is {most!r}; give a whole number of at least 1")
    return time
