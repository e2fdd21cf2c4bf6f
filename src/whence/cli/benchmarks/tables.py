"""The measured figures as tables, for the terminal and for Markdown alike."""

from __future__ import annotations

from dataclasses import dataclass

from whence.cli.benchmarks.card import CardResult
from whence.cli.benchmarks.engine import Result
from whence.cli.benchmarks.report import Report
from whence.cli.benchmarks.series import (
    GridPoint,
    Growth,
    Rise,
    StatesPoint,
    StepsPoint,
    ThreadsPoint,
    WorldPoint,
)

COLD = " A new process has scored its first machine after {:.2f} s."


@dataclass(frozen=True)
class Table:
    """A table of text.

    Attributes:
        title: what it shows, in a few words.
        columns: their headings.
        rows: one text a column.
        note: a sentence below it.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str


def tables(report: Report) -> tuple[Table, ...]:
    """Return a table for each case and series that was measured."""
    engine = [] if report.cases is None else [_engine(report.cases, report)]
    growth = [] if report.growth is None else growth_tables(report.growth)
    card = [] if report.card is None else [_card(report.card)]
    return (*engine, *growth, *card)


def _card(cases: tuple[CardResult, ...]) -> Table:
    rows = tuple(
        (
            case.world,
            str(case.states),
            f"{case.machines:,}",
            digits(case.kernels / 1e6),
            digits(case.call / 1e6),
            f"{digits(case.kernels / case.core)} times",
            digits(case.first),
            f"{case.difference:.1e}",
        )
        for case in cases
    )
    return Table(
        f"{cases[0].card}, beside one core",
        ("world", "n", "machines", "million a second", "with copies", "one core", "first, s",
         "difference, nats"),
        rows,
        "Machines drawn from the prior, in one batch; the card's time alone, and with the way "
        "there and back.",
    )  # fmt: skip


def growth_tables(growth: Growth) -> tuple[Table, ...]:
    """Return a table for each series."""
    grids = () if not growth.deterministic else (_grids(growth.deterministic),)
    return (
        _worlds(growth.worlds, growth.rise),
        *grids,
        _machine_states(growth.machine_states),
        _demonstrations(growth.demonstrations),
        _threads(growth.threads),
    )


def digits(value: float) -> str:
    """Return a number with three digits or, where it is large, all digits before the point."""
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.3g}"


def _engine(cases: tuple[Result, ...], report: Report) -> Table:
    rows = tuple(
        (
            case.world,
            str(case.discount),
            digits(case.microseconds),
            f"{digits(case.quantecon)} times",
            f"{digits(case.reference)} times",
            f"{case.threads:.2f} times",
        )
        for case in cases
    )
    began = "" if report.cold_start is None else COLD.format(report.cold_start)
    return Table(
        "Beside other programs",
        ("world", "discount", "µs a machine", "QuantEcon", "readable engine", "all cores"),
        rows,
        f"{report.machines} machines from the prior, one thread each; the last column is the "
        f"gain of all cores over one.{began}",
    )


def _worlds(points: tuple[WorldPoint, ...], rise: Rise) -> Table:
    rows = tuple(
        (f"{p.states:,}", f"{p.transitions:,}", f"{p.cells:,}", digits(p.microseconds),
         digits(p.nanoseconds))
        for p in points
    )  # fmt: skip
    return Table(
        "World size",
        ("states", "transitions", "cells", "µs a machine", "ns a transition"),
        rows,
        f"From {rise.from_states:,} to {rise.to_states:,} states time grows "
        f"{digits(rise.time)} times, transitions {digits(rise.transitions)} times: "
        f"{rise.excess:.2f} times as much, an exponent of {rise.exponent:.2f}. "
        f"{points[0].machines} machines, the same in each world.",
    )


def _grids(points: tuple[GridPoint, ...]) -> Table:
    rows = tuple(
        (f"{p.states:,}", f"{p.cells:,}", digits(p.microseconds), digits(p.map_seconds),
         digits(p.map_megabytes), digits(p.kept_megabytes))
        for p in points
    )  # fmt: skip
    least, most = (f(p.microseconds for p in points) for f in (min, max))
    return Table(
        "World size, deterministic",
        ("states", "cells", "µs a machine", "s once", "MB once", "MB kept"),
        rows,
        f"Grids without slip, the same 30 labels and demonstrations in each: the slowest takes "
        f"{most / least:.2f} times what the fastest takes. {points[0].machines} machines.",
    )


def _machine_states(points: tuple[StatesPoint, ...]) -> Table:
    rows = tuple(
        (str(p.states), f"{p.product_states:,}", str(p.machines), digits(p.microseconds))
        for p in points
    )
    columns = ("machine states", "product states", "machines", "µs a machine")
    return Table("Machine states", columns, rows, "On coffee; no two machines are the same.")


def _demonstrations(points: tuple[StepsPoint, ...]) -> Table:
    rows = tuple(
        (f"{p.steps:,}", f"{p.cells:,}", f"{p.histories:,}", digits(p.compile_seconds),
         digits(p.microseconds), digits(p.solve_microseconds),
         "-" if p.cell_nanoseconds is None else digits(p.cell_nanoseconds))
        for p in points
    )  # fmt: skip
    return Table(
        "Demonstrations",
        ("steps", "cells", "histories", "s to compile", "µs a machine", "µs to solve",
         "ns a cell"),
        rows,
        "On coffee; the last column is what a cell costs beyond the solve, - where that is lost "
        "in noise.",
    )  # fmt: skip


def _threads(points: tuple[ThreadsPoint, ...]) -> Table:
    rows = tuple(
        (str(p.threads), digits(1e3 * p.seconds), digits(1e3 * p.cpu_seconds),
         f"{p.cpu_seconds / p.seconds:.2f}", f"{p.speedup:.2f} times")
        for p in points
    )  # fmt: skip
    return Table(
        "Threads",
        ("threads", "ms", "ms of all cores", "cores at work", "gain"),
        rows,
        f"A batch of {points[0].machines:,} coffee machines; where fewer cores than threads are "
        "at work, threads wait, for each other or for what else runs.",
    )
