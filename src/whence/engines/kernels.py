"""Every compiled kernel. They live in one module: numba's disk cache sees edits of this file only.

How one product MDP is solved (`_solve`): policy iteration. A policy is improved by Gauss-Seidel
sweeps over all actions, in place, and then evaluated. Where the world is deterministic, a policy
is a graph with one arrow a state and its values are exact after one pass. Elsewhere it is
evaluated by sweeps over its own actions alone, with states in order of falling value, so that
a sweep carries a reward through everything that leads to it; Anderson's method extrapolates from
the last few sweeps, which ends the loops through which rewards come back again and again. The
policy is fixed meanwhile, so the problem is linear and extrapolation is safe. A final sweep over
all actions bounds the error: a sweep is a contraction by the discount, whatever came before it.

Product states are numbered y * S + s. Dead machine states, from which nothing is ever paid,
are worth 0 and take no part. `entering[y * S + s]` is what it is worth to enter s from machine
state y: the label read there moves the machine and pays.

Rows of the world are padded to `width` successors where that is cheap, else `width` is 0 and
`offsets` tells where they begin.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

WINDOW = 6  # sweeps that an extrapolation looks back on
WATCHED = 128  # values, about, that choose the weights of an extrapolation
BUCKETS = 512  # for ordering states by value
SORTED_LIMIT = 30_000  # product states up to which they are ordered by value
EPSILON = 2.220446049250313e-16
TIE = 1e-9
RESOLUTION = 1e-13


def _jit(function: Any) -> Any:
    """Compile with a disk cache where one can be had, and without where none can."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder for the cache can be written
        return njit(**options)(function)


def _inlined(function: Any) -> Any:
    """Compile into every caller: a call would pass each array as seven numbers."""
    return njit(inline="always", error_model="numpy")(function)


@_inlined
def _action_values(s, n_actions, width, offsets, successors, probabilities, entering, q):
    """Write Q of all actions of a world state to q[:A]; return the best.

    `entering` is what entering each world state is worth, for one machine state.
    """
    best = -np.inf
    one = np.uintp(1)  # unsigned indices need no check for their sign
    if width == 1:
        e = np.uintp(s * n_actions)
        for a in range(n_actions):
            q[a] = probabilities[e] * entering[successors[e]]
            best = q[a] if q[a] > best else best
            e += one
    elif width == 3:
        e = np.uintp(3 * s * n_actions)
        for a in range(n_actions):
            total = probabilities[e] * entering[successors[e]]
            e += one
            total += probabilities[e] * entering[successors[e]]
            e += one
            total += probabilities[e] * entering[successors[e]]
            e += one
            q[a] = total
            best = total if total > best else best
    else:
        for a in range(n_actions):
            pair = s * n_actions + a
            total = 0.0
            for e in range(np.uintp(offsets[pair]), np.uintp(offsets[pair + 1])):
                total += probabilities[e] * entering[successors[e]]
            q[a] = total
            best = total if total > best else best
    return best


@_jit
def _reachable(transitions, order):
    """Write the states reachable from 0, breadth-first, to `order`; return how many."""
    n, m = transitions.shape
    seen = np.zeros(n, dtype=np.bool_)
    seen[0] = True
    order[0] = 0
    count = 1
    head = 0
    while head < count:
        y = order[head]
        head += 1
        for x in range(m):
            target = transitions[y, x]
            if not seen[target]:
                seen[target] = True
                order[count] = target
                count += 1
    return count


@_jit
def canonical_batch(transitions, rewards, readable, out_transitions, out_rewards, counts):
    """Write the canonical reachable part of each machine; the rest becomes unreachable zeros.

    Columns of symbols that the world cannot show count as staying and paying 0.

    Args:
        transitions: int64[B, n, m].
        rewards: float64[B, n, m].
        readable: bool[m].
        out_transitions: int64[B, n, m], written.
        out_rewards: float64[B, n, m], written.
        counts: int64[B], the number of reachable states, written.
    """
    size, n, m = transitions.shape
    order = np.empty(n, dtype=np.int64)
    new = np.empty(n, dtype=np.int64)
    table = np.empty((n, m), dtype=np.int64)
    for b in range(size):
        for y in range(n):
            for x in range(m):
                table[y, x] = transitions[b, y, x] if readable[x] else y
        count = _reachable(table, order)
        counts[b] = count
        for i in range(count):
            new[order[i]] = i
        for i in range(n):
            for x in range(m):
                if i < count:
                    y = order[i]
                    out_transitions[b, i, x] = new[table[y, x]]
                    out_rewards[b, i, x] = rewards[b, y, x] if readable[x] else 0.0
                else:
                    out_transitions[b, i, x] = i
                    out_rewards[b, i, x] = 0.0


