"""Anderson's method: the weights with which a machine's last iterates are combined."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.kernels.compiling import part
from whence.likelihood.kernels.constants import LANES, PATIENCE, PAUSE, PLAIN, WINDOW
from whence.likelihood.kernels.lines import aligned
from whence.likelihood.kernels.packs import renew
from whence.likelihood.kernels.vectors import load, plus, spread, store, times_plus


class Fit(NamedTuple):
    """What the weights are chosen from.

    Attributes:
        dots: float64[WINDOW * LANES], products of the latest changes with each round's.
        gram: float64[seats, WINDOW, WINDOW], products of the changes of all rounds.
        slots: int64[WINDOW], the rounds in use, the latest first.
        factor: float64[WINDOW, WINDOW], scratch.
        chosen: float64[WINDOW], weights.
    """

    dots: Floats
    gram: Floats
    slots: Ints
    factor: Floats
    chosen: Floats


def empty_fit(seats: int) -> Fit:
    """Return room for the weights of a pack with so many seats."""
    (dots,) = aligned(WINDOW * LANES)
    return Fit(
        dots=dots,
        gram=np.zeros((seats, WINDOW, WINDOW)),
        slots=np.zeros(WINDOW, dtype=np.int64),
        factor=np.zeros((WINDOW, WINDOW)),
        chosen=np.zeros(WINDOW),
    )


@part
def _weights(gram, slots, used, factor, weights):
    """Solve for the weights of Anderson's extrapolation; return whether that went well.

    `slots[0]` is the latest round, `slots[1:used]` are older ones; the weights sum to 1 and
    make the combined change of the rounds as small as possible: a least squares problem in the
    differences to the latest, whose matrix is factored as L D L'.
    """
    latest = slots[0]
    k = used - 1
    for i in range(k):
        a = slots[i + 1]
        right = gram[latest, latest] - gram[latest, a]
        for j in range(i + 1):
            b = slots[j + 1]
            value = right - gram[latest, b] + gram[a, b]
            if j == i:
                value += 1e-13 * value + 1e-300
            for c in range(j):
                value -= factor[i, c] * factor[j, c] * factor[c, c]
            if j < i:
                factor[i, j] = value / factor[j, j]
            elif value > 1e-290:
                factor[i, i] = value
            else:
                return False
        for c in range(i):
            right -= factor[i, c] * weights[c + 1]
        weights[i + 1] = right
    rest = 1.0
    for i in range(k - 1, -1, -1):
        value = weights[i + 1] / factor[i, i]
        for c in range(i + 1, k):
            value -= factor[c, i] * weights[c + 1]
        if not abs(value) < 1e6:
            return False
        weights[i + 1] = value
        rest -= value
    weights[0] = rest
    return True


@part
def _products(rows, one, other, out, at):
    """Write the sums of products of two arrays of rows, one a lane, to row `at` of `out`."""
    even = spread(0.0)
    odd = spread(0.0)
    for r in range(np.uintp(0), np.uintp(rows - rows % 2), np.uintp(2)):
        even = times_plus(load(one, r), load(other, r), even)
        odd = times_plus(load(one, r + np.uintp(1)), load(other, r + np.uintp(1)), odd)
    if rows % 2 == 1:
        r = np.uintp(rows - 1)
        even = times_plus(load(one, r), load(other, r), even)
    store(out, np.uintp(at), plus(even, odd))


@part
def may_extrapolate(seat, change, window):
    """Note the change of a round; return whether the machine's iterates may be combined."""
    if seat.rounds <= PLAIN:
        return False
    if change < 0.5 * seat.reached:
        seat.reached = change
        seat.since = 0
    else:
        seat.since += 1
    if seat.pause > 0:
        seat.pause -= 1
        if seat.pause == 0:
            renew(seat)
        return False
    if seat.since > PATIENCE:
        seat.pause = PAUSE << (seat.pauses if seat.pauses < 40 else 40)
        seat.pauses += 1
        seat.since = 0
        return False
    if change > 2.0 * seat.last:
        seat.used = 0
    seat.last = change
    if seat.used < window:
        seat.used += 1
    return True


@part
def compare(slot, changes, window, dots):
    """Write the products of the latest changes with those of the last rounds."""
    for age in range(window):
        k = (slot - age) % WINDOW
        _products(changes.shape[1] // LANES, changes[slot], changes[k], dots, k)


@part
def forget_weights(number, pack):
    """Make a machine go on from its latest iterate."""
    weights, first = pack.weights, number * pack.share
    for j in range(first, first + pack.share):
        weights[j] = 1.0
        for k in range(1, WINDOW):
            weights[k * LANES + j] = 0.0


@part
def reweigh(number, slot, pack, fit):
    """Choose the weights with which a machine's iterates are combined next."""
    seat, gram = pack.seats[number], fit.gram[number]
    first, share = number * pack.share, pack.share
    dots, slots, chosen, weights = fit.dots, fit.slots, fit.chosen, pack.weights
    for k in range(WINDOW):
        total = 0.0
        for j in range(k * LANES + first, k * LANES + first + share):
            total += dots[j]
        gram[slot, k] = total
        gram[k, slot] = total
    if seat.used < 2:
        return
    for k in range(seat.used):
        slots[k] = (slot - k) % WINDOW
    if not _weights(gram, slots, seat.used, fit.factor, chosen):
        seat.used = 0
        return
    for k in range(seat.used):
        for j in range(k * LANES + first, k * LANES + first + share):
            weights[j] = chosen[k]
