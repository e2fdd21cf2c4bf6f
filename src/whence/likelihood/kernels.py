"""Every compiled kernel. They live in one module: numba's disk cache sees edits of this file only.

How products are solved (`score_batch`): by value iteration on several machines at once. A row
of values belongs to one world state and holds LANES numbers, one for each state of each machine
in the pack, side by side. A sweep goes over the world's states in place (Gauss-Seidel), and each
of its instructions works on the whole row. All lanes read the same successors, so nothing is
gathered: only where a state has a label do the machines move, and there a second row holds what
it is worth to *enter* that state from each machine state.

Anderson's method extrapolates from the last WINDOW rounds of REPEAT sweeps, with weights for
each machine of its own, which ends the loops through which rewards come back again and again. A
large world is swept in tiles, and keeps the last steps in the place of the last iterates, as
32-bit numbers: what is read from memory takes most of the time there, and a step is as small as
what is left to do, so that its rounding does no harm. Extrapolation is watched: where the
changes grow, or do not halve for long, the machine goes on with plain sweeps for a while, each
time for longer, so that no machine can fail to converge. A machine that is done leaves its lanes
to the next one. Lanes do not see one another, so a machine's numbers do not depend on its
company.

A sweep is a contraction by the discount: if the last one changed no value by more than d, every
value is within d * discount / (1 - discount) of exact, whatever came before: the stop rule.

Values in rows are multiplied by the discount, so that an unlabelled state's row is also what it
is worth to enter it, and probabilities are multiplied by the discount in advance.

Rows of the world are padded to `width` successors where that is cheap, else `width` is 0 and
`offsets` tells where they begin.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

LANES = 16  # machine states that one row of values holds side by side
WINDOW = 6  # rounds that an extrapolation looks back on
SHORT_WINDOW = 4  # the same in deterministic worlds, and ...
LARGE_WINDOW = 3  # ... in large ones, up to ...
LONG_DISCOUNT = 0.97  # ... such a discount
REPEAT = 2  # sweeps a round
PATIENCE = 30  # rounds within which the change must have halved, else extrapolation pauses
PAUSE = 10  # rounds of the first pause; every later one is twice as long
EPSILON = 2.220446049250313e-16
TIE = 1e-9
SMALLEST = 1e-300  # below, numbers lose digits
RESOLUTION = 1e-13
LARGEST_SHORT = 1e38  # what steps may be
_0, _1, _2, _3, _4, _5 = (np.uintp(k) for k in range(WINDOW))


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


class _Vector(types.Type):
    """LANES numbers in vector registers."""

    def __init__(self):
        super().__init__(name="whence_vector")


_VECTOR = _Vector()
_IR = ir.VectorType(ir.DoubleType(), LANES)
_SHORT = ir.VectorType(ir.FloatType(), LANES)


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _IR)


def _place(context, builder, signature, args, kind=_IR):
    """Return the address of row args[1] of the array args[0]."""
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    start = builder.mul(args[1], ir.Constant(args[1].type, LANES))
    return builder.bitcast(builder.gep(data, [start]), kind.as_pointer())


@intrinsic
def _load(typing_context, array, row):
    """Return row `row` of a contiguous array of rows of LANES numbers."""

    def code(context, builder, signature, args):
        return builder.load(_place(context, builder, signature, args), align=8)

    return _VECTOR(array, types.uintp), code


@intrinsic
def _store(typing_context, array, row, vector):
    """Write a row."""

    def code(context, builder, signature, args):
        builder.store(args[2], _place(context, builder, signature, args), align=8)
        return context.get_dummy_value()

    return types.void(array, types.uintp, _VECTOR), code


@intrinsic
def _load_short(typing_context, array, row):
    """Return row `row` of a contiguous array of rows of LANES 32-bit numbers."""

    def code(context, builder, signature, args):
        place = _place(context, builder, signature, args, _SHORT)
        return builder.fpext(builder.load(place, align=4), _IR)

    return _VECTOR(array, types.uintp), code


@intrinsic
def _store_short(typing_context, array, row, vector):
    """Write a row of 32-bit numbers; larger ones become the largest."""

    def code(context, builder, signature, args):
        place = _place(context, builder, signature, args, _SHORT)
        value = args[2]
        for sign, edge in (("<", LARGEST_SHORT), (">", -LARGEST_SHORT)):
            edges = ir.Constant(_IR, [edge] * LANES)
            value = builder.select(builder.fcmp_ordered(sign, value, edges), value, edges)
        builder.store(builder.fptrunc(value, _SHORT), place, align=4)
        return context.get_dummy_value()

    return types.void(array, types.uintp, _VECTOR), code


@intrinsic
def _spread(typing_context, number):
    """Return a vector of one number."""

    def code(context, builder, signature, args):
        empty = ir.Constant(_IR, ir.Undefined)
        first = builder.insert_element(empty, args[0], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(first, empty, zeros)

    return _VECTOR(types.float64), code


@intrinsic
def _times(typing_context, a, b):
    def code(context, builder, signature, args):
        return builder.fmul(args[0], args[1])

    return _VECTOR(_VECTOR, _VECTOR), code


@intrinsic
def _times_plus(typing_context, a, b, c):
    """Return a * b + c, rounded once."""

    def code(context, builder, signature, args):
        kind = ir.FunctionType(_IR, [_IR, _IR, _IR])
        fused = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
        return builder.call(fused, args)

    return _VECTOR(_VECTOR, _VECTOR, _VECTOR), code


@intrinsic
def _plus(typing_context, a, b):
    def code(context, builder, signature, args):
        return builder.fadd(args[0], args[1])

    return _VECTOR(_VECTOR, _VECTOR), code


@intrinsic
def _minus(typing_context, a, b):
    def code(context, builder, signature, args):
        return builder.fsub(args[0], args[1])

    return _VECTOR(_VECTOR, _VECTOR), code


@intrinsic
def _larger(typing_context, a, b):
    def code(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[0], args[1])

    return _VECTOR(_VECTOR, _VECTOR), code


@intrinsic
def _smaller(typing_context, a, b):
    def code(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[0], args[1])

    return _VECTOR(_VECTOR, _VECTOR), code


@intrinsic
def _pick(typing_context, array, start, lanes, row):
    """Return array[start + lanes[row * LANES + j]], one a lane j."""

    def code(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        index = context.make_array(signature.args[2])(context, builder, args[2]).data
        own = builder.gep(data, [args[1]])
        first = builder.mul(args[3], ir.Constant(args[3].type, LANES))
        result = ir.Constant(_IR, ir.Undefined)
        for j in range(LANES):
            place = builder.add(first, ir.Constant(first.type, j))
            lane = builder.zext(builder.load(builder.gep(index, [place])), ir.IntType(64))
            number = builder.load(builder.gep(own, [lane]))
            result = builder.insert_element(result, number, ir.Constant(ir.IntType(32), j))
        return result

    return _VECTOR(array, types.uintp, lanes, types.uintp), code


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


@_inlined
def _best_of(at, n_actions, width, blocks, c, offsets, successors, probabilities, x):
    """Return the values of the best action in the world state `at`, one a lane."""
    one = np.uintp(1)  # unsigned indices need no check for their sign
    best = _spread(0.0)
    e = np.uintp(at * n_actions * width)
    for a in range(n_actions):
        if width == 1:
            q = _load(x, np.uintp(successors[e]) * blocks + c)
            e += one
        elif width == 3:
            q = _times(_spread(probabilities[e]), _load(x, np.uintp(successors[e]) * blocks + c))
            e += one
            q = _times_plus(
                _spread(probabilities[e]), _load(x, np.uintp(successors[e]) * blocks + c), q
            )
            e += one
            q = _times_plus(
                _spread(probabilities[e]), _load(x, np.uintp(successors[e]) * blocks + c), q
            )
            e += one
        else:
            q = _spread(0.0)
            pair = at * n_actions + a
            for e in range(np.uintp(offsets[pair]), np.uintp(offsets[pair + 1])):
                q = _times_plus(
                    _spread(probabilities[e]), _load(x, np.uintp(successors[e]) * blocks + c), q
                )
        best = q if a == 0 else _larger(best, q)
    if width == 1:  # all the probabilities are the same: 1, times the discount
        best = _times(_spread(probabilities[0]), best)
    return best


@_inlined
def _enter(at, label, entry, blocks, x, paid, targets):
    """Write what it is worth to enter a labelled state, from its own values."""
    own = np.uintp(at) * blocks * np.uintp(LANES)
    for c in range(blocks):
        lanes = np.uintp(label) * blocks + c
        worth = _plus(_load(paid, lanes), _pick(x, own, targets, lanes))
        _store(x, np.uintp(entry) * blocks + c, worth)


@_inlined
def _swept(
    begin, end, again, width, blocks, n_actions, offsets, successors, probabilities, labels,
    entries, x, step, paid, targets, watch, moved, largest,
):  # fmt: skip
    """Sweep once over the world states of a tile and all actions, in place.

    The largest change of each lane is written to `largest`, and the changes of watched states
    to `moved`; `again`, they are added to what is there. All changes are added to `step`, unless
    that is empty.
    """
    steps = step.shape[0] > 0
    most = _spread(0.0)
    zero = _spread(0.0)
    for s in range(begin, end):
        for c in range(blocks):
            best = _best_of(s, n_actions, width, blocks, c, offsets, successors, probabilities, x)
            row = np.uintp(s) * blocks + c
            change = _minus(best, _load(x, row))
            most = _larger(most, _larger(change, _minus(zero, change)))
            _store(x, row, best)
            if steps:
                _store_short(step, row, _plus(_load_short(step, row), change))
            if watch[s] >= 0:
                w = np.uintp(watch[s]) * blocks + c
                if again:
                    change = _plus(change, _load(moved, w))
                _store(moved, w, change)
        if labels[s] >= 0:
            _enter(s, labels[s], entries[s], blocks, x, paid, targets)
    _store(largest, _0, _plus(_load(largest, _0), most) if again else most)


@_jit
def _sweep(
    begin, end, again, width, blocks, n_actions, offsets, successors, probabilities, labels,
    entries, x, step, paid, targets, watch, moved, largest,
):  # fmt: skip
    """Do as `_swept` does, compiled for each width."""
    if width == 1:
        _swept(
            begin, end, again, 1, blocks, n_actions, offsets, successors, probabilities, labels,
            entries, x, step, paid, targets, watch, moved, largest,
        )  # fmt: skip
    elif width == 3:
        _swept(
            begin, end, again, 3, blocks, n_actions, offsets, successors, probabilities, labels,
            entries, x, step, paid, targets, watch, moved, largest,
        )  # fmt: skip
    else:
        _swept(
            begin, end, again, 0, blocks, n_actions, offsets, successors, probabilities, labels,
            entries, x, step, paid, targets, watch, moved, largest,
        )  # fmt: skip


@_jit
def _combine(window, rows, ring, latest, weights, low, high):
    """Write the weighted sum of the iterates over the oldest one, within bounds.

    `weights` are in order of age, and so is the sum: rounding must not depend on the place that
    an iterate happens to have in the ring.
    """
    w0, w1, w2 = _load(weights, _0), _load(weights, _1), _load(weights, _2)
    w3, w4, w5 = _load(weights, _3), _load(weights, _4), _load(weights, _5)
    least, most = _load(low, _0), _load(high, _0)
    x0, x1, x2 = ring[latest], ring[(latest - 1) % WINDOW], ring[(latest - 2) % WINDOW]
    x3, x4, x5 = (
        ring[(latest - 3) % WINDOW], ring[(latest - 4) % WINDOW], ring[(latest - 5) % WINDOW],
    )  # fmt: skip
    for row in range(np.uintp(rows)):
        value = _times(w0, _load(x0, row))
        value = _times_plus(w1, _load(x1, row), value)
        value = _times_plus(w2, _load(x2, row), value)
        value = _times_plus(w3, _load(x3, row), value)
        if window == WINDOW:
            value = _times_plus(w4, _load(x4, row), value)
            value = _times_plus(w5, _load(x5, row), value)
        _store(x5, row, _smaller(_larger(value, least), most))


@_jit
def _round(
    window, latest, rows, width, blocks, n_actions, offsets, successors, probabilities, labels,
    entries, ring, steps, weights, low, high, paid, targets, watch, moved, largest,
):  # fmt: skip
    """Combine the iterates and sweep REPEAT times over a world that is one tile.

    `largest` becomes the largest change of each lane in the last sweep.
    """
    _combine(window, rows * np.int64(blocks), ring, latest, weights, low, high)
    for repeat in range(REPEAT):
        _store(largest, _0, _spread(0.0))
        _sweep(
            0, labels.shape[0], repeat > 0, width, blocks, n_actions, offsets, successors,
            probabilities, labels, entries, ring[(latest + 1) % WINDOW], steps[0], paid, targets,
            watch, moved, largest,
        )  # fmt: skip


@_jit
def _move(
    window, begin, end, blocks, labels, entries, x, steps, latest, weights, low, high, paid,
    targets,
):  # fmt: skip
    """Do as `_combine` does for the states of a tile, in place, from the last steps.

    The latest iterate is x, and older ones are reached by taking back one step after the other.
    The way is written over the oldest step.
    """
    cycle = window - 1
    b4 = _minus(_spread(0.0), _load(weights, _5))
    b3 = _minus(b4, _load(weights, _4))
    b2 = _minus(b3, _load(weights, _3))
    b1 = _minus(b2, _load(weights, _2))
    b0 = _minus(b1, _load(weights, _1))
    least, most = _load(low, _0), _load(high, _0)
    s0, s1, s2 = steps[latest], steps[(latest - 1) % cycle], steps[(latest - 2) % cycle]
    s3, s4 = steps[(latest - 3) % cycle], steps[(latest - 4) % cycle]
    step = steps[(latest + 1) % cycle]
    for s in range(begin, end):
        for c in range(blocks):
            row = np.uintp(s) * blocks + c
            way = _times(b0, _load_short(s0, row))
            way = _times_plus(b1, _load_short(s1, row), way)
            if window > LARGE_WINDOW:
                way = _times_plus(b2, _load_short(s2, row), way)
                way = _times_plus(b3, _load_short(s3, row), way)
                way = _times_plus(b4, _load_short(s4, row), way)
            old = _load(x, row)
            new = _smaller(_larger(_plus(old, way), least), most)
            _store(x, row, new)
            _store_short(step, row, _minus(new, old))
        if labels[s] >= 0:
            _enter(s, labels[s], entries[s], blocks, x, paid, targets)


@_jit
def _pass(
    window, latest, tiles, reach, width, blocks, n_actions, offsets, successors, probabilities,
    labels, entries, x, steps, weights, low, high, paid, targets, watch, moved, largest, of_tile,
):  # fmt: skip
    """Combine the iterates of a large world and sweep it REPEAT times, while tiles are cached.

    A tile is combined just before the first one that looks into it is swept, and swept again
    right after the one that follows it: as in sweeps of the whole world one after the other.

    `largest` becomes a bound on the change of each lane in the whole pass, which is a contraction
    by the discount.
    """
    step = steps[(latest + 1) % (window - 1)]
    combined = 0
    _store(largest, _0, _spread(0.0))
    last = tiles.shape[0] - 2
    for tile in range(last + 2):
        while tile <= last and combined <= reach[tile]:
            _move(
                window, tiles[combined], tiles[combined + 1], blocks, labels, entries, x, steps,
                latest, weights, low, high, paid, targets,
            )  # fmt: skip
            combined += 1
        for repeat in range(REPEAT):
            at = tile - repeat
            if 0 <= at <= last:
                _sweep(
                    tiles[at], tiles[at + 1], repeat > 0, width, blocks, n_actions, offsets,
                    successors, probabilities, labels, entries, x, step, paid, targets, watch,
                    moved, of_tile[at % REPEAT],
                )  # fmt: skip
                _store(largest, _0, _larger(_load(largest, _0), _load(of_tile[at % REPEAT], _0)))


@_jit
def _dots(rows, one, other, out, at):
    """Write the sums of products of two arrays of rows, one a lane, to row `at` of `out`."""
    even = _spread(0.0)
    odd = _spread(0.0)
    for r in range(np.uintp(0), np.uintp(rows - rows % 2), np.uintp(2)):
        even = _times_plus(_load(one, r), _load(other, r), even)
        odd = _times_plus(_load(one, r + np.uintp(1)), _load(other, r + np.uintp(1)), odd)
    if rows % 2 == 1:
        r = np.uintp(rows - 1)
        even = _times_plus(_load(one, r), _load(other, r), even)
    _store(out, np.uintp(at), _plus(even, odd))


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
def _logarithms(x, size, out, bits, floats):
    """Write log(x[i]) to out[i] for normal x[i] > 0, right but for the last digits.

    log(2^k m) = k log(2) + 2 artanh((m - 1) / (m + 1)) with m around 1; no branches.
    """
    for i in range(size):
        floats[i] = x[i]
    for i in range(size):
        k = (bits[i] - 0x3FE6A09E667F3BCD) >> 52
        bits[i] -= k << 52
        out[i] = k
    for i in range(size):
        s = (floats[i] - 1.0) / (floats[i] + 1.0)
        z = s * s
        p = 0.047619047619047616
        p = p * z + 0.05263157894736842
        p = p * z + 0.058823529411764705
        p = p * z + 0.06666666666666667
        p = p * z + 0.07692307692307693
        p = p * z + 0.09090909090909091
        p = p * z + 0.1111111111111111
        p = p * z + 0.14285714285714285
        p = p * z + 0.2
        p = p * z + 0.3333333333333333
        out[i] = out[i] * 0.6931471805599453 + 2.0 * (s + s * (z * p))


@_jit
def _visited_values(
    visited, n_actions, width, offsets, successors, probabilities, x, length, lane, table
):
    """Write Q of each visited state to table[a * U + u], for the machine state of a lane."""
    many = visited.shape[0]
    row, own = np.uintp(length), np.uintp(lane)
    for u in range(many):
        for a in range(n_actions):
            pair = visited[u] * n_actions + a
            if width == 3:
                e = np.uintp(3 * pair)
                total = (
                    probabilities[e] * x[np.uintp(successors[e]) * row + own]
                    + probabilities[e + _1] * x[np.uintp(successors[e + _1]) * row + own]
                    + probabilities[e + _2] * x[np.uintp(successors[e + _2]) * row + own]
                )
            elif width == 1:
                total = x[np.uintp(successors[np.uintp(pair)]) * row + own]
            else:
                total = 0.0
                for e in range(np.uintp(offsets[pair]), np.uintp(offsets[pair + 1])):
                    total += probabilities[e] * x[np.uintp(successors[e]) * row + own]
            table[a * many + u] = total


@_jit
def _sure_actions(n_actions, lapse, many, table, best):
    """Turn Q into log probabilities for alpha = inf: all the best actions are equally likely."""
    for u in range(many):
        edge = best[u] - max(TIE, RESOLUTION * abs(best[u]))
        ties = 0
        for a in range(n_actions):
            ties += table[a * many + u] >= edge
        for a in range(n_actions):
            p = (1.0 - lapse) / ties if table[a * many + u] >= edge else 0.0
            p += lapse / n_actions
            table[a * many + u] = math.log(p) if p > 0.0 else -np.inf


@_jit
def _fill_table(n_actions, alpha, lapse, many, table, best, odds, bits, floats):
    """Turn the Q of every action in every visited state into its log probability, in place."""
    size = many * n_actions
    for u in range(many):
        best[u] = table[u]
    for a in range(1, n_actions):
        row = table[a * many : (a + 1) * many]
        for u in range(many):
            best[u] = row[u] if row[u] > best[u] else best[u]
    if np.isinf(alpha):
        _sure_actions(n_actions, lapse, many, table, best)
        return
    for a in range(n_actions):
        row = table[a * many : (a + 1) * many]
        for u in range(many):
            row[u] = alpha * (row[u] - best[u])
    _exponentials(table, size, odds, bits, floats)
    total = best
    for u in range(many):
        total[u] = odds[u]
    for a in range(1, n_actions):
        row = odds[a * many : (a + 1) * many]
        for u in range(many):
            total[u] += row[u]
    if lapse > 0.0:
        for a in range(n_actions):
            for u in range(many):
                odds[a * many + u] = (1.0 - lapse) * odds[a * many + u] / total[
                    u
                ] + lapse / n_actions
        if lapse / n_actions > SMALLEST:
            _logarithms(odds, size, table, bits, floats)
        else:
            for i in range(size):
                table[i] = math.log(odds[i])
        return
    normaliser = odds
    _logarithms(total, many, normaliser, bits, floats)
    for a in range(n_actions):
        row = table[a * many : (a + 1) * many]
        for u in range(many):
            row[u] -= normaliser[u]


@_jit
def _fill_tables(count, live, n_actions, alpha, lapse, many, q, table, best, odds, bits, floats):
    """Write the log probabilities of one expert's actions to `table`, by live machine state."""
    block = many * n_actions
    for y in range(count):
        if live[y]:
            part = table[y * block : (y + 1) * block]
            part[:] = q[y * block : (y + 1) * block]
            _fill_table(n_actions, alpha, lapse, many, part, best, odds, bits, floats)


