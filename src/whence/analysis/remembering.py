"""Courses that were worked out before: an answer weighs machines anew, but they want the same."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence

import numpy as np

from whence._arrays import Floats
from whence.analysis.heading import Goal, agent
from whence.analysis.routes import Course, course
from whence.model.mdp import LabeledMDP

MOST = 4096  # courses, each some hundred bytes

Key = tuple[bytes, tuple[str, ...], bytes, bytes, float]


class Courses:
    """What agents head for, by worlds, machine and discount; the oldest are forgotten."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._known: dict[Key, Course] = {}
        self._changing = threading.Lock()

    def of(
        self,
        worlds: Sequence[LabeledMDP],
        alphabet: tuple[str, ...],
        goals: Sequence[Goal],
        values: Sequence[Sequence[Floats]],
    ) -> tuple[Course, ...]:
        """Return the course of each goal; the arguments are those of `agent`."""
        place = _digest(worlds)
        found = []
        for goal, own in zip(goals, values, strict=True):
            key = (place, alphabet, _bytes(goal.transitions), _bytes(goal.rewards), goal.discount)
            known = self._known.get(key)
            if known is None:
                known = course(agent(worlds, alphabet, goal, own))
                self._keep(key, known)
            found.append(known)
        return tuple(found)

    def __len__(self) -> int:
        return len(self._known)

    def _keep(self, key: Key, found: Course) -> None:
        with self._changing:
            while len(self._known) >= self.most:
                del self._known[next(iter(self._known))]
            self._known[key] = found


def _bytes(table: np.typing.NDArray[np.generic]) -> bytes:
    """Return a table's shape, type and content."""
    head = f"{table.shape}{table.dtype.str}".encode()
    return head + np.ascontiguousarray(table).tobytes()


def _digest(worlds: Sequence[LabeledMDP]) -> bytes:
    """Return a hash of all that decides how agents act in worlds."""
    found = hashlib.sha256()
    for mdp in worlds:
        found.update(repr((mdp.alphabet, mdp.n_actions)).encode())
        for array in (
            mdp.labels,
            mdp.offsets,
            mdp.successors,
            mdp.probabilities,
            mdp.initial_states,
            mdp.initial_probabilities,
        ):
            found.update(_bytes(array))
    return found.digest()


COURSES = Courses()
