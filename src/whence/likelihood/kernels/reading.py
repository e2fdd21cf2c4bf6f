"""What a solved product says: Q of the states visited, and how likely the demonstrations are."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.likelihood.kernels.arguments import Cells
from whence.likelihood.kernels.compiling import part
from whence.likelihood.kernels.constants import RESOLUTION, SMALLEST, TIE
from whence.likelihood.kernels.functions import exponentials, logarithms

_1, _2 = np.uintp(1), np.uintp(2)


class Desk(NamedTuple):
    """Room for reading one machine at a time.

    Attributes:
        live: bool[n], the machine states from which anything is paid.
        q: float64[n * A * U], Q of the states visited, by machine state, action and state.
        table: float64[n * A * U], the log probabilities.
        memory: uint32[H], the machine's state after each history, times m.
        following: uint32[n * m], transitions, times m.
        alive: bool[n * m], `live` at the multiples of m.
        bases: uint64[n * m], there too: where the state's part of `table` begins.
        best: float64[U], scratch.
        odds: float64[A * U], scratch.
        bits: int64[A * U], scratch, ...
        floats: float64[A * U], ... and the same memory as floating point numbers.
    """

    live: Bools
    q: Floats
    table: Floats
    memory: Ints
    following: Ints
    alive: Bools
    bases: Ints
    best: Floats
    odds: Floats
    bits: Ints
    floats: Floats


def empty_desk(n: int, m: int, n_actions: int, cells: Cells) -> Desk:
    """Return room for reading machines of n states and m symbols."""
    many = len(cells.visited)
    block = many * n_actions
    bits = np.zeros(block, dtype=np.int64)
    return Desk(
        live=np.zeros(n, dtype=np.bool_),
        q=np.zeros(n * block),
        table=np.zeros(n * block),
        memory=np.zeros(len(cells.parent), dtype=np.uint32),
        following=np.zeros(n * m, dtype=np.uint32),
        alive=np.zeros(n * m, dtype=np.bool_),
        bases=np.zeros(n * m, dtype=np.uintp),
        best=np.zeros(many),
        odds=np.zeros(block),
        bits=bits,
        floats=bits.view(np.float64),
    )


@part
def _visited_values(visited, world, x, length, lane, table):
    """Write Q of each visited state to table[a * U + u], for the machine state of a lane."""
    n_actions, width, offsets = world.n_actions, world.width, world.offsets
    successors, probabilities = world.successors, world.probabilities
    many = visited.shape[0]
    row, own = np.uintp(length), np.uintp(lane)
    for u in range(many):
        for a in range(n_actions):
            pair = visited[u] * n_actions + a
            if width == 3:
                e = np.uintp(3 * pair)
                total = (
                    probabilities[e] * x[np.uintp(successors[e]) * row + own]
                    + probabilities[e + _1] * x[np.uintp(successors[e + _1]) * row + own]
                    + probabilities[e + _2] * x[np.uintp(successors[e + _2]) * row + own]
                )
            elif width == 1:
                total = x[np.uintp(successors[np.uintp(pair)]) * row + own]
            else:
                total = 0.0
                for e in range(np.uintp(offsets[pair]), np.uintp(offsets[pair + 1])):
                    total += probabilities[e] * x[np.uintp(successors[e]) * row + own]
            table[a * many + u] = total


@part
def _four_values(visited, world, x, length, lane, table):
    """Do as `_visited_values` does in a world of four directions."""
    row, own, many = np.uintp(length), np.uintp(lane), visited.shape[0]
    places, ahead, aside = world.places, world.shares[0], world.shares[1]
    north, south, east, west = (
        world.directions[0] * many, world.directions[1] * many, world.directions[2] * many,
        world.directions[3] * many,
    )  # fmt: skip
    for u in range(many):
        i = np.uintp(4 * visited[u])
        n, s = x[np.uintp(places[i]) * row + own], x[np.uintp(places[i + _1]) * row + own]
        i += _2
        e, w = x[np.uintp(places[i]) * row + own], x[np.uintp(places[i + _1]) * row + own]
        along, across = aside * (e + w), aside * (n + s)
        table[north + u], table[south + u] = ahead * n + along, ahead * s + along
        table[east + u], table[west + u] = ahead * e + across, ahead * w + across


@part
def _values(world, x, length, lane, out):
    """Write the value of every state, for the machine state of a lane."""
    if world.soft:
        for s in range(out.shape[0]):
            out[s] = x[s * length + lane] / world.discount if world.discount > 0.0 else 0.0
        return
    n_actions, width, offsets = world.n_actions, world.width, world.offsets
    successors, probabilities = world.successors, world.probabilities
    for s in range(out.shape[0]):
        best = -np.inf
        for pair in range(s * n_actions, (s + 1) * n_actions):
            begin = pair * width if width > 0 else offsets[pair]
            end = begin + width if width > 0 else offsets[pair + 1]
            total = 0.0
            for e in range(begin, end):
                total += probabilities[e] * x[np.int64(successors[e]) * length + lane]
            best = total if total > best else best
        out[s] = best


@part
def read_out(first, count, length, world, x, visited, q, values):
    """Write Q of the visited states for each state of a machine, whose lanes begin at `first`.

    The values of all states are written, too, where `values` has room for a machine.
    """
    block = visited.shape[0] * world.n_actions
    for y in range(count):
        if values.shape[0] > 0:
            _values(world, x, length, first + y, values[0, y])
        own = q[y * block : (y + 1) * block]
        if world.places.shape[0] > 0:
            _four_values(visited, world, x, length, first + y, own)
        else:
            _visited_values(visited, world, x, length, first + y, own)


@part
def _sure_actions(n_actions, lapse, many, choices, closed, table, best):
    """Turn Q into log probabilities for alpha = inf: all the best actions are equally likely."""
    for i in closed:
        table[i] = -np.inf
    has = n_actions
    for u in range(many):
        if len(choices) > 0:
            has = choices[u]
        edge = best[u] - max(TIE, RESOLUTION * abs(best[u]))
        ties = 0
        for a in range(n_actions):
            ties += table[a * many + u] >= edge
        for a in range(n_actions):
            p = (1.0 - lapse) / ties if table[a * many + u] >= edge else 0.0
            p += lapse / has
            table[a * many + u] = math.log(p) if p > 0.0 else -np.inf


@part
def _mix_with_chance(n_actions, lapse, many, choices, total, odds):
    """Turn odds into the probabilities of an expert who lapses, in place."""
    if len(choices) == 0:
        for a in range(n_actions):
            for u in range(many):
                odds[a * many + u] = (1.0 - lapse) * odds[a * many + u] / total[
                    u
                ] + lapse / n_actions
        return
    for a in range(n_actions):
        for u in range(many):
            odds[a * many + u] = (1.0 - lapse) * odds[a * many + u] / total[u] + lapse / choices[u]


@part
def _fill_table(n_actions, alpha, lapse, many, choices, closed, table, desk):
    """Turn the Q of every action in every visited state into its log probability, in place.

    An action that a state does not have comes with the Q of one that it has, and gets no odds;
    what is written for it means nothing.
    """
    best, odds, bits, floats = desk.best, desk.odds, desk.bits, desk.floats
    size = many * n_actions
    for u in range(many):
        best[u] = table[u]
    for a in range(1, n_actions):
        row = table[a * many : (a + 1) * many]
        for u in range(many):
            best[u] = row[u] if row[u] > best[u] else best[u]
    if np.isinf(alpha):
        _sure_actions(n_actions, lapse, many, choices, closed, table, best)
        return
    for a in range(n_actions):
        row = table[a * many : (a + 1) * many]
        for u in range(many):
            row[u] = alpha * (row[u] - best[u])
    exponentials(table, size, odds, bits, floats)
    for i in closed:
        odds[i] = 0.0
    total = best
    for u in range(many):
        total[u] = odds[u]
    for a in range(1, n_actions):
        row = odds[a * many : (a + 1) * many]
        for u in range(many):
            total[u] += row[u]
    if lapse > 0.0:
        _mix_with_chance(n_actions, lapse, many, choices, total, odds)
        if lapse / n_actions > SMALLEST:
            logarithms(odds, size, table, bits, floats)
        else:
            for i in range(size):
                table[i] = math.log(odds[i])
        return
    normaliser = odds
    logarithms(total, many, normaliser, bits, floats)
    for a in range(n_actions):
        row = table[a * many : (a + 1) * many]
        for u in range(many):
            row[u] -= normaliser[u]


@part
def fill_tables(count, n_actions, alpha, lapse, cells, desk):
    """Write the log probabilities of one expert's actions, by live machine state."""
    many = cells.visited.shape[0]
    block = many * n_actions
    for y in range(count):
        if desk.live[y]:
            own = desk.table[y * block : (y + 1) * block]
            q = desk.q[y * block : (y + 1) * block]
            for i in range(block):
                own[i] = q[i]
            _fill_table(n_actions, alpha, lapse, many, cells.choices, cells.closed, own, desk)


