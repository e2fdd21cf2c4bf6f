"""Packs: machines that are solved side by side, each in a seat with lanes of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.kernels.arguments import World
from whence.likelihood.kernels.compiling import part
from whence.likelihood.kernels.constants import (
    EPSILON,
    LANES,
    PLAIN,
    REPEAT,
    WINDOW,
)
from whence.likelihood.kernels.lines import aligned, paged

SEAT = np.dtype(
    [
        ("machine", np.int64),  # -1: free
        ("done", np.bool_),
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


def empty_pack(world: World, n: int, m: int, kept: int) -> Pack:
    """Return a pack whose seats are free, for machines of n states and m symbols.

    So many iterates are `kept`, but in tiled worlds one.
    """
    length = LANES * ((n + LANES - 1) // LANES)
    tiled = len(world.tiles) > 2
    seats = np.zeros(max(LANES // n, 1), dtype=SEAT)
    seats["machine"] = -1
    watched = world.n_watched * length
    rows = (WINDOW * watched, WINDOW * LANES, LANES, LANES, m * length, LANES, REPEAT * LANES)
    changes, weights, low, high, paid, largest, of_tile = aligned(*rows)
    stepped = (world.window - 1, len(world.labels) * length) if tiled else (1, 0)
    return Pack(
        n=n,
        length=length,
        share=n if length == LANES else LANES,
        window=world.window,
        seats=seats,
        iterates=paged((1 if tiled else kept, world.n_rows * length), np.float64),
        steps=paged(stepped, np.float32),
        changes=changes.reshape(WINDOW, watched),
        weights=weights,
        low=low,
        high=high,
        paid=paid,
        targets=np.zeros(m * length, dtype=np.uint32),
        largest=largest,
        of_tile=of_tile.reshape(REPEAT, LANES),
    )


@part
def renew(seat):
    """Make a seat look at its machine's changes afresh."""
    seat.used = 0
    seat.since = 0
    seat.last = np.inf
    seat.reached = np.inf


@part
def admit(number, b, machines, world, pack, x):
    """Give machine b its lanes, with values of 0; those of no state of it stay so."""
    transitions, rewards = machines.transitions[b], machines.rewards[b]
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
    for y in range(lanes):
        for s in range(labels.shape[0]):
            x[s * length + first + y] = 0.0
            if labels[s] >= 0:
                x[entries[s] * length + first + y] = rewards[y, labels[s]] if y < n else 0.0
    least = most = 0.0
    for y in range(n):
        for symbol in range(transitions.shape[1]):
            endless = rewards[y, symbol] / (1.0 - world.discount)
            least = endless if endless < least else least
            most = endless if endless > most else most
    for j in range(number * share, (number + 1) * share):
        low[j] = least + world.floor
        high[j] = most
        for k in range(WINDOW):
            weights[k * LANES + j] = 1.0 if k == 0 else 0.0


@part
def move_in(number, source, porch, pack, x):
    """Give a seat the machine of another pack, with its values, after its plain rounds there."""
    n, length, share = pack.n, pack.length, pack.share
    seat, old = pack.seats[number], porch.seats[source]
    seat.machine = old.machine
    seat.rounds = PLAIN
    seat.pause = 0
    seat.pauses = 0
    renew(seat)
    old.machine = -1
    first, before = number * n, source * n
    lanes = n if length == LANES else length
    values = porch.iterates[0]
    for y in range(lanes):  # the short loop outside: it would not pay as vector instructions
        for row in range(0, x.shape[0], length):
            x[row + first + y] = values[row + before + y]
    for row in range(0, pack.paid.shape[0], length):
        for y in range(lanes):
            pack.paid[row + first + y] = porch.paid[row + before + y]
            pack.targets[row + first + y] = porch.targets[row + before + y] - before + first
    for j in range(share):
        pack.low[number * share + j] = porch.low[source * share + j]
        pack.high[number * share + j] = porch.high[source * share + j]
        for k in range(WINDOW):
            pack.weights[k * LANES + number * share + j] = 1.0 if k == 0 else 0.0


@part
def converged(change, goal, number, world, pack, x):
    """Return whether a machine is done: exact enough, or as exact as rounding allows.

    Rounding moves values by a few units in their last place for ever; the change no longer
    falls then.
    """
    if change <= goal:
        return True
    low, high = -pack.low[number * pack.share], pack.high[number * pack.share]
    bound = low if low > high else high
    if change > 64.0 * EPSILON * bound:
        return False
    first = number * pack.n
    largest = 0.0
    for s in range(world.labels.shape[0]):
        for j in range(s * pack.length + first, s * pack.length + first + pack.n):
            largest = abs(x[j]) if abs(x[j]) > largest else largest
    if change <= 4.0 * EPSILON * largest:
        return True
    return change <= 64.0 * EPSILON * largest and pack.seats[number].since > WINDOW
