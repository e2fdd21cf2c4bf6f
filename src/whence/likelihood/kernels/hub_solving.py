"""What it is worth to enter a hub: machines are solved on the hubs of a deterministic world alone.

Between labels a machine does not move, so the way through blank states does not depend on it.
A row belongs to a hub, a labelled state, and holds LANES numbers: what it is worth to enter it
in each state of each machine of a pack, side by side. What it is worth to leave a hub is the
best of its edges: the row of another hub times the discount to the power of the distance.

A pack is solved by sweeps over its hubs and by Howard's policy iteration in turn: in a
deterministic world a policy leads each hub and machine state to exactly one other, so that its
values follow from walking along it, and a cycle's from one division. What sweeps alone would
take thousands of rounds for, at discounts close to 1, is over after a few.
"""

from __future__ import annotations

import math

import numpy as np

from whence.likelihood.kernels.arguments import Machines
from whence.likelihood.kernels.compiling import kernel, part
from whence.likelihood.kernels.constants import EPSILON, LANES
from whence.likelihood.kernels.groups import own
from whence.likelihood.kernels.machines import find_live
from whence.likelihood.kernels.vectors import (
    better,
    larger,
    load,
    minus,
    pick,
    plus,
    spread,
    store,
    times,
)

SWEEPS = 4  # of a round, after which policies are evaluated


@part
def _sweep(noting, blocks, labels, floors, first, hubs, weights, pack):
    """Sweep once over all hubs, in place; write the largest change and, `noting`, the edges."""
    x, leaving = pack.x, pack.leaving
    changed = spread(0.0)
    for hub in range(labels.shape[0]):
        for c in range(blocks):
            row = np.uintp(hub) * blocks + c
            best = spread(floors[hub])
            if noting:
                taken = spread(-1.0)
                for e in range(np.uintp(first[hub]), np.uintp(first[hub + 1])):
                    value = times(spread(weights[e]), load(x, np.uintp(hubs[e]) * blocks + c))
                    taken = better(value, best, spread(np.float64(e)), taken)
                    best = larger(value, best)
                store(pack.policy, row, taken)
            else:
                for e in range(np.uintp(first[hub]), np.uintp(first[hub + 1])):
                    value = times(spread(weights[e]), load(x, np.uintp(hubs[e]) * blocks + c))
                    best = larger(value, best)
            change = minus(best, load(leaving, row))
            changed = larger(changed, larger(change, minus(spread(0.0), change)))
            store(leaving, row, best)
        own = np.uintp(hub) * blocks * np.uintp(LANES)
        for c in range(blocks):
            lanes = np.uintp(labels[hub]) * blocks + c
            worth = plus(load(pack.paid, lanes), pick(leaving, own, pack.targets, lanes))
            store(x, np.uintp(hub) * blocks + c, worth)
    store(pack.largest, np.uintp(0), changed)


@part
def _lead(begin, n, length, labels, hubs, weights, policy, paid, targets, ahead):
    """Write where the policy leads from each hub and machine state; -1: among blanks for ever."""
    for hub in range(labels.shape[0]):
        for y in range(begin, begin + n):
            at = hub * length + y
            ahead.state[at] = 0
            if policy[at] < 0.0:
                ahead.node[at] = -1
            else:
                edge = np.uintp(np.int64(policy[at]))
                to = np.int64(hubs[edge])
                label = labels[to] * length + y
                ahead.node[at] = to * length + np.int64(targets[label])
                ahead.paid[at] = paid[label]
                ahead.weight[at] = weights[edge]


@part
def _evaluate(begin, n, length, log_discount, hubs, lengths, policy, ahead, leaving):
    """Set a machine's values to those of its policy, by walking along it.

    Each hub and machine state leads to one other. A walk ends where one walks among blanks for
    ever, where values are known, or in a cycle: there v = r + g v, with g the discount to the
    power of the cycle's length.
    """
    state, path, node = ahead.state, ahead.path, ahead.node
    for hub in range(hubs):
        for origin in range(hub * length + begin, hub * length + begin + n):
            at = origin
            count = 0
            while state[at] == 0:
                state[at] = 1
                path[count] = at
                count += 1
                if node[at] < 0:
                    leaving[at] = 0.0
                    state[at] = 2
                else:
                    at = np.int64(node[at])
            if count > 0 and state[at] == 1:  # a cycle
                steps = 0
                gained = 0.0
                for i in range(count - 1, -1, -1):
                    here = path[i]
                    steps += lengths[np.uintp(np.int64(policy[here]))]
                    gained = ahead.weight[here] * (ahead.paid[here] + gained)
                    if here == at:
                        break
                leaving[at] = gained / -math.expm1(steps * log_discount)
                state[at] = 2
            for i in range(count - 1, -1, -1):
                here = path[i]
                if state[here] != 2:
                    after = leaving[node[here]]
                    leaving[here] = ahead.weight[here] * (ahead.paid[here] + after)
                    state[here] = 2


