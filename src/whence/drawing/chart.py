"""Charts as SVG: lines, points with errors and bars, over linear or logarithmic axes.

Every element has its colour, so that a chart can be viewed by itself; a page that shows one can
override them by the classes `grid`, `axis`, `line` and `series-0`, `series-1`, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats
from whence.drawing import text
from whence.drawing.axes import Axis, axis_between, linear_axis, log_axis

INK, PAPER, LINE, QUIET = "#1f2328", "#ffffff", "#d8dee4", "#57606a"
HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
WIDTH, HEIGHT = 640.0, 240.0  # of a chart by itself
_LEFT, _RIGHT, _TOP, _BOTTOM = 74.0, 12.0, 12.0, 40.0
_PANEL_WIDTH, _PANEL_HEIGHT = 316.0, 268.0
_COLUMNS, _MARGIN = 3, 14.0
_POINTS = 320  # that the line of a trace has at most

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Line:
    """One series of a chart, or a guide for the eye.

    Attributes:
        name: what the legend calls it.
        points: (x, y), all above 0 on logarithmic axes.
        guide: whether it is a guide rather than a measurement.
        dots: whether each point is marked.
        errors: how far each point may be off, up and down.
    """

    name: str
    points: Points
    guide: bool = False
    dots: bool = True
    errors: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        title: what it is about.
        x: what runs to the right.
        y: what runs upward, with its unit.
        lines: what it shows.
        marks: the ticks to the right, where powers of ten will not do.
        linear: whether axes are linear, from 0, instead of logarithmic.
    """

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    marks: tuple[float, ...] | None = None
    linear: bool = False

    def axes(self) -> tuple[Axis, Axis]:
        """Return the axis to the right and the one upward."""
        across = [x for line in self.lines for x, _ in line.points]
        up = [y for line in self.lines for y in _reached(line)]
        if self.linear:
            return linear_axis(across), linear_axis(up)
        return log_axis(across, self.marks), log_axis(up)


