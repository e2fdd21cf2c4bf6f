"""Subjects in groups, each with a task of its own: an exact sum over a list of machines.

Let A[c, s, j] be the log likelihood of what subject s shows under machine j, given what all
subjects share, c (the discount, and what is thought of their experts). For K groups, machines
M_1 ... M_K come from the prior, each subject belongs to one group, all ways to fill every group
are as likely, and

    P(D | K) = sum over c, M_1 ... M_K of P(c) P(M_1) ... P(M_K)
               mean over ways to fill K groups of the product over s of exp A[c, s, M_group(s)]

The sum over the ways goes subject by subject, by which groups have somebody so far. It is exact;
the sum over machines is over those listed, and for K > 1 over those of them that help most, in the
context that explains most.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats, Ints

MOST_TUPLES = 20_000
LEAST, SMALLEST = -1e300, 1e-300  # stand for what is impossible
FAR = 1e6  # nats that nothing is worth
LEAST_TUPLE = 30.0  # nats below the best that machines may be, in the best context
LEAST_CONTEXT = 9.0  # nats below the best that a context may be
EXCHANGES = 4  # times that each group's machine is chosen anew beside the others
ROUNDS = 8  # of looking for the best context and combinations of machines
FEW = 12  # combinations by which contexts are compared
MOST_AT_ONCE = 1_000_000  # numbers, where ways to fill groups are counted
TOP = 400  # contexts and machines that stand for all of them, where groups are told


@dataclass(frozen=True, eq=False)
class Parted:
    """Subjects in K groups.

    Attributes:
        log_evidence: log P(D | K), of the machines listed.
        groups: int64[S], the likeliest group of each subject; groups by their first subject.
        share: float64[S], how likely each subject belongs there, given the machines.
        together: float64[S, S], how likely two subjects have the same group.
        machines: int64[K], the likeliest machine of each group, as a place in the list.
    """

    log_evidence: float
    groups: Ints
    share: Floats
    together: Floats
    machines: Ints


def parted(
    scores: Floats,
    log_context: Floats,
    log_prior: Floats,
    groups: int,
    most: int = MOST_TUPLES,
) -> Parted:
    """Divide subjects into groups.

    Args:
        scores: float64[X, S, J], the log likelihoods A.
        log_context: float64[X], the log prior of each context; sums to 1.
        log_prior: float64[J], of each machine.
        groups: K.
        most: how many combinations of machines are summed over, those that help most.
    """
    subjects = scores.shape[1]
    listed = helpful(scores, log_context, log_prior, groups, most)
    tuples, ways = _tuples(len(listed), groups)
    prior = log_prior[listed][tuples].sum(axis=1) + ways - _log_ways(subjects, groups)
    tuples = listed[tuples]
    kept, near = _mattering(scores, log_context, tuples, prior)
    weights = np.full((len(kept), len(tuples)), -np.inf)
    for row, c in enumerate(kept.tolist()):
        weights[row, near] = log_context[c] + prior[near] + filled(scores[c][:, tuples[near]])
    total = float(np.logaddexp.reduce(weights, axis=None))
    return _told(scores, kept, tuples, weights - total, total)


def filled(scores: Floats) -> Floats:
    """Return float64[N]: the log of the sum over all ways to fill K groups, none left empty.

    Args:
        scores: float64[S, N, K], of each subject under the machines of each group.
    """
    subjects, size, groups = scores.shape
    full = 1 << groups
    sums = np.zeros((full, size))
    sums[0] = 1.0
    best = np.maximum(scores.max(axis=2), LEAST)
    log_scale = best.sum(axis=0)
    for s in range(subjects):
        chance = np.exp(scores[s].T - best[s])
        new = np.zeros((full, size))
        for mask in range(full):
            for k in range(groups):
                new[mask | 1 << k] += sums[mask] * chance[k]
        largest = np.maximum(new.max(axis=0), SMALLEST)
        sums = new / largest
        log_scale = log_scale + np.log(largest)
    with np.errstate(divide="ignore"):  # of groups that hardly anybody would belong to
        return np.asarray(np.log(sums[full - 1]) + log_scale)


def helpful(
    scores: Floats, log_context: Floats, log_prior: Floats, groups: int, combinations: int
) -> Ints:
    """Return the places of machines that explain most beside those that explain most already."""
    best = int(np.argmax(scores.max(axis=2).sum(axis=1) + log_context))
    own = np.maximum(scores[best], LEAST)
    size = own.shape[1]
    most = size
    while math.comb(most + groups - 1, groups) > combinations:
        most = min(most - 1, int(most * 0.9))
    if most >= size:
        return np.arange(size)
    ranks = np.full(size, size)
    ranks[(own + log_prior).argmax(axis=1)] = 0
    for order in _orders(own, log_prior, groups):
        ranks[order] = np.minimum(ranks[order], np.arange(size))
    return np.sort(np.argsort(ranks, kind="stable")[:most])


def _orders(own: Floats, log_prior: Floats, groups: int) -> list[Ints]:
    """Return for each group its machines, the most helpful first beside the best of the others.

    One group after the other gets the machine that helps most. A machine that explains two kinds
    of subjects half well comes first so, and in its way later: each is then chosen anew beside
    the others, a few times over.

    Args:
        own: float64[S, J], of each subject under each machine.
        log_prior: float64[J].
        groups: K.
    """
    floor = np.maximum(own, np.median(own) - FAR).min(axis=1)
    chosen: list[Ints] = []
    for turn in range(groups * (1 + EXCHANGES)):
        if turn >= groups:
            chosen = chosen[1:]
        others = [int(order[0]) for order in chosen]
        base = np.maximum(floor, own[:, others].max(axis=1)) if others else floor
        gain = log_prior + np.maximum(own - base[:, None], 0.0).sum(axis=0)
        chosen.append(np.argsort(-gain, kind="stable"))
    return chosen


def _mattering(
    scores: Floats, log_context: Floats, tuples: Ints, prior: Floats
) -> tuple[Ints, Ints]:
    """Return contexts that can matter, and combinations of machines that can, as places.

    From the context that explains most if each subject has the machine that suits it, to that of
    the best combinations there, and so on.

    Args:
        scores: float64[X, S, J].
        log_context: float64[X].
        tuples: int64[N, K], machines.
        prior: float64[N], the log of how likely each combination is.
    """
    best = int(np.argmax(scores.max(axis=2).sum(axis=1) + log_context))
    for _ in range(ROUNDS):
        weight = prior + filled(scores[best][:, tuples])
        some = np.argsort(-weight, kind="stable")[:FEW]
        own = scores[:, :, tuples[some]].transpose(1, 0, 2, 3)
        flat = own.reshape(len(own), -1, own.shape[3])
        found = filled(flat).reshape(len(scores), -1) + prior[some] + log_context[:, None]
        highest = found.max(axis=1)
        last, best = best, int(np.argmax(highest))
        if last == best:
            break
    near = np.flatnonzero(weight >= weight.max() - LEAST_TUPLE)
    return np.flatnonzero(highest >= highest.max() - LEAST_CONTEXT), near


def _tuples(machines: int, groups: int) -> tuple[Ints, Floats]:
    """Return int64[N, K], machines in ascending order, and the log of their orders."""
    rows = list(itertools.combinations_with_replacement(range(machines), groups))
    table = np.array(rows, dtype=np.int64).reshape(-1, groups)
    repeats = [math.prod(math.factorial(row.count(x)) for x in set(row)) for row in rows]
    return table, np.log(math.factorial(groups) / np.array(repeats))


def _log_ways(subjects: int, groups: int) -> float:
    """Return the log of the number of ways to put subjects into groups, none left empty."""
    ways = sum(
        (-1) ** k * math.comb(groups, k) * (groups - k) ** subjects for k in range(groups + 1)
    )
    return math.log(ways)


def _told(scores: Floats, kept: Ints, tuples: Ints, weights: Floats, total: float) -> Parted:
    """Return who belongs together, from the heaviest contexts and machines."""
    flat = np.argsort(-weights, axis=None, kind="stable")[:TOP]
    weight = np.exp(weights.reshape(-1)[flat])
    rows, columns = np.unravel_index(flat[weight > 0], weights.shape)
    weight = weight[weight > 0] / weight.sum()
    subjects, groups = scores.shape[1], tuples.shape[1]
    together = np.zeros((subjects, subjects))
    size = max(MOST_AT_ONCE // (subjects * groups << groups), 1)
    for start in range(0, len(rows), size):
        some = slice(start, start + size)
        own = scores[kept[rows[some]][:, None, None], np.arange(subjects)[:, None],
                     tuples[columns[some]][:, None, :]]  # fmt: skip
        belongs, pairs = belonging(own.transpose(1, 0, 2))
        together += pairs @ weight[some]
        if start == 0:
            likeliest = belongs[:, 0]
    np.fill_diagonal(together, 1.0)
    best = tuples[columns[0]]
    group = _filling(likeliest)
    order = list(dict.fromkeys(group.tolist()))
    order += [k for k in range(len(best)) if k not in order]
    renamed = np.argsort(np.array(order))
    share = likeliest[np.arange(subjects), group]
    return Parted(total, renamed[group], share, together, best[order])


def _filling(belongs: Floats) -> Ints:
    """Return int64[S], the likeliest group of each subject, with none left empty."""
    group = belongs.argmax(axis=1)
    here = np.arange(len(group))
    for empty in sorted(set(range(belongs.shape[1])) - set(group.tolist())):
        free = np.bincount(group, minlength=belongs.shape[1])[group] > 1
        loss = np.where(free, belongs[here, group] - belongs[:, empty], np.inf)
        group[int(np.argmin(loss))] = empty
    return np.asarray(group)


def belonging(scores: Floats) -> tuple[Floats, Floats]:
    """Return who belongs where, and with whom, over all ways to fill K groups, none left empty.

    Subjects come one after the other, as in `filled`: what has come to each set of groups that
    have somebody, and what is still to come from there, are multiplied where a subject is put.

    Args:
        scores: float64[S, N, K], of each subject under the machines of each group.

    Returns:
        float64[S, N, K], how likely each subject belongs to each group, and float64[S, S, N], how
        likely two belong to the same one.
    """
    subjects, size, groups = scores.shape
    chance = np.exp(scores - np.maximum(scores.max(axis=2, keepdims=True), LEAST))
    left = _left(chance)
    came = np.zeros((1 << groups, size))
    came[0] = 1.0
    with_each = np.zeros((1 << groups, subjects, groups, size))  # where a subject is in a group
    belongs, pairs = np.zeros(scores.shape), np.zeros((subjects, subjects, size))
    for s in range(subjects):
        own = chance[s].T
        new, new_with = np.zeros_like(came), np.zeros_like(with_each)
        for mask in range(1 << groups):
            for k in range(groups):
                after = mask | 1 << k
                put = came[mask] * own[k]
                belongs[s, :, k] += put * left[s + 1, after]
                new[after] += put
                new_with[after, s, k] += put
                both = with_each[mask, :s] * own[k]
                pairs[s, :s] += both[:, k] * left[s + 1, after]
                new_with[after, :s] += both
        total = np.maximum(belongs[s].sum(axis=1), SMALLEST)
        belongs[s] /= total[:, None]
        pairs[s] /= total
        largest = np.maximum(new.max(axis=0), SMALLEST)
        came, with_each = new / largest, new_with / largest
    return belongs, pairs + pairs.transpose(1, 0, 2)


def _left(chance: Floats) -> Floats:
    """Return float64[S + 1, 2^K, N]: the sum over the ways of all from s on to fill what is left.

    Each is up to a factor that is the same for all sets of groups that have somebody.

    Args:
        chance: float64[S, N, K], of each subject in each group.
    """
    subjects, size, groups = chance.shape
    full = 1 << groups
    left = np.zeros((subjects + 1, full, size))
    left[subjects, full - 1] = 1.0
    for s in reversed(range(subjects)):
        for mask in range(full):
            for k in range(groups):
                left[s, mask] += left[s + 1, mask | 1 << k] * chance[s, :, k]
        left[s] /= np.maximum(left[s].max(axis=0), SMALLEST)
    return left
