"""Histories walked for a whole pack: all its machines as one, and sums over cells side by side.

The states of the machines of a pack, taken together, are the states of one machine: n to the
power of the seats, which is never more than 256. A history leads it to one of them, whose *code*
has a bit for each lane that is to be counted: those of machines that can still pay. So one walk
serves all machines, and one row of log probabilities is added for each cell, whatever their
number. The sums of a lane do not depend on the others.
"""

from __future__ import annotations

import math

import numpy as np

from whence.likelihood.kernels.compiling import part
from whence.likelihood.kernels.constants import LANES
from whence.likelihood.kernels.machines import find_live
from whence.likelihood.kernels.vectors import load, spread, store, times_plus_where

BLOCK = 16  # above the bits of the lanes, a code has the block of a machine of more than LANES


@part
def _join(every, machines, tables, n, m, length):
    """Write the joint machine of a pack; return the bits of its seats, without empty ones.

    Its states are held times m, and `codes` and `dead` are filled at such multiples: the lanes
    to count there, and a bit for each seat whose machine pays nothing any more.
    """
    following, codes, dead, live = tables.following, tables.codes, tables.dead, tables.live
    step = max(m, 1)
    codes[0] = dead[0] = 0
    for symbol in range(m):
        following[symbol] = 0
    size, seats = 1, 0
    for number in range(len(tables.machines)):
        b = tables.machines[number]
        if b < 0:
            continue
        seats |= 1 << number
        count = machines.counts[b]
        find_live(machines.transitions[b], machines.rewards[b], count, live)
        for y in range(n - 1, -1, -1):  # 0 last: it is written over what the others are made from
            wide = (1 << y % LANES) + (y // LANES << BLOCK)
            code = 1 << (number * n + y) if length == LANES else wide
            lives = y < count and (every or live[y])
            for old in range(size):
                new = old + size * y
                dead[new * step] = dead[old * step] | (0 if lives else 1 << number)
                codes[new * step] = codes[old * step] | (code if lives else 0)
                for symbol in range(m):
                    target = machines.transitions[b, y, symbol]
                    following[new * step + symbol] = (
                        following[old * step + symbol] + size * target * step
                    )
        size *= n
    return seats


@part
def walk(every, machines, n, m, length, n_actions, cells, tables):
    """Write the code of each history, and what machines miss that cannot pay any more.

    Histories after which no machine of the pack can pay are skipped, together with all that
    extend them, unless `every` state counts. Each history waits for the state after the one
    before, so that path is kept short.

    Returns:
        The number of `runs` of histories that are not skipped.
    """
    none = _join(every, machines, tables, n, m, length)
    following, memory, runs, skipped = (
        tables.following, tables.memory, tables.runs, tables.skipped,
    )  # fmt: skip
    parent, symbols = cells.parent, cells.symbol
    masked = len(cells.subtree_extra) > 0
    uniform = -math.log(n_actions)
    for number in range(len(tables.machines)):
        skipped[number] = 0.0
    count = first = node = 0
    row = np.uintp(0)
    before = 0
    while node < parent.shape[0]:
        if node > 0:
            above = row if parent[node] == node - 1 else np.uintp(memory[np.uintp(parent[node])])
            row = np.uintp(following[above + np.uintp(symbols[node])])
            before = tables.dead[above]
        memory[node] = row
        tables.lanes[node] = tables.codes[row]
        dead = tables.dead[row]
        if dead != before:
            for number in range(len(tables.machines)):
                if (dead & ~before) >> number & 1:
                    skipped[number] += uniform * cells.subtree_steps[node]
                    if masked:
                        skipped[number] += cells.subtree_extra[node]
        if dead != none:
            node += 1
            continue
        if first < node:
            runs[2 * count], runs[2 * count + 1] = first, node
            count += 1
        node = first = cells.subtree_end[node]
    if first < node:
        runs[2 * count], runs[2 * count + 1] = first, node
        count += 1
    return count


@part
def _added(cell, blocks, key, node, counts, lanes, chances, total):
    """Return the sums of all lanes with one cell added."""
    code = lanes[np.uintp(node[cell])]
    row = np.uintp(key[cell]) * blocks + np.uintp(code >> np.uint32(BLOCK))
    return times_plus_where(code, spread(counts[cell]), load(chances, row), total)


@part
def add_up(runs, blocks, cells, steps, tables):
    """Write the sums of the log probabilities of what was demonstrated, one a lane.

    Cells of even and of odd number are added up by themselves, so that two sums are under way at
    a time; which sum a cell belongs to does not depend on the runs.
    """
    key, node, counts = steps.key, steps.node, cells.counts
    lanes, chances = tables.lanes, tables.chances
    one, two = np.uintp(1), np.uintp(2)
    even, odd = spread(0.0), spread(0.0)
    for run in range(runs):
        cell = np.uintp(cells.first[tables.runs[2 * run]])
        last = np.uintp(cells.first[tables.runs[2 * run + 1]])
        if cell < last and cell & one:
            odd = _added(cell, blocks, key, node, counts, lanes, chances, odd)
            cell += one
        while cell + one < last:
            even = _added(cell, blocks, key, node, counts, lanes, chances, even)
            odd = _added(cell + one, blocks, key, node, counts, lanes, chances, odd)
            cell += two
        if cell < last:
            even = _added(cell, blocks, key, node, counts, lanes, chances, even)
    store(tables.totals, np.uintp(0), even)
    store(tables.totals, np.uintp(1), odd)


@part
def of_machine(number, n, length, tables):
    """Return the log likelihood of a machine of the pack."""
    result = tables.skipped[number]
    first = number * n if length == LANES else 0
    for lane in range(first, first + (n if length == LANES else LANES)):
        result += tables.totals[lane] + tables.totals[LANES + lane]
    return result
