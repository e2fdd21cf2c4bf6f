from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from whence.cli.benchmarks import folder, report
from whence.cli.benchmarks.picture import panels, picture
from whence.cli.benchmarks.series import (
    Growth,
    Rise,
    StatesPoint,
    StepsPoint,
    ThreadsPoint,
    WorldPoint,
)
from whence.cli.benchmarks.tables import tables
from whence.drawing.axes import log_axis, written
from whence.drawing.chart import Panel

SVG = "{http://www.w3.org/2000/svg}"
GROWTH = Growth(
    worlds=tuple(WorldPoint(10**k, 12 * 10**k, 50, 8, 1.2 * 10**k, 100.0) for k in range(2, 7)),
    rise=Rise(10_000, 1_000_000, 100.0, 100.0, 1.0, 1.0),
    machine_states=tuple(StatesPoint(n, 108 * n, 200, 40.0 * n) for n in range(1, 9)),
    demonstrations=tuple(
        StepsPoint(10**k, 5 * 10 ** (k - 1), 10 ** (k - 2), 10.0 ** (k - 7), 90.0 * k, 80.0, None)
        for k in range(3, 8)
    ),
    threads=(ThreadsPoint(1, 1_000, 0.1, 0.1, 1.0), ThreadsPoint(2, 1_000, 0.05, 0.1, 2.0)),
)
REPORT = report.Report(report.computer(), 200, 0, None, None, GROWTH)


def test_the_picture_shows_every_series_with_its_points() -> None:
    root = ElementTree.fromstring(picture(GROWTH))
    drawn = [
        (group.findtext(f"{SVG}title"), len(group.findall(f"{SVG}circle")))
        for group in root.iter(f"{SVG}g")
        if group.get("class") == "series"
    ]
    expected = [
        (line.name, 0 if line.guide else len(line.points))
        for panel in panels(GROWTH)
        for line in panel.lines
    ]
    assert sorted(drawn) == sorted(expected)
    assert len(drawn) == 12
    assert {count for _, count in drawn} == {0, 2, 5, 8}


def test_every_panel_names_its_axes_and_stays_inside_the_picture() -> None:
    svg = picture(GROWTH)
    root = ElementTree.fromstring(svg)
    texts = [element.text for element in root.iter(f"{SVG}text")]
    for panel in panels(GROWTH):
        assert {panel.title, panel.x, panel.y} <= set(texts)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for group in root.iter(f"{SVG}g"):
        if group.get("class") == "panel":
            left, top = map(float, re.findall(r"[\d.]+", group.attrib["transform"]))
            for circle in group.iter(f"{SVG}circle"):
                assert 0 < left + float(circle.attrib["cx"]) < width
                assert 0 < top + float(circle.attrib["cy"]) < height


@pytest.mark.parametrize("panel", panels(GROWTH), ids=lambda panel: panel.y)
def test_ticks_are_few_and_apart(panel: Panel) -> None:
    for axis in panel.axes():
        assert len(axis.ticks) >= 2
        places = [axis.place(tick) for tick in axis.ticks]
        assert all(b - a > 0.05 for a, b in pairwise(places))
        assert 0 <= places[0] <= places[-1] <= 1


def test_values_of_any_size_get_ticks() -> None:
    for low in (1e-7, 3e-4, 0.02, 1.0, 77.0, 4e6):
        for factor in (1.0, 1.01, 3.0, 40.0, 1e5):
            axis = log_axis([low, low * factor])
            assert len(axis.ticks) >= 2, (low, factor)
            assert axis.place(low) >= 0
            assert axis.place(low * factor) <= 1


def test_ticks_are_written_in_full_or_as_powers() -> None:
    marks = (0.001, 0.5, 20.0, 1000.0, 2e4, 1e4, 1e-5)
    assert [written(mark) for mark in marks] == [
        "0.001", "0.5", "20", "1,000", "20,000", "10⁴", "10⁻⁵",
    ]  # fmt: skip


def test_tables_are_rectangular_and_dashes_stand_for_noise() -> None:
    shown = tables(REPORT)
    assert [table.title for table in shown] == [
        "World size", "Machine states", "Demonstrations", "Threads",
    ]  # fmt: skip
    assert all(len(row) == len(table.columns) for table in shown for row in table.rows)
    assert [row[-1] for row in shown[2].rows] == ["-"] * 5


def test_a_report_survives_its_files(tmp_path: Path) -> None:
    written = folder.save(REPORT, str(tmp_path))
    assert {Path(path).name for path in written} == {"bench.json", "README.md", "growth.svg"}
    assert report.read((tmp_path / "bench.json").read_bytes()) == REPORT