@dataclass(frozen=True)
class _Frame:
    """Where a pair of axes stands, in pixels."""

    left: float
    top: float
    width: float
    height: float
    across: Axis
    up: Axis

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point; what lies above or below is drawn on the edge."""
        share = min(max(self.up.place(y), 0.0), 1.0)
        return self.left + self.across.place(x) * self.width, self.bottom - share * self.height


def panels_svg(panels: Sequence[Panel], title: str) -> str:
    """Return panels, three per row, on paper of their own so that any background will do."""
    columns, rows = min(len(panels), _COLUMNS), -(-len(panels) // _COLUMNS)
    width, height = columns * _PANEL_WIDTH + 2 * _MARGIN, rows * _PANEL_HEIGHT + 2 * _MARGIN
    paper = (
        f'<rect class="background" width="{width:.0f}" height="{height:.0f}" rx="6" '
        f'fill="{PAPER}"/>'
    )
    body = [paper, *(_panel(panel, number) for number, panel in enumerate(panels))]
    return _document(title, " ".join(map(_described, panels)), (width, height), body)


def _panel(panel: Panel, number: int) -> str:
    x = _MARGIN + number % _COLUMNS * _PANEL_WIDTH
    y = _MARGIN + number // _COLUMNS * _PANEL_HEIGHT
    frame = _Frame(52.0, 62.0, 236.0, 158.0, *panel.axes())
    coloured = [
        (line, QUIET if line.guide else HUES[at % len(HUES)])
        for at, line in enumerate(panel.lines)
    ]
    parts = [
        _text(panel.title, frame.left, 16, size=14, colour=INK, weight="bold"),
        *_legend(coloured, frame.left, 34.0),
        *_grid(frame),
        _text(panel.y, frame.left - 8, frame.top - 8, size=11),
        _text(panel.x, frame.left + frame.width / 2, frame.bottom + 36, "middle", 11),
        *(
            _series(line, colour, frame)
            for line, colour in sorted(coloured, key=lambda pair: not pair[0].guide)
        ),
    ]
    inner = "\n".join(parts)
    return f'<g class="panel" transform="translate({x:.0f} {y:.0f})">\n{inner}\n</g>'


def _legend(coloured: list[tuple[Line, str]], x: float, y: float) -> Iterator[str]:
    for line, colour in coloured:
        yield _stroke(f"M{x:.1f},{y - 4:.1f}h18", colour, dashed=line.guide)
        if line.dots and not line.guide:
            yield f'<circle cx="{x + 9:.1f}" cy="{y - 4:.1f}" r="3" fill="{colour}"/>'
        yield _text(line.name, x + 23, y, size=11, colour=INK)
        x += 23 + text.pixels(line.name, 11) + 10


def _grid(frame: _Frame) -> Iterator[str]:
    """Yield the lines of all ticks, their texts, and the two axes."""
    for share, shown in frame.across.marks():
        x = frame.left + share * frame.width
        yield _stroke(f"M{x:.1f},{frame.top}V{frame.bottom}", LINE, width=1)
        yield _text(shown, x, frame.bottom + 16, "middle")
    for share, shown in frame.up.marks():
        y = frame.bottom - share * frame.height
        yield _stroke(f"M{frame.left},{y:.1f}h{frame.width}", LINE, width=1)
        yield _text(shown, frame.left - 7, y + 3.5, "end")
    yield _stroke(f"M{frame.left},{frame.top}V{frame.bottom}h{frame.width}", QUIET, width=1)


def _series(line: Line, colour: str, frame: _Frame) -> str:
    places = [frame.at(x, y) for x, y in line.points]
    marked = [] if line.guide or not line.dots else list(zip(places, line.points, strict=True))
    dots = [
        f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="3" fill="{colour}">'
        f"<title>{x:,.10g}: {y:,.3g}</title></circle>"
        for at, (x, y) in marked
    ]
    return (
        f'<g class="series"><title>{text.xml(line.name)}</title>'
        f"{_stroke(_path(places), colour, dashed=line.guide)}{_errors(line, colour, frame)}"
        f"{''.join(dots)}</g>"
    )


def _errors(line: Line, colour: str, frame: _Frame) -> str:
    """Return a bar with ends through each point, where its errors are known."""
    if line.errors is None:
        return ""
    bars = ""
    for (x, y), error in zip(line.points, line.errors, strict=True):
        (at, low), (_, high) = frame.at(x, y - error), frame.at(x, y + error)
        bars += f"M{at - 3:.1f},{low:.1f}h6m-3,0V{high:.1f}m-3,0h6"
    return _stroke(bars, colour, width=1.2)


def _reached(line: Line) -> Iterator[float]:
    """Yield the values of a line, and how far its errors reach."""
    for (_, y), error in zip(line.points, line.errors or [0.0] * len(line.points), strict=True):
        yield from (y,) if error == 0 else (y - error, y + error)


def _described(panel: Panel) -> str:
    """Return a panel in words."""
    lines = [
        f"{line.name} from {line.points[0][1]:,.3g} to {line.points[-1][1]:,.3g}"
        for line in panel.lines
        if not line.guide
    ]
    return f"{panel.title}, {panel.y}: {', '.join(lines)}."


def trace(name: str, values: Floats) -> Line:
    """Return float[P] evenly spaced values as a line over 0 to 1; what is not finite is left out.

    Of many values it keeps the first, the last, and of each stretch the lowest and the highest.
    """
    finite = np.flatnonzero(np.isfinite(values))
    kept = finite
    if len(values) > _POINTS and len(finite):
        stretches = np.array_split(np.arange(len(values)), _POINTS // 2)
        some = [part[np.isfinite(values[part])] for part in stretches]
        ends = [
            part[pick(values[part])]
            for part in some
            if len(part)
            for pick in (np.argmin, np.argmax)
        ]
        kept = np.unique([finite[0], *ends, finite[-1]])
    last = max(len(values) - 1, 1)
    return Line(name, tuple((at / last, float(values[at])) for at in kept.tolist()), dots=False)


def line_chart(
    title: str, x: str, lines: Sequence[Line], low: float, high: float, *, steps: int
) -> str:
    """Return traces over a number of steps, between two values; what lies below is cut off."""
    shown = tuple(f"{max(1, round(share * steps)):,}" for share in (0.0, 0.5, 1.0))
    across = Axis(0.0, 1.0, (0.0, 0.5, 1.0), texts=shown)
    size = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    frame = _Frame(_LEFT, _TOP, *size, across, axis_between(low, high))
    body = []
    for share, mark in frame.up.marks():
        y = frame.bottom - share * frame.height
        body.append(_stroke(f"M{_LEFT},{y:.1f}H{WIDTH - _RIGHT}", LINE, "grid", width=1))
        body.append(_text(mark, _LEFT - 8, y + 4, "end", 13))
    body += _floor(frame, x)
    for number, line in enumerate(lines[: len(HUES)]):
        path = _path([frame.at(*point) for point in line.points])
        body.append(_stroke(path, HUES[number], f"line series-{number}", width=1.5))
    said = ", ".join(f"{line.name}: {_said(line)}" for line in lines[: len(HUES)])
    return _document(title, f"{steps} steps. {said}.", (WIDTH, HEIGHT), body, kind="chart")


def bar_chart(title: str, bars: Sequence[tuple[str, float]], *, digits: int = 1) -> str:
    """Return horizontal bars with names on the left and shares, from 0 to 1, on the right."""
    names = [text.shorten(text.visible(name), 24) for name, _ in bars]
    left = min(max(*(text.pixels(name, 13) + 12 for name in names), 40.0), 260.0)
    room = WIDTH - left - 80
    body = []
    for at, (name, (_, value)) in enumerate(zip(names, bars, strict=True)):
        y = 6.0 + 26 * at
        body.append(_text(name, left - 8, y + 15, "end", 13))
        body.append(_bar(left, y, max(room * value, 1), 20, rounded=True))
        share = f"{100 * value:.{digits}f}%"
        body.append(_text(share, left + room * value + 8, y + 15, size=13))
    said = ", ".join(f"{name}: {100 * value:.{digits}f}%" for name, value in bars)
    return _document(title, said, (WIDTH, 26.0 * len(bars) + 8), body, kind="chart")


def histogram(title: str, x: str, values: Floats, weights: Floats, bins: int = 24) -> str:
    """Return the distribution of weighted values."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    mass, edges = np.histogram(values, bins=bins, range=(low, high), weights=weights)
    ticks = low, (low + high) / 2, high
    across = Axis(low, high, ticks, texts=tuple(f"{tick:.4g}" for tick in ticks))
    up = Axis(0.0, float(mass.max()), ())
    frame = _Frame(_LEFT, _TOP, WIDTH - _LEFT - _RIGHT, 150.0, across, up)
    wide = frame.width / bins
    tops = [frame.at(edge, share) for edge, share in zip(edges[:-1], mass, strict=True)]
    body = [_bar(at, top, wide - 1, frame.bottom - top) for at, top in tops if top < frame.bottom]
    body += _floor(frame, x)
    mode = (edges[mass.argmax()] + edges[mass.argmax() + 1]) / 2
    said = f"From {low:.4g} to {high:.4g}, most around {mode:.4g}."
    return _document(title, said, (WIDTH, frame.bottom + 40), body, kind="chart")