@_jit
def _find_live(transitions, rewards, count, live):
    """Mark the machine states from which a non-zero reward can be reached; return how many."""
    m = transitions.shape[1]
    for y in range(count):
        live[y] = False
        for x in range(m):
            if rewards[y, x] != 0.0:
                live[y] = True
    changed = True
    while changed:
        changed = False
        for y in range(count):
            if not live[y]:
                for x in range(m):
                    if live[transitions[y, x]]:
                        live[y] = True
                        changed = True
                        break
    total = 0
    for y in range(count):
        if live[y]:
            total += 1
    return total


@_jit
def _enter_all(count, live, transitions, rewards, labels, discount, values, entering):
    """Compute `entering` from `values` for all live machine states."""
    size = labels.shape[0]
    for y in range(count):
        if not live[y]:
            continue
        for s in range(size):
            x = labels[s]
            if x < 0:
                entering[y * size + s] = discount * values[y * size + s]
            else:
                target = transitions[y, x]
                worth = rewards[y, x]
                if live[target]:
                    worth += discount * values[target * size + s]
                entering[y * size + s] = worth


@_inlined
def _improved(
    backward, count, live, n_actions, width, offsets, successors, probabilities, labels,
    transitions, rewards, discount, values, entering, policy, q, moved, n_moved,
):  # fmt: skip
    """Sweep once over all actions, in place.

    An action is changed only for one that is better by more than rounding. The product states
    where one is are written to `moved` behind the `n_moved` that stand there already, as far as
    there is room.

    Returns:
        The largest change of a value, the largest value, and the new `n_moved`.
    """
    size = labels.shape[0]
    change = 0.0
    largest = 0.0
    for y in range(count):
        if not live[y]:
            continue
        base = y * size
        inside = entering[base : base + size]
        worth = values[base : base + size]
        chosen = policy[base : base + size]
        for step in range(size):
            s = size - 1 - step if backward else step
            best = _action_values(
                s, n_actions, width, offsets, successors, probabilities, inside, q
            )
            kept = q[chosen[s]]
            if best > kept + RESOLUTION * abs(kept):
                if n_moved < moved.shape[0]:
                    moved[n_moved] = base + s
                n_moved += 1
                for a in range(n_actions):
                    if q[a] == best:
                        chosen[s] = a
                        break
            else:
                best = kept
            difference = abs(best - worth[s])
            change = difference if difference > change else change
            largest = abs(best) if abs(best) > largest else largest
            worth[s] = best
            x = labels[s]
            if x < 0:
                inside[s] = discount * best
            else:
                for z in range(count):
                    if live[z] and transitions[z, x] == y:
                        entering[z * size + s] = rewards[z, x] + discount * best
    return change, largest, n_moved


@_jit
def _improve(
    backward, count, live, n_actions, width, offsets, successors, probabilities, labels,
    transitions, rewards, discount, values, entering, policy, q, moved, n_moved,
):  # fmt: skip
    """Do as `_improved` does, compiled for each width."""
    if width == 1:
        return _improved(
            backward, count, live, n_actions, 1, offsets, successors, probabilities, labels,
            transitions, rewards, discount, values, entering, policy, q, moved, n_moved,
        )  # fmt: skip
    if width == 3:
        return _improved(
            backward, count, live, n_actions, 3, offsets, successors, probabilities, labels,
            transitions, rewards, discount, values, entering, policy, q, moved, n_moved,
        )  # fmt: skip
    return _improved(
        backward, count, live, n_actions, 0, offsets, successors, probabilities, labels,
        transitions, rewards, discount, values, entering, policy, q, moved, n_moved,
    )  # fmt: skip


