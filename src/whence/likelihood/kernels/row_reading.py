"""Log likelihoods of a pack of machines: the parts that all engines share.

A row belongs to what an action may lead to, and holds what that is worth in each state of each
machine of a pack. From it come the log probabilities of the demonstrated actions, side by side.
"""

from __future__ import annotations

import math

import numpy as np

from whence.likelihood.kernels.compiling import part
from whence.likelihood.kernels.constants import LANES, RESOLUTION, TIE
from whence.likelihood.kernels.pack_histories import add_up, of_machine, walk
from whence.likelihood.kernels.row_functions import log_of, rest, whole
from whence.likelihood.kernels.vectors import (
    better,
    larger,
    load,
    minus,
    over,
    plus,
    scaled,
    spread,
    store,
    times,
    times_plus,
)

LEAST = -690.0  # exponentials of less are taken for this one


@part
def _fill_far(blocks, n_actions, entered, first, row, x, alpha, far, chances):
    """Write the log probability of each demonstrated action in the lanes that are `far`.

    Each visited state's exponentials are taken relative to its best action.
    """
    for u in range(np.uintp(len(first) - 1)):
        for c in range(blocks):
            sharp = load(alpha, c)
            i = u * np.uintp(n_actions)
            best = load(x, np.uintp(entered[i]) * blocks + c)
            for a in range(np.uintp(1), np.uintp(n_actions)):
                best = larger(best, load(x, np.uintp(entered[i + a]) * blocks + c))
            total = spread(0.0)
            for a in range(np.uintp(n_actions)):
                value = times(sharp, minus(load(x, np.uintp(entered[i + a]) * blocks + c), best))
                value = larger(value, spread(LEAST))
                k = whole(value)
                total = plus(total, scaled(rest(value, k), k))
            total = log_of(total, spread(0.0))
            for key in range(np.uintp(first[u]), np.uintp(first[u + np.uintp(1)])):
                value = times(sharp, minus(load(x, np.uintp(row[key]) * blocks + c), best))
                old = load(chances, key * blocks + c)
                own = better(load(far, c), spread(0.5), minus(value, total), old)
                store(chances, key * blocks + c, own)


@part
def _let_lapse(keys, blocks, n_actions, choices, place, lapse, chances):
    """Mix the probabilities of experts who lapse with chance."""
    masked = len(choices) > 0
    for c in range(blocks):
        lapses = load(lapse, c)
        own = minus(spread(1.0), lapses)
        chance = over(lapses, spread(np.float64(n_actions)))
        for key in range(np.uintp(keys)):
            if masked:
                chance = over(lapses, spread(choices[np.uintp(place[key])]))
            old = load(chances, key * blocks + c)
            value = larger(old, spread(LEAST))
            k = whole(value)
            mixed = log_of(times_plus(own, scaled(rest(value, k), k), chance), spread(0.0))
            store(chances, key * blocks + c, better(lapses, spread(0.0), mixed, old))


@part
def _be_sure(n_actions, length, choices, steps, tables):
    """Make all the best actions equally likely, where alpha is infinite."""
    entered, x = steps.entered, tables.x
    for lane in range(length):
        lapse = tables.lapse[lane]
        if tables.sure[lane] == 0.0:
            continue
        for key in range(len(steps.row)):
            u = steps.place[key]
            first = np.int64(u) * n_actions
            best = -np.inf
            for i in range(first, first + n_actions):
                best = max(best, x[np.int64(entered[i]) * length + lane])
            edge = best - max(TIE, RESOLUTION * abs(best))
            ties = 0
            for i in range(first, first + n_actions):
                ties += x[np.int64(entered[i]) * length + lane] >= edge
            p = lapse / (choices[u] if len(choices) > 0 else n_actions)
            if x[np.int64(steps.row[key]) * length + lane] >= edge:
                p += (1.0 - lapse) / ties
            tables.chances[key * length + lane] = math.log(p) if p > 0.0 else -np.inf


@part
def _seat_experts(turn, n, length, hubs, experts, tables, near):
    """Give the lanes of each machine its expert number `turn`.

    Returns:
        Whether exponentials are near enough somewhere, whether they are far apart somewhere,
        whether somebody lapses, and whether somebody is always right.
    """
    close = apart = lapsing = sure = False
    for number in range(len(tables.machines)):
        b = tables.machines[number]
        e = experts.first[b] + turn
        alpha = lapse = infinite = 0.0
        if b >= 0 and e < experts.first[b + 1]:
            alpha, lapse = experts.alpha[e], experts.lapse[e]
            if np.isinf(alpha):
                alpha, infinite = 0.0, 1.0
        kept = False
        if near is not None:
            kept = near(number * n, n, length, hubs, alpha, tables)
        close |= kept
        apart |= not kept
        lapsing |= lapse > 0.0
        sure |= infinite > 0.0
        for lane in range(number * n, (number + 1) * n):
            tables.alpha[lane] = alpha
            tables.lapse[lane] = lapse
            tables.sure[lane] = infinite
            tables.far[lane] = 0.0 if kept else 1.0
    return close, apart, lapsing, sure


@part
def _fill(turn, n, length, hubs, experts, choices, steps, tables, near, fill_near):
    """Write the log probabilities of all demonstrated actions for one expert a machine."""
    blocks = np.uintp(length // LANES)
    n_actions, keys = steps.n_actions, len(steps.row)
    close, apart, lapsing, sure = _seat_experts(turn, n, length, hubs, experts, tables, near)
    if fill_near is not None:  # noqa: SIM102 (what is None is left out of the kernel)
        if close:
            fill_near(blocks, steps, tables)
    if apart:
        _fill_far(
            blocks, n_actions, steps.entered, steps.first, steps.row, tables.x, tables.alpha,
            tables.far, tables.chances,
        )  # fmt: skip
    if lapsing:
        _let_lapse(keys, blocks, n_actions, choices, steps.place, tables.lapse, tables.chances)
    if sure:
        _be_sure(n_actions, length, choices, steps, tables)


@part
def read_machines(
    every, length, hubs, machines, experts, cells, steps, tables, out, near, fill_near
):
    """Write the log likelihoods of the machines of a pack, for all experts of each.

    `near` says whether a machine's exponentials can be kept as they are, and `fill_near` writes
    the log probabilities of those for which they can; both may be None. Where `every` state of a
    machine counts, none is skipped because it pays nothing any more.
    """
    n, m = machines.transitions.shape[1:]
    turns = 0
    for number in range(len(tables.machines)):
        b = tables.machines[number]
        if b >= 0:
            turns = max(turns, experts.first[b + 1] - experts.first[b])
    if turns == 0:
        return
    runs = walk(every, machines, n, m, length, steps.n_actions, cells, tables)
    for turn in range(turns):
        _fill(turn, n, length, hubs, experts, cells.choices, steps, tables, near, fill_near)
        add_up(runs, np.uintp(length // LANES), cells, steps, tables)
        for number in range(len(tables.machines)):
            b = tables.machines[number]
            e = experts.first[b] + turn
            if b >= 0 and e < experts.first[b + 1]:
                out[e] = of_machine(number, n, length, tables)


@part
def at_random(n_actions, cells):
    """Return the log likelihood of all steps where every action is equally likely."""
    result = -math.log(n_actions) * cells.subtree_steps[0]
    return result + cells.subtree_extra[0] if len(cells.subtree_extra) > 0 else result
