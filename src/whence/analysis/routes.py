"""Routes: the order in which an optimal agent heads for labels, as a small automaton.

A node stands for what was read so far, an edge for a label that may be wanted next. After each
beginning the labels are kept that are next at least once in twenty times; beginnings after which
everything goes on alike are one node, so a loop is a loop. The automaton is minimal, its nodes are
numbered breadth-first and symbols are in the order of the alphabet: equal routes are equal values.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats
from whence.analysis.heading import Agent

RARE = 0.05  # a label that is next less often is read by accident
ALIKE = 0.01  # total variation up to which two beliefs are one
MANY, MOST = 24, 64  # nodes from which coarser signs make beliefs alike, and at most
MOST_STARTS = 64  # places that are asked one by one what is wanted first
ANYTHING = -2  # the symbol of a node that was not followed any further

Moves = tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True)
class Course:
    """What an agent heads for, from the worlds' starts on.

    Attributes:
        moves: for each node the labels that are wanted next, as (symbol, node), ascending;
            nothing where nothing more is wanted. Node 0 is the beginning.
        word: the likeliest sequence of labels, until it ends or comes back to a node.
        by_start: whether what is wanted first depends on the start alone.
    """

    moves: Moves
    word: tuple[int, ...]
    by_start: bool


class _Node(NamedTuple):
    symbol: int
    belief: Floats
    kept: dict[int, Floats]


def course(agent: Agent) -> Course:
    """Return what an agent heads for."""
    nodes = [_node(agent, ANYTHING, agent.start)]
    leads: list[dict[int, int]] = []
    while len(leads) < len(nodes):
        here = nodes[len(leads)]
        leads.append({})
        for symbol, mass in here.kept.items():
            after = _node(agent, symbol, mass / mass.sum())
            coarse = len(nodes) >= MANY
            at = next(
                (i for i, node in enumerate(nodes) if _alike(agent, node, after, coarse)), None
            )
            if at is None and len(nodes) < MOST:
                at = len(nodes)
                nodes.append(after)
            leads[-1][symbol] = MOST if at is None else at
    lists = [tuple(sorted(lead.items())) for lead in leads]
    if any(target == MOST for lead in leads for target in lead.values()):
        lists += [()] * (MOST - len(lists)) + [((ANYTHING, MOST),)]
    by_start = len(nodes[0].kept) > 1 and _decided_by_start(agent)
    moves = minimal(tuple(lists))
    return Course(moves, _once(moves, _likeliest(nodes, leads)), by_start)


def _node(agent: Agent, symbol: int, belief: Floats) -> _Node:
    """Return where an agent is after a label, and what it may want next."""
    found = agent.following(belief)
    total = float(sum(mass.sum() for mass in found.values()))
    if total < RARE:
        return _Node(symbol, belief, {})
    return _Node(symbol, belief, {s: m for s, m in found.items() if m.sum() >= RARE * total})


def _alike(agent: Agent, one: _Node, other: _Node, coarse: bool) -> bool:
    """Whether what follows two beginnings is the same; coarsely, as far as it shows."""
    if one.kept.keys() != other.kept.keys():
        return False
    if float(np.abs(one.belief - other.belief).sum()) / 2 <= ALIKE:
        return True
    return coarse and one.symbol == other.symbol and _held(agent, one) == _held(agent, other)


def _held(agent: Agent, node: _Node) -> tuple[int, ...]:
    """Return the machine's states that are likely enough."""
    mass = np.bincount(agent.memory, node.belief)
    return tuple(np.flatnonzero(mass >= RARE).tolist())


def _likeliest(nodes: list[_Node], leads: list[dict[int, int]]) -> tuple[int, ...]:
    word: list[int] = []
    seen, here = {0}, 0
    while here < len(leads) and nodes[here].kept:
        shares = {symbol: float(mass.sum()) for symbol, mass in nodes[here].kept.items()}
        symbol = max(shares, key=lambda each: (round(shares[each], 6), -each))
        word.append(symbol)
        here = leads[here][symbol]
        if here in seen:
            break
        seen.add(here)
    return tuple(word)


def _once(moves: Moves, word: tuple[int, ...]) -> tuple[int, ...]:
    """Return a sequence up to where the route first comes back to a node."""
    seen, here = {0}, 0
    for length, symbol in enumerate(word, start=1):
        here = dict(moves[here])[symbol]
        if here in seen:
            return word[:length]
        seen.add(here)
    return word