@_jit
def _order_by_value(sort, count, live, size, values, place, product_of, tally):
    """Number the live product states by falling value, nearly; return how many there are.

    Without `sort`, or where there are very many, they stay in their own order.

    `place[j]` is the position of product state j, and `product_of[i]` the state at position i.
    """
    low, high = np.inf, -np.inf
    live_states = 0
    for y in range(count):
        if live[y]:
            live_states += 1
            for j in range(y * size, (y + 1) * size):
                if values[j] < low:
                    low = values[j]
                if values[j] > high:
                    high = values[j]
    total = live_states * size
    if not sort or total > SORTED_LIMIT or not high > low:
        position = 0
        for y in range(count):
            if live[y]:
                for j in range(y * size, (y + 1) * size):
                    place[j] = position
                    product_of[position] = j
                    position += 1
        return total
    scale = (BUCKETS - 1) / (high - low)
    tally[:] = 0
    for y in range(count):
        if live[y]:
            for j in range(y * size, (y + 1) * size):
                tally[int((high - values[j]) * scale)] += 1
    position = 0
    for bucket in range(BUCKETS):
        amount = tally[bucket]
        tally[bucket] = position
        position += amount
    for y in range(count):
        if live[y]:
            for j in range(y * size, (y + 1) * size):
                bucket = int((high - values[j]) * scale)
                place[j] = tally[bucket]
                product_of[tally[bucket]] = j
                tally[bucket] += 1
    return total


@_jit
def _fix_policy(
    count, live, n_actions, width, offsets, successors, probabilities, labels, transitions,
    rewards, discount, policy, place, stride, lengths, target, factor, constant, moved, n_moved,
):  # fmt: skip
    """Write the linear equations of a policy: x[i] = constant[i] + sum of factor * x[target].

    Those of position i stand at i * stride, and there are lengths[i] of them. Only the product
    states that `moved` lists are written, or all where there was no room to list them.
    """
    size = labels.shape[0]
    if n_moved > moved.shape[0]:
        n_moved = 0
        for y in range(count):
            if live[y]:
                for s in range(size):
                    moved[n_moved] = y * size + s
                    n_moved += 1
    y = 0
    base = 0
    for item in range(n_moved):
        j = moved[item]
        if j < base or j >= base + size:
            y = j // size
            base = y * size
        i = place[j]
        pair = (j - base) * n_actions + policy[j]
        start = pair * width if width > 0 else offsets[pair]
        length = width if width > 0 else offsets[pair + 1] - start
        paid = 0.0
        for k in range(length):
            following = successors[start + k]
            p = probabilities[start + k]
            x = labels[following]
            e = i * stride + k
            if x < 0:
                target[e] = place[base + following]
                factor[e] = p * discount
            else:
                paid += p * rewards[y, x]
                z = transitions[y, x]
                target[e] = place[z * size + following] if live[z] else i
                factor[e] = p * discount if live[z] else 0.0
        lengths[i] = length
        constant[i] = paid


@_jit
def _sweep(total, stride, lengths, target, factor, constant, x):
    """One Gauss-Seidel sweep over a policy's equations, in place; return the largest change."""
    change = 0.0
    if stride == 1:
        for i in range(total):
            new = constant[i] + factor[i] * x[target[i]]
            difference = abs(new - x[i])
            change = difference if difference > change else change
            x[i] = new
    elif stride == 3:
        for i in range(total):
            e = 3 * i
            new = (
                constant[i]
                + factor[e] * x[target[e]]
                + factor[e + 1] * x[target[e + 1]]
                + factor[e + 2] * x[target[e + 2]]
            )
            difference = abs(new - x[i])
            change = difference if difference > change else change
            x[i] = new
    else:
        for i in range(total):
            new = constant[i]
            for e in range(i * stride, i * stride + lengths[i]):
                new += factor[e] * x[target[e]]
            difference = abs(new - x[i])
            change = difference if difference > change else change
            x[i] = new
    return change


@_jit
def _follow(total, target, factor, constant, x, mark, path):
    """Solve x[i] = constant[i] + factor[i] * x[target[i]] exactly, in one pass.

    With one successor a state, a policy is a graph in which every path ends in a cycle (a
    factor of 0 ends it, too). A cycle's value is a geometric series; the rest follows backward.
    """
    for i in range(total):
        mark[i] = -1
    for start in range(total):
        length = 0
        i = start
        while mark[i] == -1:
            mark[i] = start
            path[length] = i
            length += 1
            i = target[i]
        if length > 0 and mark[i] == start:
            first = length - 1
            while path[first] != i:
                first -= 1
            paid, weight = 0.0, 1.0
            for k in range(first, length):
                paid += weight * constant[path[k]]
                weight *= factor[path[k]]
            x[i] = paid / (1.0 - weight)
            for k in range(length - 1, first, -1):
                x[path[k]] = constant[path[k]] + factor[path[k]] * x[target[path[k]]]
            length = first
        for k in range(length - 1, -1, -1):
            x[path[k]] = constant[path[k]] + factor[path[k]] * x[target[path[k]]]