@part
def at_random(n_actions, cells):
    """Return the log likelihood of all steps where every action is equally likely."""
    result = -math.log(n_actions) * cells.subtree_steps[0]
    return result + cells.subtree_extra[0] if len(cells.subtree_extra) > 0 else result


@part
def sum_cells(n_actions, transitions, cells, desk):
    """Sum the log probabilities of the demonstrated actions over the trie of histories.

    Each history waits for the machine state of the one before, so that path is kept short: states
    are held as the place of their row, unsigned, and what depends on them is looked up aside.
    """
    parent, symbol, first, key, counts = (
        cells.parent, cells.symbol, cells.first, cells.key, cells.counts,
    )  # fmt: skip
    memory, table = desk.memory, desk.table
    n, m = transitions.shape
    block = cells.visited.shape[0] * n_actions
    following, alive, bases = desk.following, desk.alive, desk.bases
    for y in range(n):
        alive[y * m] = desk.live[y]
        bases[y * m] = y * block
        for x in range(m):
            following[y * m + x] = transitions[y, x] * m
    uniform = -math.log(n_actions)
    masked = len(cells.subtree_extra) > 0
    n_nodes = parent.shape[0]
    node = 0
    result = 0.0
    row = np.uintp(0)
    while node < n_nodes:
        if node > 0:
            above = row if parent[node] == node - 1 else np.uintp(memory[np.uintp(parent[node])])
            row = np.uintp(following[above + np.uintp(symbol[node])])
        memory[node] = row
        if not alive[row]:
            result += cells.subtree_steps[node] * uniform
            if masked:
                result += cells.subtree_extra[node]
            node = cells.subtree_end[node]
            continue
        base = bases[row]
        here = 0.0
        for cell in range(np.uintp(first[node]), np.uintp(first[node + 1])):
            here += counts[cell] * table[base + key[cell]]
        result += here
        node += 1
    return result
