"""Facts about what lies over a map: heat and arrows."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import whence
from whence import LabeledMDP
from whence.drawing import grid_svg
from whence.drawing.overlay import SHADES, bounds, levels

SVG = "{http://www.w3.org/2000/svg}"
WORLD = LabeledMDP.from_map("labels: c\nstarts: S\nmap:\nS.\n.c\n", source="map")


def paths(svg: str, kind: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return [path for path in root.iter(f"{SVG}path") if path.attrib.get("class") == kind]


def test_levels_follow_the_square_root_and_start_at_one_visit() -> None:
    visits = np.array([0.0, 1e-9, 1.0, 9.0, 36.0])
    assert levels(visits, 36.0).tolist() == [0, 1, 1, 3, 6]
    assert levels(np.zeros(2), 0.0).tolist() == [0, 0]
    assert bounds(36.0) == pytest.approx([1, 4, 9, 16, 25, 36])


def test_each_visited_cell_is_covered_by_its_shade() -> None:
    state = {(x, y): at for at, (x, y) in enumerate(WORLD.grid.cells.tolist())}  # type: ignore[union-attr]
    visits = np.zeros(4)
    visits[state[0, 0]], visits[state[1, 0]], visits[state[0, 1]] = 36.0, 36.0, 1.0
    heat = paths(grid_svg(WORLD, visits=visits), "heat")
    shades = [float(path.attrib["fill-opacity"]) for path in heat]
    assert shades == [SHADES[0], SHADES[-1]]
    assert heat[1].attrib["d"] == "M0,46h92v46h-92z"
    assert heat[0].attrib["d"] == "M0,0h46v46h-46z"
    cooler = paths(grid_svg(WORLD, visits=visits, largest=1e6), "heat")
    assert [float(path.attrib["fill-opacity"]) for path in cooler] == [SHADES[0]]


def test_arrows_go_where_the_policy_goes() -> None:
    policy = np.full((4, 4), 0.25)
    state = WORLD.grid.state(0, 0)  # type: ignore[union-attr]
    policy[state] = [0.0, 1.0, 0.0, 0.0]
    line, head = paths(grid_svg(WORLD, policy=policy), "policy")
    assert re.findall(r"[-0-9.]+", line.attrib["d"]) == ["9.2", "69.0", "31.3", "69.0"]
    tip = head.attrib["d"].split("L")[0]
    assert tip == "M37.7,69.0"


def test_equally_good_actions_are_all_drawn_and_no_preference_draws_nothing() -> None:
    policy = np.full((4, 4), 0.25)
    assert paths(grid_svg(WORLD, policy=policy), "policy") == []
    policy[:] = [0.5, 0.5, 0.0, 0.0]
    line, head = paths(grid_svg(WORLD, policy=policy), "policy")
    assert line.attrib["d"].count("M") == 6
    assert head.attrib["d"].count("M") == 8


def test_actions_of_other_names_point_to_where_they_lead() -> None:
    rows = [[0, 0, 1, 1.0], [1, 0, 1, 1.0], [0, 1, 0, 1.0], [1, 1, 0, 1.0]]
    world = LabeledMDP.from_triples(
        rows, states=2, actions=["go", "back"], labels=[None, None], alphabet=(),
        grid=whence.Grid(2, 1, [(0, 0), (1, 0)]),
    )  # fmt: skip
    policy = np.array([[1.0, 0.0], [1.0, 0.0]])
    line, marks = paths(grid_svg(world, policy=policy), "policy")
    assert line.attrib["d"].count("M") == 1
    assert "a3.2,3.2" in marks.attrib["d"]


def test_tiny_cells_share_their_arrows() -> None:
    up = np.tile([1.0, 0.0, 0.0, 0.0], (4, 1))
    assert len(paths(grid_svg(WORLD, policy=up, most=11), "policy")) == 2
    apart = np.array([[0, 1, 0, 0], [0, 0, 0, 1]] * 2, dtype=np.float64)
    together = np.full((4, 4), 0.25)
    for nowhere in (apart, together):
        assert paths(grid_svg(WORLD, policy=nowhere, most=11), "policy") == []
