"""How likely the demonstrations are under each machine of a batch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whence.likelihood.kernels.arguments import Cells, World
from whence.likelihood.kernels.compiling import lean_kernel, part
from whence.likelihood.kernels.constants import REPEAT, WINDOW
from whence.likelihood.kernels.extrapolation import (
    Fit,
    compare,
    empty_fit,
    forget_weights,
    may_extrapolate,
    reweigh,
)
from whence.likelihood.kernels.machines import find_live
from whence.likelihood.kernels.packs import Pack, admit, converged, empty_pack
from whence.likelihood.kernels.reading import (
    Desk,
    at_random,
    empty_desk,
    fill_tables,
    read_out,
    sum_cells,
)
from whence.likelihood.kernels.sweeping import run_round, sweep
from whence.likelihood.kernels.tiling import run_tiled_round


class Room(NamedTuple):
    """What machines are solved and read in."""

    pack: Pack
    fit: Fit
    desk: Desk


def empty_room(world: World, cells: Cells, n: int, m: int) -> Room:
    """Return room for machines of n states and m symbols."""
    pack = empty_pack(world, n, m)
    desk = empty_desk(n, m, world.n_actions, cells)
    return Room(pack, empty_fit(len(pack.seats)), desk)


@lean_kernel
def score_batch(start, stop, world, cells, machines, experts, room, results):
    """Score the canonical machines start..stop-1 in a world that is one tile.

    `arguments` describes what is given.
    """
    score_by(start, stop, world, cells, machines, experts, room, results, sweep)


@lean_kernel
def score_tiled_batch(start, stop, world, cells, machines, experts, room, results):
    """Do as `score_batch` does in a world of several tiles."""
    score_tiled_by(start, stop, world, cells, machines, experts, room, results, sweep)


@part
def score_by(start, stop, world, cells, machines, experts, room, results, sweeps):
    """Score machines in a world that is one tile, swept by a function."""
    pack, desk = room.pack, room.desk
    slot = np.int64(0)
    waiting = start
    while True:
        x = pack.iterates[slot]
        waiting = take_seats(
            waiting, stop, world, cells, machines, experts, pack, desk, results, x
        )
        if waiting < 0:
            return
        run_round(slot, world, pack, sweeps)
        slot = (slot + 1) % WINDOW
        settle(slot, pack.iterates[slot], world, cells, machines, experts, room, results)


@part
def score_tiled_by(start, stop, world, cells, machines, experts, room, results, sweeps):
    """Do as `score_by` does in a world of several tiles."""
    pack, desk = room.pack, room.desk
    x = pack.iterates[0]
    slot = latest = np.int64(0)
    waiting = start
    while True:
        waiting = take_seats(
            waiting, stop, world, cells, machines, experts, pack, desk, results, x
        )
        if waiting < 0:
            return
        slot = (slot + 1) % WINDOW
        run_tiled_round(latest, pack.changes[slot], world, pack, sweeps)
        latest = (latest + 1) % (pack.window - 1)
        settle(slot, x, world, cells, machines, experts, room, results)


@part
def take_seats(waiting, stop, world, cells, machines, experts, pack, desk, results, x):
    """Give free seats to machines; return the next one, or -1 where all are done."""
    seated = False
    for number in range(len(pack.seats)):
        waiting = _skip_unpaid(waiting, stop, world, cells, machines, experts, desk, results)
        if pack.seats[number].machine < 0 and waiting < stop:
            admit(number, waiting, machines, world, pack, x)
            waiting += 1
        seated |= pack.seats[number].machine >= 0
    return waiting if seated else -1


@part
def settle(slot, x, world, cells, machines, experts, room, results):
    """Prepare the next round of each machine, or read it out where it is done."""
    pack, fit, desk = room.pack, room.fit, room.desk
    most_rounds = (10_000 + 60.0 / (1.0 - world.discount)) / REPEAT  # plain sweeps do by then
    compare(slot, pack.changes, pack.window, fit.dots)
    for number in range(len(pack.seats)):
        seat = pack.seats[number]
        b = seat.machine
        if b < 0 or _goes_on(
            number, slot, machines.tolerance[b], most_rounds, world, pack, fit, x
        ):
            continue
        results.sweeps[b] = REPEAT * seat.rounds
        seat.machine = -1
        _finish(b, number, world, cells, machines, experts, pack, x, desk, results)


@part
def _skip_unpaid(waiting, stop, world, cells, machines, experts, desk, results):
    """Return the next machine that pays; one that never does finds all actions equally likely.

    Not so for a soft expert where states have more actions or fewer.
    """
    while waiting < stop and not _live(waiting, world, machines, desk):
        for e in range(experts.first[waiting], experts.first[waiting + 1]):
            results.log_likelihoods[e] = at_random(world.n_actions, cells)
        waiting += 1
    return waiting


@part
def _live(b, world, machines, desk):
    """Mark the states of a machine that must be looked at; return how many."""
    count = machines.counts[b]
    if world.floor < 0.0:
        for y in range(count):
            desk.live[y] = True
        return count
    return find_live(machines.transitions[b], machines.rewards[b], count, desk.live)


@part
def _goes_on(number, slot, tolerance, most_rounds, world, pack, fit, x):
    """Return whether a machine needs another round, and prepare it."""
    seat = pack.seats[number]
    first = number * pack.share
    forget_weights(number, pack)
    seat.rounds += 1
    change = pack.largest[first]
    for j in range(first + 1, first + pack.share):
        change = pack.largest[j] if pack.largest[j] > change else change
    goal = tolerance * (1.0 - world.discount)
    if seat.rounds > most_rounds or converged(change, goal, number, world, pack, x):
        return False
    if may_extrapolate(seat, change, pack.window):
        reweigh(number, slot, pack, fit)
    return True


@part
def _finish(b, number, world, cells, machines, experts, pack, x, desk, results):
    """Write what the solved machine of a seat says."""
    transitions, count = machines.transitions[b], machines.counts[b]
    _live(b, world, machines, desk)
    own = results.values[b : b + 1]
    read_out(number * pack.n, count, pack.length, world, x, cells.visited, desk.q, own)
    if results.q.shape[0] > 0:
        for i in range(count * world.n_actions * cells.visited.shape[0]):
            results.q[b, i] = desk.q[i]
    for e in range(experts.first[b], experts.first[b + 1]):
        fill_tables(count, world.n_actions, experts.alpha[e], experts.lapse[e], cells, desk)
        results.log_likelihoods[e] = sum_cells(world.n_actions, transitions, cells, desk)
