"""Grid worlds as text drawings, `*.map`.

A header of `key: value` lines, then `map:` and the drawing:

    slip: 0.1                # a move goes to either side with half of this; default 0
    actions: up right down left      # the default; `stay` may be added
    labels: c=coffee o *=plant       # character=symbol, or a character that is its own symbol
    alphabet: coffee o plant tea     # default: the symbols of `labels`, in that order
    starts: S 2,1            # characters or x,y cells; each is equally likely
    blocked: stays           # the default; or `unavailable`: a cell lacks moves that are blocked

    map:
    +---+---+
    |...|c..|
    |S.. .*.|
    |...|..o|
    +---+---+

A line that holds `-` or `+` only (and spaces or `|`) is a row of walls; a column that holds `|`
or `+` is a column of walls. Between two cells, a wall is `-` or `|` and an opening a space.
All other places are cells: `.` is blank floor, `#` is solid. The drawing may leave walls out
altogether: there is always one around the grid. x counts to the right and y upward from 0.
"""

from __future__ import annotations

import string
import warnings

from whence.errors import WhenceError, WhenceWarning, WorldError
from whence.io.map_reader import FLOOR, RESERVED, SOLID, loads
from whence.model.grid import MOVES, Grid
from whence.model.mdp import LabeledMDP

__all__ = ["ENDINGS", "dumps", "loads"]

ENDINGS = (".map",)


def dumps(mdp: LabeledMDP) -> str:
    """Write a grid world as a drawing; refuse dynamics that are not those of a drawing."""
    grid = mdp.grid
    if grid is None:
        raise WorldError("a world without a grid cannot be drawn as a map; save it as .json")
    _refuse_unholdable(mdp)
    marks = _marks(mdp)
    rows = _rows(mdp, grid, marks)
    for slip in _slips(mdp):
        text = "\n".join([*_header(mdp, grid, marks, slip), "", "map:", *rows, ""])
        if _reads_back(text, mdp):
            return text
    raise WorldError(
        "these dynamics are not those of a drawing (moves to neighbours with one slip, "
        "equally likely starts, cells numbered row by row from the bottom); "
        "save the world as .json"
    )


def _refuse_unholdable(mdp: LabeledMDP) -> None:
    if mdp.names is not None:
        raise WorldError("a map cannot hold state names; save the world as .json")
    unknown = [name for name in mdp.actions if name not in MOVES]
    if unknown:
        raise WorldError(
            f"a map cannot hold the action {unknown[0]!r}, only {', '.join(MOVES)}; "
            "save the world as .json"
        )
    for symbol in mdp.alphabet:
        if symbol.split() != [symbol] or "#" in symbol:
            raise WorldError(
                f"a map cannot hold the symbol {symbol!r} (white space or '#'); "
                "save the world as .json"
            )


def _marks(mdp: LabeledMDP) -> list[str]:
    """Return a character for each symbol: its own where it has one, else a free one."""
    reserved = RESERVED | {FLOOR}
    own = [s if len(s) == 1 and s not in reserved else "" for s in mdp.alphabet]
    pool = string.ascii_letters + string.digits + "".join(map(chr, range(0xC0, 0x24F)))
    free = iter([c for c in pool if c not in own])
    wanted = [mark or next(free, "") for mark in own]
    if not all(wanted):
        raise WorldError("a map has no characters left for so many symbols; save as .json")
    return wanted


def _header(mdp: LabeledMDP, grid: Grid, marks: list[str], slip: float) -> list[str]:
    labels = [m if m == s else f"{m}={s}" for m, s in zip(marks, mdp.alphabet, strict=True)]
    starts = [f"{x},{y}" for x, y in grid.cells[mdp.initial_states].tolist()]
    lines = [f"slip: {slip!r}", f"actions: {' '.join(mdp.actions)}"]
    if labels:
        lines.append(f"labels: {' '.join(labels)}")
    if mdp.is_masked:
        lines.append("blocked: unavailable")
    return [*lines, f"starts: {' '.join(starts)}"]


def _slips(mdp: LabeledMDP) -> list[float]:
    """Return candidates for the slip: the rarest step goes to one side, to either, or as meant."""
    rarest = float(mdp.probabilities.min())
    found = [0.0] if mdp.is_deterministic else [2 * rarest, rarest, 1 - rarest]
    tidy = [round(slip, 12) for slip in found]
    return [slip for slip in (*found, *tidy, 1.0) if 0 <= slip <= 1]


def _rows(mdp: LabeledMDP, grid: Grid, marks: list[str]) -> list[str]:
    """Draw walls on lines of their own wherever two rows or columns have any between them."""
    walls = set(grid.walls)
    beside = {x for x, _, side in walls if side == "right"}
    above = {y for _, y, side in walls if side == "up"}
    index = grid.index()

    def cell(x: int, y: int) -> str:
        state = int(index[x, y])
        if state < 0:
            return SOLID
        label = int(mdp.labels[state])
        return FLOOR if label < 0 else marks[label]

    def wall_line(y: int) -> str:
        return "".join(
            ("-" if (x, y, "up") in walls else " ") + ("+" if x in beside else "")
            for x in range(grid.width)
        )

    def cell_line(y: int) -> str:
        between = {x: "|" if (x, y, "right") in walls else " " for x in beside}
        return "".join(cell(x, y) + between.get(x, "") for x in range(grid.width))

    lines = []
    for y in reversed(range(grid.height)):
        lines += [wall_line(y), cell_line(y)] if y in above else [cell_line(y)]
    return _framed(lines) if beside or above else lines


def _framed(lines: list[str]) -> list[str]:
    edge = "+" + "-" * len(lines[0]) + "+"
    return [edge, *(f"|{line}|" if "+" not in line else f"+{line}+" for line in lines), edge]


def _reads_back(text: str, mdp: LabeledMDP) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WhenceWarning)
            return loads(text, "map") == mdp
    except WhenceError:
        return False
