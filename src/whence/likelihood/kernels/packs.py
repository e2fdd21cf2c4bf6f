"""Packs: machines that are solved side by side, each in a seat with lanes of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.kernels.arguments import Space, World
from whence.likelihood.kernels.compiling import maker, part
from whence.likelihood.kernels.constants import (
    EPSILON,
    LANES,
    REPEAT,
    WINDOW,
)

SEAT = np.dtype(
    [
        ("machine", np.int64),  # -1: free
        ("rounds", np.int64),
        ("used", np.int64),  # iterates that the next extrapolation may use
        ("since", np.int64),  # rounds since the change halved
        ("pause", np.int64),  # rounds still to go without extrapolation
        ("pauses", np.int64),
        ("last", np.float64),  # the last change
        ("reached", np.float64),  # the change that must be halved
    ]
)


class Pack(NamedTuple):
    """The state of a solve, in rows of LANES numbers; a world state takes one or more of them.

    Attributes:
        n: states of a machine.
        length: numbers of a world state: LANES times the rows.
        share: lanes of a machine in arrays of one row.
        window: rounds that an extrapolation looks back on.
        seats: SEAT[...].
        iterates: float64[K, rows * length], a ring of the last ones, or in tiled worlds one.
        steps: float32[window - 1, S * length], a ring of the last ones in tiled worlds.
        changes: float64[WINDOW, watched * length], a ring: of the watched states.
        weights: float64[WINDOW * LANES], by age, with which iterates are combined.
        low: float64[LANES], bounds on values, ...
        high: float64[LANES], ... from below and from above.
        paid: float64[m * length], rewards.
        targets: uint32[m * length], the lanes that machines move to.
        largest: float64[LANES], the largest change of a lane.
        of_tile: float64[REPEAT, LANES], the same of tiles.
    """

    n: int
    length: int
    share: int
    window: int
    seats: Any
    iterates: Floats
    steps: Floats
    changes: Floats
    weights: Floats
    low: Floats
    high: Floats
    paid: Floats
    targets: Ints
    largest: Floats
    of_tile: Floats


def space(world: World, n: int) -> Space:
    """Return zeros for the iterates and steps of a pack of machines of n states."""
    length = LANES * ((n + LANES - 1) // LANES)
    if len(world.tiles) == 2:
        iterates, steps = WINDOW * world.n_rows * length, 0
    else:
        iterates = world.n_rows * length
        steps = (world.window - 1) * len(world.labels) * length
    # NumPy asks the system for large pages, which the compiled code's own arrays lack.
    room = Space(np.empty(iterates + 8), np.empty(steps + 16, dtype=np.float32))
    for numbers in room:
        numbers[:] = 0.0
    return room


@maker
def _from_line(buffer):
    """Return an array from its first cache line on."""
    return buffer[(-buffer.ctypes.data % 64) // buffer.itemsize :]


@maker
def aligned(size):
    """Return float64[size], zeros, at a multiple of 64 bytes: rows must not straddle lines."""
    return _from_line(np.zeros(size + 8))[:size]


@maker
def empty_pack(world, n, m, space):
    """Return a pack whose seats are free, for machines of n states and m symbols."""
    length = (n + LANES - 1) // LANES * LANES
    size = world.labels.shape[0]
    tiled = world.tiles.shape[0] > 2
    kept, cycle, stepped = (1, world.window - 1, size * length) if tiled else (WINDOW, 1, 0)
    held, watched = world.n_rows * length, world.n_watched * length
    seats = np.zeros(max(LANES // n, 1), dtype=SEAT)
    for number in range(len(seats)):
        seats[number].machine = -1
    return Pack(
        n,
        length,
        n if length == LANES else LANES,
        world.window,
        seats,
        _from_line(space.iterates)[: kept * held].reshape((kept, held)),
        _from_line(space.steps)[: cycle * stepped].reshape((cycle, stepped)),
        aligned(WINDOW * watched).reshape((WINDOW, watched)),
        aligned(WINDOW * LANES),
        aligned(LANES),
        aligned(LANES),
        aligned(m * length),
        np.zeros(m * length, dtype=np.uint32),
        aligned(LANES),
        aligned(REPEAT * LANES).reshape((REPEAT, LANES)),
    )


@part
def renew(seat):
    """Make a seat look at its machine's changes afresh."""
    seat.used = 0
    seat.since = 0
    seat.last = np.inf
    seat.reached = np.inf


@part
def admit(number, b, transitions, rewards, world, pack, x):
    """Give machine b its lanes, with values of 0; those of no state of it stay so."""
    n, length, share = pack.n, pack.length, pack.share
    labels, entries = world.labels, world.entries
    paid, targets, low, high, weights = (
        pack.paid, pack.targets, pack.low, pack.high, pack.weights,
    )  # fmt: skip
    seat = pack.seats[number]
    seat.machine = b
    seat.rounds = 0
    seat.pause = 0
    seat.pauses = 0
    renew(seat)
    first = number * n
    lanes = n if length == LANES else length
    for symbol in range(transitions.shape[1]):
        for y in range(lanes):
            paid[symbol * length + first + y] = rewards[y, symbol] if y < n else 0.0
            targets[symbol * length + first + y] = first + (transitions[y, symbol] if y < n else y)
    for s in range(labels.shape[0]):
        for y in range(lanes):
            x[s * length + first + y] = 0.0
            if labels[s] >= 0:
                x[entries[s] * length + first + y] = rewards[y, labels[s]] if y < n else 0.0
    least = most = 0.0
    for y in range(n):
        for symbol in range(transitions.shape[1]):
            least = min(least, rewards[y, symbol] / (1.0 - world.discount))
            most = max(most, rewards[y, symbol] / (1.0 - world.discount))
    for j in range(number * share, (number + 1) * share):
        low[j] = least
        high[j] = most
        for k in range(WINDOW):
            weights[k * LANES + j] = 1.0 if k == 0 else 0.0


@part
def converged(change, goal, number, world, pack, x):
    """Return whether a machine is done: exact enough, or as exact as rounding allows.

    Rounding moves values by a few units in their last place for ever; the change no longer
    falls then.
    """
    if change <= goal:
        return True
    bound = max(-pack.low[number * pack.share], pack.high[number * pack.share])
    if change > 64.0 * EPSILON * bound:
        return False
    first = number * pack.n
    largest = 0.0
    for s in range(world.labels.shape[0]):
        for j in range(s * pack.length + first, s * pack.length + first + pack.n):
            largest = max(largest, abs(x[j]))
    if change <= 4.0 * EPSILON * largest:
        return True
    return change <= 64.0 * EPSILON * largest and pack.seats[number].since > WINDOW
