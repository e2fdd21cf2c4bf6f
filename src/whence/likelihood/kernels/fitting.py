"""The expert that fits a solved machine best: Newton's method in log alpha and logit lapse.

A row is a machine state and a visited state: Q of its actions, and how often each was taken.
With p the softmax of alpha Q (of a soft expert, around some alpha, of a base + alpha Q), c the
lapse over the number of actions and P = (1 - lapse) p + c, the log of P and its
first and second derivatives are summed over what was taken.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.kernels.compiling import kernel, maker, part
from whence.likelihood.kernels.constants import SMALLEST
from whence.likelihood.kernels.functions import exponentials, logarithms

LOG_LIKELIHOOD, BY_A, BY_Z, BY_AA, BY_AZ, BY_ZZ = range(6)
STARTS = 5  # the middle of the prior, and powers of ten from 1 on: where Newton's method may start
MANY_LAPSES = 0.0  # as a logit: one action in two
SCANNED = 64  # rows that are looked at to choose among them
MISSING = -1e9  # the lead of an action that is not there
LOOKS = 12  # at most
NEAR = 0.02  # a step as small as this ends it ...
ROUGHLY = 0.3  # ... or this, while a few rows are looked at
WIDEST_STEP = 3.0


@part
def _occupy(transitions, parent, symbol, first, key, counts, memory, rows):
    """Count what was taken in each row, key by key: rows float64[n, U * A], from zeros."""
    for node in range(parent.shape[0]):
        y = 0
        if node > 0:
            y = transitions[memory[parent[node]], symbol[node]]
        memory[node] = y
        for cell in range(first[node], first[node + 1]):
            rows[y, key[cell]] += counts[cell]


@kernel
def occupy_machines(transitions, parent, symbol, first, key, counts, memory, rows):
    """Count the actions taken, by machine state and visited state.

    Args:
        transitions: int64[B, n, m].
        parent: int64[H], of each history.
        symbol: int64[H], its last label.
        first: int64[H + 1], where the cells of each history begin.
        key: uint32[cells], position among visited states * A + action.
        counts: float64[cells].
        memory: int64[H], scratch.
        rows: float64[B, n, U * A], zeros; written.
    """
    for b in range(transitions.shape[0]):
        _occupy(transitions[b], parent, symbol, first, key, counts, memory, rows[b])


class Rows(NamedTuple):
    """What is looked at of one machine: R rows, A actions, K pairs of a row and an action taken.

    Attributes:
        lead: float64[A * R], Q less that of the row's best action; far below it where there is
            no such action.
        base: float64[A * R], what is added to alpha times the lead; empty where nothing is.
        able: float64[R], how many actions there are.
        at: int64[K], action * R + row.
        row: int64[K].
        counts: float64[K], how often.
        x: float64[A * R], scratch, ...
        logits: float64[A * R], or of nothing where there is no base, ...
        odds: float64[A * R], ...
        bits: int64[A * R], ...
        floats: float64[A * R], the same memory, ...
        total: float64[R], ...
        mean: float64[R], ...
        square: float64[R], ...
        mixed: float64[K], ...
        logs: float64[K], and scratch, too.
    """

    lead: Floats
    base: Floats
    able: Floats
    at: Ints
    row: Ints
    counts: Floats
    x: Floats
    logits: Floats
    odds: Floats
    bits: Ints
    floats: Floats
    total: Floats
    mean: Floats
    square: Floats
    mixed: Floats
    logs: Floats


@maker
def gathered(q, base, counts, used, size, every):
    """Return what is looked at of the first `size` rows used, and room to do so.

    Only `every` so many are taken; `base` has no rows where there is none.
    """
    many, actions = (size + every - 1) // every, q.shape[1]
    lead, able = np.empty(actions * many), np.zeros(many)
    added = np.zeros(actions * many if base.shape[0] > 0 else 0)
    at, row, taken = (
        np.empty(actions * many, dtype=np.int64), np.empty(actions * many, dtype=np.int64),
        np.empty(actions * many),
    )  # fmt: skip
    pairs = 0
    for r in range(many):
        own = used[r * every]
        best = q[own, 0]
        for a in range(1, actions):
            best = max(best, q[own, a])
        for a in range(actions):
            has = q[own, a] > -np.inf
            able[r] += has
            lead[a * many + r] = q[own, a] - best if has else MISSING
            if has and base.shape[0] > 0:
                added[a * many + r] = base[own, a]
            if counts[own, a] > 0.0:
                at[pairs], row[pairs], taken[pairs] = a * many + r, r, counts[own, a]
                pairs += 1
    block = actions * many
    bits = np.zeros(block, dtype=np.int64)
    return Rows(
        lead, added, able, at[:pairs], row[:pairs], taken[:pairs], np.empty(block),
        np.empty(added.shape[0]), np.empty(block), bits, bits.view(np.float64), np.empty(many),
        np.empty(many), np.empty(many), np.empty(pairs), np.empty(pairs),
    )  # fmt: skip


@part
def _add_base(rows):
    """Write x and the base together, less the largest sum of each row."""
    many, block = rows.total.shape[0], rows.lead.shape[0]
    for r in range(many):
        best = -np.inf
        for i in range(r, block, many):
            rows.logits[i] = rows.x[i] + rows.base[i]
            best = max(best, rows.logits[i])
        for i in range(r, block, many):
            rows.logits[i] -= best


@part
def weigh(rows, alpha):
    """Write the odds of all actions, their sum in each row, and mean and square of alpha Q."""
    many, block = rows.total.shape[0], rows.lead.shape[0]
    for i in range(block):
        rows.x[i] = alpha * rows.lead[i]
    if rows.base.shape[0] > 0:
        _add_base(rows)
        exponentials(rows.logits, block, rows.odds, rows.bits, rows.floats)
    else:
        exponentials(rows.x, block, rows.odds, rows.bits, rows.floats)
    for r in range(many):
        rows.total[r] = rows.mean[r] = rows.square[r] = 0.0
    for first in range(0, block, many):
        for r in range(many):
            odds, x = rows.odds[first + r], rows.x[first + r]
            rows.total[r] += odds
            rows.mean[r] += odds * x
            rows.square[r] += odds * x * x
    for r in range(many):
        rows.mean[r] /= rows.total[r]
        rows.square[r] /= rows.total[r]


@part
def without_lapses(rows):
    """Return the log likelihood of weighed rows where nobody lapses, however small it is."""
    based = rows.base.shape[0] > 0
    value = 0.0
    for k in range(rows.at.shape[0]):
        nats = rows.logits[rows.at[k]] if based else rows.x[rows.at[k]]
        value += rows.counts[k] * (nats - math.log(rows.total[rows.row[k]]))
    return value


@part
def _look(rows, scale, place, prior, free, sums):
    """Write the log likelihood at a place, its slopes and its curvatures, times `scale`."""
    alpha, lapse = math.exp(place[0]), 1.0 / (1.0 + math.exp(-place[1]))
    never = free[1] == 0.0 and prior[7] == 0.0
    if never:
        lapse = 0.0
    size = rows.at.shape[0]
    weigh(rows, alpha)
    weight = lapse * (1.0 - lapse)
    for k in range(size):
        r = rows.row[k]
        p = rows.odds[rows.at[k]] / rows.total[r]
        rows.mixed[k] = max((1.0 - lapse) * p + lapse / rows.able[r], SMALLEST)
    logarithms(rows.mixed, size, rows.logs, rows.bits, rows.floats)
    value = by_a = by_z = by_aa = by_az = by_zz = 0.0
    for k in range(size):
        r, count = rows.row[k], rows.counts[k]
        p = rows.odds[rows.at[k]] / rows.total[r]
        lead = rows.x[rows.at[k]] - rows.mean[r]
        variance = rows.square[r] - rows.mean[r] * rows.mean[r]
        own = 1.0 if never else (1.0 - lapse) * p / rows.mixed[k]
        z = weight * (1.0 / rows.able[r] - p) / rows.mixed[k]
        a = own * lead
        value += count * rows.logs[k]
        by_a += count * a
        by_z += count * z
        by_aa += count * (own * (lead * lead + lead - variance) - a * a)
        by_az -= count * (weight * p * lead / rows.mixed[k] + z * a)
        by_zz += count * ((1.0 - 2.0 * lapse) * z - z * z)
    if never:
        value = without_lapses(rows)
    sums[LOG_LIKELIHOOD], sums[BY_A], sums[BY_Z] = scale * value, scale * by_a, scale * by_z
    sums[BY_AA], sums[BY_AZ], sums[BY_ZZ] = scale * by_aa, scale * by_az, scale * by_zz


@part
def log_prior(place, prior, terms):
    """Write the log prior of log alpha and logit lapse, its slopes and its curvatures."""
    a, z = place[0], place[1]
    centre, spread, ones, zeros = prior[0], prior[1], prior[4], prior[5]
    half = math.tanh((a - centre) / (2.0 * spread))
    lapse = 1.0 / (1.0 + math.exp(-z))
    terms[0] = math.log(max(1.0 - half * half, 1e-300))
    terms[0] += ones * math.log(max(lapse, 1e-300)) + zeros * math.log(max(1.0 - lapse, 1e-300))
    terms[1] = -half / spread
    terms[2] = ones * (1.0 - lapse) - zeros * lapse
    terms[3] = -(1.0 - half * half) / (2.0 * spread * spread)
    terms[4] = -(ones + zeros) * lapse * (1.0 - lapse)


@part
def _direction(sums, terms, free_a, free_z, step):
    """Write a step uphill: Newton's, with as much curvature added as makes it one."""
    g_a = (sums[BY_A] + terms[1]) * free_a
    g_z = (sums[BY_Z] + terms[2]) * free_z
    h_aa = -(sums[BY_AA] + terms[3]) if free_a > 0 else 1.0
    h_zz = -(sums[BY_ZZ] + terms[4]) if free_z > 0 else 1.0
    h_az = -sums[BY_AZ] * free_a * free_z
    middle, spread = (h_aa + h_zz) / 2, math.hypot((h_aa - h_zz) / 2, h_az)
    least = middle - spread
    floor = 1e-3 * (abs(middle) + spread) + 1e-6
    if least < floor:
        h_aa += floor - least
        h_zz += floor - least
    det = h_aa * h_zz - h_az * h_az
    step[0] = (h_zz * g_a - h_az * g_z) / det * free_a
    step[1] = (h_aa * g_z - h_az * g_a) / det * free_z
    size = max(abs(step[0]), abs(step[1]))
    if size > WIDEST_STEP:
        step[0] *= WIDEST_STEP / size
        step[1] *= WIDEST_STEP / size
    return size