@_jit
def _weights(gram, slots, used, matrix, right, weights):
    """Solve for the weights of Anderson's extrapolation; return whether that went well.

    `slots[0]` is the latest sweep, `slots[1:used]` are older ones; the weights sum to 1 and
    make the combined change of the sweeps as small as possible.
    """
    latest = slots[0]
    k = used - 1
    for i in range(k):
        a = slots[i + 1]
        right[i] = gram[latest, latest] - gram[latest, a]
        for j in range(k):
            b = slots[j + 1]
            matrix[i, j] = gram[latest, latest] - gram[latest, b] - gram[a, latest] + gram[a, b]
    for i in range(k):
        matrix[i, i] += 1e-13 * matrix[i, i] + 1e-300
    for i in range(k):
        pivot = i
        for r in range(i + 1, k):
            if abs(matrix[r, i]) > abs(matrix[pivot, i]):
                pivot = r
        if not abs(matrix[pivot, i]) > 1e-290:
            return False
        for c in range(k):
            matrix[i, c], matrix[pivot, c] = matrix[pivot, c], matrix[i, c]
        right[i], right[pivot] = right[pivot], right[i]
        for r in range(i + 1, k):
            ratio = matrix[r, i] / matrix[i, i]
            for c in range(i, k):
                matrix[r, c] -= ratio * matrix[i, c]
            right[r] -= ratio * right[i]
    rest = 1.0
    for i in range(k - 1, -1, -1):
        value = right[i]
        for c in range(i + 1, k):
            value -= matrix[i, c] * weights[c + 1]
        weights[i + 1] = value / matrix[i, i]
        if not abs(weights[i + 1]) < 1e6:
            return False
        rest -= weights[i + 1]
    weights[0] = rest
    return True


@_jit
def _combine(total, iterates, slots, used, weights, x, low, high):
    """Write the weighted sum of the last iterates to x, kept between `low` and `high`.

    Two iterates are added a pass, which halves the traffic to x.
    """
    first = weights[0]
    for i in range(total):
        x[i] = first * x[i]
    for k in range(1, used - 1, 2):
        one, other = iterates[slots[k]], iterates[slots[k + 1]]
        p, r = weights[k], weights[k + 1]
        for i in range(total):
            x[i] += p * one[i] + r * other[i]
    if used % 2 == 0:
        last = iterates[slots[used - 1]]
        p = weights[used - 1]
        for i in range(total):
            x[i] += p * last[i]
    for i in range(total):
        value = low if x[i] < low else x[i]
        x[i] = high if value > high else value


@_jit
def _evaluate(
    total, stride, lengths, target, factor, constant, x, watched, n_watched, before,
    iterates, changes, gram, slots, matrix, right, weights, goal, low, high, most,
):  # fmt: skip
    """Solve a policy's equations to a largest change of `goal`; return the number of sweeps."""
    used = 0
    slot = -1
    last = np.inf
    for sweep in range(most):
        for i in range(n_watched):
            before[i] = x[watched[i]]
        change = _sweep(total, stride, lengths, target, factor, constant, x)
        if change <= goal:
            return sweep + 1
        if change > 2.0 * last:
            used = 0
        last = change
        slot = (slot + 1) % WINDOW
        used = min(used + 1, WINDOW)
        kept = iterates[slot]
        for i in range(total):
            kept[i] = x[i]
        moved = changes[slot]
        for i in range(n_watched):
            moved[i] = x[watched[i]] - before[i]
        for i in range(used):
            other = (slot - i) % WINDOW
            slots[i] = other
            older = changes[other]
            dot0, dot1, dot2, dot3 = 0.0, 0.0, 0.0, 0.0
            stop = n_watched - n_watched % 4
            for w in range(0, stop, 4):
                dot0 += moved[w] * older[w]
                dot1 += moved[w + 1] * older[w + 1]
                dot2 += moved[w + 2] * older[w + 2]
                dot3 += moved[w + 3] * older[w + 3]
            for w in range(stop, n_watched):
                dot0 += moved[w] * older[w]
            gram[slot, other] = (dot0 + dot1) + (dot2 + dot3)
            gram[other, slot] = gram[slot, other]
        if used < 2:
            continue
        if not _weights(gram, slots, used, matrix, right, weights):
            used = 0
            continue
        _combine(total, iterates, slots, used, weights, x, low, high)
    return most


