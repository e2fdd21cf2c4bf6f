"""Log likelihoods from what it is worth to enter the hubs of a deterministic world.

A row belongs to a state that an action leads to, a hub or a blank *place*, and holds what it is
worth to enter it in each state of each machine of a pack. One exponential is taken of each row,
whatever the number of actions that lead there, and one logarithm for each visited state.
"""

from __future__ import annotations

import math

import numpy as np

from whence.likelihood.kernels.arguments import Experts, Machines
from whence.likelihood.kernels.compiling import kernel, part
from whence.likelihood.kernels.constants import LANES, LOG2E
from whence.likelihood.kernels.groups import own
from whence.likelihood.kernels.machines import find_live
from whence.likelihood.kernels.row_functions import log_of, rest, whole
from whence.likelihood.kernels.row_reading import at_random, read_machines
from whence.likelihood.kernels.vectors import (
    larger,
    load,
    minus,
    plus,
    scaled,
    spread,
    store,
    times,
)

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
def _fill_near(blocks, steps, tables):
    """Write the log probabilities of demonstrated actions from one exponential a row."""
    many, rows = len(steps.first) - 1, tables.x.shape[0] // (blocks * LANES) - 1
    _near_sums(
        many, rows, steps.n_actions, blocks, steps.entered, tables.x, tables.alpha,
        tables.reference, tables.odds, tables.sums,
    )  # fmt: skip
    _fill_chances(
        len(steps.row), blocks, steps.row, steps.place, tables.x, tables.alpha, tables.sums,
        tables.chances,
    )  # fmt: skip


@part
def _near(begin, n, length, hubs, alpha, tables):
    """Write the power of two that a machine's odds are divided by.

    Returns:
        Whether they are all normal numbers then.
    """
    x = tables.x
    most = least = 0.0
    for hub in range(hubs):
        for lane in range(hub * length + begin, hub * length + begin + n):
            most = max(most, x[lane])
            least = min(least, x[lane])
    top = math.floor(alpha * most * LOG2E + 0.5)
    for lane in range(begin, begin + n):
        tables.reference[lane] = top
    return top - alpha * least * LOG2E < WIDEST


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
    world, machines, experts = own(world), own(Machines(*machines)), own(Experts(*experts))
    cells, steps, tables = own(cells), own(steps), own(tables)
    transitions, rewards, counts = machines.transitions, machines.rewards, machines.counts
    n, hubs = transitions.shape[1], world.labels.shape[0]
    length = LANES * ((n + LANES - 1) // LANES)
    live = tables.live
    waiting = start
    while waiting < stop:
        for number in range(len(tables.machines)):
            while waiting < stop and not find_live(
                transitions[waiting], rewards[waiting], counts[waiting], live
            ):  # every action is equally likely
                for e in range(experts.first[waiting], experts.first[waiting + 1]):
                    out[e] = at_random(steps.n_actions, cells)
                waiting += 1
            tables.machines[number] = waiting if waiting < stop else -1
            waiting += 1
        if tables.machines[0] >= 0:
            _fill_rows(
                n, length, start, worths, tables.machines, world.labels, world.floors,
                world.first, world.hubs, world.weights, tables.x,
            )  # fmt: skip
            read_machines(
                False, length, hubs, machines, experts, cells, steps, tables, out, _near,
                _fill_near,
            )  # fmt: skip
