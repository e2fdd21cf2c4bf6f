"""The shortest label sequence that tells two machines apart."""

from __future__ import annotations

import numpy as np

from whence._arrays import BLANK, Ints, concatenated_ranges
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import in_world, with_blank

Pair = tuple[int, int]


def difference(a: RewardMachine, b: RewardMachine) -> tuple[str, ...] | None:
    """Return the shortest sequence on which the rewards differ, the first in alphabet order.

    Breadth-first over pairs of states; None where the machines are the same.
    """
    b = b.over(a.alphabet)
    parents: dict[Pair, tuple[Pair, str] | None] = {(0, 0): None}
    queue: list[Pair] = [(0, 0)]
    for pair in queue:
        for column, symbol in enumerate(a.alphabet):
            if a.rewards[pair[0], column] != b.rewards[pair[1], column]:
                return (*_path(parents, pair), symbol)
            following = (
                int(a.transitions[pair[0], column]),
                int(b.transitions[pair[1], column]),
            )
            if following not in parents:
                parents[following] = (pair, symbol)
                queue.append(following)
    return None


def difference_in(a: RewardMachine, b: RewardMachine, mdp: LabeledMDP) -> tuple[str, ...] | None:
    """Return the shortest sequence that the world can produce on which the rewards differ.

    Breadth-first over (pair of machine states, world state), from the initial states, where
    steps into blank states cost nothing; all places at one distance advance together.
    """
    return _Search(in_world(a, mdp), in_world(b, mdp), mdp).run()


class _Search:
    """Places are numbered pair * S + world state, pair = state of a * n_b + state of b."""

    def __init__(self, a: RewardMachine, b: RewardMachine, mdp: LabeledMDP) -> None:
        self.mdp = mdp
        self.n_b = b.n_states
        self.follow_a, self.paid_a = with_blank(a.transitions, a.rewards)
        self.follow_b, self.paid_b = with_blank(b.transitions, b.rewards)
        self.parent = np.full(a.n_states * b.n_states * mdp.n_states, -1, dtype=np.int64)
        self.first = mdp.offsets[:: mdp.n_actions]

    def run(self) -> tuple[str, ...] | None:
        frontier = self.mdp.initial_states.astype(np.int64)
        self.parent[frontier] = frontier
        while len(frontier):
            origins, targets, symbols, split = self._expanded(self._closed(frontier))
            if split.any():
                i = int(np.argmax(split))
                return (*self._path(int(origins[i])), self.mdp.alphabet[symbols[i]])
            frontier = self._visited(origins, targets)
        return None

    def _closed(self, frontier: Ints) -> Ints:
        """Add all places that steps into blank states lead to."""
        found = [frontier]
        while len(frontier):
            origins, targets, symbols, _ = self._expanded(frontier)
            blank = symbols == BLANK
            frontier = self._visited(origins[blank], targets[blank])
            found.append(frontier)
        return np.concatenate(found)

    def _expanded(self, places: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return origin, target, symbol of all steps, and whether the rewards differ."""
        pair, state = np.divmod(places, self.mdp.n_states)
        counts = self.first[state + 1] - self.first[state]
        entry = concatenated_ranges(self.first[state], self.first[state + 1])
        following = self.mdp.successors[entry]
        symbol = self.mdp.labels[following]
        in_a, in_b = np.divmod(np.repeat(pair, counts), self.n_b)
        split = self.paid_a[in_a, symbol] != self.paid_b[in_b, symbol]
        pairs = self.follow_a[in_a, symbol] * self.n_b + self.follow_b[in_b, symbol]
        targets = pairs.astype(np.int64) * self.mdp.n_states + following
        return np.repeat(places, counts), targets, symbol, split

    def _visited(self, origins: Ints, targets: Ints) -> Ints:
        """Note where new places were reached from; return them, each once."""
        new = self.parent[targets] < 0
        places, index = np.unique(targets[new], return_index=True)
        self.parent[places] = origins[new][index]
        return places

    def _path(self, place: int) -> tuple[str, ...]:
        symbols: list[str] = []
        while int(self.parent[place]) != place:
            label = int(self.mdp.labels[place % self.mdp.n_states])
            if label != BLANK:
                symbols.append(self.mdp.alphabet[label])
            place = int(self.parent[place])
        return tuple(reversed(symbols))


def _path(parents: dict[Pair, tuple[Pair, str] | None], pair: Pair) -> tuple[str, ...]:
    symbols: list[str] = []
    step = parents[pair]
    while step is not None:
        symbols.append(step[1])
        step = parents[step[0]]
    return tuple(reversed(symbols))