@_jit
def _bounds(rewards, count, discount):
    """Return the least and the largest value that a machine's rewards can add up to."""
    low, high = 0.0, 0.0
    for y in range(count):
        for x in range(rewards.shape[1]):
            low = min(low, rewards[y, x] / (1.0 - discount))
            high = max(high, rewards[y, x] / (1.0 - discount))
    return low, high


@_jit
def _watch(count, live, size, labelled, place, watched):
    """Choose the positions that decide on extrapolations: labelled states, some if many."""
    skip = 1 + labelled.shape[0] * count // WATCHED
    found = 0
    for y in range(count):
        if live[y]:
            for k in range(0, labelled.shape[0], skip):
                watched[found] = place[y * size + labelled[k]]
                found += 1
    return found


@_jit
def _solve(
    count, live, n_actions, width, offsets, successors, probabilities, labels, labelled,
    transitions, rewards, discount, tolerance, values, entering, policy, place, product_of,
    tally, stride, lengths, target, factor, constant, x, watched, before, iterates, changes, q,
    moved, mark, path,
):  # fmt: skip
    """Solve a product; `values` end within `tolerance` of exact. Return the number of sweeps.

    A sweep over all actions whose largest change is d leaves every value within
    d * discount / (1 - discount) of exact, so it ends there, or where d is mere rounding.
    """
    size = labels.shape[0]
    low, high = _bounds(rewards, count, discount)
    values[: count * size] = 0.0
    policy[: count * size] = 0
    _enter_all(count, live, transitions, rewards, labels, discount, values, entering)
    gram = np.zeros((WINDOW, WINDOW))
    matrix = np.empty((WINDOW, WINDOW))
    right = np.empty(WINDOW)
    weights = np.empty(WINDOW)
    slots = np.empty(WINDOW, dtype=np.int64)
    error_of_change = discount / (1.0 - discount)
    most_sweeps = 10_000 + 60.0 / (1.0 - discount)  # by then plain sweeps have converged
    sweeps = 0
    rounds = 0
    total = np.int64(0)  # typed, or each function that gets one is compiled twice
    n_watched = np.int64(0)
    n_moved = np.int64(0)
    while True:
        change, largest, n_moved = _improve(
            sweeps % 2 == 1, count, live, n_actions, width, offsets, successors, probabilities,
            labels, transitions, rewards, discount, values, entering, policy, q, moved, n_moved,
        )  # fmt: skip
        sweeps += 1
        done = change * error_of_change <= tolerance or change <= 4.0 * EPSILON * largest
        if done or sweeps > most_sweeps:
            return sweeps
        if sweeps < 2 or rounds >= 60:
            continue
        rounds += 1
        if rounds == 1 or (stride > 1 and rounds <= 4 and 8 * n_moved > total):
            total = _order_by_value(
                stride > 1, count, live, size, values, place, product_of, tally
            )
            n_moved = moved.shape[0] + 1
            n_watched = _watch(count, live, size, labelled, place, watched)
        _fix_policy(
            count, live, n_actions, width, offsets, successors, probabilities, labels,
            transitions, rewards, discount, policy, place, stride, lengths, target, factor,
            constant, moved, n_moved,
        )  # fmt: skip
        if stride == 1:
            _follow(total, target, factor, constant, x, mark, path)
            sweeps += 1
        else:
            for i in range(total):
                x[i] = values[product_of[i]]
            goal = 0.25 * tolerance / error_of_change
            if n_moved > 0:
                goal = max(goal, 1e-2 * change)
            sweeps += _evaluate(
                total, stride, lengths, target, factor, constant, x, watched, n_watched, before,
                iterates, changes, gram, slots, matrix, right, weights, goal, low, high, 60,
            )  # fmt: skip
        n_moved = np.int64(0)
        for i in range(total):
            values[product_of[i]] = x[i]
        _enter_all(count, live, transitions, rewards, labels, discount, values, entering)


@_jit
def _exponentials(x, size, out, bits, powers):
    """Write exp(x[i]) to out[i] for x[i] <= 0, correctly rounded but for the last digits.

    exp(x) = 2^k exp(r) with |r| <= log(2) / 2; the loops have no branches, so that they compile
    to vector instructions. `powers` is `bits` seen as floating point numbers.
    """
    for i in range(size):
        y = x[i] if x[i] > -700.0 else -700.0
        k = math.floor(y * 1.4426950408889634 + 0.5)
        r = (y - k * 0.6931471803691238) - k * 1.9082149292705877e-10
        p = 1.6059043836821613e-10
        p = p * r + 2.08767569878681e-09
        p = p * r + 2.505210838544172e-08
        p = p * r + 2.755731922398589e-07
        p = p * r + 2.7557319223985893e-06
        p = p * r + 2.48015873015873e-05
        p = p * r + 0.0001984126984126984
        p = p * r + 0.001388888888888889
        p = p * r + 0.008333333333333333
        p = p * r + 0.041666666666666664
        p = p * r + 0.16666666666666666
        p = p * r + 0.5
        p = p * r + 1.0
        out[i] = p * r + 1.0
        bits[i] = (np.int64(k) + 1023) << 52
    for i in range(size):
        out[i] *= powers[i]


