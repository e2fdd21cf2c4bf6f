"""How the time a machine takes grows: with the world, the machine, the steps and the threads.

Machines are valid and drawn from the prior, the expert of the likelihood has alpha 50 and
discount 0.92, and one thread works unless a series says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from whence.cli.benchmarks.grids import ACTIONS, ALPHABET, SMALLEST_GRID, TASK, grid_point
from whence.cli.benchmarks.series import (
    Growth,
    Rise,
    Sizes,
    StatesPoint,
    StepsPoint,
    ThreadsPoint,
    WorldPoint,
)
from whence.cli.benchmarks.timing import Tables, Timing, least, unremembered
from whence.likelihood.evidence import compile_evidence
from whence.likelihood.posterior import TOLERANCE, Posterior
from whence.model.canonical import breadth_first, renumber
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.grid import Grid
from whence.model.mdp import LabeledMDP
from whence.model.prior import Prior
from whence.paper.worlds import World, coffee
from whence.planning.simulation import simulate

SMALLEST, LARGEST = 1_000, 1_000_000  # what the largest world may be
LENGTH = 100
LEVELS = (0.0, 1.0)
DEMONSTRATOR = Expert(alpha=30, discount=0.92)
EXPERT = Expert(alpha=50, discount=0.92)
RISES_FROM = 10_000
NOISE = 0.05  # of the solve: a smaller share cannot be told apart from it

# Open grids: worlds of any size that are alike.
SLIP = 0.1
LABELLED = 0.01  # of all cells


def sizes_up_to(largest: int, machines: int) -> Sizes:
    """Return powers of ten: worlds up to a size, and demonstrations of ten times the steps."""
    powers = [10**k for k in range(2, 8)]
    return Sizes(
        worlds=tuple(p for p in powers if p <= largest),
        steps=tuple(p for p in powers if 1_000 <= p <= 10 * largest),
        grids=tuple(p for p in powers if SMALLEST_GRID <= p <= largest),
        machines=machines,
    )


def measure(sizes: Sizes, seed: int, tell: Callable[[str], None]) -> Growth:
    """Measure every series; `tell` hears what comes next."""
    worlds, states, steps = [], [], []
    for size in sizes.worlds:
        tell(f"open grid of {size:,} states")
        worlds.append(world_point(size, sizes.world_machines, sizes.episodes, seed))
    for n in sizes.machine_states:
        tell(f"coffee, machines of {n} states")
        states.append(states_point(n, sizes.machines, seed))
    for count in sizes.steps:
        tell(f"coffee, {count:,} steps")
        steps.append(steps_point(count, sizes.machines, seed))
    grids = []
    for size in sizes.grids:
        tell(f"grid without slip of {size:,} states")
        grids.append(grid_point(size, sizes.machines, seed))
    tell(f"coffee, {sizes.batch:,} machines on several threads")
    threads = threads_series(sizes.threads, sizes.batch, seed)
    return Growth(tuple(worlds), rise(worlds), tuple(states), tuple(steps), threads, tuple(grids))


def world_point(states: int, machines: int, episodes: int, seed: int) -> WorldPoint:
    """Measure an open grid; the same seed gives the same machines whatever its size."""
    mdp = open_grid(states, np.random.default_rng([seed, states]))
    demos = simulate(mdp, TASK, DEMONSTRATOR, episodes=episodes, length=LENGTH, seed=seed)
    posterior = _posterior(mdp, demos)
    tables = _machines(3, len(ALPHABET), machines, seed)
    first = tables[0][:1], tables[1][:1]
    taken = least(
        lambda: unremembered(posterior, tables),
        warm_up=lambda: unremembered(posterior, first),
        runs=1,
    )
    each = taken.core / machines
    return WorldPoint(
        states=mdp.n_states,
        transitions=mdp.n_transitions,
        cells=posterior.evidence[0].n_cells,
        machines=machines,
        microseconds=1e6 * each,
        nanoseconds=1e9 * each / mdp.n_transitions,
    )


def open_grid(states: int, rng: np.random.Generator) -> LabeledMDP:
    """Return an open square grid of about so many states; episodes start anywhere.

    One cell in a hundred has a label, but at least one for each symbol.
    """
    side = math.isqrt(states - 1) + 1
    size = side * side
    grid = Grid(side, side, np.column_stack(np.divmod(np.arange(size), side)))
    labels = np.full(size, -1)
    count = max(len(ALPHABET), round(LABELLED * size))
    labels[rng.choice(size, count, replace=False)] = np.arange(count) % len(ALPHABET)
    return LabeledMDP.from_triples(
        grid.transitions(ACTIONS, SLIP),
        states=size,
        actions=ACTIONS,
        labels=labels,
        alphabet=ALPHABET,
        initial=[(state, 1 / size) for state in range(size)],
        grid=grid,
        source=f"open grid of {side} by {side}",
    )


def rise(worlds: list[WorldPoint]) -> Rise:
    """Return the growth up to the largest world, from 10^4 states on where there are more."""
    last = worlds[-1]
    first = next((p for p in worlds[:-1] if p.states >= RISES_FROM), worlds[0])
    longer = last.microseconds / first.microseconds
    more = last.transitions / first.transitions
    return Rise(
        from_states=first.states,
        to_states=last.states,
        time=longer,
        transitions=more,
        excess=longer / more,
        exponent=math.log(longer) / math.log(more),
    )


def states_point(states: int, machines: int, seed: int) -> StatesPoint:
    """Measure machines of n states on the coffee world's own demonstrations.

    Of equal machines, frequent where n is small, one is kept: the others cost nothing.
    """
    world = coffee()
    posterior = _posterior(world.mdp, world.demonstrations(seed))
    tables = _distinct(_coffee_machines(world, states, machines, seed))
    count = len(tables[0])
    each = _scoring(posterior, tables).core / count
    return StatesPoint(states, states * world.mdp.n_states, count, 1e6 * each)


def steps_point(steps: int, machines: int, seed: int) -> StepsPoint:
    """Measure demonstrations of so many steps, in episodes of 100, on coffee."""
    world = coffee()
    demos = simulate(
        world.mdp, world.task, DEMONSTRATOR, episodes=steps // LENGTH, length=LENGTH, seed=seed
    )
    compiling = least(lambda: compile_evidence(world.mdp, demos), warm_up=_nothing, runs=1)
    posterior = _posterior(world.mdp, demos)
    tables = _coffee_machines(world, world.task.n_states, machines, seed)
    whole = _scoring(posterior, tables).core / machines
    solve = _solving(world, tables, steps).core / machines
    evidence = posterior.evidence[0]
    told = whole - solve > NOISE * solve
    return StepsPoint(
        steps=demos.n_steps,
        cells=evidence.n_cells,
        histories=evidence.n_histories,
        compile_seconds=compiling.core,
        microseconds=1e6 * whole,
        solve_microseconds=1e6 * solve,
        cell_nanoseconds=1e9 * (whole - solve) / evidence.n_cells if told else None,
    )


def threads_series(threads: tuple[int, ...], machines: int, seed: int) -> tuple[ThreadsPoint, ...]:
    """Measure one batch of coffee machines on each number of threads."""
    world = coffee()
    demos = world.demonstrations(seed)
    tables = _coffee_machines(world, world.task.n_states, machines, seed)
    taken = [_scoring(_posterior(world.mdp, demos, count), tables) for count in threads]
    return tuple(
        ThreadsPoint(count, machines, timing.wall, timing.cpu, taken[0].wall / timing.wall)
        for count, timing in zip(threads, taken, strict=True)
    )


def _posterior(mdp: LabeledMDP, demos: Demonstrations, threads: int = 1) -> Posterior:
    return Posterior(mdp, demos, expert=EXPERT, rewards=LEVELS, threads=threads)


def _machines(n: int, m: int, size: int, seed: int) -> Tables:
    return Prior().sample(np.random.default_rng(seed), n, m, LEVELS, size)


def _coffee_machines(world: World, n: int, size: int, seed: int) -> Tables:
    return _machines(n, len(world.mdp.alphabet), size, seed)


def _distinct(tables: Tables) -> Tables:
    """Return the machines without copies of the ones before them."""
    kept: dict[bytes, int] = {}
    for i, (transitions, rewards) in enumerate(zip(*tables, strict=True)):
        canonical = renumber(transitions, rewards, breadth_first(transitions))
        kept.setdefault(b"".join(table.tobytes() for table in canonical), i)
    rows = list(kept.values())
    return tables[0][rows], tables[1][rows]


def _nothing() -> None:
    pass


def _scoring(posterior: Posterior, tables: Tables) -> Timing:
    return least(lambda: unremembered(posterior, tables))


def _solving(world: World, tables: Tables, steps: int) -> Timing:
    """Time machines on one step from each state, solved as exactly as for so many steps."""
    size = world.mdp.n_states
    each = np.arange(size + 1)
    once = Demonstrations.from_flat(each[:-1], each, np.zeros(size, dtype=np.int64), each)
    posterior = _posterior(world.mdp, once)
    tolerance = TOLERANCE * size / steps  # the error in values is for all steps together
    return least(lambda: unremembered(posterior, tables, tolerance))
