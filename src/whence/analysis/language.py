"""The label sequences that worlds can produce, as a small automaton.

Two states of a world are alike when the same labels can be read next, after any number of steps
into blank states, and lead to states that are alike in turn. The classes are the automaton's
nodes; a grid of any size often has one or two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from whence._arrays import BLANK, Bools, Ints, frozen_own, offsets_of
from whence.model.mdp import LabeledMDP

WORD = 64  # labelled states that are followed together, a bit for each
STEP_BY_STEP = 10**8  # states times transitions up to which no kernel is compiled for that


class _Edges(NamedTuple):
    source: Ints
    symbol: Ints
    target: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Language:
    """A nondeterministic automaton of Q nodes; every path from a start is possible.

    Attributes:
        starts: int64[...], the nodes of the initial states.
        offsets: int64[Q + 1], where each node's edges begin.
        symbols: int64[edges], the label read, as an index of the alphabet.
        targets: int64[edges], the node it leads to.
    """

    starts: Ints
    offsets: Ints
    symbols: Ints
    targets: Ints

    @property
    def n_nodes(self) -> int:
        """The number of nodes, Q."""
        return len(self.offsets) - 1

    @property
    def start(self) -> int:
        """The set of nodes before the first label, a bit for each."""
        return sum(1 << node for node in self.starts.tolist())

    @cached_property
    def _steps(self) -> dict[int, dict[int, int]]:
        return {}

    def after(self, nodes: int) -> dict[int, int]:
        """Return the symbols that can be read next, ascending, and the set of nodes after each."""
        if nodes not in self._steps:
            found: dict[int, int] = {}
            for node in range(self.n_nodes):
                if nodes >> node & 1:
                    part = slice(int(self.offsets[node]), int(self.offsets[node + 1]))
                    edges = zip(self.symbols[part], self.targets[part], strict=True)
                    for symbol, target in edges:
                        found[int(symbol)] = found.get(int(symbol), 0) | 1 << int(target)
            self._steps[nodes] = dict(sorted(found.items()))
        return self._steps[nodes]

    def words(self, rng: np.random.Generator, count: int, length: int) -> Ints:
        """Return int64[count, length]: possible sequences, each next label equally likely.

        Where nothing can be read any more, blanks (-1) follow.
        """
        result = np.full((count, length), BLANK, dtype=np.int64)
        for word in result:
            nodes = self.start
            for place in range(length):
                following = list(self.after(nodes).items())
                if not following:
                    break
                word[place], nodes = following[int(rng.integers(len(following)))]
        return result

    def __repr__(self) -> str:
        return f"<Language: {self.n_nodes} nodes, {len(self.symbols)} edges>"


def language(worlds: Sequence[LabeledMDP], alphabet: tuple[str, ...]) -> Language:
    """Return the sequences that at least one of the worlds can produce.

    Args:
        worlds: each with its initial states; their symbols are among the alphabet's.
        alphabet: gives the symbols their numbers.
    """
    starts, parts, nodes = [], [], 0
    for mdp in worlds:
        blocks, edges = _automaton(mdp)
        column = np.array([alphabet.index(symbol) for symbol in mdp.alphabet], dtype=np.int64)
        parts.append(_Edges(edges.source + nodes, column[edges.symbol], edges.target + nodes))
        starts.append(np.unique(blocks[mdp.initial_states]) + nodes)
        nodes += int(blocks.max(initial=-1)) + 1
    edges = _Edges(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    return Language(
        frozen_own(np.concatenate(starts)),
        frozen_own(offsets_of(np.bincount(edges.source, minlength=nodes))),
        frozen_own(edges.symbol),
        frozen_own(edges.target),
    )


def _automaton(mdp: LabeledMDP) -> tuple[Ints, _Edges]:
    """Return the class of each state, int64[S], and the edges between classes, by source.

    States from which the same labelled states can be entered next are alike whatever those are
    like, so they are one place from the start: a large world has few. The classes of places are
    refined by what can follow, until nothing splits.
    """
    hubs = np.flatnonzero(mdp.labels != BLANK)
    place, entered = _places(mdp, hubs)
    source, hub = np.nonzero(entered)
    blocks = np.zeros(len(entered), dtype=np.int64)
    count = 1
    while True:
        both = np.column_stack([mdp.labels[hubs], blocks[place[hubs]]]).astype(np.int64)
        pairs, code = np.unique(both, axis=0, return_inverse=True)
        following = np.zeros((len(entered), max(len(pairs), 1)), dtype=np.bool_)
        following[source, code.reshape(-1)[hub]] = True
        rows, first, refined = np.unique(
            np.packbits(following, axis=1), axis=0, return_index=True, return_inverse=True
        )
        if len(rows) == count:
            row, pair = np.nonzero(following[first])
            begin = blocks[first][row]
            order = np.argsort(begin, kind="stable")
            edges = _Edges(begin, pairs[pair, 0], pairs[pair, 1])
            return blocks[place], _Edges(*(column[order] for column in edges))
        blocks, count = refined.reshape(-1), len(rows)


def _places(mdp: LabeledMDP, hubs: Ints) -> tuple[Ints, Bools]:
    """Return the place of each state, int64[S], and what each of K places leads to, bool[K, C].

    Two states are at one place when the same of C labelled states can be entered next, after any
    number of steps into blank ones.
    """
    small = mdp.n_states * mdp.n_transitions <= STEP_BY_STEP
    graph = _Steps(mdp, hubs) if small else _Condensed.of(mdp, hubs)
    place = np.zeros(graph.nodes.max() + 1, dtype=np.int64)
    words = np.zeros((1, 0), dtype=np.uint64)
    for begin in range(0, len(hubs), WORD):
        bit = np.arange(len(hubs)) - begin
        own = np.where(
            (bit >= 0) & (bit < WORD), np.uint64(1) << (bit % WORD).astype(np.uint64), 0
        )
        different, number = np.unique(graph.reached(own), return_inverse=True)
        pairs, place = np.unique(place * len(different) + number.reshape(-1), return_inverse=True)
        old, new = np.divmod(pairs, len(different))
        words = np.column_stack([words[old], different[new]])
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    return place.reshape(-1)[graph.nodes], bits[:, : len(hubs)].astype(np.bool_)


class _Steps:
    """A world as it is: every state is a node."""

    def __init__(self, mdp: LabeledMDP, hubs: Ints) -> None:
        self._mdp, self._hubs = mdp, hubs
        self.nodes = np.arange(mdp.n_states)

    def reached(self, own: Ints) -> Ints:
        """Return the labelled states that can be entered next from each node, uint64[S].

        What a blank state leads on to is passed back to where it is entered from, step by step.

        Args:
            own: uint64[C], the bits that stand for the labelled states.
        """
        mdp = self._mdp
        first = mdp.offsets[: -1 : mdp.n_actions]
        result = np.zeros(mdp.n_states, dtype=np.uint64)
        while True:
            entered = result.copy()
            entered[self._hubs] = own
            grown = np.bitwise_or.reduceat(entered[mdp.successors], first)
            if (grown == result).all():
                return result
            result = grown


@dataclass(frozen=True, eq=False)
class _Condensed:
    """A large world: blank states that lead to each other are one node.

    Attributes:
        nodes: int64[S], the node of each state; it leads to nodes of lower numbers.
        offsets: int64[nodes + 1], where the edges of each begin.
        targets: int64[edges], the node that each leads to, or the number of nodes and that of a
            labelled state on top.
    """

    nodes: Ints
    offsets: Ints
    targets: Ints

    @classmethod
    def of(cls, mdp: LabeledMDP, hubs: Ints) -> _Condensed:
        """Find the nodes, and the edges between them, each once."""
        from whence.likelihood.kernels.reaching import components

        blank, offsets = mdp.labels == BLANK, mdp.offsets[:: mdp.n_actions]
        nodes = np.full(mdp.n_states, -1, dtype=np.int32)
        count = int(components(offsets, mdp.successors, blank, nodes))
        entered = nodes.astype(np.int64)
        entered[hubs] = count + np.arange(len(hubs))
        source, target = np.repeat(nodes, np.diff(offsets)), entered[mdp.successors]
        other = source != target
        span = count + len(hubs)
        edges = np.unique(source[other].astype(np.int64) * span + target[other])
        source, target = np.divmod(edges, span)
        return cls(nodes, offsets_of(np.bincount(source, minlength=count)), target)

    def reached(self, own: Ints) -> Ints:
        """Return the labelled states that can be entered next from each node, uint64[nodes].

        Args:
            own: uint64[C], the bits that stand for the labelled states.
        """
        from whence.likelihood.kernels.reaching import pass_back

        result = np.zeros(len(self.offsets) - 1, dtype=np.uint64)
        pass_back(self.offsets, self.targets, own, result)
        return result