@_jit
def _visited_values(
    visited, n_actions, width, offsets, successors, probabilities, inside, q, table
):
    """Write Q of every action in every visited state to `table`, for one machine state."""
    if width == 3:
        for u in range(visited.shape[0]):
            e = np.uintp(3 * visited[u] * n_actions)
            for i in range(u * n_actions, (u + 1) * n_actions):
                table[i] = (
                    probabilities[e] * inside[successors[e]]
                    + probabilities[e + np.uintp(1)] * inside[successors[e + np.uintp(1)]]
                    + probabilities[e + np.uintp(2)] * inside[successors[e + np.uintp(2)]]
                )
                e += np.uintp(3)
    elif width == 1:
        for u in range(visited.shape[0]):
            e = np.uintp(visited[u] * n_actions)
            for i in range(u * n_actions, (u + 1) * n_actions):
                table[i] = probabilities[e] * inside[successors[e]]
                e += np.uintp(1)
    else:
        for u in range(visited.shape[0]):
            _action_values(
                visited[u], n_actions, width, offsets, successors, probabilities, inside, q
            )
            for a in range(n_actions):
                table[u * n_actions + a] = q[a]


@_jit
def _fill_table(n_actions, alpha, lapse, n_visited, table, odds, bits, powers):
    """Turn the Q of every action in every visited state into its log probability, in place."""
    size = n_visited * n_actions
    for start in range(0, size, n_actions):
        best = -np.inf
        for i in range(start, start + n_actions):
            best = table[i] if table[i] > best else best
        if np.isinf(alpha):
            edge = best - max(TIE, RESOLUTION * abs(best))
            ties = 0
            for i in range(start, start + n_actions):
                ties += table[i] >= edge
            for i in range(start, start + n_actions):
                p = (1.0 - lapse) / ties if table[i] >= edge else 0.0
                p += lapse / n_actions
                table[i] = math.log(p) if p > 0.0 else -np.inf
        else:
            for i in range(start, start + n_actions):
                table[i] = alpha * (table[i] - best)
    if np.isinf(alpha):
        return
    _exponentials(table, size, odds, bits, powers)
    for start in range(0, size, n_actions):
        total = 0.0
        for a in range(n_actions):
            total += odds[start + a]
        if lapse > 0.0:
            for a in range(n_actions):
                p = (1.0 - lapse) * odds[start + a] / total + lapse / n_actions
                table[start + a] = math.log(p)
        else:
            normaliser = math.log(total)
            for a in range(n_actions):
                table[start + a] -= normaliser


@_jit
def _log_likelihood(
    count, live, n_actions, width, offsets, successors, probabilities, transitions, entering,
    alpha, lapse, size, visited, parent, symbol, subtree_end, subtree_steps, first_cell,
    cell_key, cell_count, memory, q, table, odds, bits, powers,
):  # fmt: skip
    """Sum the log probabilities of the demonstrated actions over the trie of histories."""
    block = visited.shape[0] * n_actions
    for y in range(count):
        if live[y]:
            part_of_table = table[y * block : (y + 1) * block]
            _visited_values(
                visited, n_actions, width, offsets, successors, probabilities,
                entering[y * size : (y + 1) * size], q, part_of_table,
            )  # fmt: skip
            _fill_table(
                n_actions, alpha, lapse, visited.shape[0], part_of_table, odds, bits, powers
            )
    uniform = -math.log(n_actions)
    n_nodes = parent.shape[0]
    node = 0
    result = 0.0
    y = 0
    while node < n_nodes:
        if node > 0:
            above = y if parent[node] == node - 1 else memory[parent[node]]
            y = transitions[above, symbol[node]]
        memory[node] = y
        if not live[y]:
            result += subtree_steps[node] * uniform
            node = subtree_end[node]
            continue
        base = np.uintp(y * block)
        part = 0.0
        for cell in range(np.uintp(first_cell[node]), np.uintp(first_cell[node + 1])):
            part += cell_count[cell] * table[base + cell_key[cell]]
        result += part
        node += 1
    return result


