"""Small charts as SVG whose colours come from the page: lines over steps, and bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats
from whence.drawing import text

WIDTH, HEIGHT = 640.0, 240.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 74.0, 12.0, 12.0, 40.0
_POINTS = 320  # that a line has at most
_LINES = 6


@dataclass(frozen=True, eq=False)
class Line:
    """One line of a chart: float[P], evenly spaced; what is not finite is left out."""

    name: str
    values: Floats


def line_chart(
    title: str, x: str, lines: Sequence[Line], low: float, high: float, *, steps: int
) -> str:
    """Return lines over so many steps, between two values; what lies below is cut off."""
    values = max(len(line.values) for line in lines)
    low, high = _room(low, high)
    ticks = _ticks(low, high)
    body = [*_level(ticks, low, high), *_along(steps, x)]
    for number, line in enumerate(lines[:_LINES]):
        path = _path(_thinned(line.values), values, low, high)
        body.append(f'<path class="line series-{number}" d="{path}"/>')
    said = ", ".join(f"{line.name}: {_said(line.values)}" for line in lines[:_LINES])
    return _document(title, f"{steps} steps. {said}.", HEIGHT, body)


def bar_chart(title: str, bars: Sequence[tuple[str, float]], *, digits: int = 1) -> str:
    """Return level bars with names on the left and shares, from 0 to 1, on the right."""
    high = 26.0 * len(bars) + 8
    widest = max(text.pixels(text.shorten(text.visible(name), 24), 13) for name, _ in bars)
    left = min(max(widest + 12, 40.0), 260.0)
    room = WIDTH - left - 80
    body = []
    for at, (name, value) in enumerate(bars):
        y = 6 + 26 * at
        shown = text.shorten(text.visible(name), 24)
        body.append(_text(shown, left - 8, y + 15, "end"))
        body.append(
            f'<rect class="series-0" x="{left:.1f}" y="{y}" width="{max(room * value, 1):.1f}" '
            'height="20" rx="2"/>'
        )
        body.append(_text(f"{100 * value:.{digits}f}%", left + room * value + 8, y + 15, "start"))
    said = ", ".join(f"{name}: {100 * value:.{digits}f}%" for name, value in bars)
    return _document(title, said, high, body)


def histogram(title: str, x: str, values: Floats, weights: Floats, bins: int = 24) -> str:
    """Return how weighted values are spread."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    mass, edges = np.histogram(values, bins=bins, range=(low, high), weights=weights)
    tall = 150.0
    top, floor = _TOP, _TOP + tall
    wide = (WIDTH - _LEFT - _RIGHT) / bins
    body = [
        f'<rect class="series-0" x="{_LEFT + at * wide:.1f}" '
        f'y="{floor - tall * share / mass.max():.1f}" width="{wide - 1:.1f}" '
        f'height="{tall * share / mass.max():.1f}"/>'
        for at, share in enumerate(mass)
        if share > 0
    ]
    body.append(f'<path class="axis" d="M{_LEFT:.1f},{floor}H{WIDTH - _RIGHT}"/>')
    for share in (0.0, 0.5, 1.0):
        at = _LEFT + share * (WIDTH - _LEFT - _RIGHT)
        anchor = ("start", "middle", "end")[int(2 * share)]
        body.append(_text(f"{low + share * (high - low):.4g}", at, floor + 16, anchor))
    body.append(_text(x, (WIDTH + _LEFT - _RIGHT) / 2, floor + 32, "middle"))
    mode = (edges[mass.argmax()] + edges[mass.argmax() + 1]) / 2
    said = f"From {low:.4g} to {high:.4g}, most around {mode:.4g}."
    return _document(title, said, floor + 40 + (top - _TOP), body)


def _thinned(values: Floats) -> list[tuple[float, float]]:
    """Return points (step, value): the lowest and the highest of each stretch of steps."""
    steps = len(values)
    if steps <= _POINTS:
        return [(float(at), float(v)) for at, v in enumerate(values) if math.isfinite(v)]
    points = []
    for part in np.array_split(np.arange(steps), _POINTS // 2):
        some = part[np.isfinite(values[part])]
        if len(some):
            ends = {int(some[values[some].argmin()]), int(some[values[some].argmax()])}
            points += [(float(at), float(values[at])) for at in sorted(ends)]
    return points


def _path(points: list[tuple[float, float]], values: int, low: float, high: float) -> str:
    wide, tall = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    places = []
    for step, value in points:
        up = min(max((value - low) / (high - low), 0.0), 1.0)
        x = _LEFT + wide * step / max(values - 1, 1)
        places.append(f"{x:.1f},{_TOP + tall * (1 - up):.1f}")
    return "M" + "L".join(places) if places else ""


def _room(low: float, high: float) -> tuple[float, float]:
    spread = high - low
    if spread <= 0:
        spread = max(abs(high) * 1e-3, 1.0)
    return low - 0.04 * spread, high + 0.06 * spread


def _ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough)
    first = math.ceil(low / step)
    return [step * at for at in range(first, math.floor(high / step) + 1)]


def _level(ticks: list[float], low: float, high: float) -> list[str]:
    tall = HEIGHT - _TOP - _BOTTOM
    parts = []
    for tick in ticks:
        y = _TOP + tall * (1 - (tick - low) / (high - low))
        parts.append(f'<path class="grid" d="M{_LEFT},{y:.1f}H{WIDTH - _RIGHT}"/>')
        parts.append(_text(f"{tick:,.10g}".replace("-", "−"), _LEFT - 8, y + 4, "end"))
    return parts


def _along(steps: int, x: str) -> list[str]:
    floor = HEIGHT - _BOTTOM
    parts = [f'<path class="axis" d="M{_LEFT},{floor}H{WIDTH - _RIGHT}"/>']
    for share in (0.0, 0.5, 1.0):
        at = _LEFT + share * (WIDTH - _LEFT - _RIGHT)
        anchor = ("start", "middle", "end")[int(2 * share)]
        parts.append(_text(f"{max(1, round(share * steps)):,}", at, floor + 16, anchor))
    return [*parts, _text(x, (WIDTH + _LEFT - _RIGHT) / 2, floor + 33, "middle")]


def _said(values: Floats) -> str:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return "no finite value"
    return f"from {finite[0]:,.1f} to {finite[-1]:,.1f}, at best {finite.max():,.1f}"


def _text(shown: str, x: float, y: float, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="13" text-anchor="{anchor}">'
        f"{text.xml(shown)}</text>"
    )


def _document(title: str, said: str, height: float, body: Sequence[str]) -> str:
    return (
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" width="{WIDTH:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {WIDTH:.0f} {height:.0f}" role="img">'
        f"<title>{text.xml(title)}</title><desc>{text.xml(said)}</desc>{''.join(body)}</svg>"
    )
