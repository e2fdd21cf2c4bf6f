"""How likely the demonstrations are under each machine of a batch, by a soft expert.

Values are in nats, less those of somebody who has all A actions everywhere and is never paid,
log(A) / (1 - discount): so that where all states have as many actions and nothing is paid, they
are 0. The solver is that of `scoring`; what differs is what a state is worth, which is the log of
a sum where the best expert takes the largest of its terms.
"""

from __future__ import annotations

import math

import numpy as np

from whence.likelihood.kernels.arguments import Experts, Machines, Results
from whence.likelihood.kernels.compiling import inlined, lean_kernel, part
from whence.likelihood.kernels.groups import own
from whence.likelihood.kernels.row_functions import log_of, rest, whole
from whence.likelihood.kernels.scoring import score_by, score_tiled_by
from whence.likelihood.kernels.sweeping import FOUR, NONE, ONE, THREE, swept
from whence.likelihood.kernels.vectors import (
    better,
    larger,
    load,
    minus,
    plus,
    scaled,
    smaller,
    spread,
    times,
    times_plus,
)

_1, _2, _3 = (np.uintp(k) for k in range(1, 4))


@inlined
def _summed(q, best, total):
    """Return the sum of exp over several numbers and q, relative to the larger of best and q."""
    lead = smaller(minus(q, best), minus(best, q))
    lead = larger(lead, spread(-700.0))
    k = whole(lead)
    odds = scaled(rest(lead, k), k)
    return better(q, best, times_plus(total, odds, spread(1.0)), plus(total, odds))


@part
def _expected(e, width, pair, blocks, c, world, x):
    """Return what follows a pair of state and action, on average; its transitions begin at e."""
    successors, probabilities = world.successors, world.probabilities
    if width == 1:
        return load(x, np.uintp(successors[e]) * blocks + c)
    if width == 3:
        q = times(spread(probabilities[e]), load(x, np.uintp(successors[e]) * blocks + c))
        q = times_plus(
            spread(probabilities[e + _1]), load(x, np.uintp(successors[e + _1]) * blocks + c), q
        )
        return times_plus(
            spread(probabilities[e + _2]), load(x, np.uintp(successors[e + _2]) * blocks + c), q
        )
    q = spread(0.0)
    for i in range(np.uintp(world.offsets[pair]), np.uintp(world.offsets[pair + 1])):
        q = times_plus(spread(probabilities[i]), load(x, np.uintp(successors[i]) * blocks + c), q)
    return q


@part
def _of_any(at, width, blocks, c, world, x):
    """Return the log of the sum over the actions of a state."""
    masked = world.open.shape[0] > 0
    best, total = spread(0.0), spread(0.0)
    first = at * world.n_actions
    found = False
    for pair in range(first, first + world.n_actions):
        if masked and not world.open[pair]:
            continue
        q = _expected(np.uintp(pair * width), width, pair, blocks, c, world, x)
        if found:
            total = _summed(q, best, total)
            best = larger(best, q)
        else:
            total, best = spread(1.0), q
            found = True
    return plus(best, log_of(total, spread(0.0)))


@part
def _of_four(at, blocks, c, world, x):
    """Return the log of the sum over four directions."""
    places, ahead, aside = world.places, spread(world.shares[0]), spread(world.shares[1])
    e = np.uintp(4 * at)
    north = load(x, np.uintp(places[e]) * blocks + c)
    south = load(x, np.uintp(places[e + _1]) * blocks + c)
    east = load(x, np.uintp(places[e + _2]) * blocks + c)
    west = load(x, np.uintp(places[e + _3]) * blocks + c)
    along, across = times(aside, plus(east, west)), times(aside, plus(north, south))
    best = times_plus(ahead, north, along)
    q = times_plus(ahead, south, along)
    total = _summed(q, best, spread(1.0))
    best = larger(best, q)
    q = times_plus(ahead, east, across)
    total = _summed(q, best, total)
    best = larger(best, q)
    q = times_plus(ahead, west, across)
    total = _summed(q, best, total)
    return plus(larger(best, q), log_of(total, spread(0.0)))


@part
def _soft(at, width, blocks, c, world, ahead, aside, x):
    """Return what a state is worth, times the discount, less what any is worth without pay."""
    if width == 4:
        value = _of_four(at, blocks, c, world, x)
    else:
        value = _of_any(at, width, blocks, c, world, x)
    return times(spread(world.discount), minus(value, spread(math.log(world.n_actions))))


@part
def _soft_sweep(begin, end, again, world, pack, x, step, moved, largest):
    """Do as `swept` does, compiled for each width, and for four directions."""
    if world.places.shape[0] > 0:
        swept(begin, end, again, FOUR, _soft, world, pack, x, step, moved, largest)
    elif world.width == 1:
        swept(begin, end, again, ONE, _soft, world, pack, x, step, moved, largest)
    elif world.width == 3:
        swept(begin, end, again, THREE, _soft, world, pack, x, step, moved, largest)
    else:
        swept(begin, end, again, NONE, _soft, world, pack, x, step, moved, largest)


@lean_kernel
def score_soft_batch(start, stop, world, cells, machines, experts, room, results):
    """Score the canonical machines start..stop-1, which pay in nats, in a world of one tile."""
    score_by(
        start, stop, own(world), own(cells), own(Machines(*machines)), own(Experts(*experts)),
        own(room), own(Results(*results)), _soft_sweep,
    )  # fmt: skip


@lean_kernel
def score_soft_tiled_batch(start, stop, world, cells, machines, experts, room, results):
    """Do as `score_soft_batch` does in a world of several tiles."""
    score_tiled_by(
        start, stop, own(world), own(cells), own(Machines(*machines)), own(Experts(*experts)),
        own(room), own(Results(*results)), _soft_sweep,
    )  # fmt: skip
