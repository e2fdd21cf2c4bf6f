"""The answers that a run was given, in its folder: `answers.jsonl`, a line an event.

    {"format": "whence/answers/1", "id": "1", "question": {...}, "answer": 1.0}
    {"format": "whence/answers/1", "withdrawn": "1"}
    {"format": "whence/answers/1", "sampled": ["2", "3"]}

The last kind says that the run was sampled anew with these answers in the target; what was sampled
is a run of its own, in `asked`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from whence import _files as files
from whence.errors import ArgumentError, FormatError
from whence.io.documents import refuse_repeats
from whence.model.asking import Answer, Question, standing

NAME, TAG, SAMPLED = "answers.jsonl", "whence/answers/1", "asked"
CURE = "correct the line, or take it out"


@dataclass(frozen=True)
class Ledger:
    """What an answers file says.

    Attributes:
        answers: all that were given, in order.
        sampled: the answers in the target of the last sampling; None where there was none.
    """

    answers: tuple[Answer, ...] = ()
    sampled: tuple[Answer, ...] | None = None

    def given(self, question: Question, value: object) -> Ledger:
        """Return the ledger with one answer more."""
        name = str(len(self.answers) + 1)
        answer = Answer(name, question, question.checked(value))
        return replace(self, answers=(*self.answers, answer))

    def withdrawn(self, name: str) -> Ledger:
        """Return the ledger with an answer taken back."""
        if name not in {each.id for each in standing(self.answers)}:
            listed = ", ".join(each.id for each in standing(self.answers)) or "none"
            raise ArgumentError(f"answer {name!r} cannot be withdrawn; those that stand: {listed}")
        changed = (replace(a, withdrawn=a.withdrawn or a.id == name) for a in self.answers)
        return replace(self, answers=tuple(changed))


def read(folder: Path) -> Ledger:
    """Return what a run was answered; a last line that was not written whole is left out."""
    path = files.own(folder, NAME)
    if not path.exists():
        return Ledger()
    ledger = Ledger()
    for number, line in enumerate(_whole(path), start=1):
        try:
            ledger = _after(ledger, line)
        except (FormatError, ArgumentError) as error:
            raise FormatError(f"{path}, line {number}: {error}") from None
    return ledger


def append(folder: Path, event: dict[str, Any]) -> None:
    """Add one event, which is on the disk before this returns."""
    path = files.own(folder, NAME)
    kept = b"".join(line.encode() + b"\n" for line in _whole(path)) if path.exists() else b""
    files.write_bytes(path, kept + msgspec.json.encode({"format": TAG} | event) + b"\n")


def sampled_in(folder: Path, answers: Sequence[Answer]) -> Path:
    """Return the folder of what is sampled with some answers in the target."""
    told = msgspec.json.encode([each.document() for each in answers])
    return files.own(folder, f"{SAMPLED}/{hashlib.sha256(told).hexdigest()[:16]}")


def answer_of(document: Any) -> Answer:
    """Return the answer of a document."""
    if not isinstance(document, dict) or not isinstance(document.get("question"), dict):
        raise FormatError(f"no answer: there must be id, question and answer; {CURE}")
    question = Question.of(document["question"])
    return Answer(str(document.get("id")), question, question.checked(document.get("answer")))


def _whole(path: Path) -> list[str]:
    """Return the lines of a file that were written to their end."""
    text = files.read_text(path)
    return text[: text.rfind("\n") + 1].splitlines()


def _after(ledger: Ledger, line: str) -> Ledger:
    """Return a ledger after one more line."""
    try:
        event = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, ValueError):
        raise FormatError(f"not valid JSON; {CURE}") from None
    if not isinstance(event, dict) or event.get("format") != TAG:
        raise FormatError(f"each line must say format {TAG!r}; {CURE}")
    refuse_repeats(line, "the event")
    if "withdrawn" in event:
        return ledger.withdrawn(str(event["withdrawn"]))
    if "sampled" in event:
        return replace(ledger, sampled=_named(ledger, event["sampled"]))
    answer = answer_of(event)
    if answer.id != str(len(ledger.answers) + 1):
        raise FormatError(f"id is {answer.id!r}; answers are numbered 1, 2, ...; {CURE}")
    return replace(ledger, answers=(*ledger.answers, answer))


def _named(ledger: Ledger, names: Any) -> tuple[Answer, ...]:
    known = {each.id: replace(each, withdrawn=False) for each in ledger.answers}
    if not isinstance(names, list) or not all(name in known for name in names):
        raise FormatError(f"sampled names answers that were not given; {CURE}")
    return tuple(known[name] for name in names)
