from __future__ import annotations

import math
import re

import numpy as np
import pytest

from whence.drawing.axes import axis_between, linear_axis, written
from whence.drawing.chart import (
    Line,
    Panel,
    bar_chart,
    histogram,
    line_chart,
    panels_svg,
    trace,
)


@pytest.mark.parametrize(
    ("high", "ticks"),
    [
        (1.0, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (4_000, ["0", "1,000", "2,000", "3,000", "4,000"]),
        (0.95, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (7, ["0", "2", "4", "6", "8"]),
    ],
)
def test_linear_axes_start_at_zero_and_have_round_ticks(high: float, ticks: list[str]) -> None:
    axis = linear_axis([high / 3, high])
    assert [written(tick) for tick in axis.ticks] == ticks
    assert axis.place(0) == 0
    assert axis.place(high) <= 1
    assert axis.place(axis.ticks[-1]) == pytest.approx(1)


def test_a_linear_panel_is_drawn_to_scale() -> None:
    line = Line("up", ((0, 0), (5, 0.5), (10, 1)), dots=False)
    svg = panels_svg((Panel("A panel", "x", "y", (line,), linear=True),), "A & B")
    assert "<title>A &amp; B</title>" in svg
    assert 'd="M52.0,220.0L170.0,141.0L288.0,62.0"' in svg
    assert "<circle" not in svg


def heights(svg: str) -> list[float]:
    return [
        float(found) for found in re.findall(r'<rect class="series-0"[^>]* height="([^"]+)"', svg)
    ]


def test_errors_are_bars_as_long_as_they_say_and_fit_the_axis() -> None:
    line = Line("one", ((0, 0.2), (5, 0.5), (10, 0.8)), errors=(0.1, 0.1, 0.4))
    panel = Panel("Errors", "x", "y", (line,), linear=True)
    assert panel.axes()[1].high >= 1.2
    path = re.findall(r'd="(M[^"]*h6m[^"]*)"', panels_svg((panel,), "Errors"))[0]
    ends = [(float(a), float(b)) for a, b in re.findall(r"M[\d.]+,([\d.]+)h6m-3,0V([\d.]+)", path)]
    lengths = [low - high for low, high in ends]
    assert lengths[0] == pytest.approx(lengths[1], abs=0.11)
    assert lengths[2] == pytest.approx(4 * lengths[0], abs=0.3)


def test_a_long_trace_keeps_its_ends_and_its_extremes() -> None:
    values = np.sin(np.arange(10_000.0) / 300)
    values[0], values[4321], values[-1] = 0.5, -7.0, 0.25
    values[17] = np.nan
    shown = trace("one", values)
    assert len(shown.points) <= 322
    assert shown.points[0] == (0.0, 0.5)
    assert shown.points[-1] == (1.0, 0.25)
    assert min(y for _, y in shown.points) == -7.0
    assert max(y for _, y in shown.points) == np.nanmax(values)


def test_a_trace_below_the_chart_is_drawn_on_its_lower_edge() -> None:
    lines = [trace("one", np.array([-1e9, 0.0, 1.0])), trace("none", np.array([-np.inf] * 3))]
    svg = line_chart("Scores", "step", lines, 0.0, 1.0, steps=3)
    assert 'class="line series-0" d="M74.0,200.0L' in svg
    assert "one: from -1,000,000,000.0 to 1.0, at best 1.0, none: no finite value" in svg


def test_bars_and_histograms_are_to_scale() -> None:
    svg = bar_chart("Shares", [("a", 0.25), ("<b>", 0.75)])
    widths = [float(w) for w in re.findall(r'<rect class="series-0"[^>]* width="([^"]+)"', svg)]
    assert widths[1] == pytest.approx(3 * widths[0], abs=0.2)
    assert "&lt;b&gt;" in svg
    values = np.array([0.0, 0.0, 1.0])
    assert heights(histogram("H", "x", values, np.ones(3), bins=2)) == [150.0, 75.0]


@pytest.mark.parametrize(("low", "high"), [(-340, -260), (0, 1), (-1e-3, 1e-3), (5, 5), (1, 1e6)])
def test_an_axis_between_any_values_has_round_ticks_inside(low: float, high: float) -> None:
    axis = axis_between(low, high)
    assert 2 <= len(axis.ticks) <= 6
    assert all(0 <= axis.place(tick) <= 1 for tick in axis.ticks)
    assert axis.place(low) > 0
    assert axis.place(high) < 1
    step = axis.ticks[1] - axis.ticks[0]
    assert round(step / 10 ** math.floor(math.log10(step)), 6) in (1, 2, 2.5, 5, 10)
