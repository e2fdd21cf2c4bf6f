"""Worlds without a grid as graphs, and ways through worlds."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import whence
from whence import LabeledMDP
from whence.drawing.places import RADIUS, place_centres, places_svg
from whence.drawing.ways import Scene, lighting

SVG = "{http://www.w3.org/2000/svg}"


def _star(arms: int) -> LabeledMDP:
    rows = [[0, arm, arm + 1, 1.0] for arm in range(arms)]
    rows += [[arm + 1, action, 0, 1.0] for arm in range(arms) for action in range(arms)]
    return LabeledMDP.from_triples(
        rows, states=arms + 1, actions=arms, labels=[None, "x"] + [None] * (arms - 1),
        alphabet=["x"],
    )  # fmt: skip


def _ring(size: int) -> LabeledMDP:
    rows = [[s, 0, (s + 1) % size, 1.0] for s in range(size)]
    return LabeledMDP.from_triples(
        rows, states=size, actions=1, labels=["x"] + [None] * (size - 1), alphabet=["x"]
    )


def test_a_star_is_drawn_as_one() -> None:
    points = place_centres(_star(12))
    reach = np.linalg.norm(points[1:] - points[0], axis=1)
    assert reach.max() / reach.min() < 1.3
    gap = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert gap[np.triu_indices(13, 1)].min() > 2 * RADIUS


def test_near_places_are_near_and_the_drawing_is_the_same_every_time() -> None:
    points = place_centres(_ring(20))
    gap = np.linalg.norm(points[:, None] - points[None], axis=2)
    beside = gap[np.arange(20), (np.arange(20) + 1) % 20]
    across = gap[np.arange(20), (np.arange(20) + 10) % 20]
    assert beside.max() < across.min()
    assert np.array_equal(points, place_centres(_ring(20)))


@pytest.mark.parametrize("size", [1, 2, 3, 200])
def test_every_size_is_drawn_on_its_paper(size: int) -> None:
    mdp = _ring(size)
    root = ElementTree.fromstring(
        places_svg(mdp, title="here", visits=np.arange(size, dtype=np.float64))
    )
    box = [float(value) for value in root.attrib["viewBox"].split()]
    places = [
        each for each in root.iter(f"{SVG}circle") if each.attrib["class"] in ("place", "tile")
    ]
    assert len(places) == size
    for each in places:
        assert RADIUS <= float(each.attrib["cx"]) <= box[2] - RADIUS
        assert RADIUS <= float(each.attrib["cy"]) <= box[3] - RADIUS


def test_places_that_nothing_joins_and_odd_names_are_drawn() -> None:
    mdp = LabeledMDP.from_triples(
        [[0, 0, 0, 1.0], [1, 0, 1, 1.0]], states=2, actions=1, labels=["<b>", None],
        alphabet=["<b>"], names=["<script>", "&"],
    )  # fmt: skip
    text = places_svg(mdp, title="<i>")
    ElementTree.fromstring(text)
    assert "<script>" not in text


def test_a_policy_points_where_its_actions_lead() -> None:
    mdp = _star(3)
    policy = np.full((4, 3), 1 / 3)
    policy[0] = [0.0, 1.0, 0.0]
    text = places_svg(mdp, title="here", policy=policy)
    (line,) = re.findall(r'class="policy" d="M([^"]*)" fill="none"', text)
    x, y = place_centres(mdp)[0]
    begin = [float(value) for value in line.split("L")[0].split(",")]
    assert np.hypot(begin[0] - x, begin[1] - y) == pytest.approx(RADIUS, abs=0.2)
    assert "policy" not in places_svg(mdp, title="here", policy=np.full((4, 3), 1 / 3))


def test_too_many_places_are_not_drawn() -> None:
    assert Scene.of(_ring(200)) is not None
    assert Scene.of(_ring(201)) is None


def test_a_mark_moves_from_place_to_place() -> None:
    scene = Scene.of(whence.worlds.coffee().mdp)
    assert scene is not None
    moves = scene.keyframes([0, 1, 1, 2], "m")
    assert moves.startswith("@keyframes m{0.00%{")
    assert moves.count("transform") == 5
    x, y = scene.points[0]
    assert f"translate({x:.1f} {y:.1f})" in scene.token([0, 1], "m")
    assert "<path" not in scene.way([3, 3], "w")
    assert scene.way([0, 1, 2], "w").count("L") >= 3
    ElementTree.fromstring(scene.svg("here", over=[scene.way([0, 1], "w")]))


def test_states_are_lit_while_the_machine_is_in_them() -> None:
    found = lighting([0, 0, 1, 0], "l", hold=0.0)
    assert set(found) == {0, 1}
    assert found[1] == (
        "@keyframes l-1{0.00%{fill:var(--alive)}66.67%{fill:var(--lit)}"
        "100.00%{fill:var(--alive)}100%{fill:var(--alive)}}"
    )