def _decided_by_start(agent: Agent) -> bool:
    """Whether from each start alone one label is wanted first."""
    for place in np.flatnonzero(agent.start)[:MOST_STARTS].tolist():
        alone = np.zeros(len(agent.start))
        alone[place] = 1.0
        if len(_node(agent, ANYTHING, alone).kept) > 1:
            return False
    return True


def minimal(moves: Moves) -> Moves:
    """Return the smallest automaton with the same sequences, nodes breadth-first."""
    kind = _ranks([tuple(symbol for symbol, _ in move) for move in moves])
    while True:
        rows = [(kind[i], *((s, kind[t]) for s, t in move)) for i, move in enumerate(moves)]
        finer = _ranks(rows)
        if max(finer) == max(kind):
            break
        kind = finer
    first: dict[int, int] = {}
    for node, each in enumerate(kind):
        first.setdefault(each, node)
    order, number = [kind[0]], {kind[0]: 0}
    for each in order:
        for _, target in moves[first[each]]:
            if kind[target] not in number:
                number[kind[target]] = len(order)
                order.append(kind[target])
    return tuple(
        tuple((symbol, number[kind[target]]) for symbol, target in moves[first[each]])
        for each in order
    )


def _ranks(rows: Sequence[Hashable]) -> list[int]:
    """Return a number for each row, equal for equal rows."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(row, len(seen)) for row in rows]


def beginning(moves: Moves, length: int) -> Moves:
    """Return the first labels of a route, as a minimal automaton without loops.

    Its last nodes have no moves: whether something is wanted after them is not said. A route
    that ends earlier is equal to those of its beginnings that are longer than itself.
    """
    number: dict[tuple[int, int], int] = {(0, length): 0}
    places = [(0, length)]
    lists: list[tuple[tuple[int, int], ...]] = []
    while len(lists) < len(places):
        node, left = places[len(lists)]
        edges = []
        for symbol, target in moves[node] if left else ():
            after = (target, left - 1)
            if after not in number:
                number[after] = len(places)
                places.append(after)
            edges.append((symbol, number[after]))
        lists.append(tuple(edges))
    return minimal(tuple(lists))


def ending(moves: Moves) -> frozenset[int] | None:
    """Return the symbols after which nothing more is wanted; None where that is not all.

    A route ends with them where each of its sequences does, and nothing ever follows one.
    """
    if longest(moves) is None:
        return None
    last = frozenset(symbol for move in moves for symbol, target in move if not moves[target])
    over = all(not moves[target] for move in moves for symbol, target in move if symbol in last)
    return last if over else None


def unavoidable(moves: Moves) -> frozenset[int]:
    """Return the symbols that are in every sequence of a route, sooner or later."""
    symbols = {symbol for move in moves for symbol, _ in move if symbol >= 0}
    return frozenset(symbol for symbol in symbols if not _without(moves, symbol))


def _without(moves: Moves, symbol: int) -> bool:
    """Whether a route can end, or go on for ever, without a symbol."""
    kept = tuple(tuple(edge for edge in move if edge[0] != symbol) for move in moves)
    seen, queue = {0}, [0]
    for node in queue:
        if not moves[node]:
            return True
        fresh = {target for _, target in kept[node]} - seen
        seen |= fresh
        queue += sorted(fresh)
    return longest(kept) is None


def cycle(moves: Moves, node: int = 0) -> tuple[int, ...] | None:
    """Return the labels of the loop that all of a route is, wherever on it the route begins.

    They begin where the sequence is the first in order. None where a route is something else.
    """
    order: list[int] = []
    here = first = moves[node][0][1] if moves[node] else node
    while here not in order:
        if len(moves[here]) != 1:
            return None
        order.append(here)
        here = moves[here][0][1]
    labels = tuple(moves[each][0][0] for each in order)
    read = dict(zip(order[1:] + order[:1], labels, strict=True))
    if here != first or any(read.get(target) != symbol for symbol, target in moves[node]):
        return None
    return min(labels[at:] + labels[:at] for at in range(len(labels)))


def longest(moves: Moves) -> int | None:
    """Return the length of a route's longest sequence; None where it goes on for ever."""
    reach: dict[int, int] = {}

    def depth(node: int, above: frozenset[int]) -> int | None:
        if node in above:
            return None
        if node not in reach:
            below = [depth(target, above | {node}) for _, target in moves[node]]
            if None in below:
                return None
            reach[node] = max((each + 1 for each in below if each is not None), default=0)
        return reach[node]

    return depth(0, frozenset())
