"""How an optimal agent gets about, compiled: loaded when it is needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from whence._arrays import BLANK, Floats, Ints
from whence.likelihood.kernels.compiling import kernel, maker, part
from whence.likelihood.kernels.compiling import lean_kernel as lean


@maker
def _longer(array: Any) -> Any:
    """Return an array with room for as much again."""
    result = np.empty(2 * len(array), array.dtype)
    for i in range(len(array)):
        result[i] = array[i]
    return result


@part
def _weigh_actions(
    offsets: Ints, successors: Ints, probabilities: Floats, labels: Ints,
    following: Ints, paid: Floats, values: Floats, y: int, s: int, bounds: Floats, q: Floats,
) -> Any:  # fmt: skip
    """Write what each action in a place is worth, float64[A]; return the least of a best one."""
    best = -np.inf
    for a in range(len(q)):
        first, last = offsets[s * len(q) + a], offsets[s * len(q) + a + 1]
        q[a] = 0.0 if last > first else -np.inf
        for e in range(first, last):
            z, x = successors[e], labels[successors[e]]
            q[a] += probabilities[e] * (paid[y, x] + bounds[0] * values[following[y, x], z])
        best = max(best, q[a])
    return best - max(bounds[4], bounds[5] * abs(best))


@part
def _judge(after: int, y: int, reward: float, reading: float, gain: float, bounds: Floats) -> int:
    """Return 1 where a label is wanted, -1 where it is harmful, else 0: see `judged`."""
    if after == y and reward == 0:
        return 0
    if gain > max(bounds[2], bounds[3] * abs(reading)):
        return 1
    return -1 if gain < -max(bounds[2], bounds[3] * abs(reading - gain)) else 0


@kernel
def follow_best(
    offsets: Ints, successors: Ints, probabilities: Floats, labels: Ints,
    following: Ints, paid: Floats, values: Floats, bounds: Floats, places: Ints, number: Ints,
    q: Floats, count: int,
) -> tuple[Ints, Ints, Ints, Floats, Ints]:  # fmt: skip
    """Return the places that best actions lead to, breadth-first, and the steps between them.

    Args:
        offsets: int64[S * A + 1], of the world's transitions.
        successors: int32[N].
        probabilities: float64[N].
        labels: int32[S].
        following: int64[n, m + 1], the machine's transitions; the last column is blank's.
        paid: float64[n, m + 1].
        values: float64[n, S].
        bounds: float64[7]: the discount; the value up to which nothing is wanted; the least gain,
            and what of a value a delay costs; how close to the best action others are as good,
            as a number and as a share; how likely an outcome is no accident.
        places: int64[n * S], first those where the agent may begin; others are written.
        number: int64[n * S], the number of each place, or -1; updated.
        q: float64[A], for values of actions.
        count: how many places there are.

    Returns:
        the places, int64[R], as machine state * S + world state, and of each step the numbers of
        source and target, its chance, and the wanted label or -1.
    """
    size, used, head = values.shape[1], 0, 0
    source, target = np.empty(1024, np.int64), np.empty(1024, np.int64)
    symbol, chance = np.empty(1024, np.int64), np.empty(1024)
    while head < count:
        y, s = places[head] // size, places[head] % size
        head += 1
        if not values[y, s] > bounds[1]:
            continue
        least = _weigh_actions(
            offsets, successors, probabilities, labels, following, paid, values, y, s, bounds, q
        )
        good = 0
        for a in range(len(q)):
            good += q[a] >= least
        for a in range(len(q)):
            pair = s * len(q) + a
            for e in range(offsets[pair], offsets[pair + 1] if q[a] >= least else offsets[pair]):
                z, x = successors[e], labels[successors[e]]
                after = following[y, x]
                reading = paid[y, x] + bounds[0] * values[after, z]
                gain = reading - bounds[0] * values[y, z]
                judged = _judge(after, y, paid[y, x], reading, gain, bounds)
                if judged < 0 and after != y and probabilities[e] < bounds[6]:
                    continue
                place = after * size + z
                if number[place] < 0:
                    number[place], places[count] = count, place
                    count += 1
                if used == len(source):
                    source, target = _longer(source), _longer(target)
                    symbol, chance = _longer(symbol), _longer(chance)
                source[used], target[used] = head - 1, number[place]
                symbol[used], chance[used] = x if judged > 0 else BLANK, probabilities[e] / good
                used += 1
    return places[:count], source[:used], target[:used], chance[:used], symbol[:used]


@lean
def carry_belief(
    offsets: Ints, target: Ints, chance: Floats, place: Ints, mass: Floats, visits: Floats,
    fresh: Ints, ahead: Floats, limits: Floats, progress: Ints,
) -> None:  # fmt: skip
    """Carry a belief forward step by step, until little is left or it has spread too far.

    Args:
        offsets: int64[R + 1], of the steps by place.
        target: int64[...].
        chance: float64[...].
        place: int64[R], first the places where the agent may be; updated.
        mass: float64[R], how likely it is in each place; updated.
        visits: float64[R], the expected visits; added to.
        fresh: int64[R], for places.
        ahead: float64[R], 0 everywhere, now and afterwards.
        limits: float64[2], the mass that is let go: of one place, and of all.
        progress: int64[4]: how many places there are, and how many steps are left, updated; how
            many places are too many; and whether little is left, written.
    """
    count, left, most = progress[0], progress[1], progress[2]
    progress[3] = 0
    while left > 0 and count <= most and progress[3] == 0:
        left -= 1
        found = 0
        for i in range(count):
            here = place[i]
            visits[here] += mass[here]
            for e in range(offsets[here], offsets[here + 1]):
                there = target[e]
                if ahead[there] == 0.0:
                    fresh[found] = there
                    found += 1
                ahead[there] += mass[here] * chance[e]
        for i in range(count):
            mass[place[i]] = 0.0
        count, total = 0, 0.0
        for i in range(found):
            there = fresh[i]
            if ahead[there] > limits[0]:
                place[count] = there
                mass[there] = ahead[there]
                total += ahead[there]
                count += 1
            ahead[there] = 0.0
        if total < limits[1]:
            progress[3] = 1
    progress[0], progress[1] = count, left
