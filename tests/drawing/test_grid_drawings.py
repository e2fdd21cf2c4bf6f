"""Facts about drawings of grid worlds, as SVG and as text."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from xml.etree import ElementTree

import numpy as np
import pytest

from whence import LabeledMDP
from whence.drawing import grid_svg
from whence.drawing.grid import symbol_colour
from whence.drawing.terminal import grid_text
from whence.errors import WorldError
from whence.model.grid import Grid, Wall

SVG = "{http://www.w3.org/2000/svg}"
Cell = tuple[int, int]
ACTIONS = ("up", "right", "down", "left")


def world(
    width: int,
    height: int,
    *,
    walls: Iterable[Wall] = (),
    labels: dict[Cell, str] | None = None,
    solid: Iterable[Cell] = (),
    alphabet: Iterable[str] = ("a", "b"),
    starts: list[Cell] | None = None,
) -> LabeledMDP:
    blocked = set(solid)
    cells = [(x, y) for y in range(height) for x in range(width) if (x, y) not in blocked]
    first = [cells.index(cell) for cell in starts or [cells[0]]]
    grid = Grid(width, height, cells, walls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LabeledMDP.from_triples(
            grid.transitions(ACTIONS, 0.0),
            states=len(cells),
            actions=ACTIONS,
            labels=[(labels or {}).get(cell) for cell in cells],
            alphabet=alphabet,
            initial=[(state, 1 / len(first)) for state in first],
            grid=grid,
        )


def random_world(seed: int, width: int, height: int) -> LabeledMDP:
    generator = np.random.default_rng(seed)
    everywhere = [(x, y) for x in range(width) for y in range(height)]
    solid = [cell for cell in everywhere[1:] if generator.random() < 0.1]
    walls = [(x, y, "right") for x, y in everywhere if generator.random() < 0.2 and x + 1 < width]
    walls += [(x, y, "up") for x, y in everywhere if generator.random() < 0.2 and y + 1 < height]
    labels = {cell: "ab"[generator.integers(2)] for cell in everywhere if generator.random() < 0.2}
    return world(width, height, walls=walls, labels=labels, solid=solid, starts=[(0, 0)])


def parts(svg: str, kind: str) -> list[ElementTree.Element]:
    return [part for part in ElementTree.fromstring(svg).iter() if part.get("class") == kind]


def strokes(svg: str, kind: str) -> list[str]:
    (path,) = parts(svg, kind)
    return re.findall(r"M[^M]+", path.attrib["d"])


def walls_of(svg: str, mdp: LabeledMDP, unit: int) -> set[Wall]:
    """Read the inner walls back from the strokes of a drawing."""
    grid = mdp.grid
    assert grid is not None
    found: set[Wall] = set()
    for stroke in strokes(svg, "walls")[1:]:
        x, y, way, end = re.findall(r"M(\d+),(\d+)([VH])(\d+)", stroke)[0]
        column, row = int(x) // unit, grid.height - int(y) // unit
        if way == "V":
            top = grid.height - int(end) // unit
            found |= {(column - 1, at, "right") for at in range(row, top)}
        else:
            found |= {(at, row - 1, "up") for at in range(column, int(end) // unit)}
    return found


def office() -> LabeledMDP:
    """The office of the paper's coffee task: twelve rooms."""
    doors = {(x, y, "right") for x in (2, 5, 8) for y in (1, 7)}
    doors |= {(x, 5, "up") for x in (1, 4, 7, 10)} | {(x, 2, "up") for x in (1, 10)}
    walls = {(x, y, "right") for x in (2, 5, 8) for y in range(9)}
    walls |= {(x, y, "up") for y in (2, 5) for x in range(12)}
    labels = {(3, 6): "c", (8, 2): "c", (4, 4): "o"}
    labels |= dict.fromkeys([(4, 1), (7, 1), (4, 7), (7, 7), (1, 4), (10, 4)], "*")
    return world(
        12, 9, walls=walls - doors, labels=labels, alphabet=("c", "o", "*"), starts=[(10, 3)]
    )


OFFICE_TEXT = """\
  +---------+---------+---------+---------+
8 | .  .  . | .  .  . | .  .  . | .  .  . |
7 | .  .  .   .  *  .   .  *  .   .  .  . |
6 | .  .  . | c  .  . | .  .  . | .  .  . |
  +---   ---+---   ---+---   ---+---   ---+
5 | .  .  . | .  .  . | .  .  . | .  .  . |
4 | .  *  . | .  o  . | .  .  . | .  *  . |
3 | .  .  . | .  .  . | .  .  . | .  S  . |
  +---   ---+---------+---------+---   ---+
2 | .  .  . | .  .  . | .  .  c | .  .  . |
1 | .  .  .   .  *  .   .  *  .   .  .  . |
0 | .  .  . | .  .  . | .  .  . | .  .  . |
  +---------+---------+---------+---------+
    0  1  2   3  4  5   6  7  8   9 10 11
S = start, (10, 3)"""


def test_the_office_reads_as_the_paper_draws_it() -> None:
    assert grid_text(office(), ascii_only=True) == OFFICE_TEXT


def test_unicode_walls_join() -> None:
    mdp = world(2, 2, walls=[(0, 1, "right"), (0, 0, "up")], labels={(1, 1): "a", (1, 0): "b"})
    assert grid_text(mdp).splitlines() == [
        "  ┌───┬───┐",
        "1 │ · │ a │",
        "  ├───┘   │",
        "0 │ S   b │",
        "  └───────┘",
        "    0   1",
        "S = start, (0, 0)",
    ]


