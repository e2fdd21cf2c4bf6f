"""Questions and answers of a run, as the page shows them."""

from __future__ import annotations

import contextlib
from typing import Any

from whence.ask import Question, questions
from whence.errors import WhenceError
from whence.model.asking import DEMONSTRATION, standing
from whence.runs.result import Run
from whence.runs.resuming import load

MOST = 5  # questions that are kept ready
LEAST = 0.01  # nats, or reward: what tells less is not asked


def questions_document(run: Run) -> list[dict[str, Any]]:
    """Return what is worth asking, the best for a person's time first."""
    if run.posterior is None:
        return []
    return [each.document() for each in questions(run, most=MOST) if each.gain >= LEAST]


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
    with contextlib.suppress(WhenceError):
        known = {each.question.id for each in run.answers}
        for each in standing(load(before).answers):
            if each.question.kind != DEMONSTRATION and each.question.id not in known:
                run = run.answered(each.question, each.value, refresh=False)
    return run
