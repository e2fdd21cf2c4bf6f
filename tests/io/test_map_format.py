from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import whence
from whence import LabeledMDP, WhenceWarning
from whence.errors import FormatError, WorldError
from whence.io import world_map as map_format
from whence.paper.worlds import BUILT_IN, map_text

ROOMS = """\
# two rooms with a door between them
slip: 0.2
labels: c=coffee o
starts: S 3,0

map:
+--+--+
|S.|c.|
|.. .o|
+- +--+
|..|.#|
+--+--+
"""


def _move(mdp: LabeledMDP, x: int, y: int, action: str) -> dict[tuple[int, int], float]:
    assert mdp.grid is not None
    successors, weights = mdp.row(mdp.grid.state(x, y), mdp.actions.index(action))
    cells = [tuple(mdp.grid.cells[s].tolist()) for s in successors]
    return dict(zip(cells, weights.tolist(), strict=True))


def test_rooms_walls_doors_labels_and_starts() -> None:
    with pytest.raises(FormatError, match="start 3,0: there is no such cell"):
        map_format.loads(ROOMS, "rooms.map")
    mdp = map_format.loads(ROOMS.replace("3,0", "2,0"), "rooms.map")
    assert mdp.grid is not None
    assert (mdp.grid.width, mdp.grid.height, mdp.n_states) == (4, 3, 11)
    assert mdp.alphabet == ("coffee", "o")
    assert mdp.label(mdp.grid.state(2, 2)) == "coffee"
    assert mdp.grid.cells[mdp.initial_states].tolist() == [[2, 0], [0, 2]]
    assert mdp.initial_probabilities.tolist() == [0.5, 0.5]


def test_moves_slip_sideways_and_walls_stop_them() -> None:
    mdp = map_format.loads(ROOMS.replace("3,0", "2,0"), "rooms.map")
    assert _move(mdp, 1, 1, "right") == pytest.approx({(2, 1): 0.8, (1, 2): 0.1, (1, 0): 0.1})
    assert _move(mdp, 1, 2, "right") == pytest.approx({(1, 2): 0.9, (1, 1): 0.1})
    assert _move(mdp, 0, 1, "down") == pytest.approx({(0, 1): 0.9, (1, 1): 0.1})
    assert _move(mdp, 2, 0, "right") == pytest.approx({(2, 0): 1.0})


def test_cells_are_numbered_row_by_row_from_the_bottom() -> None:
    coffee = whence.worlds.coffee().mdp
    assert coffee.grid is not None
    assert coffee.initial_states.tolist() == [46]
    assert coffee.grid.cells[46].tolist() == [10, 3]
    assert coffee.label(2 * 12 + 8) == "c"
    assert coffee.label(4 * 12 + 4) == "o"


def test_the_office_has_its_doors_and_no_others() -> None:
    grid = whence.worlds.coffee().mdp.grid
    assert grid is not None
    walls = set(grid.walls)
    for x in (2, 5, 8):
        doors = {y for y in range(9) if (x, y, "right") not in walls}
        assert doors == {1, 7}
    assert {x for x in range(12) if (x, 5, "up") not in walls} == {1, 4, 7, 10}
    assert {x for x in range(12) if (x, 2, "up") not in walls} == {1, 10}
    assert len(walls) == 3 * 7 + 8 + 10


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_worlds_survive_being_drawn_again(name: str) -> None:
    mdp = map_format.loads(map_text(name), name)
    assert map_format.loads(map_format.dumps(mdp), name) == mdp


def _random_map(rng: np.random.Generator) -> str:
    width, height = (int(v) for v in rng.integers(1, 6, size=2))
    rows = []
    for y in range(height):
        marks = rng.choice(list("..#ab"), size=width)
        bars = rng.choice(list("| "), size=width)
        rows.append("".join(m + b for m, b in zip(marks, bars, strict=True))[:-1] + "|")
        if y < height - 1:
            dashes = rng.choice(list("- "), size=width)
            rows.append("".join(d + "+" for d in dashes))
    slip = float(rng.choice([0, 0.1, 0.3]))
    text = "\n".join(rows)
    start = "a" if "a" in text else "."
    return f"slip: {slip}\nlabels: a b=bee\nactions: up left stay\nstarts: {start}\nmap:\n{text}\n"


@pytest.mark.filterwarnings("ignore::whence.WhenceWarning")
@pytest.mark.parametrize("seed", range(60))
def test_random_drawings_survive_being_drawn_again(seed: int) -> None:
    text = _random_map(np.random.default_rng(seed))
    try:
        mdp = map_format.loads(text, "random.map")
    except FormatError as error:
        assert "solid" in str(error) or "starts" in str(error)  # noqa: PT017
        return
    try:
        again = map_format.dumps(mdp)
    except WorldError:
        pytest.fail("a world that was read from a map must be drawable")
    assert map_format.loads(again, "again.map") == mdp


