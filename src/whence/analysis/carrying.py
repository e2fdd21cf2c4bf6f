"""How an agent gets through its places, compiled: loaded when it is needed.

A sample has thousands of plans, each a few dozen of these walks of a few dozen steps, on some of
which no more than one place is passed: NumPy's calls would take longer than what they compute.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.kernels.compiling import kernel


@kernel
def reach(starts: Ints, offsets: Ints, target: Ints, number: Ints, order: Ints) -> int:
    """Return how many places are reached, and number them: those fewer steps away first.

    Args:
        starts: int64[I], ascending.
        offsets: int64[P + 1], where the steps of each place begin.
        target: int64[E], where each leads.
        number: int64[P], -1 everywhere; written: the number of each place that is reached.
        order: int64[P], written: the places by their numbers.
    """
    first, count = 0, len(starts)
    order[:count] = starts
    while first < count:
        layer = np.sort(order[first:count])
        for here in layer:
            order[first] = here
            number[here] = first
            first += 1
        for here in layer:
            for step in range(offsets[here], offsets[here + 1]):
                if number[target[step]] < 0:
                    number[target[step]] = count  # whatever it is, it is met
                    order[count] = target[step]
                    count += 1
    return count


@kernel
def carry(
    belief: Floats,
    offsets: Ints,
    target: Ints,
    chance: Floats,
    faint: float,
    left: float,
    most: int,
    steps: int,
    visits: Floats,
) -> bool:
    """Add up the visits to each place, and return whether the places stayed few enough.

    Args:
        belief: float64[R], where one begins.
        offsets: int64[R + 1], where the steps of each place begin.
        target: int64[E], where each leads.
        chance: float64[E].
        faint: mass of one place that is let go.
        left: mass of all, below which it ends.
        most: places that may be passed at the same time.
        steps: that are made at most.
        visits: float64[R], zeros; written.
    """
    mass, after = np.zeros(len(belief)), np.zeros(len(belief))
    places, entered = np.empty(len(belief), np.int64), np.empty(len(belief), np.int64)
    met = np.zeros(len(belief), np.bool_)
    count = 0
    for place in range(len(belief)):
        if belief[place] > faint:
            places[count] = place
            mass[place] = belief[place]
            count += 1
    for _ in range(steps):
        if count > most:
            return False
        fresh = 0
        for at in range(count):
            here = places[at]
            visits[here] += mass[here]
            for step in range(offsets[here], offsets[here + 1]):
                there = target[step]
                after[there] += mass[here] * chance[step]
                if not met[there]:
                    met[there] = True
                    entered[fresh] = there
                    fresh += 1
        count, total = 0, 0.0
        for at in range(fresh):
            there = entered[at]
            met[there] = False
            if after[there] > faint:
                places[count] = there
                mass[there] = after[there]
                total += after[there]
                count += 1
            after[there] = 0.0
        if total < left:
            break
    return True
