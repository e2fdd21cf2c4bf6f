"""The cells of a map: as one path, how often they were visited, which way a policy goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.model.grid import MOVES

if TYPE_CHECKING:
    from whence.model.grid import Grid
    from whence.model.mdp import LabeledMDP

Cell = tuple[int, int]

HEAT = "#7b4fb5"
SHADES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
"""How strong each level of heat is, from few visits to many."""

_INK = "#1f2328"
_BLOCK = 40  # pixels of a block of small cells
_TOGETHER = 0.35  # of a step: where the cells of a block agree less, it has no arrow


def blocks(cells: Iterable[Cell], height: int, unit: int) -> str:
    """Return a path that covers cells, with one rectangle for neighbours in a row.

    Args:
        cells: (x, y), y upward.
        height: rows of the grid.
        unit: the side of a cell, in pixels.
    """
    parts = []
    for y, row in groupby(sorted((y, x) for x, y in cells), key=lambda cell: cell[0]):
        for start, stop in runs(x for _, x in row):
            wide = (stop - start) * unit
            top = (height - 1 - y) * unit
            parts.append(f"M{start * unit},{top}h{wide}v{unit}h{-wide}z")
    return "".join(parts)


def runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield (first, one past the last) of each run of consecutive ascending numbers."""
    start = stop = None
    for value in numbers:
        if start is None or value != stop:
            if start is not None and stop is not None:
                yield start, stop
            start = value
        stop = value + 1
    if start is not None and stop is not None:
        yield start, stop


def levels(visits: Floats, largest: float) -> Ints:
    """Return int64: 0 where there is no visit, else the level of heat, from 1 to 6.

    Equal steps of the square root, so that rare visits still show.
    """
    if largest <= 0:
        return np.zeros(visits.shape, dtype=np.int64)
    share = np.sqrt(np.clip(visits / largest, 0.0, 1.0))
    level = np.ceil(share * len(SHADES)).astype(np.int64)
    return np.where(visits > 0, np.maximum(level, 1), 0)


def bounds(largest: float) -> list[float]:
    """Return the largest number of visits of each level of heat."""
    return [largest * ((level + 1) / len(SHADES)) ** 2 for level in range(len(SHADES))]


def heat(grid: Grid, unit: int, visits: Floats, largest: float) -> Iterator[str]:
    """Yield a path for each level of heat; visits float[S]."""
    level = levels(visits, largest)
    for number, shade in enumerate(SHADES, start=1):
        cells = [(x, y) for x, y in grid.cells[level == number].tolist()]
        if cells:
            path = blocks(cells, grid.height, unit)
            yield f'<path class="heat" d="{path}" fill="{HEAT}" fill-opacity="{shade}"/>'


