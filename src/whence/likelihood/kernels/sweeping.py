"""Sweeps over a world, and rounds of them over one that is a single tile."""

from __future__ import annotations

import numpy as np

from whence.likelihood.kernels.compiling import part
from whence.likelihood.kernels.constants import LANES, WINDOW
from whence.likelihood.kernels.vectors import (
    larger,
    load,
    load_short,
    minus,
    pick,
    plus,
    smaller,
    spread,
    store,
    store_short,
    times,
    times_plus,
)

NONE, ONE, THREE, FOUR = (
    np.int64(0),
    np.int64(1),
    np.int64(3),
    np.int64(4),
)  # of no literal type of their own
_0, _1, _2, _3, _4, _5 = (np.uintp(k) for k in range(WINDOW))


@part
def _best_of(at, n_actions, width, blocks, c, offsets, successors, probabilities, x):
    """Return the values of the best action in the world state `at`, one a lane."""
    one = np.uintp(1)  # unsigned indices need no check for their sign
    best = spread(0.0)
    e = np.uintp(at * n_actions * width)
    for a in range(n_actions):
        if width == 1:
            q = load(x, np.uintp(successors[e]) * blocks + c)
            e += one
        elif width == 3:
            q = times(spread(probabilities[e]), load(x, np.uintp(successors[e]) * blocks + c))
            e += one
            q = times_plus(
                spread(probabilities[e]), load(x, np.uintp(successors[e]) * blocks + c), q
            )
            e += one
            q = times_plus(
                spread(probabilities[e]), load(x, np.uintp(successors[e]) * blocks + c), q
            )
            e += one
        else:
            q = spread(0.0)
            pair = at * n_actions + a
            for e in range(np.uintp(offsets[pair]), np.uintp(offsets[pair + 1])):
                q = times_plus(
                    spread(probabilities[e]), load(x, np.uintp(successors[e]) * blocks + c), q
                )
        best = q if a == 0 else larger(best, q)
    if width == 1:  # all the probabilities are the same: 1, times the discount
        best = times(spread(probabilities[0]), best)
    return best


@part
def _best_of_four(at, blocks, c, places, ahead, aside, x):
    """Return the values of the best of four directions in the world state `at`, one a lane.

    Two opposite directions slip to the same places, so the better one is the one that leads
    to more.
    """
    e = np.uintp(4 * at)
    north = load(x, np.uintp(places[e]) * blocks + c)
    south = load(x, np.uintp(places[e + _1]) * blocks + c)
    east = load(x, np.uintp(places[e + _2]) * blocks + c)
    west = load(x, np.uintp(places[e + _3]) * blocks + c)
    along = times_plus(ahead, larger(north, south), times(aside, plus(east, west)))
    across = times_plus(ahead, larger(east, west), times(aside, plus(north, south)))
    return larger(along, across)


@part
def _best(at, width, blocks, c, world, ahead, aside, x):
    """Return the values of the best action in the world state `at`, times the discount."""
    if width == 4:
        return _best_of_four(at, blocks, c, world.places, ahead, aside, x)
    return _best_of(
        at, world.n_actions, width, blocks, c, world.offsets, world.successors, world.discounted, x
    )


@part
def enter(at, label, entry, blocks, x, paid, targets):
    """Write what it is worth to enter a labelled state, from its own values."""
    own = np.uintp(at) * blocks * np.uintp(LANES)
    for c in range(blocks):
        lanes = np.uintp(label) * blocks + c
        worth = plus(load(paid, lanes), pick(x, own, targets, lanes))
        store(x, np.uintp(entry) * blocks + c, worth)


@part
def swept(begin, end, again, width, worth, world, pack, x, step, moved, largest):
    """Sweep once over the world states of a tile and all actions, in place.

    `worth` says what a state is worth, from the values of what can follow it.
    The largest change of each lane is written to `largest`, and the changes of watched states
    to `moved`; `again`, they are added to what is there. All changes are added to `step`, unless
    that is None.
    """
    blocks = np.uintp(pack.length // LANES)
    paid, targets = pack.paid, pack.targets
    labels, entries, watch = world.labels, world.entries, world.watch
    ahead, aside = spread(world.shares[2]), spread(world.shares[3])
    most = spread(0.0)
    zero = spread(0.0)
    for s in range(begin, end):
        for c in range(blocks):
            best = worth(s, width, blocks, c, world, ahead, aside, x)
            row = np.uintp(s) * blocks + c
            change = minus(best, load(x, row))
            most = larger(most, larger(change, minus(zero, change)))
            store(x, row, best)
            if step is not None:
                store_short(step, row, plus(load_short(step, row), change))
            if watch[s] >= 0:
                w = np.uintp(watch[s]) * blocks + c
                if again:
                    change = plus(change, load(moved, w))
                store(moved, w, change)
        if labels[s] >= 0:
            enter(s, labels[s], entries[s], blocks, x, paid, targets)
    store(largest, _0, plus(load(largest, _0), most) if again else most)


@part
def sweep(begin, end, again, world, pack, x, step, moved, largest):
    """Do as `swept` does, compiled for each width, and for four directions."""
    if world.places.shape[0] > 0:
        swept(begin, end, again, FOUR, _best, world, pack, x, step, moved, largest)
    elif world.width == 1:
        swept(begin, end, again, ONE, _best, world, pack, x, step, moved, largest)
    elif world.width == 3:
        swept(begin, end, again, THREE, _best, world, pack, x, step, moved, largest)
    else:
        swept(begin, end, again, NONE, _best, world, pack, x, step, moved, largest)


@part
def combine(latest, pack):
    """Write the weighted sum of the iterates over the oldest one, within bounds.

    `weights` are in order of age, and so is the sum: rounding must not depend on the place that
    an iterate happens to have in the ring.
    """
    ring, weights, window = pack.iterates, pack.weights, pack.window
    w0, w1, w2 = load(weights, _0), load(weights, _1), load(weights, _2)
    w3, w4, w5 = load(weights, _3), load(weights, _4), load(weights, _5)
    least, most = load(pack.low, _0), load(pack.high, _0)
    x0, x1, x2 = ring[latest], ring[(latest - 1) % WINDOW], ring[(latest - 2) % WINDOW]
    x3, x4, x5 = (
        ring[(latest - 3) % WINDOW], ring[(latest - 4) % WINDOW], ring[(latest - 5) % WINDOW],
    )  # fmt: skip
    for row in range(np.uintp(ring.shape[1] // LANES)):
        value = times(w0, load(x0, row))
        value = times_plus(w1, load(x1, row), value)
        value = times_plus(w2, load(x2, row), value)
        value = times_plus(w3, load(x3, row), value)
        if window == WINDOW:
            value = times_plus(w4, load(x4, row), value)
            value = times_plus(w5, load(x5, row), value)
        store(x5, row, smaller(larger(value, least), most))


@part
def run_sweeps(times, x, moved, world, pack, sweep):
    """Sweep so many times over a world that is one tile.

    `largest` becomes the largest change of each lane in the last sweep, and the changes of
    watched states in all of them are written to `moved`.
    """
    for repeat in range(times):
        store(pack.largest, _0, spread(0.0))
        sweep(
            world.tiles[0], world.tiles[1], repeat > 0, world, pack, x, None, moved, pack.largest
        )
