"""What solved products say: Q of the states visited, and how likely the demonstrations are.

Machines that are done wait at a desk until it is full, and are read side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whence._arrays import Bools, Floats
from whence.likelihood.kernels.arguments import Cells, World
from whence.likelihood.kernels.compiling import part
from whence.likelihood.kernels.constants import LANES
from whence.likelihood.kernels.lines import aligned
from whence.likelihood.kernels.packs import Pack
from whence.likelihood.kernels.row_reading import read_machines
from whence.likelihood.kernels.tables import Steps, Tables, empty_tables
from whence.likelihood.kernels.vectors import load, plus, spread, store, times, times_plus

_1, _2, _3 = np.uintp(1), np.uintp(2), np.uintp(3)


class Desk(NamedTuple):
    """Room for reading as many machines at a time as a pack holds.

    Attributes:
        live: bool[n], the states of a machine from which anything is paid.
        values: float64[rows * length], of the machines that wait; in tiled worlds the pack's own.
        steps: the demonstrated actions: row u * A + a is action a in visited state u.
        tables: what is worked out, and the machines that wait.
    """

    live: Bools
    values: Floats
    steps: Steps
    tables: Tables


def empty_desk(world: World, cells: Cells, steps: Steps, pack: Pack, m: int) -> Desk:
    """Return room for reading the machines of a pack, of m symbols each."""
    rows = len(cells.visited) * world.n_actions
    tiled = len(world.tiles) > 2
    return Desk(
        live=np.zeros(pack.n, dtype=np.bool_),
        values=pack.iterates[0] if tiled else aligned(world.n_rows * pack.length)[0],
        steps=steps,
        tables=empty_tables(rows, 0, steps, len(cells.parent), (pack.n, m)),
    )


@part
def lay_down(x, pack, desk):
    """Let machines that are done wait at the desk, with a copy of their values.

    Returns:
        Whether there was no room for all; the others keep their seats.
    """
    waiting, values, n, length = desk.tables.machines, desk.values, pack.n, pack.length
    place = 0
    for number in range(len(pack.seats)):
        seat = pack.seats[number]
        if not seat.done:
            continue
        while place < len(waiting) and waiting[place] >= 0:
            place += 1
        if place == len(waiting):
            return True
        waiting[place] = seat.machine
        seat.machine, seat.done = -1, False
        first, before = place * n, number * n
        for y in range(n):
            for row in range(0, x.shape[0], length):
                values[row + first + y] = x[row + before + y]
    return False


@part
def leave_seats(pack, desk):
    """Let machines that are done be read where they are."""
    for number in range(len(pack.seats)):
        seat = pack.seats[number]
        if seat.done:
            desk.tables.machines[number] = seat.machine
            seat.machine, seat.done = -1, False


@part
def _fill_q(visited, blocks, world, x, q):
    """Write Q of each action a in each visited state u to row u * A + a, one a lane."""
    n_actions, width, offsets = world.n_actions, world.width, world.offsets
    successors, probabilities = world.successors, world.probabilities
    for u in range(visited.shape[0]):
        for a in range(n_actions):
            pair = visited[u] * n_actions + a
            begin = pair * width if width > 0 else offsets[pair]
            end = begin + width if width > 0 else offsets[pair + 1]
            for c in range(blocks):
                total = spread(0.0)
                for e in range(np.uintp(begin), np.uintp(end)):
                    own = load(x, np.uintp(successors[e]) * blocks + c)
                    total = times_plus(spread(probabilities[e]), own, total)
                store(q, np.uintp(u * n_actions + a) * blocks + c, total)


@part
def _fill_four(visited, blocks, world, x, q):
    """Do as `_fill_q` does in a world of four directions."""
    places, ahead, aside = world.places, spread(world.shares[0]), spread(world.shares[1])
    north, south, east, west = (
        np.uintp(world.directions[0]), np.uintp(world.directions[1]),
        np.uintp(world.directions[2]), np.uintp(world.directions[3]),
    )  # fmt: skip
    for u in range(visited.shape[0]):
        i, row = np.uintp(4 * visited[u]), np.uintp(4 * u)
        for c in range(blocks):
            n = load(x, np.uintp(places[i]) * blocks + c)
            s = load(x, np.uintp(places[i + _1]) * blocks + c)
            e = load(x, np.uintp(places[i + _2]) * blocks + c)
            w = load(x, np.uintp(places[i + _3]) * blocks + c)
            along, across = times(aside, plus(e, w)), times(aside, plus(n, s))
            store(q, (row + north) * blocks + c, times_plus(ahead, n, along))
            store(q, (row + south) * blocks + c, times_plus(ahead, s, along))
            store(q, (row + east) * blocks + c, times_plus(ahead, e, across))
            store(q, (row + west) * blocks + c, times_plus(ahead, w, across))


@part
def write_values(world, x, length, lane, out):
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
def _write_q(n, many, n_actions, length, machines, q, out):
    """Write Q of the visited states of each machine that waits, by state, action and place."""
    for number in range(len(machines)):
        if machines[number] >= 0:
            own = out[machines[number]]
            for y in range(n):
                for a in range(n_actions):
                    for u in range(many):
                        value = q[(u * n_actions + a) * length + number * n + y]
                        own[(y * n_actions + a) * many + u] = value


@part
def read_desk(length, world, cells, machines, experts, desk, results):
    """Write what the machines that wait say; none is left."""
    tables, visited = desk.tables, cells.visited
    blocks = np.uintp(length // LANES)
    if world.places.shape[0] > 0:
        _fill_four(visited, blocks, world, desk.values, tables.x)
    else:
        _fill_q(visited, blocks, world, desk.values, tables.x)
    if results.q.shape[0] > 0:
        n, many = machines.transitions.shape[1], visited.shape[0]
        _write_q(n, many, world.n_actions, length, tables.machines, tables.x, results.q)
    out = results.log_likelihoods
    read_machines(
        world.floor < 0.0, length, 0, machines, experts, cells, desk.steps, tables, out, None,
        None,
    )  # fmt: skip
    for number in range(len(tables.machines)):
        tables.machines[number] = -1
