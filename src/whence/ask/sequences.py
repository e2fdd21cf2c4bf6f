"""Label sequences worth asking about: those that machines of a sample pay differently.

The walk is breadth-first over what the worlds can produce and the states of all machines
together: two sequences that lead to the same place ask the same from there on, and the shorter one
is kept.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats, Ints
from whence.ask.belief import Belief

MOST_PLACES = 400
LONGEST = 10  # labels
SHARE = 1e-12  # of the mass: what fewer machines pay differently is not asked


@dataclass(frozen=True, eq=False)
class Sequence:
    """A label sequence that the worlds can produce.

    Attributes:
        word: the symbols' numbers.
        last: float64[K], what each machine pays for the last label.
        total: float64[K], what each pays for all of them.
    """

    word: tuple[int, ...]
    last: Floats
    total: Floats

    def split(self, belief: Belief) -> bool:
        """Whether machines disagree about the last label."""
        return float(belief.weight[self.last != self.last[0]].sum()) > SHARE

    def divided(self, belief: Belief) -> bool:
        """Whether machines disagree about the total."""
        return float(belief.weight[self.total != self.total[0]].sum()) > SHARE


def sequences(belief: Belief, answered: frozenset[tuple[int, ...]]) -> list[Sequence]:
    """Return possible sequences, the shortest first; each new in what it asks or pays.

    Args:
        belief: whose machines are asked.
        answered: what is not asked again; another that comes to the same may be.
    """
    language = belief.sample.language
    machine = np.arange(belief.size)
    nothing = Sequence((), np.zeros(belief.size), np.zeros(belief.size))
    root = language.start, np.zeros(belief.size, dtype=np.int64)
    queue: deque[tuple[Sequence, int, Ints]] = deque([(nothing, *root)])
    seen, known = {_place(*root)}, set()
    found: list[Sequence] = []
    while queue:
        so_far, here, states = queue.popleft()
        for symbol, there in language.after(here).items():
            last = belief.rewards[machine, states, symbol]
            longer = Sequence((*so_far.word, symbol), last, so_far.total + last)
            after = belief.transitions[machine, states, symbol]
            asked = last.tobytes(), longer.total.tobytes()
            if asked not in known and longer.word not in answered:
                known.add(asked)
                found.append(longer)
            place = _place(there, after)
            if place not in seen and len(seen) < MOST_PLACES and len(longer.word) < LONGEST:
                seen.add(place)
                queue.append((longer, there, after))
    return found


def _place(nodes: int, states: Ints) -> tuple[int, bytes]:
    return nodes, states.tobytes()