@_jit
def score_batch(
    start, stop, transitions, rewards, counts, discount, tolerance, alpha, lapse, n_actions,
    width, offsets, successors, probabilities, labels, labelled, visited, parent, symbol,
    subtree_end, subtree_steps, first_cell, cell_key, cell_count, keep, out, sweeps,
    values_out,
):  # fmt: skip
    """Score the canonical machines start..stop-1.

    Args:
        start: first machine.
        stop: last machine + 1.
        transitions: int64[B, n, m], canonical.
        rewards: float64[B, n, m].
        counts: int64[B], reachable states.
        discount: of the expert.
        tolerance: float64[B], the error allowed in a value.
        alpha: float64[B].
        lapse: float64[B].
        n_actions: A.
        width: successors per pair where rows are padded, else 0.
        offsets: int64[S * A + 1], where rows begin if they are not.
        successors: int32[...].
        probabilities: float64[...].
        labels: int32[S].
        labelled: int64[...], the states with a label.
        visited: int64[U], the states where actions were demonstrated.
        parent: int64[H], of each history, depth-first; 0 is the empty one.
        symbol: int64[H], the last label of each history.
        subtree_end: int64[H], the next history that does not extend this one.
        subtree_steps: float64[H], steps at this history and all that extend it.
        first_cell: int64[H + 1].
        cell_key: uint32[cells], position in `visited` * A + action.
        cell_count: float64[cells].
        keep: whether to write values.
        out: float64[B], log likelihoods, written.
        sweeps: int64[B], written.
        values_out: float64[B, n, S], written where `keep`.
    """
    n = transitions.shape[1]
    size = labels.shape[0]
    states = n * size
    longest = 0
    if width == 0:
        for i in range(size * n_actions):
            longest = max(longest, offsets[i + 1] - offsets[i])
    else:
        longest = width
    live = np.zeros(n, dtype=np.bool_)
    values = np.zeros(states)
    entering = np.zeros(states)
    policy = np.zeros(states, dtype=np.int32)
    place = np.zeros(states, dtype=np.int32)
    product_of = np.zeros(states, dtype=np.int32)
    tally = np.zeros(BUCKETS, dtype=np.int64)
    lengths = np.zeros(states, dtype=np.int64)
    entries = states * longest
    target = np.zeros(entries, dtype=np.int32)
    factor = np.zeros(entries)
    constant = np.zeros(states)
    x = np.zeros(states)
    moved = np.zeros(states, dtype=np.int64)
    mark = np.zeros(states if width == 1 else 0, dtype=np.int32)
    path = np.zeros(states if width == 1 else 0, dtype=np.int32)
    n_watched = n * labelled.shape[0]
    watched = np.zeros(n_watched, dtype=np.int64)
    before = np.zeros(n_watched)
    iterates = np.zeros((WINDOW, states))
    changes = np.zeros((WINDOW, n_watched))
    memory = np.zeros(max(parent.shape[0], 1), dtype=np.int64)
    q = np.zeros(n_actions)
    table = np.zeros(n * visited.shape[0] * n_actions)
    odds = np.zeros(visited.shape[0] * n_actions)
    bits = np.zeros(odds.shape[0], dtype=np.int64)
    powers = bits.view(np.float64)
    for b in range(start, stop):
        sweeps[b] = 0
        if _find_live(transitions[b], rewards[b], counts[b], live):
            sweeps[b] = _solve(
                counts[b], live, n_actions, width, offsets, successors, probabilities, labels,
                labelled, transitions[b], rewards[b], discount, tolerance[b], values, entering,
                policy, place, product_of, tally, longest, lengths, target, factor, constant, x,
                watched, before, iterates, changes, q, moved, mark, path,
            )  # fmt: skip
        if keep:
            for y in range(counts[b]):
                for s in range(size):
                    values_out[b, y, s] = values[y * size + s] if live[y] else 0.0
        if parent.shape[0] > 0:
            out[b] = _log_likelihood(
                counts[b], live, n_actions, width, offsets, successors, probabilities,
                transitions[b], entering, alpha[b], lapse[b], size, visited, parent, symbol,
                subtree_end, subtree_steps, first_cell, cell_key, cell_count, memory, q,
                table, odds, bits, powers,
            )  # fmt: skip