@_jit
def _values(n_actions, width, offsets, successors, probabilities, x, length, lane, out):
    """Write the value of the best action in every state, for the machine state of a lane."""
    for s in range(out.shape[0]):
        best = -np.inf
        for pair in range(s * n_actions, (s + 1) * n_actions):
            begin = pair * width if width > 0 else offsets[pair]
            end = begin + width if width > 0 else offsets[pair + 1]
            total = 0.0
            for e in range(begin, end):
                total += probabilities[e] * x[np.int64(successors[e]) * length + lane]
            best = max(best, total)
        out[s] = best


@_jit
def _read_out(
    first, count, length, x, n_actions, width, offsets, successors, probabilities, visited, q,
    values_out,
):  # fmt: skip
    """Write Q of the visited states for each state of a machine, whose lanes begin at `first`.

    The values of all states are written, too, where `values_out` has room for a machine.
    """
    block = visited.shape[0] * n_actions
    for y in range(count):
        if values_out.shape[0] > 0:
            _values(
                n_actions, width, offsets, successors, probabilities, x, length, first + y,
                values_out[0, y],
            )  # fmt: skip
        _visited_values(
            visited, n_actions, width, offsets, successors, probabilities, x, length, first + y,
            q[y * block : (y + 1) * block],
        )  # fmt: skip


