"""Where the states of a grid world lie, and how one moves between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from whence._arrays import Floats, Ints, frozen_own
from whence.errors import WorldError

MOVES = {"up": (0, 1), "right": (1, 0), "down": (0, -1), "left": (-1, 0), "stay": (0, 0)}
SIDES = ("right", "up")
MOST_CELLS = 10**8
ALWAYS_CELLS = 10**6  # that even a grid of one state may have
MOST_SOLID = 1_000  # solid cells for one state, beyond those

Wall = tuple[int, int, str]


@dataclass(frozen=True, eq=False)
class Grid:
    """A grid of cells; x counts to the right and y upward, both from 0.

    Attributes:
        width: number of columns.
        height: number of rows.
        cells: int32[S, 2], the x and y of each state; cells without a state are solid.
        walls: (x, y, side), side "right" or "up": a wall between the cell and its neighbour
            there; sorted. Around the grid there always is a wall, which is not listed.
    """

    width: int
    height: int
    cells: Ints
    walls: tuple[Wall, ...]

    def __init__(
        self, width: int, height: int, cells: npt.ArrayLike, walls: Iterable[Wall] = ()
    ) -> None:
        places = np.asarray(cells, dtype=np.int64).reshape(-1, 2)
        _check_cells(places, width, height)
        inner = {_checked_wall(wall, width, height) for wall in walls}
        checked = tuple(sorted(w for w in inner if not _on_border(w, width, height)))
        object.__setattr__(self, "width", int(width))
        object.__setattr__(self, "height", int(height))
        object.__setattr__(self, "cells", frozen_own(places.astype(np.int32)))
        object.__setattr__(self, "walls", checked)

    def index(self) -> Ints:
        """Return int64[width, height]: the state of each cell, -1 where it is solid."""
        result = np.full((self.width, self.height), -1, dtype=np.int64)
        result[self.cells[:, 0], self.cells[:, 1]] = np.arange(len(self.cells))
        return result

    def state(self, x: int, y: int) -> int:
        """Return the state of a cell."""
        found = np.flatnonzero((self.cells[:, 0] == x) & (self.cells[:, 1] == y))
        if not len(found):
            raise WorldError(
                f"start {x},{y}: there is no such cell; x runs from 0 to {self.width - 1}, "
                f"y from 0 (bottom) to {self.height - 1}, and solid cells do not count"
            )
        return int(found[0])

    def moves(self, direction: tuple[int, int]) -> Ints:
        """Return int64[S]: where a step in a direction leads; a blocked one stays."""
        index = self.index()
        here = np.arange(len(self.cells))
        x, y = (self.cells + np.array(direction, dtype=np.int32)).T
        inside = (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height)
        target = np.full(len(here), -1, dtype=np.int64)
        target[inside] = index[x[inside], y[inside]]
        target[self._blocked(direction)] = -1
        return np.where(target < 0, here, target)

    def transitions(self, actions: Iterable[str], slip: float) -> Floats:
        """Return rows (state, action, successor, probability) for moves that slip sideways.

        A move goes where it is meant to with probability 1 - slip, and to either side with
        slip / 2. `stay` does not slip.
        """
        states = np.arange(len(self.cells))
        blocks = []
        for number, name in enumerate(actions):
            dx, dy = MOVES[name]
            ways = [((dx, dy), 1 - slip), ((dy, dx), slip / 2), ((-dy, -dx), slip / 2)]
            for direction, probability in ways if name != "stay" else [((0, 0), 1.0)]:
                if probability > 0:
                    block = np.empty((len(states), 4))
                    block[:, 0], block[:, 1] = states, number
                    block[:, 2], block[:, 3] = self.moves(direction), probability
                    blocks.append(block)
        return np.concatenate(blocks)

    def blocked(self, actions: Iterable[str]) -> Ints:
        """Return int64[..., 2]: pairs (state, action) of moves that lead nowhere else."""
        here = np.arange(len(self.cells))
        stuck = [self.moves(MOVES[name]) == here for name in actions if name != "stay"]
        numbers = [number for number, name in enumerate(actions) if name != "stay"]
        state, place = np.nonzero(np.array(stuck).reshape(len(stuck), len(here)).T)
        return np.column_stack([state, np.array(numbers, dtype=np.int64)[place]])

    def _blocked(self, direction: tuple[int, int]) -> npt.NDArray[np.bool_]:
        """Return bool[S]: whether a wall stands in the way of a step in a direction."""
        marked = np.zeros((self.width, self.height), dtype=np.bool_)
        dx, dy = direction
        side = "right" if dx else "up"
        for x, y, at in self.walls:
            if at == side:
                ahead = (x, y) if dx + dy > 0 else (x + (dx != 0), y + (dy != 0))
                marked[ahead] = True
        return marked[self.cells[:, 0], self.cells[:, 1]] & bool(dx or dy)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grid):
            return NotImplemented
        return (self.width, self.height, self.walls) == (
            other.width,
            other.height,
            other.walls,
        ) and np.array_equal(self.cells, other.cells)

    def __hash__(self) -> int:
        return hash((self.width, self.height, len(self.walls)))


def _check_cells(cells: Ints, width: int, height: int) -> None:
    if width < 1 or height < 1:
        raise WorldError(f"grid: {width} by {height} cells; both must be at least 1")
    if width * height > MOST_CELLS:
        raise WorldError(f"grid: {width} by {height} cells; {MOST_CELLS} are the most")
    if width * height > ALWAYS_CELLS + MOST_SOLID * len(cells):
        raise WorldError(
            f"grid: {width} by {height} cells for {len(cells)} states; leave out the rows and "
            "columns that hold none"
        )
    bad = np.flatnonzero((cells < 0).any(axis=1) | (cells >= [width, height]).any(axis=1))
    if len(bad):
        x, y = cells[bad[0]].tolist()
        raise WorldError(
            f"grid: state {bad[0]} lies at ({x}, {y}), outside of {width} by {height} cells"
        )
    if len(np.unique(cells, axis=0)) != len(cells):
        raise WorldError("grid: two states share a cell; give each state its own")


def _checked_wall(wall: Wall, width: int, height: int) -> Wall:
    x, y, side = wall
    inside = 0 <= x < width and 0 <= y < height
    if side not in SIDES or not inside:
        raise WorldError(
            f"grid: wall ({x}, {y}, {side!r}) does not exist; name a cell and 'right' or 'up'"
        )
    return (int(x), int(y), str(side))


def _on_border(wall: Wall, width: int, height: int) -> bool:
    x, y, side = wall
    return x == width - 1 if side == "right" else y == height - 1
