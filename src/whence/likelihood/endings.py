"""Episodes that end because the task is over.

After each state that is entered, the machine is *dead*, where no non-zero pay can be reached any
more, or live. An episode goes on from a dead one with probability e, and ends at a live one with
probability e'; otherwise it ends where the machine is dead, and goes on where it is live. With
e, e' ~ Beta(1, 999) and four counts this is a Beta function each, and nothing has to be sampled:

    log P = log B(1 + dead and went on, 999 + dead and ended) / B(1, 999)
          + log B(1 + live and ended, 999 + live and went on) / B(1, 999).

Episodes of which it is not known whether they ended do not count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whence._arrays import Bools, Floats, Ints, frozen_own, offsets_of
from whence.errors import ArgumentError
from whence.likelihood.evidence import depth_first, grown_trie
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

IGNORE, TASK = "ignore", "task"
ENDINGS = (IGNORE, TASK)
A, B = 1.0, 999.0  # of the prior of e and e'


@dataclass(frozen=True, eq=False)
class Endings:
    """What followed each label history: so often an episode went on, so often it ended.

    Histories in depth-first order, 0 the empty one; counts are those of a history and of all that
    extend it.

    Attributes:
        parent: int64[H], the history that each one extends by one label.
        symbol: int64[H], that label, as a column of the machines; -1 at the root.
        subtree_end: int64[H], the first history behind all that extend this one.
        went_on: int64[H].
        ended: int64[H].
    """

    parent: Ints
    symbol: Ints
    subtree_end: Ints
    went_on: Ints
    ended: Ints


class EndingRates(NamedTuple):
    """How often endings are not what the task says: the means of e and e' given the episodes.

    Attributes:
        went_on: e, of going on where nothing can be paid any more.
        ended: e', of ending where something can.
    """

    went_on: float
    ended: float


class EndingTerm:
    """How likely the endings of some demonstrations are under machines."""

    def __init__(self, parts: Sequence[Endings], readable: Bools) -> None:
        """Gather the endings.

        Args:
            parts: of each world.
            readable: bool[m], the symbols that any world or demonstration shows: what others
                pay cannot be reached. Those that are read last count, too.
        """
        self.parts = parts
        self.readable = readable.copy()
        for part in parts:
            self.readable[part.symbol[1:]] = True
        self.went_on = sum(int(part.went_on[0]) for part in parts)
        self.ended = sum(int(part.ended[0]) for part in parts)
        self._known: dict[tuple[int, int], float] = {}

    def __call__(self, transitions: Ints, rewards: Floats) -> Floats:
        """Return float64[B], of machines int64[B, n, m] and float64[B, n, m]."""
        counts = self.dead(transitions, rewards).tolist()
        return np.array([self._log(*each) for each in counts], dtype=np.float64)

    def dead(self, transitions: Ints, rewards: Floats) -> Ints:
        """Return int64[B, 2]: states entered with the machine dead: went on, and ended."""
        from whence.likelihood.kernels.endings import count_dead

        paid = np.where(self.readable, rewards, 0.0)
        own = np.arange(transitions.shape[1])[:, None]
        targets = np.where(self.readable, transitions, own).astype(np.int64)
        result = np.zeros((len(targets), 2), dtype=np.int64)
        for part in self.parts:
            count_dead(
                targets, paid, part.parent, part.symbol, part.subtree_end, part.went_on,
                part.ended, result,
            )  # fmt: skip
        return result

    def rates(self, transitions: Ints, rewards: Floats) -> EndingRates:
        """Return the means of e and e' under one machine, int64[n, m] and float64[n, m]."""
        went_on, ended = self.dead(transitions[None], rewards[None])[0].tolist()
        live = self.went_on + self.ended - went_on - ended
        return EndingRates(
            (A + went_on) / (A + B + went_on + ended), (A + self.ended - ended) / (A + B + live)
        )

    def _log(self, went_on: int, ended: int) -> float:
        """Return the log probability, from how often the machine was dead."""
        found = self._known.get((went_on, ended))
        if found is None:
            dead = log_mean(went_on, ended)
            found = dead + log_mean(self.ended - ended, self.went_on - went_on)
            self._known[went_on, ended] = found
        return found


def log_mean(times: int, others: int) -> float:
    """Return the log of the mean of p^times (1 - p)^others over p ~ Beta(1, 999)."""
    return _log_beta(A + times, B + others) - _log_beta(A, B)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def checked_endings(endings: str) -> str:
    """Return what endings mean, if it is known."""
    if endings not in ENDINGS:
        raise ArgumentError(f"endings is {endings!r}; known are {', '.join(ENDINGS)}")
    return endings


def compile_endings(mdp: LabeledMDP, demos: Demonstrations, columns: Ints) -> Endings | None:
    """Count the endings of demonstrations that fit their world, None where they say nothing.

    Args:
        mdp: the world.
        demos: in it.
        columns: int64[m'], the machines' column of each of its symbols.
    """
    if demos.ended is None:
        return None
    known = demos.subset(np.flatnonzero(demos.ended >= 0))
    assert known.ended is not None
    offsets = known.state_offsets
    node, parent, symbol = grown_trie(mdp, known, offsets)
    order, parent, symbol, subtree_end = depth_first(parent, symbol)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    entered = np.ones(len(node), dtype=np.bool_)
    entered[offsets[:-1][np.diff(offsets) > 0]] = False
    final = np.zeros(len(node), dtype=np.bool_)
    final[offsets[1:][known.ended == 1] - 1] = True
    last = max(len(columns) - 1, 0)
    named = np.where(symbol < 0, -1, np.append(columns, -1)[np.clip(symbol, 0, last)])
    return Endings(
        parent=frozen_own(parent),
        symbol=frozen_own(named),
        subtree_end=frozen_own(subtree_end),
        went_on=_below(position[node[entered & ~final]], subtree_end),
        ended=_below(position[node[entered & final]], subtree_end),
    )


def _below(nodes: Ints, subtree_end: Ints) -> Ints:
    """Return int64[H]: how many of some histories are each one or extend it."""
    at = offsets_of(np.bincount(nodes, minlength=len(subtree_end)))
    return frozen_own(at[subtree_end] - at[:-1])
