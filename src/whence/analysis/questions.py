"""What the demonstrations leave open, as label sequences, and where to look to close it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints, frozen_own
from whence.analysis.apart import told_apart
from whence.analysis.design import LENGTH, Start, Starts
from whence.analysis.sample import PosteriorSample
from whence.errors import ArgumentError
from whence.model.expert import Expert

SURE = 0.95  # an outcome with this probability is settled
HEAVY = 0.999  # the share of the mass whose machines are asked
DIGITS = 9  # totals that agree so far are equal


@dataclass(frozen=True)
class OpenQuestion:
    """A label sequence whose reward is open, and a demonstration that would settle it.

    Attributes:
        labels: the sequence; the worlds can produce it, and no shorter beginning of it is open.
        outcomes: the probability of each total reward, the likeliest first; as `sample.pays`.
        between: the heaviest machine of each of the two likeliest outcomes, as their numbers
            in the sample.
        start: where a demonstration tells these two apart best.
    """

    labels: tuple[str, ...]
    outcomes: dict[float, float]
    between: tuple[int, int]
    start: Start


class Difference(NamedTuple):
    """The shortest label sequence that tells two machines of a sample apart.

    Attributes:
        first: the number of one machine in the sample.
        second: the number of the other.
        labels: the sequence; the last label is paid differently.
        world: the number of the world that can produce it.
    """

    first: int
    second: int
    labels: tuple[str, ...]
    world: int


def open_questions(
    sample: PosteriorSample,
    *,
    expert: Expert | None = None,
    most: int = 5,
    longest: int = 12,
    nodes: int = 5000,
    length: int = LENGTH,
) -> tuple[OpenQuestion, ...]:
    """Return the shortest label sequences whose total reward the posterior leaves open.

    A sequence is open when no total has a probability of 95% among the heaviest machines, which
    hold 99.9% of the mass. Only sequences that the worlds can produce from their initial states
    count, and of an open one no continuation. The search is breadth-first over (what the worlds
    can produce next, every machine's state, the differences of the totals so far), symbols in
    alphabet order: the sequences come shortest first.

    The start of each is chosen among all states of the worlds (of a large one, among those near
    labels and initial states), with nothing read: it is where an
    episode of `length` steps has the largest expected log Bayes factor between the two machines
    of `between`, averaged over which of them the expert follows; see `design.information`.

    Args:
        sample: the machines that remain possible.
        expert: who would demonstrate; by default the sample's mean expert.
        most: how many sequences to return at most.
        longest: the longest sequence to look at.
        nodes: how many places to search before giving up.
        length: the steps of the demonstration to be made.
    """
    for name, value in (("most", most), ("longest", longest), ("nodes", nodes)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ArgumentError(f"{name} is {value!r}; give a whole number of at least 1")
    who = sample.expert if expert is None else expert
    design = Starts(sample.worlds, who, length)
    starts: dict[tuple[int, int], Start] = {}
    found = []
    for word, between in open_sequences(sample, most, longest, nodes):
        if between not in starts:
            starts[between] = _start(sample, between, design)
        labels = tuple(sample.alphabet[symbol] for symbol in word)
        found.append(OpenQuestion(labels, sample.pays(*labels), between, starts[between]))
    return tuple(found)


def open_sequences(
    sample: PosteriorSample, most: int, longest: int, nodes: int
) -> list[tuple[tuple[int, ...], tuple[int, int]]]:
    """Return open sequences, as symbols' numbers, and the machines they lie between."""
    crowd = _Crowd.of(sample.heaviest(HEAVY))
    language = sample.language
    root = (language.start, np.zeros(crowd.size, dtype=np.int64), np.zeros(crowd.size))
    queue: deque[tuple[tuple[int, ...], int, Ints, Floats]] = deque([((), *root)])
    seen = {_key(*root)}
    found: list[tuple[tuple[int, ...], tuple[int, int]]] = []
    while queue and len(found) < most:
        word, here, states, totals = queue.popleft()
        for symbol, there in language.after(here).items():
            after = crowd.read(symbol, states, totals)
            longer = (*word, symbol)
            between = crowd.split(after[1])
            if between is not None:
                found.append((longer, between))
                continue
            key = _key(there, *after)
            if key not in seen and len(longer) < longest and len(seen) < nodes:
                seen.add(key)
                queue.append((longer, there, *after))
    return found[:most]


def differences(sample: PosteriorSample, k: int = 5) -> tuple[Difference, ...]:
    """Return what tells each pair of the k heaviest machines apart, shortest of all worlds."""
    found = []
    machines = sample.top(k).machines
    for first, second in combinations(range(len(machines)), 2):
        told = []
        for world, mdp in enumerate(sample.worlds):
            labels = told_apart(machines[first], machines[second], mdp)
            if labels is not None:
                told.append(Difference(first, second, labels, world))
        found.append(min(told, key=lambda difference: len(difference.labels)))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Crowd:
    """Machines that read labels together.

    Attributes:
        transitions: int64[k, n, m].
        rewards: float64[k, n, m].
        weights: float64[k], they sum to 1, descending.
    """

    transitions: Ints
    rewards: Floats
    weights: Floats

    @classmethod
    def of(cls, sample: PosteriorSample) -> _Crowd:
        _, first = np.unique(sample.members.owner, return_index=True)
        tables = sample.members.transitions[first], sample.members.rewards[first]
        return cls(*tables, frozen_own(sample.weights / sample.weights.sum()))

    @property
    def size(self) -> int:
        return len(self.weights)

    def read(self, symbol: int, states: Ints, totals: Floats) -> tuple[Ints, Floats]:
        """Return the states after a symbol, and the totals less that of the first machine."""
        machine = np.arange(self.size)
        sums = totals + self.rewards[machine, states, symbol]
        return self.transitions[machine, states, symbol], np.round(sums - sums[0], DIGITS) + 0.0

    def split(self, totals: Floats) -> tuple[int, int] | None:
        """Return the heaviest machines of the two likeliest totals, or None if one is sure."""
        if not totals.any():
            return None
        _, first, group = np.unique(totals, return_index=True, return_inverse=True)
        mass = np.bincount(group.reshape(-1), weights=self.weights)
        if mass.max() >= SURE:
            return None
        order = np.argsort(-mass, kind="stable")
        return int(first[order[0]]), int(first[order[1]])


def _key(nodes: int, states: Ints, totals: Floats) -> tuple[int, bytes, bytes]:
    return nodes, states.tobytes(), totals.tobytes()


def _start(sample: PosteriorSample, between: tuple[int, int], design: Starts) -> Start:
    i, j = between
    weights = float(sample.weights[i]), float(sample.weights[j])
    machines = sample.machines[i], sample.machines[j]
    return design.best(machines, weights)