def flow_arrows(mdp: LabeledMDP, grid: Grid, unit: int, policy: Floats) -> Iterator[str]:
    """Yield one arrow for each block of cells: where the likeliest actions in it go on average.

    None where they go apart, or where all actions are as likely.
    """
    block = -(-_BLOCK // unit)
    chosen = _chosen(mdp, policy)
    share = chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1)
    flow = np.zeros((mdp.n_states, 2))
    for action in range(mdp.n_actions):
        flow += share[:, action, None] * _directions(mdp, grid, action)
    place = grid.cells // block
    number = place[:, 0] * (grid.height // block + 1) + place[:, 1]
    lines, heads = [], []
    for each in np.unique(number[chosen.any(axis=1)]).tolist():
        inside = (number == each) & chosen.any(axis=1)
        way = flow[inside].mean(axis=0)
        length = float(np.hypot(*way))
        if length < _TOGETHER:
            continue
        middle = grid.cells[inside].mean(axis=0)
        centre = np.array([(middle[0] + 0.5) * unit, (grid.height - 0.5 - middle[1]) * unit])
        way, size = way / length, block * unit * 0.8
        tail, end = centre - 0.45 * size * way, centre + 0.3 * size * way
        lines.append(f"M{tail[0]:.1f},{tail[1]:.1f}L{end[0]:.1f},{end[1]:.1f}")
        heads.append(_head(centre, way, round(size), 0.5))
    if lines:
        yield (
            f'<path class="policy" d="{"".join(lines)}" fill="none" stroke="{_INK}" '
            'stroke-width="2" stroke-linecap="round"/>'
        )
        yield f'<path class="policy" d="{"".join(heads)}" fill="{_INK}"/>'


def _chosen(mdp: LabeledMDP, policy: Floats) -> Bools:
    """Return bool[S, A]: the likeliest actions; none where all that a state has are as likely."""
    top = policy.max(axis=1, keepdims=True)
    least = np.where(mdp.available, policy, top).min(axis=1, keepdims=True)
    return np.asarray((policy >= top - 1e-9) & (top > least + 1e-9))


def policy_arrows(mdp: LabeledMDP, grid: Grid, unit: int, policy: Floats) -> Iterator[str]:
    """Yield arrows for the likeliest actions, float[S, A]; none where all are equally likely.

    Only the actions that a state has count.

    On a cell with a label only the arrow's head is drawn, at the edge, so that the label stays
    readable. A dot stands for an action that leads nowhere else.
    """
    chosen = _chosen(mdp, policy)
    alone = chosen.sum(axis=1) == 1
    lines, heads, dots = [], [], []
    for action in range(mdp.n_actions):
        ways = _directions(mdp, grid, action)
        for state in np.flatnonzero(chosen[:, action]).tolist():
            x, y = grid.cells[state].tolist()
            centre = np.array([(x + 0.5) * unit, (grid.height - 0.5 - y) * unit])
            way = ways[state]
            if not way.any():
                dots.append(_dot(centre, 0.07 * unit))
                continue
            plain = mdp.labels[state] < 0
            reach = 0.46 if not plain else 0.32 if alone[state] else 0.4
            heads.append(_head(centre, way, unit, reach))
            if plain:
                tail = centre - (0.3 if alone[state] else 0.0) * unit * way
                end = centre + (reach - 0.14) * unit * way
                lines.append(f"M{tail[0]:.1f},{tail[1]:.1f}L{end[0]:.1f},{end[1]:.1f}")
    if lines:
        weight = max(1.0, unit / 24)
        yield (
            f'<path class="policy" d="{"".join(lines)}" fill="none" stroke="{_INK}" '
            f'stroke-width="{weight:.1f}" stroke-linecap="round"/>'
        )
    if heads or dots:
        yield f'<path class="policy" d="{"".join(heads + dots)}" fill="{_INK}"/>'


def _directions(mdp: LabeledMDP, grid: Grid, action: int) -> Floats:
    """Return float[S, 2]: which way an action goes in pixels, of length 1, or 0 if it stays.

    What its name says, or else the way to its likeliest successor; 0 where a state lacks it.
    """
    name = mdp.actions[action]
    if name in MOVES:
        dx, dy = MOVES[name]
        return np.tile(np.array([dx, -dy], dtype=np.float64), (mdp.n_states, 1))
    ways = np.zeros((mdp.n_states, 2))
    for state in range(mdp.n_states):
        successors, probabilities = mdp.row(state, action)
        if not len(successors):
            continue
        moved = grid.cells[successors[probabilities.argmax()]] - grid.cells[state]
        length = float(np.hypot(*moved))
        if length:
            ways[state] = moved[0] / length, -moved[1] / length
    return ways


def _head(centre: Floats, way: Floats, unit: int, reach: float) -> str:
    tip = centre + reach * unit * way
    back = tip - 0.17 * unit * way
    aside = 0.11 * unit * np.array([-way[1], way[0]])
    corners = (tip, back + aside, back - aside)
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in corners) + "Z"


def _dot(centre: Floats, radius: float) -> str:
    x, y = centre.tolist()
    return (
        f"M{x - radius:.1f},{y:.1f}a{radius:.1f},{radius:.1f} 0 1 0 {2 * radius:.1f},0"
        f"a{radius:.1f},{radius:.1f} 0 1 0 {-2 * radius:.1f},0"
    )