@pytest.mark.parametrize("seed", range(5))
def test_every_wall_stands_in_the_text(seed: int) -> None:
    mdp = random_world(seed, 9, 7)
    assert mdp.grid is not None
    rows = [line[2:] for line in grid_text(mdp).splitlines() if line[:1].isdigit()]
    for y, row in zip(range(6, -1, -1), rows, strict=True):
        upright = sum(1 for _, at, side in mdp.grid.walls if side == "right" and at == y)
        assert row.count("│") == upright + 2
    across = sum(1 for _, _, side in mdp.grid.walls if side == "up")
    borders = [line for line in grid_text(mdp).splitlines()[1:] if "───" in line]
    assert sum(line.count("───") for line in borders[:-1]) >= across > 0


def test_long_and_wide_symbols_get_a_legend() -> None:
    labels = {(0, 0): "coffee", (1, 0): "cake", (2, 0): "☕", (3, 0): "S", (4, 0): "\x1b[31m"}
    mdp = world(5, 1, labels=labels, alphabet=labels.values(), starts=[(0, 0)])
    for ascii_only in (False, True):
        drawn = grid_text(mdp, ascii_only=ascii_only)
        assert drawn.isascii() or not ascii_only
        assert "\x1b" not in drawn
        assert "c = coffee" in drawn
        assert r" = \x1b[31m" in drawn
        signs = re.findall(r"(\S+) = ", drawn)
        assert len(set(signs)) == len(signs)
    lines = grid_text(mdp).splitlines()
    assert "☕" in lines[1]
    assert lines[1].index("☕") == 2 + 1 + 3 * 2 + 1


def test_a_start_under_a_label_is_named() -> None:
    drawn = grid_text(world(2, 1, labels={(0, 0): "a"}, starts=[(0, 0)]))
    assert drawn.splitlines()[-1] == "start, (0, 0)"


def test_wide_grids_use_a_character_a_cell() -> None:
    drawn = grid_text(world(200, 2, labels={(7, 0): "a"}))
    assert max(map(len, drawn.splitlines())) < 210


@pytest.mark.parametrize("draw", [grid_svg, grid_text])
def test_a_start_anywhere_is_said_once(draw: object) -> None:
    assert callable(draw)
    cells = [(x, y) for x in range(3) for y in range(3)]
    drawn = draw(world(3, 3, starts=cells))
    assert "episodes start in any cell" in drawn
    assert 'class="start"' not in drawn


def test_a_world_without_a_grid_says_so() -> None:
    mdp = LabeledMDP.from_dense([[[1.0]]], labels=[None], alphabet=[])
    for draw in (grid_svg, grid_text):
        with pytest.raises(WorldError, match="no grid"):
            draw(mdp)


def test_the_office_as_svg() -> None:
    svg = grid_svg(office())
    assert len([part for part in parts(svg, "tile") if part.tag == f"{SVG}rect"]) == 9
    assert len(parts(svg, "start")) == 2  # the cell and the legend
    texts = [part.text for part in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert texts.count("*") == 6 + 1
    assert texts.count("11") == 1
    assert "c: (3, 6), (8, 2)." in svg
    assert walls_of(svg, office(), 46) == set(getattr(office().grid, "walls", ()))


def test_walls_in_line_are_one_stroke() -> None:
    walls = [(x, 0, "up") for x in range(5)] + [(6, 0, "up")]
    assert len(strokes(grid_svg(world(8, 2, walls=walls)), "walls")) == 1 + 2


@pytest.mark.parametrize("seed", range(5))
def test_every_wall_and_block_is_drawn(seed: int) -> None:
    mdp = random_world(seed, 9, 7)
    assert mdp.grid is not None
    svg = grid_svg(mdp)
    assert walls_of(svg, mdp, 46) == set(mdp.grid.walls)
    widths = [int(stroke.split("h")[1].split("v")[0]) for stroke in strokes(svg, "solid")]
    assert sum(widths) == 46 * (9 * 7 - mdp.n_states)


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 30), (30, 1), (200, 200)])
def test_every_size_stays_in_its_frame(width: int, height: int) -> None:
    last = (width - 1, height - 1)
    mdp = world(width, height, labels={last: "a"}, starts=[last])
    svg = grid_svg(mdp)
    root = ElementTree.fromstring(svg)
    _, _, wide, high = map(float, root.attrib["viewBox"].split())
    assert wide < 800
    assert high < 850
    for text in root.iter(f"{SVG}text"):
        assert -34 <= float(text.attrib["x"]) <= wide - 34
    assert len(svg) < 200_000
    assert parts(svg, "start")


def test_colours_differ() -> None:
    assert len({symbol_colour(symbol) for symbol in range(21)}) == 21


def test_strange_symbols_are_escaped() -> None:
    symbols = ["<&>", "\x1b[0m", 'a "quoted" and rather long symbol', "日本語"]
    mdp = world(4, 1, labels={(x, 0): symbols[x] for x in range(4)}, alphabet=symbols)
    svg = grid_svg(mdp)
    assert "\x1b" not in svg
    titles = [part.text for part in ElementTree.fromstring(svg).iter(f"{SVG}title")]
    assert {"<&>", r"\x1b[0m", symbols[2], "日本語"} <= set(titles)


def test_worlds_show_themselves() -> None:
    assert str(office()) == grid_text(office())
    assert office()._repr_svg_() == grid_svg(office())
