from __future__ import annotations

import pytest

from whence.cli.benchmarks.picture import Line, Panel, drawn
from whence.drawing.axes import linear_axis_for, written


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
    axis = linear_axis_for([high / 3, high])
    assert [written(tick) for tick in axis.ticks] == ticks
    assert axis.place(0) == 0
    assert axis.place(high) <= 1
    assert axis.place(axis.ticks[-1]) == pytest.approx(1)


def test_a_linear_panel_is_drawn_to_scale() -> None:
    line = Line("up", ((0, 0), (5, 0.5), (10, 1)), dots=False)
    svg = drawn((Panel("A panel", "x", "y", (line,), linear=True),), "A & B")
    assert "<title>A &amp; B</title>" in svg
    assert 'd="M52.0,220.0L170.0,141.0L288.0,62.0"' in svg
    assert "<circle" not in svg
