"""How time grows, as a picture of small panels."""

from __future__ import annotations

from collections.abc import Iterator

from whence.cli.benchmarks.series import Growth
from whence.drawing.chart import Line, Panel, panels_svg


def picture(growth: Growth) -> str:
    """Return the series as SVG."""
    return panels_svg(panels(growth), "How the time a machine takes grows")


def panels(growth: Growth) -> tuple[Panel, ...]:
    """Return what is shown of every series."""
    return (_worlds(growth), _machine_states(growth), _threads(growth), *_demonstrations(growth))


def _worlds(growth: Growth) -> Panel:
    measured = tuple((p.states, p.microseconds / 1e3) for p in growth.worlds)
    anchor = next(p for p in growth.worlds if p.states == growth.rise.from_states)
    guide = tuple(
        (p.states, anchor.microseconds / 1e3 * p.transitions / anchor.transitions)
        for p in growth.worlds
    )
    lines = Line("scoring", measured), Line("as transitions grow", guide, guide=True)
    return Panel("World size (open grids)", "world states", "ms a machine", lines)


def _machine_states(growth: Growth) -> Panel:
    points = growth.machine_states
    first = points[0]
    measured = tuple((p.states, p.microseconds) for p in points)
    guide = tuple((p.states, first.microseconds * p.states / first.states) for p in points)
    lines = Line("scoring", measured), Line("in proportion", guide, guide=True)
    marks = tuple(p.states for p in points)
    return Panel("Machine states (coffee)", "machine states", "µs a machine", lines, marks)


def _threads(growth: Growth) -> Panel:
    points = growth.threads
    first = points[0]
    wall = tuple((p.threads, 1e3 * p.seconds) for p in points)
    cpu = tuple((p.threads, 1e3 * p.cpu_seconds) for p in points)
    guide = tuple((p.threads, 1e3 * first.seconds * first.threads / p.threads) for p in points)
    lines = Line("clock", wall), Line("all cores", cpu), Line("in proportion", guide, guide=True)
    marks = tuple(p.threads for p in points)
    return Panel(
        "Threads (coffee)", "threads", f"ms for {first.machines:,} machines", lines, marks
    )


def _demonstrations(growth: Growth) -> Iterator[Panel]:
    points = growth.demonstrations
    x = "demonstrated steps"
    scoring = tuple((p.steps, p.microseconds) for p in points)
    solving = tuple((p.steps, p.solve_microseconds) for p in points)
    lines = Line("scoring", scoring), Line("solving alone", solving)
    yield Panel("Demonstrations (coffee)", x, "µs a machine", lines)
    cells = Line("cells", tuple((p.steps, p.cells) for p in points))
    histories = Line("label histories", tuple((p.steps, p.histories) for p in points))
    yield Panel("Evidence: size", x, "how many", (cells, histories))
    compiled = tuple((p.steps, p.compile_seconds) for p in points)
    yield Panel("Evidence: compilation", x, "seconds, once", (Line("compiling", compiled),))
