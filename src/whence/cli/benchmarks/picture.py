"""Charts as one SVG of small panels, and how time grows as such a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from whence.cli.benchmarks.series import Growth
from whence.drawing import text
from whence.drawing.axes import Axis, LinearAxis, axis_for, linear_axis_for, written
from whence.drawing.machine import FONT

_INK, _PAPER, _LINE, _QUIET = "#1f2328", "#ffffff", "#d8dee4", "#57606a"
_HUES = ("#0072b2", "#d55e00", "#009e73")
_PLOT_WIDTH, _PLOT_HEIGHT = 236.0, 158.0
_LEFT, _TOP = 52.0, 62.0
_PANEL_WIDTH, _PANEL_HEIGHT = 316.0, 268.0
_COLUMNS, _MARGIN = 3, 14.0

Points = tuple[tuple[float, float], ...]
AnyAxis = Axis | LinearAxis


@dataclass(frozen=True)
class Line:
    """One series of a panel, or a guide for the eye.

    Attributes:
        name: what the legend calls it.
        points: (x, y), all above 0 on logarithmic axes.
        guide: whether it is no measurement.
        dots: whether each point is marked.
    """

    name: str
    points: Points
    guide: bool = False
    dots: bool = True


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        title: what it is about.
        x: what runs to the right.
        y: what runs upward, with its unit.
        lines: what it shows.
        marks: the ticks to the right, where they are no powers of ten.
        linear: whether axes are linear, from 0, in place of logarithmic.
    """

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    marks: tuple[float, ...] | None = None
    linear: bool = False


def picture(growth: Growth) -> str:
    """Return the series as SVG, on paper of its own so that any background will do."""
    return drawn(panels(growth), "How the time a machine takes grows")


def drawn(shown: tuple[Panel, ...], title: str) -> str:
    """Return panels as SVG, three a row."""
    columns = min(len(shown), _COLUMNS)
    rows = -(-len(shown) // _COLUMNS)
    width = columns * _PANEL_WIDTH + 2 * _MARGIN
    height = rows * _PANEL_HEIGHT + 2 * _MARGIN
    body = "\n".join(_placed(panel, number) for number, panel in enumerate(shown))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-family="{FONT}">\n'
        f"<title>{text.xml(title)}</title>\n"
        f"<desc>{text.xml(' '.join(_described(panel) for panel in shown))}</desc>\n"
        f'<rect class="background" width="{width:.0f}" height="{height:.0f}" rx="6" '
        f'fill="{_PAPER}"/>\n{body}\n</svg>\n'
    )


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


def _placed(panel: Panel, number: int) -> str:
    x = _MARGIN + number % _COLUMNS * _PANEL_WIDTH
    y = _MARGIN + number // _COLUMNS * _PANEL_HEIGHT
    across, up = _axes(panel)
    parts = [
        _text(panel.title, _LEFT, 16, size=14, colour=_INK, weight="bold"),
        *_legend(panel),
        *_grid(across, up),
        _text(panel.y, _LEFT - 8, _TOP - 8, size=11),
        _text(panel.x, _LEFT + _PLOT_WIDTH / 2, _TOP + _PLOT_HEIGHT + 36, "middle", 11),
        *(
            _line(line, colour, across, up)
            for line, colour in sorted(_coloured(panel), key=lambda pair: not pair[0].guide)
        ),
    ]
    inner = "\n".join(parts)
    return f'<g class="panel" transform="translate({x:.0f} {y:.0f})">\n{inner}\n</g>'


def _axes(panel: Panel) -> tuple[AnyAxis, AnyAxis]:
    across = [x for line in panel.lines for x, _ in line.points]
    up = [y for line in panel.lines for _, y in line.points]
    if panel.linear:
        return linear_axis_for(across), linear_axis_for(up)
    return axis_for(across, panel.marks), axis_for(up)


def _coloured(panel: Panel) -> list[tuple[Line, str]]:
    return [
        (line, _QUIET if line.guide else _HUES[at % len(_HUES)])
        for at, line in enumerate(panel.lines)
    ]


def _legend(panel: Panel) -> Iterator[str]:
    x, y = _LEFT, 34.0
    for line, colour in _coloured(panel):
        yield _stroke(f"M{x:.1f},{y - 4:.1f}h18", colour, guide=line.guide)
        if line.dots and not line.guide:
            yield f'<circle cx="{x + 9:.1f}" cy="{y - 4:.1f}" r="3" fill="{colour}"/>'
        yield _text(line.name, x + 23, y, size=11, colour=_INK)
        x += 23 + text.pixels(line.name, 11) + 10


def _grid(across: AnyAxis, up: AnyAxis) -> Iterator[str]:
    """Yield the lines of all ticks, their texts, and a frame."""
    bottom = _TOP + _PLOT_HEIGHT
    for tick in across.ticks:
        x = _LEFT + across.place(tick) * _PLOT_WIDTH
        yield _stroke(f"M{x:.1f},{_TOP}V{bottom}", _LINE, width=1)
        yield _text(written(tick), x, bottom + 16, "middle")
    for tick in up.ticks:
        y = bottom - up.place(tick) * _PLOT_HEIGHT
        yield _stroke(f"M{_LEFT},{y:.1f}h{_PLOT_WIDTH}", _LINE, width=1)
        yield _text(written(tick), _LEFT - 7, y + 3.5, "end")
    frame = f"M{_LEFT},{_TOP}V{bottom}h{_PLOT_WIDTH}"
    yield _stroke(frame, _QUIET, width=1)


def _line(line: Line, colour: str, across: AnyAxis, up: AnyAxis) -> str:
    places = [
        (
            _LEFT + across.place(x) * _PLOT_WIDTH,
            _TOP + _PLOT_HEIGHT - up.place(y) * _PLOT_HEIGHT,
        )
        for x, y in line.points
    ]
    path = "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = [] if line.guide or not line.dots else [
        f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="3" fill="{colour}">'
        f"<title>{x:,.10g}: {y:,.3g}</title></circle>"
        for at, (x, y) in zip(places, line.points, strict=True)
    ]  # fmt: skip
    return (
        f'<g class="series"><title>{text.xml(line.name)}</title>'
        f"{_stroke(path, colour, guide=line.guide)}{''.join(dots)}</g>"
    )


def _stroke(path: str, colour: str, *, width: float = 1.8, guide: bool = False) -> str:
    dashes = ' stroke-dasharray="5 4"' if guide else ""
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" '
        f'stroke-linejoin="round"{dashes}/>'
    )


def _text(
    shown: str,
    x: float,
    y: float,
    anchor: str = "start",
    size: int = 10,
    colour: str = _QUIET,
    weight: str = "normal",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" '
        f'text-anchor="{anchor}" font-weight="{weight}">{text.xml(shown)}</text>'
    )


def _described(panel: Panel) -> str:
    """Return a panel in words."""
    lines = [
        f"{line.name} from {line.points[0][1]:,.3g} to {line.points[-1][1]:,.3g}"
        for line in panel.lines
        if not line.guide
    ]
    return f"{panel.title}, {panel.y}: {', '.join(lines)}."
