"""What is measured of how time grows, as plain records."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """What is measured.

    Attributes:
        worlds: states of the open grids, ascending.
        world_machines: scored in each of them, the same everywhere.
        episodes: demonstrated in each of them.
        machine_states: n, on coffee.
        steps: demonstrated on coffee, ascending.
        machines: scored in each case on coffee.
        threads: that share a batch on coffee.
        batch: machines in it.
    """

    worlds: tuple[int, ...] = (100, 1_000, 10_000, 100_000)
    world_machines: int = 30
    episodes: int = 1_000
    machine_states: tuple[int, ...] = tuple(range(1, 9))
    steps: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    machines: int = 200
    threads: tuple[int, ...] = (1, 2)
    batch: int = 1_000


@dataclass(frozen=True)
class WorldPoint:
    """One open grid.

    Attributes:
        states: S.
        transitions: of the world, N.
        cells: distinct (history, state, action) of its demonstrations.
        machines: scored.
        microseconds: a machine.
        nanoseconds: a machine and transition.
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
        states: n.
        product_states: n * S.
        machines: scored, no two the same.
        microseconds: a machine.
    """

    states: int
    product_states: int
    machines: int
    microseconds: float


@dataclass(frozen=True)
class StepsPoint:
    """Demonstrations of one size on coffee.

    Attributes:
        steps: demonstrated.
        cells: distinct (history, state, action).
        histories: H.
        compile_seconds: to check the demonstrations and compile the evidence.
        microseconds: a machine.
        solve_microseconds: a machine, where every state is demonstrated once, to the same
            error in values: what is left when there are hardly any cells.
        cell_nanoseconds: a machine and cell, beyond that; None where it is lost in noise.
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
        machines: in the batch.
        seconds: by the clock.
        cpu_seconds: of all cores together; where it stays, no work is done twice.
        speedup: over the first number of threads.
    """

    threads: int
    machines: int
    seconds: float
    cpu_seconds: float
    speedup: float


@dataclass(frozen=True)
class Growth:
    """All series."""

    worlds: tuple[WorldPoint, ...]
    rise: Rise
    machine_states: tuple[StatesPoint, ...]
    demonstrations: tuple[StepsPoint, ...]
    threads: tuple[ThreadsPoint, ...]