@_jit
def _sum_cells(
    n_actions, live, transitions, block, parent, symbol, subtree_end, subtree_steps, first_cell,
    cell_key, cell_count, memory, table,
):  # fmt: skip
    """Sum the log probabilities of the demonstrated actions over the trie of histories.

    Each history waits for the machine state of the one before, so that path is kept short: states
    are held as the place of their row, unsigned, and what depends on them is looked up aside.
    """
    n, m = transitions.shape
    following = np.empty(n * m, dtype=np.uint32)
    alive = np.zeros(n * m, dtype=np.bool_)
    bases = np.zeros(n * m, dtype=np.uintp)
    for y in range(n):
        alive[y * m] = live[y]
        bases[y * m] = y * block
        for x in range(m):
            following[y * m + x] = transitions[y, x] * m
    uniform = -math.log(n_actions)
    n_nodes = parent.shape[0]
    node = 0
    result = 0.0
    row = np.uintp(0)
    while node < n_nodes:
        if node > 0:
            above = row if parent[node] == node - 1 else np.uintp(memory[np.uintp(parent[node])])
            row = np.uintp(following[above + np.uintp(symbol[node])])
        memory[node] = row
        if not alive[row]:
            result += subtree_steps[node] * uniform
            node = subtree_end[node]
            continue
        base = bases[row]
        part = 0.0
        for cell in range(np.uintp(first_cell[node]), np.uintp(first_cell[node + 1])):
            part += cell_count[cell] * table[base + cell_key[cell]]
        result += part
        node += 1
    return result


