"""Questions and answers of a run, as the page shows them."""

from __future__ import annotations

import contextlib
from typing import Any

from whence.ask import Question, questions
from whence.errors import WhenceError
from whence.model.asking import DEMONSTRATION, standing
from whence.runs.result import Run
from whence.runs.resuming import load

MOST, LOOKED_AT = 4, 20  # questions that are kept ready, and among how many
LEAST = 0.01  # nats, or reward: what tells less is not asked


def questions_document(run: Run) -> list[dict[str, Any]]:
    """Return what is worth asking, the best for a person's time first.

    The last may be a demonstration: in the studio it is at hand, though others take less time.
    """
    if run.posterior is None:
        return []
    found = [each for each in questions(run, most=LOOKED_AT) if each.gain >= LEAST]
    shown = [each for each in found[MOST:] if each.kind == DEMONSTRATION][:1]
    kept = found[:MOST]
    if not any(each.kind == DEMONSTRATION for each in kept):
        kept += shown
    return [each.document() for each in kept]


def answers_document(run: Run) -> list[dict[str, Any]]:
    """Return what was answered, in order."""
    return [
        {
            "id": each.id,
            "text": each.question.text,
            "value": each.value if isinstance(each.value, float | int | str) else "shown",
            "withdrawn": each.withdrawn,
        }
        for each in run.answers
    ]


def question_of(document: dict[str, Any]) -> Question:
    """Return a question that was written down before."""
    return Question.of(document)


def carried(run: Run, before: str) -> Run:
    """Return a run with the answers that an earlier one was given, which stand."""
    try:
        given = standing(load(before).answers)
    except WhenceError:
        return run
    known = {each.question.id for each in run.answers}
    for each in given:
        if each.question.id not in known:
            with contextlib.suppress(WhenceError):  # it says nothing of the machines of now
                run = run.answered(each.question, each.value, refresh=False)
    return run