@part
def _enter(begin, n, length, labels, paid, targets, leaving, x):
    """Write what it is worth to enter each hub, from what it is worth to leave it."""
    for hub in range(labels.shape[0]):
        for lane in range(begin, begin + n):
            label = labels[hub] * length + lane
            x[hub * length + lane] = paid[label] + leaving[hub * length + targets[label]]


@part
def _admit(number, b, n, length, transitions, rewards, pack):
    """Give machine b its lanes; those of no machine never pay."""
    pack.machines[number] = b
    pack.done[number] = b < 0
    begin = number * n
    for symbol in range(transitions.shape[2]):
        for y in range(n):
            lane = symbol * length + begin + y
            pack.paid[lane] = rewards[b, y, symbol] if b >= 0 else 0.0
            pack.targets[lane] = begin + (transitions[b, y, symbol] if b >= 0 else y)


@part
def _start(length, labels, pack):
    """Set the values of leaving to 0."""
    for hub in range(labels.shape[0]):
        for lane in range(length):
            pack.leaving[hub * length + lane] = 0.0
            pack.x[hub * length + lane] = pack.paid[labels[hub] * length + lane]


@part
def _is_done(goal, fresh, begin, n, length, hubs, leaving, most):
    """Return whether a machine is exact enough, or as exact as rounding allows.

    A sweep is a contraction by the discount, so that its change bounds the error, whatever came
    before. A change of a few units in the last place, right after the policy was evaluated,
    means that no other is better.
    """
    change = 0.0
    for lane in range(begin, begin + n) if length == LANES else range(LANES):
        change = max(change, most[lane])
    if change <= goal:
        return True
    if not fresh:
        return False
    size = 0.0
    for hub in range(hubs):
        for lane in range(hub * length + begin, hub * length + begin + n):
            size = max(size, abs(leaving[lane]))
    return change <= 8.0 * EPSILON * size


@part
def _solve(n, length, world, pack, ahead, tolerance, start, worths, sweeps):
    """Solve the machines of a pack, and write what it is worth to enter each hub."""
    labels, discount = world.labels, world.discount
    hubs = labels.shape[0]
    log_discount = math.log(discount) if discount > 0.0 else -np.inf
    waiting = 0
    for number in range(len(pack.machines)):
        waiting += not pack.done[number]
    sweep = 0
    while waiting > 0:
        _sweep(
            sweep % SWEEPS == SWEEPS - 1, np.uintp(length // LANES), labels, world.floors,
            world.first, world.hubs, world.weights, pack,
        )  # fmt: skip
        sweep += 1
        fresh = sweep > SWEEPS and sweep % SWEEPS == 1
        for number in range(len(pack.machines)):
            if pack.done[number]:
                continue
            b, begin = pack.machines[number], number * n
            goal = tolerance[b] * (1.0 - discount)
            if _is_done(goal, fresh, begin, n, length, hubs, pack.leaving, pack.largest):
                pack.done[number] = True
                waiting -= 1
                sweeps[b] = sweep
                for hub in range(hubs):
                    for y in range(n):
                        worths[b - start, hub, y] = pack.x[hub * length + begin + y]
            elif sweep % SWEEPS == 0:
                _lead(
                    begin, n, length, labels, world.hubs, world.weights, pack.policy, pack.paid,
                    pack.targets, ahead,
                )  # fmt: skip
                _evaluate(
                    begin, n, length, log_discount, hubs, world.lengths, pack.policy, ahead,
                    pack.leaving,
                )  # fmt: skip
                _enter(begin, n, length, labels, pack.paid, pack.targets, pack.leaving, pack.x)


@kernel
def solve_hubs(start, stop, world, machines, pack, ahead, live, worths, sweeps):
    """Solve the canonical machines start..stop-1, but for those that never pay.

    Args:
        start: first machine.
        stop: last machine + 1.
        world: its hubs.
        machines: all of them.
        pack: room for some.
        ahead: room for their policies.
        live: bool[n], written over.
        worths: float64[..., C, n], what it is worth to enter each hub in each state of machine
            start + i, written.
        sweeps: int64[B], written.
    """
    world, machines = own(world), own(Machines(*machines))
    pack, ahead = own(pack), own(ahead)
    transitions, rewards = machines.transitions, machines.rewards
    n = transitions.shape[1]
    length = LANES * ((n + LANES - 1) // LANES)
    waiting = start
    while waiting < stop:
        for number in range(len(pack.machines)):
            while waiting < stop and not find_live(
                transitions[waiting], rewards[waiting], machines.counts[waiting], live
            ):
                waiting += 1
            _admit(
                number, waiting if waiting < stop else -1, n, length, transitions, rewards, pack
            )
            waiting += 1
        _start(length, world.labels, pack)
        _solve(n, length, world, pack, ahead, machines.tolerance, start, worths, sweeps)