@_jit
def nearest_first(seeds, origins, successors, order):
    """Write the states to `order`: by how few steps lead from them to a seed, far ones last.

    Args:
        seeds: int64[...], states at distance 0.
        origins: int64[N], the state that each transition leaves.
        successors: int32[N], the state that it enters.
        order: int64[S], written.
    """
    size = order.shape[0]
    first = np.zeros(size + 2, dtype=np.int64)
    for s in successors:
        first[s + 2] += 1
    for s in range(size):
        first[s + 2] += first[s + 1]
    before = np.empty(len(successors), dtype=np.int32)
    for e in range(len(successors)):
        before[first[successors[e] + 1]] = origins[e]
        first[successors[e] + 1] += 1
    seen = np.zeros(size, dtype=np.bool_)
    count = 0
    for s in seeds:
        seen[s] = True
        order[count] = s
        count += 1
    head = 0
    while head < count:
        for e in range(first[order[head]], first[order[head] + 1]):
            if not seen[before[e]]:
                seen[before[e]] = True
                order[count] = before[e]
                count += 1
        head += 1
    for s in range(size):
        if not seen[s]:
            order[count] = s
            count += 1


@_jit
def grow_tiles(first, successors, most, tile):
    """Write a tile's number for each state: `most` states each, in waves from the first one.

    Waves lead to the waves beside them only, so that tiles which look into each other are swept
    one right after the other, while both are in the cache.

    Args:
        first: int64[S + 1], where the transitions of each state begin.
        successors: int32[N].
        most: states of a tile.
        tile: int64[S], written.
    """
    size = tile.shape[0]
    tile[:] = -1
    queue = np.empty(size, dtype=np.int64)
    count = 0
    head = 0
    for s in range(size):
        if tile[s] >= 0:
            continue
        tile[s] = count // most
        queue[count] = s
        head = count
        count += 1
        while head < count:
            for e in range(first[queue[head]], first[queue[head] + 1]):
                after = successors[e]
                if tile[after] < 0:
                    tile[after] = count // most
                    queue[count] = after
                    count += 1
            head += 1


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


