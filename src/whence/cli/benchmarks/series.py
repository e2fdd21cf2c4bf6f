"""How time grows, as plain records of what was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """What to measure.

    Attributes:
        worlds: how many states the open grids have, ascending.
        world_machines: how many machines each of them scores, the same everywhere.
        episodes: how many are demonstrated in each of them.
        machine_states: how many states machines have on coffee, n.
        steps: how many are demonstrated on coffee, ascending.
        machines: how many are scored in each case on coffee.
        grids: how many states the grids without slip have, ascending.
        threads: how many share a batch on coffee.
        batch: how many machines are in it.
    """

    worlds: tuple[int, ...] = (100, 1_000, 10_000, 100_000)
    world_machines: int = 30
    episodes: int = 1_000
    machine_states: tuple[int, ...] = tuple(range(1, 9))
    steps: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    machines: int = 200
    grids: tuple[int, ...] = (10_000, 100_000)
    threads: tuple[int, ...] = (1, 2)
    batch: int = 1_000


@dataclass(frozen=True)
class WorldPoint:
    """One open grid.

    Attributes:
        states: how many the world has, S.
        transitions: how many it has, N.
        cells: distinct (history, state, action) of its demonstrations.
        machines: how many were scored.
        microseconds: per machine.
        nanoseconds: per machine and transition.
    """

    states: int
    transitions: int
    cells: int
    machines: int
    microseconds: float
    nanoseconds: float


@dataclass(frozen=True)
class Rise:
    """How time grows beside the number of transitions, between two worlds.

    Attributes:
        from_states: S of the smaller world.
        to_states: S of the larger one.
        time: how many times longer a machine takes.
        transitions: how many times more there are.
        excess: time / transitions; 1 is growth in proportion.
        exponent: log time / log transitions; 1 is growth in proportion.
    """

    from_states: int
    to_states: int
    time: float
    transitions: float
    excess: float
    exponent: float


@dataclass(frozen=True)
class StatesPoint:
    """Machines of one size on coffee.

    Attributes:
        states: how many each machine has, n.
        product_states: n * S.
        machines: how many were scored, no two the same.
        microseconds: per machine.
    """

    states: int
    product_states: int
    machines: int
    microseconds: float


@dataclass(frozen=True)
class StepsPoint:
    """Demonstrations of one size on coffee.

    Attributes:
        steps: how many were demonstrated.
        cells: distinct (history, state, action).
        histories: how many there are, H.
        compile_seconds: to check the demonstrations and compile the evidence.
        microseconds: per machine.
        solve_microseconds: per machine, if every state is demonstrated once and values are as
            exact: what is left when there are hardly any cells.
        cell_nanoseconds: per machine and cell, beyond the solve; None if it is lost in noise.
    """

    steps: int
    cells: int
    histories: int
    compile_seconds: float
    microseconds: float
    solve_microseconds: float
    cell_nanoseconds: float | None


@dataclass(frozen=True)
class ThreadsPoint:
    """One batch on coffee, shared by some threads.

    Attributes:
        threads: how many.
        machines: how many are in the batch.
        seconds: by the clock.
        cpu_seconds: of all cores together; if it stays the same, no work is done twice.
        speedup: over the first number of threads.
    """

    threads: int
    machines: int
    seconds: float
    cpu_seconds: float
    speedup: float


@dataclass(frozen=True)
class GridPoint:
    """One grid in which nothing is left to chance.

    Attributes:
        states: S.
        cells: distinct (history, state, action) of its demonstrations.
        machines: scored.
        microseconds: a machine.
        map_seconds: to measure the ways between labels, once.
        map_megabytes: of memory for that, at its peak.
        kept_megabytes: of what is kept of it.
    """

    states: int
    cells: int
    machines: int
    microseconds: float
    map_seconds: float
    map_megabytes: float
    kept_megabytes: float


@dataclass(frozen=True)
class Growth:
    """Every series that was measured; `deterministic` is empty where it was not."""

    worlds: tuple[WorldPoint, ...]
    rise: Rise
    machine_states: tuple[StatesPoint, ...]
    demonstrations: tuple[StepsPoint, ...]
    threads: tuple[ThreadsPoint, ...]
    deterministic: tuple[GridPoint, ...] = ()