@part
def at_lapse(rows, lapse):
    """Return the log likelihood at a lapse, once all odds are weighed."""
    if lapse == 0.0:
        return without_lapses(rows)
    size = rows.at.shape[0]
    for k in range(size):
        r = rows.row[k]
        p = rows.odds[rows.at[k]] / rows.total[r]
        rows.mixed[k] = max((1.0 - lapse) * p + lapse / rows.able[r], SMALLEST)
    logarithms(rows.mixed, size, rows.logs, rows.bits, rows.floats)
    value = 0.0
    for k in range(size):
        value += rows.counts[k] * rows.logs[k]
    return value


@part
def _scan(rows, scale, prior, free, terms, here):
    """Go to the best of several powers of ten, and of where one is, with few and many lapses."""
    best = -np.inf
    a, z, centre, few = here[0], here[1], here[0], here[1]
    never = free[1] == 0.0 and prior[7] == 0.0
    for power in range(STARTS):
        here[0] = centre if power == 0 else prior[6] + math.log(10.0) * (power - 1)
        here[0] = min(max(here[0], prior[2]), prior[3])
        weigh(rows, math.exp(here[0]))
        for many in range(2 if free[1] > 0 else 1):
            here[1] = MANY_LAPSES if many else few
            lapse = 0.0 if never else 1.0 / (1.0 + math.exp(-here[1]))
            value = scale * at_lapse(rows, lapse)
            log_prior(here, prior, terms)
            if value + terms[0] > best:
                best, a, z = value + terms[0], here[0], here[1]
    here[0], here[1] = a, z


