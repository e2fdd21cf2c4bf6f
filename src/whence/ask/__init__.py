"""Questions to a person: which answer would tell most, and what follows from it."""

from whence.ask.choosing import questions
from whence.model.asking import Answer, Execution, Question

__all__ = ["Answer", "Execution", "Question", "questions"]