def _floor(frame: _Frame, x: str) -> Iterator[str]:
    """Yield the horizontal axis, its texts at both ends and in the middle, and what it shows."""
    right = frame.left + frame.width
    yield _stroke(f"M{frame.left},{frame.bottom}H{right}", QUIET, "axis", width=1)
    for (share, shown), anchor in zip(
        frame.across.marks(), ("start", "middle", "end"), strict=True
    ):
        yield _text(shown, frame.left + share * frame.width, frame.bottom + 16, anchor, 13)
    yield _text(x, frame.left + frame.width / 2, frame.bottom + 33, "middle", 13)


def _said(line: Line) -> str:
    if not line.points:
        return "no finite value"
    values = [value for _, value in line.points]
    return f"from {values[0]:,.1f} to {values[-1]:,.1f}, at best {max(values):,.1f}"


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in places) if places else ""


def _bar(x: float, y: float, width: float, height: float, *, rounded: bool = False) -> str:
    corners = ' rx="2"' if rounded else ""
    return (
        f'<rect class="series-0" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}"{corners} fill="{HUES[0]}"/>'
    )


def _stroke(
    path: str, colour: str, kind: str = "", *, width: float = 1.8, dashed: bool = False
) -> str:
    named = f'class="{kind}" ' if kind else ""
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<path {named}d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" '
        f'stroke-linejoin="round"{dashes}/>'
    )


def _text(
    shown: str,
    x: float,
    y: float,
    anchor: str = "start",
    size: int = 10,
    *,
    colour: str = QUIET,
    weight: str = "normal",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" '
        f'text-anchor="{anchor}" font-weight="{weight}">{text.xml(shown)}</text>'
    )


def _document(
    title: str, said: str, size: tuple[float, float], body: Sequence[str], *, kind: str = ""
) -> str:
    width, height = size
    named = f'class="{kind}" ' if kind else ""
    inner = "\n".join(body)
    return (
        f'<svg {named}xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'font-family="{text.FONT}">\n<title>{text.xml(title)}</title>\n<desc>{text.xml(said)}</desc>\n'
        f"{inner}\n</svg>\n"
    )
