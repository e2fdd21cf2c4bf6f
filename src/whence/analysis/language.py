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

from whence._arrays import BLANK, Ints, frozen_own, offsets_of
from whence.model.mdp import LabeledMDP


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

    The classes are refined by what can follow, until nothing splits.
    """
    blocks = np.zeros(mdp.n_states, dtype=np.int64)
    count = 1
    while True:
        pairs, bits = _following(mdp, blocks)
        rows, first, refined = np.unique(bits, axis=0, return_index=True, return_inverse=True)
        if len(rows) == count:
            row, pair = np.nonzero(np.unpackbits(rows, axis=1, count=len(pairs)))
            source = blocks[first][row]
            order = np.argsort(source, kind="stable")
            edges = _Edges(source, pairs[pair, 0], pairs[pair, 1])
            return blocks, _Edges(*(column[order] for column in edges))
        blocks, count = refined.reshape(-1), len(rows)


def _following(mdp: LabeledMDP, blocks: Ints) -> tuple[Ints, Ints]:
    """Return pairs (label, class), int64[P, 2], and which can come next, bits uint8[S, P / 8].

    What a blank state leads on to is passed back to where it is entered from, step by step.
    """
    labelled = np.flatnonzero(mdp.labels != BLANK)
    both = np.column_stack([mdp.labels[labelled], blocks[labelled]]).astype(np.int64)
    pairs, code = np.unique(both, axis=0, return_inverse=True)
    own = np.zeros((len(labelled), len(pairs)), dtype=np.uint8)
    own[np.arange(len(labelled)), code.reshape(-1)] = 1
    packed = np.packbits(own, axis=1)
    width = max(packed.shape[1], 1)
    result = np.zeros((mdp.n_states, width), dtype=np.uint8)
    first = mdp.offsets[: -1 : mdp.n_actions]
    while True:
        entered = result.copy()
        entered[labelled] = packed if packed.shape[1] else 0
        grown = np.bitwise_or.reduceat(entered[mdp.successors], first, axis=0)
        if (grown == result).all():
            return pairs, result
        result = grown
