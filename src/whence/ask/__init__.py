"""Questions to a person: which answer would tell most, and what follows from it.

`questions` ranks what to ask a run; `run.answered` returns the run after an answer. `ask` does
both, one question after the other, at a terminal or in a notebook.
"""

from whence.ask.choosing import questions
from whence.ask.conversing import Enough, Manner, converse
from whence.ask.person import Person
from whence.ask.prompting import Prompt, ask
from whence.model.asking import Answer, Execution, Question

__all__ = [
    "Answer",
    "Enough",
    "Execution",
    "Manner",
    "Person",
    "Prompt",
    "Question",
    "ask",
    "converse",
    "questions",
]