@_jit
def walk_trie(
    state_offsets, action_offsets, labels, history_offsets, history, m, node, parent, symbol
):
    """Walk all episodes through a trie of labels that grows on the way.

    Args:
        state_offsets: int64[E + 1].
        action_offsets: int64[E + 1].
        labels: int64, the label of each state, -1 for blank.
        history_offsets: int64[E + 1].
        history: int64, the labels read before each episode.
        m: symbols.
        node: int64[steps], the history at which each action was taken, written.
        parent: int64[most], written.
        symbol: int64[most], written.

    Returns:
        The number of histories.
    """
    capacity = 1024
    keys = np.full(capacity, -1, dtype=np.int64)
    children = np.empty(capacity, dtype=np.int64)
    count = 1
    for episode in range(len(state_offsets) - 1):
        here = 0
        before = history_offsets[episode + 1] - history_offsets[episode]
        steps = action_offsets[episode + 1] - action_offsets[episode]
        for i in range(before + steps):
            if i < before:
                label = history[history_offsets[episode] + i]
            else:
                step = i - before
                label = labels[state_offsets[episode] + step] if step > 0 else -1
            if label >= 0:
                key = here * m + label
                slot = _probe(keys, key)
                if keys[slot] != key:
                    keys[slot] = key
                    children[slot] = count
                    parent[count] = here
                    symbol[count] = label
                    count += 1
                here = children[slot]
                if 2 * count > capacity:
                    keys, children = _rehashed(keys, children)
                    capacity = len(keys)
            if i >= before:
                node[action_offsets[episode] + i - before] = here
    return count


@_jit
def _probe(keys, key):
    """Return the slot of a key in a table of a power of two, or the free one where it goes."""
    mask = len(keys) - 1
    slot = (key ^ (key >> 17)) * 0x9E3779B1 & mask
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@_jit
def _rehashed(keys, children):
    """Return the table at twice its size."""
    larger = np.full(2 * len(keys), -1, dtype=np.int64)
    values = np.empty(2 * len(keys), dtype=np.int64)
    for i in range(len(keys)):
        if keys[i] != -1:
            slot = _probe(larger, keys[i])
            larger[slot] = keys[i]
            values[slot] = children[i]
    return larger, values


@_jit
def depth_first(parent, order, end):
    """Write the depth-first order of a tree whose parents come before their children.

    Args:
        parent: int64[H].
        order: int64[H], the old number at each new position, written.
        end: int64[H], for each new position, the position behind its subtree, written.
    """
    size = np.ones(len(parent), dtype=np.int64)
    for i in range(len(parent) - 1, 0, -1):
        size[parent[i]] += size[i]
    position = np.zeros(len(parent), dtype=np.int64)
    free = np.ones(len(parent), dtype=np.int64)
    for i in range(1, len(parent)):
        above = parent[i]
        position[i] = position[above] + free[above]
        free[above] += size[i]
    for i in range(len(parent)):
        order[position[i]] = i
        end[position[i]] = position[i] + size[i]


@_jit
def walk_policy(
    draws, choices, following, labels, offsets, before, successors, memory, states, actions
):
    """Follow a policy for some steps, in every episode, as `simulation` does for all at once.

    Args:
        draws: float64[steps, 2, E], uniform on [0, 1): for the action, for the successor.
        choices: float64[n, S, A], running sums of the action probabilities.
        following: int64[n, m + 1], the machine's transitions; the last column is blank's.
        labels: int32[S].
        offsets: int64[S * A + 1].
        before: float64[N + 1], running sums of all transition probabilities.
        successors: int32[N].
        memory: int64[E], machine states, updated.
        states: int32[steps + 1, E]; the first row is given, the others are written.
        actions: int32[steps, E], written.
    """
    n_actions = choices.shape[2]
    blank = following.shape[1] - 1
    for episode in range(states.shape[1]):
        y = memory[episode]
        s = states[0, episode]
        for step in range(draws.shape[0]):
            a = 0
            while draws[step, 0, episode] >= choices[y, s, a]:
                a += 1
            pair = s * n_actions + a
            entry, last = offsets[pair], offsets[pair + 1] - 1
            low = before[entry]
            point = low + draws[step, 1, episode] * (before[last + 1] - low)
            while entry < last and before[entry + 1] <= point:
                entry += 1
            s = successors[entry]
            label = labels[s]
            y = following[y, label if label >= 0 else blank]
            actions[step, episode] = a
            states[step + 1, episode] = s
        memory[episode] = y
