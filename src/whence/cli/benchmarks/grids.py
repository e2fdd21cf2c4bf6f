"""Grids of any size in which nothing is left to chance, with the same demonstrations in each.

Labels and episodes lie in one corner, as large as the smallest grid; what is beyond it, an
expert has no reason to see.
"""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Sequence

import numpy as np

from whence._arrays import Ints
from whence.cli.benchmarks.series import GridPoint
from whence.cli.benchmarks.timing import least, unremembered
from whence.likelihood.evidence import compile_evidence
from whence.likelihood.hub_map import HubMap, map_hubs
from whence.likelihood.posterior import Posterior
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.grid import Grid
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.prior import Prior
from whence.planning.simulation import simulate

ALPHABET = ("a", "b", "c")
ACTIONS = ("up", "right", "down", "left")
TASK = RewardMachine.from_arrows(
    ["before -a-> holding", "before -c-> over", "holding -b/1-> over", "holding -c-> over"],
    alphabet=ALPHABET,
)
"""What the expert wants on a grid: an a, then a b, and never a c."""
SMALLEST_GRID = 10_000
LABELLED, STARTS = 30, 20
EPISODES, LENGTH = 200, 100
LEVELS = (0.0, 1.0)
DEMONSTRATOR = Expert(alpha=30, discount=0.97)
EXPERT = Expert(alpha=50, discount=0.97)


def grid_point(states: int, machines: int, seed: int) -> GridPoint:
    """Measure a grid; machines, labels and demonstrations are the same whatever its size."""
    mdp = corner_grid(states, seed)
    demos = moved(_demonstrations(seed), mdp)
    visited = compile_evidence(mdp, demos).visited
    mapping = least(lambda: map_hubs(mdp, visited), warm_up=_warm_up, runs=1)
    peak, kept = _memory(mdp, visited)
    posterior = Posterior(mdp, demos, expert=EXPERT, rewards=LEVELS, threads=1)
    rng = np.random.default_rng(seed)
    tables = Prior().sample(rng, TASK.n_states, len(ALPHABET), LEVELS, machines)
    taken = least(lambda: unremembered(posterior, tables))
    return GridPoint(
        states=mdp.n_states,
        cells=posterior.evidence[0].n_cells,
        machines=machines,
        microseconds=1e6 * taken.core / machines,
        map_seconds=mapping.core,
        map_megabytes=peak / 1e6,
        kept_megabytes=kept / 1e6,
    )


def corner_grid(states: int, seed: int) -> LabeledMDP:
    """Return an open square grid without slip; labels lie in the corner that all have."""
    side, corner = math.isqrt(states - 1) + 1, math.isqrt(SMALLEST_GRID)
    rng = np.random.default_rng(seed)
    row, column = np.divmod(rng.choice(corner**2, LABELLED + STARTS, replace=False), corner)
    chosen = row * side + column
    return open_grid(side, ALPHABET, chosen[:LABELLED], chosen[LABELLED:])


def open_grid(side: int, alphabet: Sequence[str], labelled: Ints, starts: Ints) -> LabeledMDP:
    """Return an open square grid without slip.

    Args:
        side: of the grid.
        alphabet: the symbols, which the labelled cells have in turn.
        labelled: int64[L], these cells.
        starts: int64[I], where episodes begin, each as likely.
    """
    size = side * side
    labels = np.full(size, -1)
    labels[labelled] = np.arange(len(labelled)) % len(alphabet)
    grid = Grid(side, side, np.column_stack(np.divmod(np.arange(size), side)))
    return LabeledMDP.from_triples(
        grid.transitions(ACTIONS, 0.0),
        states=size,
        actions=ACTIONS,
        labels=labels,
        alphabet=alphabet,
        initial=[(state, 1 / len(starts)) for state in starts.tolist()],
        grid=grid,
        source=f"grid of {side} by {side}",
    )


def moved(demos: Demonstrations, mdp: LabeledMDP) -> Demonstrations:
    """Return demonstrations of the smallest grid in the same corner of another one."""
    row, column = np.divmod(demos.states, math.isqrt(SMALLEST_GRID))
    states: Ints = row * math.isqrt(mdp.n_states) + column
    return Demonstrations.from_flat(
        states, demos.state_offsets, demos.actions, demos.action_offsets
    )


def _demonstrations(seed: int) -> Demonstrations:
    """Return the episodes that stay away from the borders that larger grids do not have."""
    small = corner_grid(SMALLEST_GRID, seed)
    side = math.isqrt(SMALLEST_GRID)
    every = simulate(small, TASK, DEMONSTRATOR, episodes=EPISODES, length=LENGTH, seed=seed)
    last = np.maximum(*np.divmod(every.states, side)) == side - 1
    touching = np.add.reduceat(last, every.state_offsets[:-1]) > 0
    kept = [episode for episode, bad in zip(every, touching, strict=True) if not bad]
    return Demonstrations.from_episodes(kept)


def _warm_up() -> HubMap | None:
    return map_hubs(corner_grid(SMALLEST_GRID, 0), np.arange(10))


def _memory(mdp: LabeledMDP, visited: Ints) -> tuple[int, int]:
    """Return the bytes that the ways between labels take: at the peak, and those kept."""
    tracemalloc.start()
    try:
        kept = map_hubs(mdp, visited)
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak, left if kept is not None else 0
