"""Rounds of sweeps over a large world, in tiles that stay in the cache meanwhile."""

from __future__ import annotations

import numpy as np

from whence.likelihood.kernels.compiling import part
from whence.likelihood.kernels.constants import LANES, LARGE_WINDOW, REPEAT, WINDOW
from whence.likelihood.kernels.sweeping import enter
from whence.likelihood.kernels.vectors import (
    larger,
    load,
    load_short,
    minus,
    plus,
    smaller,
    spread,
    store,
    store_short,
    times,
    times_plus,
)

_0, _1, _2, _3, _4, _5 = (np.uintp(k) for k in range(WINDOW))


@part
def _move(begin, end, latest, world, pack):
    """Combine the iterates of a tile's states, in place, from the last steps.

    The latest iterate is x, and older ones are reached by taking back one step after the other.
    The way is written over the oldest step.
    """
    blocks = np.uintp(pack.length // LANES)
    x, steps, weights, window = pack.iterates[0], pack.steps, pack.weights, pack.window
    labels, entries, paid, targets = world.labels, world.entries, pack.paid, pack.targets
    cycle = window - 1
    b4 = minus(spread(0.0), load(weights, _5))
    b3 = minus(b4, load(weights, _4))
    b2 = minus(b3, load(weights, _3))
    b1 = minus(b2, load(weights, _2))
    b0 = minus(b1, load(weights, _1))
    least, most = load(pack.low, _0), load(pack.high, _0)
    s0, s1, s2 = steps[latest], steps[(latest - 1) % cycle], steps[(latest - 2) % cycle]
    s3, s4 = steps[(latest - 3) % cycle], steps[(latest - 4) % cycle]
    step = steps[(latest + 1) % cycle]
    for s in range(begin, end):
        for c in range(blocks):
            row = np.uintp(s) * blocks + c
            way = times(b0, load_short(s0, row))
            way = times_plus(b1, load_short(s1, row), way)
            if window > LARGE_WINDOW:
                way = times_plus(b2, load_short(s2, row), way)
                way = times_plus(b3, load_short(s3, row), way)
                way = times_plus(b4, load_short(s4, row), way)
            old = load(x, row)
            new = smaller(larger(plus(old, way), least), most)
            store(x, row, new)
            store_short(step, row, minus(new, old))
        if labels[s] >= 0:
            enter(s, labels[s], entries[s], blocks, x, paid, targets)


@part
def run_tiled_round(latest, moved, world, pack, sweep):
    """Combine the iterates of a large world and sweep it REPEAT times, while tiles are cached.

    A tile is combined just before the first one that looks into it is swept, and swept again
    right after the one that follows it: as in sweeps of the whole world one after the other.
    The changes of watched states are written to `moved`.

    `largest` becomes a bound on the change of each lane in the whole pass, which is a contraction
    by the discount.
    """
    tiles, reach, largest, of_tile = world.tiles, world.reach, pack.largest, pack.of_tile
    x, step = pack.iterates[0], pack.steps[(latest + 1) % (pack.window - 1)]
    combined = 0
    store(largest, _0, spread(0.0))
    last = tiles.shape[0] - 2
    for tile in range(last + 2):
        while tile <= last and combined <= reach[tile]:
            _move(tiles[combined], tiles[combined + 1], latest, world, pack)
            combined += 1
        for repeat in range(REPEAT):
            at = tile - repeat
            if 0 <= at <= last:
                own = of_tile[at % REPEAT]
                sweep(tiles[at], tiles[at + 1], repeat > 0, world, pack, x, step, moved, own)
                store(largest, _0, larger(load(largest, _0), load(own, _0)))