def test_one_cell_and_one_action() -> None:
    mdp = map_format.loads("actions: stay\nstarts: S\nmap:\nS\n", "one.map")
    assert (mdp.n_states, mdp.n_actions) == (1, 1)
    assert mdp.successors.tolist() == [0]


def test_a_symbol_that_is_not_drawn_is_a_warning() -> None:
    with pytest.warns(WhenceWarning, match="'x'"):
        map_format.loads("labels: x\nstarts: S\nmap:\nS.\n", "m.map")


def test_the_documented_example_reads() -> None:
    text = (Path(__file__).parents[2] / "docs" / "maps.md").read_text(encoding="utf-8")
    drawing = text.split("```text\n")[1].split("```")[0]
    mdp = map_format.loads(drawing, "docs/maps.md")
    assert mdp.alphabet == ("coffee", "office", "plant")


HEAD = "labels: a\nstarts: S\nmap:\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("labels: a\nstarts: S\n", "no line 'map:'"),
        (HEAD, "nothing is drawn"),
        (HEAD + "Sx\n", "line 4, column 2: 'x' is not explained"),
        (HEAD + "S.\n.\n", "line 5, column 2: a cell is missing"),
        (HEAD + "S|.\n...\n", "line 5, column 2: '.' in a column of walls"),
        (HEAD + "+--+\n", "no cells"),
        ("labels: a\nmap:\n##\n", "every cell is solid"),
        ("labels: a\nmap:\n..\n", "no start"),
        ("starts: S\nmap:\n..\n", "no cell is drawn as 'S'"),
        ("starts: 9,9\nmap:\n..\n", "start 9,9: there is no such cell"),
        ("starts: 9,x\nmap:\n..\n", "line 1: start '9,x'"),
        ("slip: 2\nstarts: S\nmap:\nS\n", "line 1: slip '2'"),
        ("slip: much\nstarts: S\nmap:\nS\n", "line 1: slip 'much'"),
        ("actions: jump\nstarts: S\nmap:\nS\n", "line 1: action 'jump'"),
        ("actions:\nstarts: S\nmap:\nS\n", "line 1: no actions"),
        ("labels: coffee\nstarts: S\nmap:\nS\n", "line 1: label 'coffee'"),
        ("labels: a a=b\nstarts: S\nmap:\nS\n", "'a' is explained twice"),
        ("labels: .=dot\nstarts: S\nmap:\nS\n", "draws walls or floor"),
        ("labels: a\nlabels: b\nstarts: S\nmap:\nS\n", "line 2: a second 'labels'"),
        ("colour: red\nstarts: S\nmap:\nS\n", "line 1: 'colour: red' is not a header line"),
        ("alphabet: b\nlabels: a\nstarts: S\nmap:\nSa\n", "label 'a' is not in the alphabet"),
        (HEAD + "S.\n-|\n..\n", "line 5, column 2: '|' above a cell"),
        (HEAD + "    S.\n    .q\n", "line 5, column 6: 'q'"),
        ("labels: a #=b\nstarts: S\nmap:\nSa\n", "'#' draws walls"),
        ("starts: 0000000001,0\nmap:\n..\n", "start '0000000001,0'"),
    ],
)
def test_bad_drawings_are_refused_with_their_place(text: str, message: str) -> None:
    with pytest.raises((FormatError, WorldError), match=message.replace("|", r"\|")):
        map_format.loads(text, "bad.map")


@pytest.mark.parametrize(
    "text",
    [
        "slip: 0.7\nstarts: S\nmap:\nS..\n...\n...\n",
        "slip: 1.0\nstarts: S\nmap:\nS..\n...\n...\n",
        "slip: 0.2\nactions: left right\nstarts: S\nmap:\nS...\n",
        "slip: 0.3 # much\nstarts: S # one\nmap: # here\nS.\n..\n",
    ],
)
def test_any_slip_survives_being_drawn_again(text: str) -> None:
    mdp = map_format.loads(text, "slip.map")
    assert map_format.loads(map_format.dumps(mdp), "again.map") == mdp


def test_worlds_that_are_no_drawing_are_refused() -> None:
    plain = LabeledMDP.from_dense([[[1.0]]], labels=[None])
    with pytest.raises(WorldError, match="without a grid"):
        map_format.dumps(plain)
    coffee = whence.worlds.coffee().mdp
    uneven = coffee.with_initial([(0, 0.25), (1, 0.75)])
    with pytest.raises(WorldError, match="not those of a drawing"):
        map_format.dumps(uneven)
