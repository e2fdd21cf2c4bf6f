"""How likely the demonstrations are under each machine of a batch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whence.likelihood.kernels.arguments import Cells, Experts, Machines, Results, World
from whence.likelihood.kernels.compiling import lean_kernel, part
from whence.likelihood.kernels.constants import PLAIN, REPEAT, WINDOW
from whence.likelihood.kernels.extrapolation import (
    Fit,
    compare,
    empty_fit,
    forget_weights,
    may_extrapolate,
    reweigh,
)
from whence.likelihood.kernels.groups import Handed, either, own
from whence.likelihood.kernels.machines import find_live
from whence.likelihood.kernels.packs import Pack, admit, converged, empty_pack, move_in
from whence.likelihood.kernels.reading import (
    Desk,
    empty_desk,
    lay_down,
    leave_seats,
    read_desk,
    write_values,
)
from whence.likelihood.kernels.row_reading import at_random
from whence.likelihood.kernels.sweeping import combine, run_sweeps, sweep
from whence.likelihood.kernels.tables import Steps
from whence.likelihood.kernels.tiling import run_tiled_round


class Room(NamedTuple):
    """What machines are solved and read in."""

    pack: Pack
    porch: Pack
    fit: Fit
    desk: Desk


def empty_room(world: World, cells: Cells, steps: Steps, n: int, m: int) -> Handed:
    """Return a `Room` for machines of n states and m symbols."""
    pack = empty_pack(world, n, m, WINDOW)
    porch = pack if len(world.tiles) > 2 else empty_pack(world, n, m, 1)
    desk = empty_desk(world, cells, steps, pack, m)
    return Handed(Room(pack, porch, empty_fit(len(pack.seats)), desk))


@lean_kernel
def score_batch(start, stop, world, cells, machines, experts, room, results):
    """Score the canonical machines start..stop-1 in a world that is one tile.

    `arguments` describes what is given.
    """
    score_by(
        start, stop, own(world), own(cells), own(Machines(*machines)), own(Experts(*experts)),
        own(room), own(Results(*results)), sweep,
    )  # fmt: skip


@lean_kernel
def score_tiled_batch(start, stop, world, cells, machines, experts, room, results):
    """Do as `score_batch` does in a world of several tiles."""
    score_tiled_by(
        start, stop, own(world), own(cells), own(Machines(*machines)), own(Experts(*experts)),
        own(room), own(Results(*results)), sweep,
    )  # fmt: skip


@part
def score_by(start, stop, world, cells, machines, experts, room, results, sweeps):
    """Score machines in a world that is one tile, swept by a function.

    Machines make their first rounds on the porch, where none is extrapolated, and go on to a
    seat of the pack as soon as one is free.
    """
    pack, porch, desk = room.pack, room.porch, room.desk
    slot = np.int64(0)
    waiting = start
    while True:
        crowded = lay_down(pack.iterates[slot], pack, desk)
        free = 0
        if not crowded:  # who enters the porch must be swept there before it leaves
            free = _leave_porch(pack.iterates[slot], porch, pack)
        if free > 0 and waiting < stop:
            waiting = _fill_porch(waiting, stop, world, cells, machines, experts, room, results)
        fresh = free > 0 and porch.seats[0].machine >= 0
        over = free == len(pack.seats) and not fresh
        if over or desk.tables.machines[-1] >= 0:  # it is full
            read_desk(pack.length, world, cells, machines, experts, desk, results)
        if over:
            return
        if crowded:
            continue
        if not fresh:
            combine(slot, pack)
            slot = (slot + 1) % WINDOW
        at = either(fresh, porch, pack)
        here = np.int64(0) if fresh else slot
        times = PLAIN * REPEAT if fresh else REPEAT
        run_sweeps(times, at.iterates[here], at.changes[here], world, at, sweeps)
        if not fresh:
            settle(slot, pack.iterates[slot], world, machines, room, results)


@part
def _leave_porch(x, porch, pack):
    """Give free seats to the machines of the porch; return how many seats stay free."""
    source = free = 0
    for number in range(len(pack.seats)):
        if pack.seats[number].machine >= 0:
            continue
        while source < len(porch.seats) and porch.seats[source].machine < 0:
            source += 1
        if source < len(porch.seats):
            move_in(number, source, porch, pack, x)
        else:
            free += 1
    return free


@part
def _fill_porch(waiting, stop, world, cells, machines, experts, room, results):
    """Let machines enter the empty porch; return the next one."""
    porch = room.porch
    for number in range(len(porch.seats)):
        waiting = _skip_unpaid(waiting, stop, world, cells, machines, experts, room.desk, results)
        if waiting < stop:
            admit(number, waiting, machines, world, porch, porch.iterates[0])
            waiting += 1
    return waiting


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
        if settle(slot, x, world, machines, room, results):
            leave_seats(pack, desk)
            read_desk(pack.length, world, cells, machines, experts, desk, results)


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
def settle(slot, x, world, machines, room, results):
    """Prepare the next round of each machine; those that are done wait to be read.

    Returns:
        Whether any is done.
    """
    pack, fit = room.pack, room.fit
    ended = False
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
        seat.done = ended = True
        if results.values.shape[0] > 0:
            for y in range(machines.counts[b]):
                write_values(world, x, pack.length, number * pack.n + y, results.values[b, y])
    return ended


@part
def _skip_unpaid(waiting, stop, world, cells, machines, experts, desk, results):
    """Return the next machine that pays; one that never does finds all actions equally likely.

    Not so for a soft expert where states have more actions or fewer.
    """
    while (
        waiting < stop
        and world.floor == 0.0
        and not find_live(
            machines.transitions[waiting],
            machines.rewards[waiting],
            machines.counts[waiting],
            desk.live,
        )
    ):
        for e in range(experts.first[waiting], experts.first[waiting + 1]):
            results.log_likelihoods[e] = at_random(world.n_actions, cells)
        waiting += 1
    return waiting


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
