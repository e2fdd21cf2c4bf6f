"""Which of many machines are the same in the worlds, without comparing all pairs.

Machines that are the same in the worlds pay the same on every label sequence that these can
produce, so a fingerprint of the rewards on some sequences puts them together. Whether two with
the same fingerprint are the same is then decided exactly, so chance merges nothing.

Machines that pay at the end of a long way pay nothing on sequences drawn by chance. Those that
share a fingerprint and differ get another one, of all sequences of some length at once.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Bools, Floats, Ints, concatenated_ranges
from whence.analysis.language import Language

WORDS, LENGTH = 64, 24  # the label sequences of a fingerprint
FINGERPRINT_SEED = 20240229
DEPTH = 24  # of all label sequences of a second fingerprint
MIX = np.uint64(0x2545F4914F6CDD1D)  # an odd number, to spread what is mixed
MOST_PLACES = 2**25  # (machine, node, state, state) that are kept in mind together

Tables = tuple[Ints, Floats]


def unique_machines(transitions: Ints, rewards: Floats) -> tuple[Ints, Ints]:
    """Return the first of each kind of tables, and the kind of each machine, int64[B].

    Args:
        transitions: int64[B, n, m].
        rewards: float64[B, n, m], without negative zeros.
    """
    size = len(transitions)
    tables = [transitions.reshape(size, -1).astype(np.float64), rewards.reshape(size, -1)]
    rows = np.ascontiguousarray(np.hstack([*tables, np.zeros((size, 1))]))
    kinds = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).reshape(-1)
    _, first, inverse = np.unique(kinds, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)


def representatives(language: Language, tables: Tables, weight: Floats) -> Ints:
    """Return int64[B]: the heaviest machine that is the same in the worlds, for each machine.

    Args:
        language: what the worlds can produce.
        tables: int64[B, n, m] and float64[B, n, m].
        weight: float64[B]; of equally heavy ones the first counts.
    """
    result = np.full(len(weight), -1, dtype=np.int64)
    pending = np.argsort(-weight, kind="stable")
    marks, deeper = fingerprints(language, tables)[pending], False
    while len(pending):
        _, first, inverse = np.unique(marks, return_index=True, return_inverse=True)
        head = pending[first[inverse.reshape(-1)]]
        same = same_in_worlds(language, _chosen(tables, pending), _chosen(tables, head))
        result[pending[same]] = head[same]
        pending, marks = pending[~same], marks[~same]
        if len(pending) and not deeper:
            marks, deeper = deep_fingerprints(language, _chosen(tables, pending)), True
    return result


def fingerprints(language: Language, tables: Tables) -> Ints:
    """Return uint64[B]: equal for machines that pay the same on some possible sequences."""
    rng = np.random.default_rng(FINGERPRINT_SEED)
    words = language.words(rng, WORDS, LENGTH)
    factors = rng.integers(0, 2**64, size=words.shape, dtype=np.uint64)
    transitions, rewards = tables
    size = len(transitions)
    codes = _codes(rewards)
    machine = np.arange(size)
    result = np.zeros(size, dtype=np.uint64)
    for word, factor in zip(words, factors, strict=True):
        state = np.zeros(size, dtype=np.int64)
        for symbol, times in zip(word[word >= 0], factor, strict=False):
            result += codes[machine, state, symbol] * times
            state = transitions[machine, state, symbol]
    return result


def deep_fingerprints(language: Language, tables: Tables) -> Ints:
    """Return uint64[B]: equal for machines that pay the same on all possible short sequences.

    What follows a place (node, state) is mixed from what its edges pay and lead to, again and
    again, each time a label deeper.
    """
    transitions, rewards = tables
    size, n, _ = transitions.shape
    codes = _codes(rewards)
    part = max(MOST_PLACES // (8 * max(len(language.symbols), 1) * n), 1)
    found = [
        _deeply(language, transitions[i : i + part], codes[i : i + part])
        for i in range(0, size, part)
    ]
    return np.concatenate(found) if found else np.zeros(0, dtype=np.uint64)


def _deeply(language: Language, transitions: Ints, codes: Ints) -> Ints:
    rng = np.random.default_rng(FINGERPRINT_SEED)
    factors = rng.integers(0, 2**64, size=len(language.symbols), dtype=np.uint64) | np.uint64(1)
    size, n, _ = transitions.shape
    nodes = np.flatnonzero(np.diff(language.offsets))  # the others lead nowhere
    after = transitions[:, :, language.symbols]
    paid = (codes[:, :, language.symbols] + np.uint64(1)) * MIX
    machine = np.arange(size)[:, None, None]
    marks = np.zeros((size, n, language.n_nodes), dtype=np.uint64)
    for _ in range(DEPTH if len(nodes) else 0):
        ahead = (marks[machine, after, language.targets] ^ paid) * factors
        ahead ^= ahead >> np.uint64(29)
        marks[:, :, nodes] = np.add.reduceat(ahead * MIX, language.offsets[nodes], axis=2)
    spread = rng.integers(0, 2**64, size=len(language.starts), dtype=np.uint64) | np.uint64(1)
    return np.asarray((marks[:, 0, language.starts] * spread).sum(axis=1, dtype=np.uint64))


def _codes(rewards: Floats) -> Ints:
    """Return the place of each reward among all of them, as uint64 of the same shape."""
    _, codes = np.unique(rewards, return_inverse=True)
    return codes.reshape(rewards.shape).astype(np.uint64)


def same_in_worlds(language: Language, first: Tables, second: Tables) -> Bools:
    """Return bool[B]: whether each machine of `first` is the same as that of `second`.

    Args:
        language: what the worlds can produce.
        first: int64[B, n, m] and float64[B, n, m].
        second: the machines to compare with, in the same shape.
    """
    size, n, _ = first[0].shape
    part = max(MOST_PLACES // (language.n_nodes * n * n), 1)
    found = [
        _same(language, _chosen(first, slice(i, i + part)), _chosen(second, slice(i, i + part)))
        for i in range(0, size, part)
    ]
    return np.concatenate(found) if found else np.zeros(0, dtype=np.bool_)


def _same(language: Language, first: Tables, second: Tables) -> Bools:
    """Walk all places (machine, node, state, state) that can be reached, a label at a time."""
    size, n, _ = first[0].shape
    nodes = language.n_nodes
    differ = np.zeros(size, dtype=np.bool_)
    seen = np.zeros(size * nodes * n * n, dtype=np.bool_)
    frontier = ((np.arange(size)[:, None] * nodes + language.starts) * n * n).reshape(-1)
    while len(frontier):
        seen[frontier] = True
        machine, node, y, z = np.unravel_index(frontier, (size, nodes, n, n))
        begin, end = language.offsets[node], language.offsets[node + 1]
        machine, y, z = (np.repeat(column, end - begin) for column in (machine, y, z))
        entry = concatenated_ranges(begin, end)
        symbol = language.symbols[entry]
        differ[machine[first[1][machine, y, symbol] != second[1][machine, z, symbol]]] = True
        place = (machine * nodes + language.targets[entry]) * n + first[0][machine, y, symbol]
        place = place * n + second[0][machine, z, symbol]
        frontier = np.unique(place[~seen[place] & ~differ[machine]])
    return ~differ


def _chosen(tables: Tables, rows: Ints | slice) -> Tables:
    return tables[0][rows], tables[1][rows]
