"""One question after the other, until nothing worth asking is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from whence.ask.belief import FACTS
from whence.ask.choosing import questions
from whence.errors import ArgumentError
from whence.model.asking import KINDS, Question
from whence.model.episodes import Episode
from whence.runs.result import Run

BOUND = 0.02  # nats: a question that tells less is not asked
CONSIDERED = 30  # questions that are kept at hand, for those who skip some

Reply = float | str | Episode | None
Answering = Callable[[Run, Question], Reply]


class Enough(Exception):  # noqa: N818 (it ends a conversation, and is no error)
    """Raised by who is asked, to end the conversation."""


@dataclass(frozen=True)
class Manner:
    """How to ask.

    Attributes:
        kinds: of questions.
        about: what they should tell about; see `questions`.
        bound: a question that is expected to tell less is not asked.
        most: questions to ask.
        seconds: of a person's time; see `questions`.
        refresh: whether the chains sample anew where they should.
        seed: of the episodes that demonstrations are judged by.
    """

    kinds: Sequence[str] = KINDS
    about: str = FACTS
    bound: float = BOUND
    most: int = 30
    seconds: Mapping[str, float] | None = None
    refresh: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a bound or a number that is none."""
        if not self.bound >= 0:
            raise ArgumentError(f"bound is {self.bound}; give a number of at least 0")
        if self.most < 1:
            raise ArgumentError(f"most is {self.most}; ask at least one question")


def converse(
    run: Run,
    person: Answering,
    manner: Manner | None = None,
    told: Callable[[Run], None] | None = None,
) -> Run:
    """Return a run after a conversation.

    Args:
        run: with a sample.
        person: called with the run and a question; returns the answer, or None to skip it, and
            raises `Enough` to end.
        manner: how to ask.
        told: called with the run after each answer.
    """
    how = manner or Manner()
    skipped: set[str] = set()
    for _ in range(how.most):
        try:
            found = _answered(run, person, how, skipped)
        except Enough:
            break
        if found is None:
            break
        run = found
        if told is not None:
            told(run)
    return run


def _answered(run: Run, person: Answering, how: Manner, skipped: set[str]) -> Run | None:
    """Return a run after the best question that is not skipped, or None where none is left."""
    for question in questions(
        run, kinds=how.kinds, about=how.about, most=CONSIDERED, seconds=how.seconds, seed=how.seed
    ):
        if question.id in skipped or question.gain < how.bound:
            continue
        answer = person(run, question)
        if answer is not None:
            return run.answered(question, answer, refresh=how.refresh)
        skipped.add(question.id)
    return None
