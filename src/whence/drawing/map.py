"""A grid world as plain text: walls of box-drawing characters, one character per label."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whence._arrays import BLANK, Bools
from whence.drawing import text
from whence.drawing.grid import grid_of, labelled, listed, solid, starting, starts_anywhere
from whence.drawing.overlay import Cell

if TYPE_CHECKING:
    from whence.model.grid import Grid
    from whence.model.mdp import LabeledMDP

_JOINTS = " ╵╶└╷│┌├╴┘─┴┐┤┬┼"
"""The box-drawing character with strokes up (1), right (2), down (4) and left (8)."""

_ARROWS = {(0, 1): "↑", (1, 0): "→", (0, -1): "↓", (-1, 0): "←", (0, 0): "×"}
_PLAIN_ARROWS = {(0, 1): "^", (1, 0): ">", (0, -1): "v", (-1, 0): "<", (0, 0): "x"}
_ROOMY = 30
_LISTED, _WIDTH = 6, 78


@dataclass(frozen=True)
class _Signs:
    """The characters of a drawing: of blank, solid and starting cells, and of each symbol."""

    blank: str
    solid: str
    start: str
    symbols: tuple[str, ...]
    joints: str
    cell: int


def grid_text(mdp: LabeledMDP, *, ascii_only: bool = False, way: Sequence[int] = ()) -> str:
    """Return a grid world as lines of text, with coordinates and a legend.

    Args:
        mdp: a world with a grid.
        ascii_only: use no character outside of ASCII.
        way: states in turn; blank cells on it show where the last step from there led.

    Raises:
        WorldError: if the world is not a grid.
    """
    grid = grid_of(mdp)
    signs = _signs(mdp, grid, ascii_only)
    down, across = _walls(grid)
    columns = [x for x in range(grid.width + 1) if down[x].any()]
    margin = len(str(grid.height - 1))
    content = _content(mdp, grid, signs)
    content |= _way(mdp, grid, way, ascii_only)
    lines = []
    for y in range(grid.height, -1, -1):
        if across[:, y].any():
            lines.append(" " * (margin + 1) + _border(y, columns, down, across, signs))
        if y:
            row = _row(y - 1, columns, down, content, signs)
            lines.append(f"{y - 1:>{margin}} {row}")
    lines.append(" " * (margin + 1) + _coordinates(grid.width, columns, signs))
    return "\n".join(line.rstrip() for line in [*lines, *_legend(mdp, grid, signs, ascii_only)])


def _signs(mdp: LabeledMDP, grid: Grid, ascii_only: bool) -> _Signs:
    wide = 3 if grid.width <= _ROOMY else 1
    symbols: list[str] = []
    spare = iter(string.ascii_uppercase.replace("S", "") + string.ascii_lowercase + "0123456789")
    firsts = {text.visible(symbol)[0] for symbol in mdp.alphabet}
    left = [letter for letter in spare if letter not in firsts]
    for symbol in mdp.alphabet:
        sign = text.visible(symbol)[0]
        clear = text.cells(sign) in (1, min(2, wide)) and sign not in "·.█# S\\"
        if sign in symbols or not clear or (ascii_only and not sign.isascii()):
            sign = left.pop(0) if left else "?"
        symbols.append(sign)
    blank, full = (".", "#") if ascii_only else ("·", "█")
    joints = "".join(" |-+"[_ascii_joint(at)] for at in range(16)) if ascii_only else _JOINTS
    return _Signs(blank, full, "S", tuple(symbols), joints, wide)


def _ascii_joint(strokes: int) -> int:
    """Return 0 for none, 1 for vertical, 2 for horizontal, 3 for both."""
    return (1 if strokes & 5 else 0) + (2 if strokes & 10 else 0)


def _walls(grid: Grid) -> tuple[Bools, Bools]:
    """Return the walls: down bool[width + 1, height], across bool[width, height + 1]."""
    down = np.zeros((grid.width + 1, grid.height), dtype=np.bool_)
    across = np.zeros((grid.width, grid.height + 1), dtype=np.bool_)
    down[[0, -1]] = True
    across[:, [0, -1]] = True
    for x, y, side in grid.walls:
        if side == "right":
            down[x + 1, y] = True
        else:
            across[x, y + 1] = True
    return down, across


def _content(mdp: LabeledMDP, grid: Grid, signs: _Signs) -> dict[Cell, str]:
    """Return the sign of every cell that is not blank."""
    content = dict.fromkeys(solid(grid), signs.solid)
    if not starts_anywhere(mdp):
        content |= dict.fromkeys(starting(mdp, grid), signs.start)
    return content | {cell: signs.symbols[at] for cell, at in labelled(mdp, grid).items()}


def _way(mdp: LabeledMDP, grid: Grid, way: Sequence[int], ascii_only: bool) -> dict[Cell, str]:
    """Return an arrow for each blank cell that is left on a way, and a cross where it ends."""
    signs = _PLAIN_ARROWS if ascii_only else _ARROWS
    content: dict[Cell, str] = {}
    following: list[int | None] = [*way[1:], *([None] if way else [])]
    for here, there in zip(way, following, strict=True):
        if mdp.labels[here] != BLANK:
            continue
        toward = np.sign(grid.cells[here if there is None else there] - grid.cells[here])
        x, y = grid.cells[here].tolist()
        content[x, y] = signs.get((int(toward[0]), int(toward[1])), signs[0, 0])
    return content


def _row(y: int, columns: list[int], down: Bools, content: dict[Cell, str], signs: _Signs) -> str:
    """Return the line of a row of cells."""

    def cell(x: int) -> str:
        sign = content.get((x, y), signs.blank)
        if sign == signs.solid:
            return sign * signs.cell
        return text.padded(f" {sign}" if signs.cell == 3 else sign, signs.cell)

    return _line(down, columns, lambda x: signs.joints[5 if down[x, y] else 0], cell)


def _border(y: int, columns: list[int], down: Bools, across: Bools, signs: _Signs) -> str:
    """Return the line of the walls below row `y`."""
    height = down.shape[1]

    def joint(x: int) -> str:
        strokes = (
            (1, y < height and down[x, y]),
            (2, x < len(across) and across[x, y]),
            (4, y > 0 and down[x, y - 1]),
            (8, x > 0 and across[x - 1, y]),
        )
        return signs.joints[sum(weight for weight, there in strokes if there)]

    def side(x: int) -> str:
        return signs.joints[10 if across[x, y] else 0] * signs.cell

    return _line(down, columns, joint, side)


def _line(
    down: Bools, columns: Iterable[int], joint: Callable[[int], str], cell: Callable[[int], str]
) -> str:
    """Return a line: a joint in each column that has walls, and a cell after each."""
    walled = set(columns)
    width = len(down) - 1
    parts = [
        (joint(x) if x in walled else "") + (cell(x) if x < width else "")
        for x in range(width + 1)
    ]
    return "".join(parts)


def _coordinates(width: int, columns: list[int], signs: _Signs) -> str:
    """Return the line of x coordinates; their last digits where cells are narrow."""
    walled = set(columns)
    parts = []
    for x in range(width):
        shown = f"{x:^3}" if signs.cell == 3 else str(x % 10)
        parts.append((" " if x in walled else "") + shown)
    return "".join(parts)


def _legend(mdp: LabeledMDP, grid: Grid, signs: _Signs, ascii_only: bool) -> list[str]:
    """Return the lines below a map: which sign is which symbol, and where episodes start."""
    show = text.plain if ascii_only else text.visible
    pairs = list(zip(signs.symbols, mdp.alphabet, strict=True))
    lines = []
    if any(sign != symbol for sign, symbol in pairs):
        lines += _wrapped([f"{sign} = {show(symbol)}" for sign, symbol in pairs])
    if starts_anywhere(mdp):
        return [*lines, "episodes start in any cell"]
    cells = starting(mdp, grid)
    sign = f"{signs.start} = " if any(cell not in labelled(mdp, grid) for cell in cells) else ""
    return [*lines, f"{sign}start, {listed(cells, _LISTED)}"]


def _wrapped(parts: list[str]) -> list[str]:
    """Return the parts side by side, in as many lines as they need."""
    lines = [parts[0]]
    for part in parts[1:]:
        joined = f"{lines[-1]}  {part}"
        lines[-1:] = [joined] if text.cells(joined) <= _WIDTH else [lines[-1], part]
    return lines
