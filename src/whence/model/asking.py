"""Questions to the expert, or to whoever knows what it wants, and their answers: plain data.

- `sequence`: a label sequence; what is its last label worth, where it is read? A level.
- `preference`: two label sequences, each with an execution; which would one rather see?
- `demonstration`: a state to start from, with labels already read; the answer is an episode.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from whence.errors import ArgumentError
from whence.model.episodes import Episode

SEQUENCE, PREFERENCE, DEMONSTRATION = "sequence", "preference", "demonstration"
KINDS = (SEQUENCE, PREFERENCE, DEMONSTRATION)
FIRST, SECOND = "first", "second"
RATIONALITY = 3.0  # of a preference, for each largest reward that one sequence is paid more


class Execution(NamedTuple):
    """Something that can happen in a world, to be looked at.

    Attributes:
        world: its number, where there are several.
        states: T + 1 states.
        actions: T actions.
        labels: of each state; entry 0 is not read.
    """

    world: int
    states: tuple[int, ...]
    actions: tuple[int, ...]
    labels: tuple[str | None, ...]


@dataclass(frozen=True)
class Question:
    """Something to ask, and what the answer is expected to tell.

    Attributes:
        kind: `sequence`, `preference` or `demonstration`.
        text: the question in words.
        gain: the expected information of the answer, in `unit`.
        seconds: of a person's time.
        error: the Monte-Carlo standard error of the gain; 0 where it is exact.
        answers: what may be answered: reward levels, or `first` and `second`; nothing for a
            demonstration, whose answer is an episode.
        chances: how likely each of these is.
        settles: what it would settle, in words.
        labels: of a sequence, that one; of a preference, both; of a demonstration, its history.
        executions: one that shows each sequence, where one was found.
        world: of a demonstration, its world's number.
        state: of a demonstration, where to start.
        length: of a demonstration, how many steps are asked for at most.
        rationality: of a preference: the log odds for the better one of two sequences are this
            times the difference of what they are paid in all.
        unit: of the gain: `nats`, or `reward` where it is about the regret.
    """

    kind: str
    text: str
    gain: float
    seconds: float
    error: float = 0.0
    answers: tuple[float | str, ...] = ()
    chances: tuple[float, ...] = ()
    settles: str = ""
    labels: tuple[tuple[str, ...], ...] = ()
    executions: tuple[Execution, ...] = ()
    world: int = 0
    state: int = -1
    length: int = 0
    rationality: float = 0.0
    unit: str = "nats"

    def __post_init__(self) -> None:
        """Refuse what is no question."""
        if self.kind not in KINDS:
            raise ArgumentError(f"kind is {self.kind!r}; a question is {_either(KINDS)}")
        sequences = 2 if self.kind == PREFERENCE else 1
        if len(self.labels) != sequences or any(isinstance(word, str) for word in self.labels):
            raise ArgumentError(
                f"a {self.kind} has {sequences} label sequence(s), not {self.labels!r:.60}; "
                "give labels as a tuple of tuples"
            )
        if self.kind == SEQUENCE and (not self.labels[0] or len(self.answers) < 2):
            raise ArgumentError("a sequence needs a label, and two answers at least; give them")
        if self.kind == PREFERENCE and not 0 < self.rationality < math.inf:
            raise ArgumentError(f"rationality is {self.rationality}; give a finite number above 0")
        if self.kind == DEMONSTRATION and self.state < 0:
            raise ArgumentError(f"state is {self.state}; say where the demonstration starts")

    @property
    def id(self) -> str:
        """A name of what is asked, whatever it is expected to tell."""
        where = [self.world, self.state] if self.kind == DEMONSTRATION else []
        text = json.dumps([self.kind, self.labels, *where], ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def rate(self) -> float:
        """Expected information a second."""
        return self.gain / self.seconds if self.seconds > 0 else math.inf

    def checked(self, answer: object) -> float | str | Episode:
        """Return an answer as it is kept, if it answers the question."""
        if self.kind == DEMONSTRATION:
            return _episode(answer, self)
        for possible in self.answers:
            if answer == possible and not isinstance(answer, bool):
                return possible
        raise ArgumentError(f"the answer {answer!r} is not {_either(self.answers)}; give that")

    def document(self) -> dict[str, Any]:
        """Return the question, for JSON."""
        return {
            "kind": self.kind,
            "id": self.id,
            "text": self.text,
            "gain": self.gain,
            "error": self.error,
            "seconds": self.seconds,
            "answers": list(self.answers),
            "chances": list(self.chances),
            "settles": self.settles,
            "labels": [list(word) for word in self.labels],
            "executions": [
                {name: _plain(value) for name, value in each._asdict().items()}
                for each in self.executions
            ],
            "world": self.world,
            "state": self.state,
            "length": self.length,
            "rationality": self.rationality,
            "unit": self.unit,
        }

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Question:
        """Return the question of a document."""
        known = {name: document[name] for name in cls.__dataclass_fields__ if name in document}
        try:
            known["labels"] = tuple(tuple(str(s) for s in word) for word in known["labels"])
            known["answers"] = tuple(known.get("answers", ()))
            known["chances"] = tuple(float(chance) for chance in known.get("chances", ()))
            known["executions"] = tuple(
                Execution(
                    int(each["world"]),
                    tuple(int(s) for s in each["states"]),
                    tuple(int(a) for a in each["actions"]),
                    tuple(each["labels"]),
                )
                for each in known.get("executions", ())
            )
            return cls(**known)
        except (KeyError, TypeError, ValueError) as error:
            raise ArgumentError(
                f"no question: {type(error).__name__}: {error}; give what `document` returned"
            ) from None


@dataclass(frozen=True)
class Answer:
    """What was answered to a question.

    Attributes:
        id: its number within a run.
        question: what was asked.
        value: a reward level, `first` or `second`, or an episode.
        withdrawn: whether it was taken back.
    """

    id: str
    question: Question
    value: float | str | Episode
    withdrawn: bool = field(default=False)

    @property
    def text(self) -> str:
        """The answer in words."""
        if isinstance(self.value, Episode):
            return f"an episode of {len(self.value.actions)} steps"
        return self.value if isinstance(self.value, str) else f"{self.value:g}"

    def document(self) -> dict[str, Any]:
        """Return question and answer, for JSON."""
        value: Any = self.value
        if isinstance(value, Episode):
            value = {"states": _plain(value.states), "actions": _plain(value.actions)}
        return {"id": self.id, "question": self.question.document(), "answer": value}


def standing(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """Return the answers that were not withdrawn."""
    return tuple(answer for answer in answers if not answer.withdrawn)


def _episode(answer: object, question: Question) -> Episode:
    """Return an episode that starts where it was asked for."""
    if isinstance(answer, Mapping) and {"states", "actions"} <= set(answer):
        answer = Episode(answer["states"], answer["actions"])
    if not isinstance(answer, Episode):
        raise ArgumentError(
            f"the answer is {type(answer).__name__}, not an episode; give one with its states "
            "and actions"
        )
    try:
        states = tuple(int(state) for state in answer.states)
        actions = tuple(int(action) for action in answer.actions)
    except (TypeError, ValueError):
        raise ArgumentError(
            "the episode's states and actions are no numbers; give those"
        ) from None
    if not actions or len(states) not in (len(actions), len(actions) + 1):
        raise ArgumentError(
            f"the episode has {len(states)} states and {len(actions)} actions; give at least one "
            "action, and as many states or one more"
        )
    if states[0] != question.state:
        raise ArgumentError(
            f"the episode starts in state {states[0]}, and was asked for from {question.state}; "
            "start there"
        )
    return Episode(states, actions, history=question.labels[0])


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else value


def _either(parts: Sequence[object]) -> str:
    shown = [f"{part:g}" if isinstance(part, float) else str(part) for part in parts]
    return " or ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
