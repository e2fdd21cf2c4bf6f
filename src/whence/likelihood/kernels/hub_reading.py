"""Log likelihoods from what it is worth to enter the hubs of a deterministic world.

A row belongs to a state that an action leads to, a hub or a blank *place*, and holds what it is
worth to enter it in each state of each machine of a pack. One exponential is taken of each row,
whatever the number of actions that lead there, and one logarithm for each visited state.
"""

from __future__ import annotations

import math

import numpy as np

from whence.likelihood.kernels.arguments import Cells, Experts, Machines
from whence.likelihood.kernels.compiling import kernel, part
from whence.likelihood.kernels.constants import LANES, LOG2E, RESOLUTION, SMALLEST, TIE
from whence.likelihood.kernels.hub_arguments import Hubs, Steps, Tables
from whence.likelihood.kernels.hub_histories import add_up, of_machine, walk
from whence.likelihood.kernels.machines import find_live
from whence.likelihood.kernels.reading import at_random
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
WIDEST = 900.0  # powers of two that a machine's exponentials may be apart to be kept as they are


@part
def _fill_rows(n, length, start, worths, machines, labels, floors, first, hubs, weights, x):
    """Write what it is worth to enter each hub, and each place by the best of its edges."""
    blocks = np.uintp(length // LANES)
    for number in range(len(machines)):
        for hub in range(labels.shape[0]):
            for y in range(n):
                worth = worths[machines[number] - start, hub, y] if machines[number] >= 0 else 0.0
                x[hub * length + number * n + y] = worth
    for row in range(labels.shape[0], floors.shape[0]):
        for c in range(blocks):
            best = spread(floors[row])
            for e in range(np.uintp(first[row]), np.uintp(first[row + 1])):
                value = times(spread(weights[e]), load(x, np.uintp(hubs[e]) * blocks + c))
                best = larger(value, best)
            store(x, np.uintp(row) * blocks + c, best)


@part
def _near_sums(many, rows, n_actions, blocks, entered, x, alpha, reference, odds, sums):
    """Write the log of the summed exp(alpha x) of each visited state's actions."""
    for c in range(blocks):
        sharp, shift = load(alpha, c), load(reference, c)
        for r in range(np.uintp(rows)):
            value = times(sharp, load(x, r * blocks + c))
            k = whole(value)
            store(odds, r * blocks + c, scaled(rest(value, k), minus(k, shift)))
        for u in range(np.uintp(many)):
            i = u * np.uintp(n_actions)
            total = load(odds, np.uintp(entered[i]) * blocks + c)
            for a in range(np.uintp(1), np.uintp(n_actions)):
                total = plus(total, load(odds, np.uintp(entered[i + a]) * blocks + c))
            store(sums, u * blocks + c, log_of(total, shift))


@part
def _fill_chances(keys, blocks, row, place, x, alpha, sums, chances):
    """Write the log probability of each demonstrated action of experts who never lapse."""
    for c in range(blocks):
        sharp = load(alpha, c)
        for key in range(np.uintp(keys)):
            value = times(sharp, load(x, np.uintp(row[key]) * blocks + c))
            own = minus(value, load(sums, np.uintp(place[key]) * blocks + c))
            store(chances, key * blocks + c, own)


@part
def _fill_far(blocks, n_actions, entered, first, row, x, alpha, far, chances):
    """Do as `_near_sums` and `_fill_chances` do where exponentials are far apart.

    There each visited state's are taken relative to its best action, which costs one for every
    action instead of one for every row.
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
def _log_or_never(chance):
    """Return the logarithms of probabilities, -inf for 0."""
    known = log_of(larger(chance, spread(SMALLEST)), spread(0.0))
    return better(chance, spread(0.0), known, spread(-np.inf))


@part
def _be_sure(keys, blocks, n_actions, choices, entered, row, place, x, lapse, sure, chances):
    """Make all the best actions equally likely, where alpha is infinite."""
    masked = len(choices) > 0
    for c in range(blocks):
        lapses = load(lapse, c)
        chance = over(lapses, spread(np.float64(n_actions)))
        nothing = _log_or_never(chance)
        for key in range(np.uintp(keys)):
            if masked:
                chance = over(lapses, spread(choices[np.uintp(place[key])]))
                nothing = _log_or_never(chance)
            i = np.uintp(place[key]) * np.uintp(n_actions)
            best = load(x, np.uintp(entered[i]) * blocks + c)
            for a in range(np.uintp(1), np.uintp(n_actions)):
                best = larger(best, load(x, np.uintp(entered[i + a]) * blocks + c))
            size = times(spread(RESOLUTION), larger(best, minus(spread(0.0), best)))
            edge = minus(best, larger(spread(TIE), size))
            ties = spread(0.0)
            for a in range(np.uintp(n_actions)):
                worse = better(
                    edge, load(x, np.uintp(entered[i + a]) * blocks + c), spread(0.0), spread(1.0)
                )
                ties = plus(ties, worse)
            own = plus(over(minus(spread(1.0), lapses), ties), chance)
            value = better(
                edge, load(x, np.uintp(row[key]) * blocks + c), nothing, log_of(own, spread(0.0))
            )
            old = load(chances, key * blocks + c)
            store(chances, key * blocks + c, better(load(sure, c), spread(0.5), value, old))


@part
def _refer(begin, n, length, hubs, alpha, x, reference):
    """Write the power of two that a machine's odds are divided by.

    Returns:
        Whether they are all normal numbers then.
    """
    most = least = 0.0
    for hub in range(hubs):
        for lane in range(hub * length + begin, hub * length + begin + n):
            most = max(most, x[lane])
            least = min(least, x[lane])
    top = math.floor(alpha * most * LOG2E + 0.5)
    for lane in range(begin, begin + n):
        reference[lane] = top
    return top - alpha * least * LOG2E < WIDEST


@part
def _seat_experts(turn, n, length, hubs, experts, tables):
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
        near = _refer(number * n, n, length, hubs, alpha, tables.x, tables.reference)
        close |= near
        apart |= not near
        lapsing |= lapse > 0.0
        sure |= infinite > 0.0
        for lane in range(number * n, (number + 1) * n):
            tables.alpha[lane] = alpha
            tables.lapse[lane] = lapse
            tables.sure[lane] = infinite
            tables.far[lane] = 0.0 if near else 1.0
    return close, apart, lapsing, sure


@part
def _fill(turn, n, length, hubs, experts, choices, steps, tables):
    """Write the log probabilities of all demonstrated actions for one expert a machine."""
    blocks = np.uintp(length // LANES)
    many, rows = tables.sums.shape[0] // length, tables.x.shape[0] // length - 1
    n_actions, keys = steps.n_actions, len(steps.row)
    close, apart, lapsing, sure = _seat_experts(turn, n, length, hubs, experts, tables)
    if close:
        _near_sums(
            many, rows, n_actions, blocks, steps.entered, tables.x, tables.alpha,
            tables.reference, tables.odds, tables.sums,
        )  # fmt: skip
        _fill_chances(
            keys, blocks, steps.row, steps.place, tables.x, tables.alpha, tables.sums,
            tables.chances,
        )  # fmt: skip
    if apart:
        _fill_far(
            blocks, n_actions, steps.entered, steps.first, steps.row, tables.x, tables.alpha,
            tables.far, tables.chances,
        )  # fmt: skip
    if lapsing:
        _let_lapse(keys, blocks, n_actions, choices, steps.place, tables.lapse, tables.chances)
    if sure:
        _be_sure(
            keys, blocks, n_actions, choices, steps.entered, steps.row, steps.place, tables.x,
            tables.lapse, tables.sure, tables.chances,
        )  # fmt: skip


@kernel
def read_hubs(start, stop, world, machines, experts, cells, steps, worths, tables, out):
    """Write the log likelihoods of the canonical machines start..stop-1.

    Args:
        start: first machine.
        stop: last machine + 1.
        world: its hubs and places.
        machines: all of them.
        experts: of each.
        cells: the evidence.
        steps: where its actions lead.
        worths: float64[..., C, n], of machine start + i.
        tables: room for a pack.
        out: float64[E], written.
    """
    world, machines, experts = Hubs(*world), Machines(*machines), Experts(*experts)
    cells, steps, tables = Cells(*cells), Steps(*steps), Tables(*tables)
    transitions, rewards, counts = machines.transitions, machines.rewards, machines.counts
    n, hubs = transitions.shape[1], world.labels.shape[0]
    length = LANES * ((n + LANES - 1) // LANES)
    live = tables.live
    waiting = start
    while waiting < stop:
        turns = runs = 0
        for number in range(len(tables.machines)):
            while waiting < stop and not find_live(
                transitions[waiting], rewards[waiting], counts[waiting], live
            ):  # every action is equally likely
                for e in range(experts.first[waiting], experts.first[waiting + 1]):
                    out[e] = at_random(steps.n_actions, cells)
                waiting += 1
            tables.machines[number] = waiting if waiting < stop else -1
            if waiting < stop:
                turns = max(turns, experts.first[waiting + 1] - experts.first[waiting])
            waiting += 1
        if turns > 0:
            _fill_rows(
                n, length, start, worths, tables.machines, world.labels, world.floors,
                world.first, world.hubs, world.weights, tables.x,
            )  # fmt: skip
            runs = walk(machines, n, transitions.shape[2], length, steps.n_actions, cells, tables)
        for turn in range(turns):
            _fill(turn, n, length, hubs, experts, cells.choices, steps, tables)
            add_up(runs, np.uintp(length // LANES), cells, steps, tables)
            for number in range(len(tables.machines)):
                b = tables.machines[number]
                e = experts.first[b] + turn
                if b >= 0 and e < experts.first[b + 1]:
                    out[e] = of_machine(number, n, length, tables)
