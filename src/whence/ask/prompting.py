"""Ask whoever sits at a terminal or a notebook: print the question, read the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from whence._arrays import BLANK
from whence.analysis.wording import shown
from whence.ask.conversing import Enough, Manner, converse
from whence.ask.person import Person
from whence.drawing import text
from whence.drawing.map import grid_text
from whence.model.asking import DEMONSTRATION, Execution, Question
from whence.model.episodes import Episode
from whence.model.mdp import LabeledMDP
from whence.runs.result import Run

SKIP, STOP, UNDO, DONE = "skip", "stop", "undo", "done"
LARGEST = 60  # columns and rows of a grid that is drawn


@dataclass(frozen=True, eq=False)
class Prompt:
    """Asks by printing and reading lines.

    Attributes:
        show: prints a line.
        read: reads a line after a prompt; raises EOFError at the end.
        seed: of what the world does in a demonstration.
    """

    show: Callable[[str], None] = print
    read: Callable[[str], str] = input
    seed: int = 0

    def __call__(self, run: Run, question: Question) -> float | str | Episode | None:
        """Return the answer to a question, or None to skip it."""
        for line in asked(run, question):
            self.show(line)
        if question.kind == DEMONSTRATION:
            return self._walked(run, question)
        names = [f"{each:g}" if isinstance(each, float) else each for each in question.answers]
        while True:
            reply = self._line(f"{', '.join(names)} ({SKIP}, {STOP})> ")
            if reply == SKIP:
                return None
            chosen = _chosen(reply, names)
            if chosen is not None:
                return question.answers[chosen]
            self.show(f"{text.visible(reply)}: answer {', '.join(names)}, {SKIP} or {STOP}")

    def _line(self, prompt: str) -> str:
        try:
            reply = self.read(prompt).strip()
        except EOFError:
            raise Enough from None
        if reply == STOP:
            raise Enough
        return reply

    def _walked(self, run: Run, question: Question) -> Episode | None:
        """Return what a person walks, action by action; the world draws where each leads."""
        mdp = run.job.pairs[question.world][0]
        rng = np.random.default_rng([self.seed, len(run.answers)])
        states: list[int] = [question.state]
        actions: list[int] = []
        names = [text.visible(name) for name in mdp.actions]
        self.show(f"type actions, {UNDO}, or {DONE}: {_choices(names)}; beginnings of names do")
        while True:
            here = f"{_place(mdp, states[-1])} {_steps(len(actions))}"
            for word in self._line(f"{here} ({SKIP}, {STOP})> ").split():
                if word == SKIP:
                    return None
                if word == DONE and actions:
                    return Episode(tuple(states), tuple(actions), history=question.labels[0])
                if word == UNDO:
                    states, actions = states[: max(len(actions), 1)], actions[:-1]
                    continue
                action = _numbered(word, names)
                action = _chosen(word, names) if action is None else action
                if action is None or not mdp.available[states[-1], action]:
                    self.show(f"{text.visible(word)}: no action here; they are {_choices(names)}")
                    break
                states.append(_entered(mdp, states[-1], action, rng))
                actions.append(action)


def ask(
    run: Run,
    *,
    manner: Manner | None = None,
    person: Person | None = None,
    show: Callable[[str], None] = print,
    read: Callable[[str], str] = input,
) -> Run:
    """Ask one question after the other, at a terminal or in a notebook; return the run after it.

    Args:
        run: with a sample.
        manner: how to ask.
        person: answers in place of whoever sits there.
        show: prints a line.
        read: reads a line after a prompt.
    """

    def told(after: Run) -> None:
        show("")
        show(f"  so far: {after.answer}")
        show("")

    return converse(run, Prompt(show, read) if person is None else person, manner, told)


def asked(run: Run, question: Question) -> list[str]:
    """Return a question as lines of text, with what it would settle and what it is about."""
    often = "about " if question.error else ""
    lines = [
        f"question {len(run.answers) + 1}: {question.text}",
        f"  {often}{question.gain:.2g} {question.unit} are expected for {question.seconds:.0f} s "
        "of your time",
        f"  it would settle: {question.settles}",
    ]
    worlds = [mdp for mdp, _ in run.job.pairs]
    if question.kind == DEMONSTRATION:
        here = Execution(question.world, (question.state,), (), (None,))
        return [*lines, *drawn(worlds[question.world], here)]
    for number, way in enumerate(question.executions):
        named = (
            f"  the {('first', 'second')[number]}" if len(question.executions) > 1 else "  such"
        )
        lines.append(f"{named}: {told_way(worlds[way.world], way)}")
        lines += drawn(worlds[way.world], way)
    return lines


def told_way(mdp: LabeledMDP, way: Execution) -> str:
    """Return an execution in words: where it starts, and where it reads each label."""
    parts = [f"from {text.visible(mdp.state_name(way.states[0]))}"]
    names = dict(zip(mdp.alphabet, shown(mdp.alphabet), strict=True))
    for step, (state, label) in enumerate(zip(way.states[1:], way.labels[1:], strict=True), 1):
        if label is not None:
            place = text.visible(mdp.state_name(state))
            parts.append(f"{names[label]} at {place} after {_steps(step)}")
    return ", ".join(parts)


def drawn(mdp: LabeledMDP, way: Execution) -> list[str]:
    """Return a drawing of an execution, as lines of text, where the world is a small grid."""
    grid = mdp.grid
    if grid is None or max(grid.width, grid.height) > LARGEST:
        return []
    return [f"    {line}" for line in grid_text(mdp, way=way.states).splitlines()]


def _chosen(reply: str, names: Sequence[str]) -> int | None:
    """Return which name a reply is, or begins as the only one."""
    if reply in names:
        return names.index(reply)
    begun = [at for at, name in enumerate(names) if reply and name.startswith(reply)]
    return begun[0] if len(begun) == 1 else None


def _entered(mdp: LabeledMDP, state: int, action: int, rng: np.random.Generator) -> int:
    pair = state * mdp.n_actions + action
    entries = slice(int(mdp.offsets[pair]), int(mdp.offsets[pair + 1]))
    return int(rng.choice(mdp.successors[entries], p=mdp.probabilities[entries]))


def _choices(names: Sequence[str]) -> str:
    """Return actions as one may type them: where one of them is several words, with numbers."""
    if not any(" " in name for name in names):
        return ", ".join(names)
    return ", ".join(f"{at}: {name}" for at, name in enumerate(names, start=1))


def _numbered(word: str, names: Sequence[str]) -> int | None:
    """Return the place of an action that is typed by its number, where they have numbers."""
    given = word.isdecimal() and any(" " in name for name in names)
    return int(word) - 1 if given and 1 <= int(word) <= len(names) else None


def _steps(count: int) -> str:
    return f"{count} step" if count == 1 else f"{count} steps"


def _place(mdp: LabeledMDP, state: int) -> str:
    label = int(mdp.labels[state])
    read = "" if label == BLANK else f" {text.visible(mdp.alphabet[label])}"
    return f"{text.visible(mdp.state_name(state))}{read},"
