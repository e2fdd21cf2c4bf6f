"""How likely the demonstrations are under each machine of a batch."""

from __future__ import annotations

import math

from whence.likelihood.kernels.compiling import kernel, part
from whence.likelihood.kernels.constants import REPEAT, WINDOW
from whence.likelihood.kernels.extrapolation import (
    compare,
    empty_fit,
    forget_weights,
    may_extrapolate,
    reweigh,
)
from whence.likelihood.kernels.machines import find_live
from whence.likelihood.kernels.packs import admit, converged, empty_pack
from whence.likelihood.kernels.reading import empty_desk, fill_tables, read_out, sum_cells
from whence.likelihood.kernels.sweeping import run_round
from whence.likelihood.kernels.tiling import run_tiled_round


@kernel
def score_batch(start, stop, world, cells, machines, experts, space, results):
    """Score the canonical machines start..stop-1; `arguments` describes what is given."""
    n, m = machines.transitions.shape[1], machines.transitions.shape[2]
    pack = empty_pack(world, n, m, space)
    desk = empty_desk(n, m, world.n_actions, cells)
    _score(start, stop, world, cells, machines, experts, pack, empty_fit(pack), desk, results)


@part
def _score(start, stop, world, cells, machines, experts, pack, fit, desk, results):
    """Do rounds of sweeps until all machines have been seated, solved and read."""
    tiled = world.tiles.shape[0] > 2
    kept, cycle = pack.iterates.shape[0], pack.steps.shape[0]
    most_rounds = (10_000 + 60.0 / (1.0 - world.discount)) / REPEAT  # plain sweeps do by then
    waiting, active = start, 0
    slot = latest = 0
    while True:
        for number in range(len(pack.seats)):
            waiting = _skip_unpaid(waiting, stop, world, cells, machines, experts, desk, results)
            if pack.seats[number].machine < 0 and waiting < stop:
                admit(
                    number, waiting, machines.transitions[waiting], machines.rewards[waiting],
                    world, pack, pack.iterates[slot % kept],
                )  # fmt: skip
                waiting += 1
                active += 1
        if active == 0:
            return
        following = (slot + 1) % WINDOW
        if tiled:
            run_tiled_round(latest, pack.changes[following], world, pack)
        else:
            run_round(slot, world, pack)
        slot, latest = following, (latest + 1) % cycle
        x = pack.iterates[slot % kept]
        compare(slot, pack.changes, pack.window, fit.dots)
        for number in range(len(pack.seats)):
            b = pack.seats[number].machine
            if b < 0 or _goes_on(
                number, slot, machines.tolerance[b], most_rounds, world, pack, fit, x
            ):
                continue
            results.sweeps[b] = REPEAT * pack.seats[number].rounds
            pack.seats[number].machine = -1
            active -= 1
            _finish(b, number, world, cells, machines, experts, pack, x, desk, results)


@part
def _skip_unpaid(waiting, stop, world, cells, machines, experts, desk, results):
    """Return the next machine that pays; one that never does finds all actions equally likely."""
    while waiting < stop and not find_live(
        machines.transitions[waiting], machines.rewards[waiting], machines.counts[waiting],
        desk.live,
    ):  # fmt: skip
        for e in range(experts.first[waiting], experts.first[waiting + 1]):
            results.log_likelihoods[e] = -math.log(world.n_actions) * cells.subtree_steps[0]
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
        change = max(change, pack.largest[j])
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
    find_live(transitions, machines.rewards[b], count, desk.live)
    own = results.values[b : b + 1]
    read_out(number * pack.n, count, pack.length, world, x, cells.visited, desk.q, own)
    for e in range(experts.first[b], experts.first[b + 1]):
        fill_tables(
            count, world.n_actions, experts.alpha[e], experts.lapse[e], cells.visited.shape[0],
            desk,
        )  # fmt: skip
        results.log_likelihoods[e] = sum_cells(world.n_actions, transitions, cells, desk)