@part
def _copy(source, target):
    """Write one array over another, item by item: whole slices take seconds to compile."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@part
def _climb(few, few_scale, rows, scale, prior, free, start, desk, out):
    """Write a machine's fit: place, likelihood, its slopes and its curvatures.

    Where there are many rows, a few of them lead most of the way.
    """
    sums, terms, step, here, there, found = (
        desk[0], desk[1], desk[2], desk[3], desk[4], desk[5],
    )  # fmt: skip
    _copy(start, here)
    if free[0] > 0:
        _scan(few, few_scale, prior, free, terms, here)
    fewer = few.total.shape[0] < rows.total.shape[0]
    for last in range(0 if fewer else 1, 2):
        some = rows if last else few
        part_scale = scale if last else few_scale
        near = NEAR if last else ROUGHLY
        _copy(here, there)
        value, share, size = -np.inf, 1.0, 0.0
        for look in range(LOOKS + 1):
            _look(some, part_scale, there, prior, free, sums)
            log_prior(there, prior, terms)
            if look == 0 or sums[0] + terms[0] > value:
                _copy(there, here)
                _copy(sums, found)
                value = sums[0] + terms[0]
                share = 1.0
                size = _direction(found, terms, free[0], free[1], step)
            else:
                share *= 0.25
            if size * share < near:
                break
            there[0] = min(max(here[0] + share * step[0], prior[2]), prior[3])
            there[1] = here[1] + share * step[1]
    out[0], out[1] = here[0], here[1]
    _copy(found, out[2:])


@part
def rows_used(counts, used):
    """Write the rows of which an action was taken, and return their number.

    Args:
        counts: float64[R, A], how often each action was taken.
        used: int64[R], written.
    """
    size = 0
    for row in range(counts.shape[0]):
        for a in range(counts.shape[1]):
            if counts[row, a] > 0.0:
                used[size] = row
                size += 1
                break
    return size


@kernel
def fit_machines(q, base, counts, ends, most_rows, prior, free, start, out):
    """Write the expert that fits each machine best, a prior over experts counted.

    Args:
        q: float64[R, A], of each row's actions, the machines' in turn; -inf where there is no
            such action.
        base: float64[R, A], what is added to alpha Q; or no rows, where nothing is.
        counts: float64[R, A], how often each was taken; rows of zeros count for nothing.
        ends: int64[B + 1], where each machine's rows begin, and the last ones end.
        most_rows: where more rows than this count, only every so many are looked at.
        prior: float64[B, 8], of log alpha: centre, spread, least, most; of the lapse: the two
            numbers of its beta distribution; the log of the unit of alpha; and the lapse, where
            it is known.
        free: float64[2], 1 where log alpha and the lapse are to be fitted, else 0.
        start: float64[B, 2], log alpha and logit lapse where they are not, or to start from.
        out: float64[B, 8], written: log alpha, logit lapse, the log likelihood there, its two
            slopes, and its curvatures by alpha, by both and by lapse.
    """
    used, desk = np.zeros(q.shape[0], dtype=np.int64), np.zeros((6, 6))
    nothing = np.zeros((0, 0))
    for b in range(out.shape[0]):
        one, done = q[ends[b] : ends[b + 1]], counts[ends[b] : ends[b + 1]]
        size = rows_used(done, used)
        every = max((size + most_rows - 1) // most_rows, 1)
        own = base[ends[b] : ends[b + 1]] if base.shape[0] > 0 else nothing
        rows = gathered(one, own, done, used, size, every)
        many = rows.total.shape[0]
        few = gathered(one, own, done, used, size, every * max(many // SCANNED, 1))
        few_scale, scale = size / max(few.total.shape[0], 1), size / max(many, 1)
        _climb(few, few_scale, rows, scale, prior[b], free, start[b], desk, out[b])