@_jit
def _from_line(buffer):
    """Return an array from its first cache line on."""
    return buffer[(-buffer.ctypes.data % 64) // buffer.itemsize :]


@_jit
def _aligned(size):
    """Return float64[size], zeros, at a multiple of 64 bytes: rows must not straddle lines."""
    return _from_line(np.zeros(size + 8))[:size]


@_jit
def window_of(discount, width, tiled):
    """Return how many rounds an extrapolation looks back on."""
    if discount >= LONG_DISCOUNT:
        return WINDOW
    if tiled:
        return LARGE_WINDOW
    return SHORT_WINDOW if width == 1 else WINDOW


@_jit
def space_sizes(n, discount, width, size, rows, tiled):
    """Return how many numbers the iterates of a pack of machines take, and how many its steps."""
    length = LANES * ((n + LANES - 1) // LANES)
    if tiled:
        return rows * length + 8, (window_of(discount, width, tiled) - 1) * size * length + 16
    return WINDOW * rows * length + 8, 16


@_jit
def _renew(seat):
    """Make a seat look at its machine's changes afresh."""
    seat.used = 0
    seat.since = 0
    seat.last = np.inf
    seat.reached = np.inf


@_jit
def _admit(
    seat, b, number, n, length, share, transitions, rewards, discount, labels, entries, paid,
    targets, x, weights, low, high,
):  # fmt: skip
    """Give machine b its lanes, with values of 0; those of no state of it stay so."""
    seat.machine = b
    seat.rounds = 0
    seat.pause = 0
    seat.pauses = 0
    _renew(seat)
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
    least = min(0.0, rewards.min() / (1.0 - discount))
    most = max(0.0, rewards.max() / (1.0 - discount))
    for j in range(number * share, (number + 1) * share):
        low[j] = least
        high[j] = most
        for k in range(WINDOW):
            weights[k * LANES + j] = 1.0 if k == 0 else 0.0


@_jit
def _converged(change, goal, bound, seat, first, n, length, size, x):
    """Return whether a machine is done: exact enough, or as exact as rounding allows.

    Rounding moves values by a few units in their last place for ever; the change no longer
    falls then.
    """
    if change <= goal:
        return True
    if change > 64.0 * EPSILON * bound:
        return False
    largest = 0.0
    for s in range(size):
        for j in range(s * length + first, s * length + first + n):
            largest = max(largest, abs(x[j]))
    if change <= 4.0 * EPSILON * largest:
        return True
    return change <= 64.0 * EPSILON * largest and seat.since > WINDOW


@_jit
def _may_extrapolate(seat, change, window):
    """Note the change of a round; return whether the machine's iterates may be combined."""
    if change < 0.5 * seat.reached:
        seat.reached = change
        seat.since = 0
    else:
        seat.since += 1
    if seat.pause > 0:
        seat.pause -= 1
        if seat.pause == 0:
            _renew(seat)
        return False
    if seat.since > PATIENCE:
        seat.pause = PAUSE << min(seat.pauses, 40)
        seat.pauses += 1
        seat.since = 0
        return False
    if change > 2.0 * seat.last:
        seat.used = 0
    seat.last = change
    seat.used = min(seat.used + 1, window)
    return True


@_jit
def _reweigh(seat, first, share, slot, dots, gram, slots, factor, chosen, weights):
    """Choose the weights with which a machine's iterates are combined next."""
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
    if not _weights(gram, slots, seat.used, factor, chosen):
        seat.used = 0
        return
    for k in range(seat.used):
        for j in range(k * LANES + first, k * LANES + first + share):
            weights[j] = chosen[k]


@_jit
def score_batch(
    start, stop, ring_space, step_space, transitions, rewards, counts, discount, tolerance,
    first_expert, alpha, lapse, n_actions, width, offsets, successors, probabilities, discounted,
    labels, entries, watch, n_watched, rows, tiles, reach, visited, parent, symbol, subtree_end,
    subtree_steps, first_cell, cell_key, cell_count, keep, out, sweeps, values_out,
):  # fmt: skip
    """Score the canonical machines start..stop-1.

    Args:
        start: first machine.
        stop: last machine + 1.
        ring_space: float64[...], zeros, as large as `space_sizes` says.
        step_space: float32[...], zeros, as large as `space_sizes` says.
        transitions: int64[B, n, m], canonical.
        rewards: float64[B, n, m].
        counts: int64[B], reachable states.
        discount: of the expert.
        tolerance: float64[B], the error allowed in a value.
        first_expert: int64[B + 1], where the experts of each machine begin.
        alpha: float64[E].
        lapse: float64[E].
        n_actions: A.
        width: successors per pair where rows are padded, else 0.
        offsets: int64[S * A + 1].
        successors: uint32[...], rows.
        probabilities: float64[...].
        discounted: float64[...], probabilities times the discount.
        labels: int32[S].
        entries: int32[S], the row of entering each labelled state.
        watch: int32[S], the number of a watched state, or -1.
        n_watched: how many are.
        rows: in all.
        tiles: int64[T + 1], where the parts of the world begin that are swept together.
        reach: int64[T], the last tile that a state of each tile leads to.
        visited: int64[U], the states with demonstrated actions.
        parent: int32[H], of each history.
        symbol: int32[H], the last label of each history.
        subtree_end: int32[H], the next history that does not extend this one.
        subtree_steps: float64[H], steps at this history and all that extend it.
        first_cell: int32[H + 1].
        cell_key: uint32[cells], action * U + position in `visited`.
        cell_count: float64[cells].
        keep: whether to write values.
        out: float64[E], log likelihoods, written.
        sweeps: int64[B], written.
        values_out: float64[B, n, S], written where `keep`.
    """
    n, m = transitions.shape[1], transitions.shape[2]
    size = labels.shape[0]
    blocks = np.uintp((n + LANES - 1) // LANES)
    length = np.int64(blocks) * LANES
    share = n if length == LANES else LANES  # lanes of a machine in vectors of one row
    seats = np.zeros(max(LANES // n, 1), dtype=SEAT)
    tiled = tiles.shape[0] > 2
    window = window_of(discount, width, tiled)
    kept, cycle, stepped = (1, window - 1, size * length) if tiled else (WINDOW, 1, 0)
    ring = _from_line(ring_space)[: kept * rows * length].reshape((kept, rows * length))
    steps = _from_line(step_space)[: cycle * stepped].reshape((cycle, stepped))
    changes = _aligned(WINDOW * n_watched * length).reshape((WINDOW, n_watched * length))
    dots, weights = _aligned(WINDOW * LANES), _aligned(WINDOW * LANES)
    largest = _aligned(LANES)
    of_tile = _aligned(REPEAT * LANES).reshape((REPEAT, LANES))
    low, high = _aligned(LANES), _aligned(LANES)
    paid = _aligned(m * length)
    targets = np.zeros(m * length, dtype=np.uint32)
    gram = np.zeros((len(seats), WINDOW, WINDOW))
    factor, chosen = np.empty((WINDOW, WINDOW)), np.empty(WINDOW)
    slots = np.empty(WINDOW, dtype=np.int64)
    live = np.zeros(n, dtype=np.bool_)
    many = visited.shape[0]
    memory = np.zeros(max(parent.shape[0], 1), dtype=np.uint32)
    block = many * n_actions
    q, table = np.zeros(n * block), np.zeros(n * block)
    best, odds = np.zeros(many), np.zeros(block)
    bits = np.zeros(block, dtype=np.int64)
    floats = bits.view(np.float64)
    most_rounds = (10_000 + 60.0 / (1.0 - discount)) / REPEAT  # plain sweeps would do by then
    for number in range(len(seats)):
        seats[number].machine = -1
    waiting = start
    active = 0
    slot = latest = 0
    while True:
        for number in range(len(seats)):
            while waiting < stop and not _find_live(
                transitions[waiting], rewards[waiting], counts[waiting], live
            ):  # one that never pays needs no solving: every action is equally likely
                for e in range(first_expert[waiting], first_expert[waiting + 1]):
                    out[e] = -math.log(n_actions) * subtree_steps[:1].sum()
                waiting += 1
            if seats[number].machine < 0 and waiting < stop:
                _admit(
                    seats[number], waiting, number, n, length, share, transitions[waiting],
                    rewards[waiting], discount, labels, entries, paid, targets,
                    ring[slot % kept], weights, low, high,
                )  # fmt: skip
                waiting += 1
                active += 1
        if active == 0:
            return
        following = (slot + 1) % WINDOW
        if tiled:
            _pass(
                window, latest, tiles, reach, width, blocks, n_actions, offsets, successors,
                discounted, labels, entries, ring[0], steps, weights, low, high, paid, targets,
                watch, changes[following], largest, of_tile,
            )  # fmt: skip
        else:
            _round(
                window, slot, rows, width, blocks, n_actions, offsets, successors, discounted,
                labels, entries, ring, steps, weights, low, high, paid, targets, watch,
                changes[following], largest,
            )  # fmt: skip
        slot, latest = following, (latest + 1) % cycle
        x = ring[slot % kept]
        for age in range(window):
            k = (slot - age) % WINDOW
            _dots(n_watched * np.int64(blocks), changes[slot], changes[k], dots, k)
        for number in range(len(seats)):
            seat = seats[number]
            b = seat.machine
            if b < 0:
                continue
            first = number * share
            for j in range(first, first + share):
                weights[j] = 1.0
                for k in range(1, WINDOW):
                    weights[k * LANES + j] = 0.0
            seat.rounds += 1
            change = largest[first : first + share].max()
            bound = max(-low[first], high[first])
            goal = tolerance[b] * (1.0 - discount)
            if seat.rounds <= most_rounds and not _converged(
                change, goal, bound, seat, number * n, n, length, size, x
            ):
                if _may_extrapolate(seat, change, window):
                    _reweigh(
                        seat, first, share, slot, dots, gram[number], slots, factor, chosen,
                        weights,
                    )  # fmt: skip
                continue
            sweeps[b] = REPEAT * seat.rounds
            seat.machine = -1
            active -= 1
            _find_live(transitions[b], rewards[b], counts[b], live)
            _read_out(
                number * n, counts[b], length, x, n_actions, width, offsets, successors,
                probabilities, visited, q, values_out[b : b + 1] if keep else values_out,
            )  # fmt: skip
            for e in range(first_expert[b], first_expert[b + 1]):
                _fill_tables(
                    counts[b], live, n_actions, alpha[e], lapse[e], many, q, table, best, odds,
                    bits, floats,
                )  # fmt: skip
                out[e] = _sum_cells(
                    n_actions, live, transitions[b], block, parent, symbol, subtree_end,
                    subtree_steps, first_cell, cell_key, cell_count, memory, table,
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
