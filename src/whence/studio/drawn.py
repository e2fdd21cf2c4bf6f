"""Maps that are drawn in the browser: cells, walls, labels, starts and slip, as a world."""

from __future__ import annotations

import warnings

import msgspec

from whence.errors import ArgumentError, WhenceWarning
from whence.io.map_reader import DEFAULT_ACTIONS
from whence.model.grid import Grid, Wall
from whence.model.mdp import LabeledMDP

MOST = 200  # cells in a row or a column
MOST_LABELS = 40
LONGEST = 40  # characters of a label


class Drawn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was drawn; cells are numbered row by row from the lower left.

    Attributes:
        name: of the map.
        width: columns.
        height: rows.
        solid: cells that are solid.
        walls: (x, y, "right" or "up").
        labels: [cell, symbol] pairs.
        starts: cells in which episodes start, each as likely.
        slip: how likely a move goes to either side.
        stay: whether one may stay where one is.
        unavailable: whether a cell lacks the moves that are blocked.
    """

    name: str
    width: int
    height: int
    solid: list[int] = []
    walls: list[tuple[int, int, str]] = []
    labels: list[tuple[int, str]] = []
    starts: list[int] = []
    slip: float = 0.0
    stay: bool = False
    unavailable: bool = False


def world_of(drawn: Drawn) -> LabeledMDP:
    """Return the world that was drawn."""
    if not (1 <= drawn.width <= MOST and 1 <= drawn.height <= MOST):
        raise ArgumentError(f"the map: {drawn.width} by {drawn.height} cells; draw 1 to {MOST}")
    if not 0 <= drawn.slip < 1:
        raise ArgumentError(f"slip: {drawn.slip:g}; choose 0 or more, less than 1")
    count = drawn.width * drawn.height
    solid = set(drawn.solid)
    cells = [(at % drawn.width, at // drawn.width) for at in range(count) if at not in solid]
    if not cells:
        raise ArgumentError("the map: every cell is solid; leave some floor")
    number = {y * drawn.width + x: state for state, (x, y) in enumerate(cells)}
    starts = sorted({number[at] for at in drawn.starts if at in number})
    if not starts:
        raise ArgumentError("the map: no start; mark the cells in which episodes start")
    walls: list[Wall] = [(x, y, side) for x, y, side in drawn.walls]
    grid = Grid(drawn.width, drawn.height, cells, walls)
    actions = (*DEFAULT_ACTIONS, "stay") if drawn.stay else DEFAULT_ACTIONS
    labels = _labels(drawn, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WhenceWarning)
        return LabeledMDP.from_triples(
            grid.transitions(actions, drawn.slip),
            states=len(cells),
            actions=actions,
            labels=[labels.get(state) for state in range(len(cells))],
            alphabet=sorted(set(labels.values())),
            initial=[(state, 1 / len(starts)) for state in starts],
            grid=grid,
            unavailable=grid.blocked(actions) if drawn.unavailable else None,
            source="the map",
        )


def _labels(drawn: Drawn, number: dict[int, int]) -> dict[int, str]:
    """Return the symbol of each labelled state."""
    for _, symbol in drawn.labels:
        if not symbol.strip() or len(symbol) > LONGEST:
            raise ArgumentError(f"the map: a label has 1 to {LONGEST} characters")
    labels = {number[at]: symbol for at, symbol in drawn.labels if at in number}
    if len(set(labels.values())) > MOST_LABELS:
        raise ArgumentError(f"the map: {MOST_LABELS} labels are the most")
    if not labels:
        raise ArgumentError("the map: no label; give some cells one, for a machine to read")
    return labels
