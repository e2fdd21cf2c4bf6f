"""Grid worlds read from text drawings; `whence.io.world_map` describes the format."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from whence._files import decode_text
from whence.errors import FormatError, WorldError
from whence.model.grid import MOVES, Grid, Wall
from whence.model.mdp import LabeledMDP

FLOOR, SOLID = ".", "#"
RESERVED = frozenset("+-|# ")
_COORDINATE = re.compile(r"[0-9]{1,9}")
LEAST_CHECKED = 10**6  # places of a drawing
MOST_FILLED = 8  # places of a drawing for each one that is not blank
DEFAULT_ACTIONS = ("up", "right", "down", "left")


@dataclass
class _Header:
    """What the lines above the drawing say."""

    source: str
    slip: float = 0.0
    actions: tuple[str, ...] = DEFAULT_ACTIONS
    labels: dict[str, str] = field(default_factory=dict)
    alphabet: tuple[str, ...] | None = None
    start_marks: list[str] = field(default_factory=list)
    start_cells: list[tuple[int, int]] = field(default_factory=list)
    closed: bool = False  # whether a blocked move is unavailable


@dataclass(frozen=True)
class _Drawing:
    """The drawing as a raster of characters, all lines of equal length."""

    source: str
    first_line: int
    margin: int
    rows: list[str]

    def place(self, row: int, column: int) -> str:
        return f"{self.source}, line {self.first_line + row}, column {self.margin + column + 1}"


def loads(content: str | bytes, source: str) -> LabeledMDP:
    """Read a drawing as a world; `source` is what messages call it."""
    text = content if isinstance(content, str) else decode_text(content, source)
    header, drawing = _split(text, source)
    wall_rows = [_is_wall_row(row) for row in drawing.rows]
    width = len(drawing.rows[0])
    wall_columns = [_is_wall_column(drawing, wall_rows, c) for c in range(width)]
    cell_rows = [r for r, wall in enumerate(wall_rows) if not wall][::-1]
    cell_columns = [c for c, wall in enumerate(wall_columns) if not wall]
    if not cell_rows or not cell_columns:
        raise FormatError(f"{source}: the drawing has walls but no cells; draw '.' for floor")
    characters = {
        (x, y): _cell(drawing, header, r, c)
        for y, r in enumerate(cell_rows)
        for x, c in enumerate(cell_columns)
    }
    walls = _walls_across(drawing, cell_rows, cell_columns)
    walls += _walls_between_rows(drawing, cell_rows, cell_columns)
    return _world(header, characters, len(cell_columns), len(cell_rows), walls)


def _world(
    header: _Header,
    characters: dict[tuple[int, int], str],
    width: int,
    height: int,
    walls: list[Wall],
) -> LabeledMDP:
    open_cells = [cell for cell, mark in characters.items() if mark != SOLID]
    if not open_cells:
        raise FormatError(f"{header.source}: every cell is solid; draw '.' for floor")
    grid = Grid(width, height, open_cells, walls)
    labels = [header.labels.get(characters[cell]) for cell in open_cells]
    starts = _starts(header, grid, [characters[cell] for cell in open_cells])
    return LabeledMDP.from_triples(
        grid.transitions(header.actions, header.slip),
        states=len(open_cells),
        actions=header.actions,
        labels=labels,
        alphabet=header.alphabet or tuple(dict.fromkeys(header.labels.values())),
        initial=[(state, 1 / len(starts)) for state in starts],
        grid=grid,
        unavailable=grid.blocked(header.actions) if header.closed else None,
        source=header.source,
    )


def _starts(header: _Header, grid: Grid, marks: list[str]) -> list[int]:
    for mark in header.start_marks:
        if mark not in marks:
            raise FormatError(
                f"{header.source}: starts: no cell is drawn as {mark!r}; draw one or remove it"
            )
    starts = {state for state, mark in enumerate(marks) if mark in header.start_marks}
    try:
        starts |= {grid.state(x, y) for x, y in header.start_cells}
    except WorldError as error:
        raise FormatError(f"{header.source}: starts: {error}") from None
    if not starts:
        raise FormatError(
            f"{header.source}: no start; add a line such as 'starts: S' or 'starts: 0,0'"
        )
    return sorted(starts)


def _split(text: str, source: str) -> tuple[_Header, _Drawing]:
    lines = text.expandtabs(1).split("\n")
    header = _Header(source)
    seen: set[str] = set()
    for number, line in enumerate(lines, start=1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        if content.split(" #")[0].rstrip() == "map:":
            return header, _drawing(lines[number:], number + 1, source)
        key, colon, value = content.partition(":")
        place = f"{source}, line {number}"
        if not colon or key not in _KEYS:
            raise FormatError(
                f"{place}: {content!r} is not a header line; known are {', '.join(_KEYS)}, "
                "then 'map:' and the drawing"
            )
        if key in seen:
            raise FormatError(f"{place}: a second {key!r}; keep one")
        seen.add(key)
        words = value.split()
        comments = [i for i, w in enumerate(words) if w.startswith("#") and w[1:2] != "="]
        _KEYS[key](header, words[: min(comments, default=len(words))], place)
    raise FormatError(f"{source}: no line 'map:'; put one before the drawing")


def _drawing(lines: list[str], first_line: int, source: str) -> _Drawing:
    blank = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    first_line += blank
    kept = [line.rstrip() for line in lines[blank:]]
    while kept and not kept[-1]:
        kept.pop()
    if not kept:
        raise FormatError(f"{source}: nothing is drawn after 'map:'; draw at least one cell")
    margin = min(len(line) - len(line.lstrip()) for line in kept if line)
    width = max(len(line) for line in kept)
    _check_ragged(kept, width, first_line, source)
    return _Drawing(source, first_line, margin, [line.ljust(width)[margin:] for line in kept])


def _check_ragged(lines: list[str], width: int, first_line: int, source: str) -> None:
    """Refuse, before its lines are padded, a drawing that is nearly all blank."""
    drawn = sum(map(len, lines))
    if len(lines) * width > LEAST_CHECKED + MOST_FILLED * drawn:
        row = next(row for row, line in enumerate(lines) if len(line) < width)
        raise FormatError(
            f"{source}, line {first_line + row}, column {len(lines[row]) + 1}: a cell is missing; "
            f"draw '.' for floor or '#' for a solid cell: the widest line has {width} columns"
        )


def _is_wall_row(row: str) -> bool:
    return set(row) <= set("+-| ") and bool(set(row) & set("+-"))


def _is_wall_column(drawing: _Drawing, wall_rows: list[bool], column: int) -> bool:
    marks = [row[column] for row in drawing.rows]
    walls = "+" in marks or any(
        mark == "|" for mark, is_wall in zip(marks, wall_rows, strict=True) if not is_wall
    )
    for r, mark in enumerate(marks):
        if walls and not wall_rows[r] and mark not in "| ":
            raise FormatError(
                f"{drawing.place(r, column)}: {mark!r} in a column of walls; draw '|' or, for "
                "an opening, a space"
            )
    return walls


def _cell(drawing: _Drawing, header: _Header, row: int, column: int) -> str:
    mark = drawing.rows[row][column]
    if mark == " ":
        raise FormatError(
            f"{drawing.place(row, column)}: a cell is missing; draw '.' for floor or "
            "'#' for a solid cell"
        )
    if mark not in (FLOOR, SOLID) and mark not in header.labels and mark not in header.start_marks:
        raise FormatError(
            f"{drawing.place(row, column)}: {mark!r} is not explained; add it to 'labels:' or "
            "'starts:', or draw '.' for floor"
        )
    return mark


def _walls_across(drawing: _Drawing, rows: list[int], columns: list[int]) -> list[Wall]:
    """Return the walls between cells of one row."""
    walls: list[Wall] = []
    for y, r in enumerate(rows):
        for x in range(len(columns) - 1):
            if "|" in drawing.rows[r][columns[x] + 1 : columns[x + 1]]:
                walls.append((x, y, "right"))
    return walls


def _walls_between_rows(drawing: _Drawing, rows: list[int], columns: list[int]) -> list[Wall]:
    """Return the walls between cells of one column; `rows` runs from the bottom up."""
    walls: list[Wall] = []
    for y in range(len(rows) - 1):
        for r in range(rows[y + 1] + 1, rows[y]):
            for x, c in enumerate(columns):
                mark = drawing.rows[r][c]
                if mark == "-":
                    walls.append((x, y, "up"))
                elif mark != " ":
                    raise FormatError(
                        f"{drawing.place(r, c)}: {mark!r} above a cell in a row of walls; "
                        "draw '-' or, for an opening, a space"
                    )
    return walls


def _read_slip(header: _Header, words: list[str], place: str) -> None:
    try:
        header.slip = float(words[0]) if len(words) == 1 else -1.0
    except ValueError:
        header.slip = -1.0
    if not 0 <= header.slip <= 1:
        raise FormatError(
            f"{place}: slip {' '.join(words)!r}; give one number from 0 to 1, such as 0.1"
        )


def _read_actions(header: _Header, words: list[str], place: str) -> None:
    for position, word in enumerate(words):
        if word not in MOVES or word in words[:position]:
            raise FormatError(
                f"{place}: action {word!r}; name each of {', '.join(MOVES)} at most once"
            )
    if not words:
        raise FormatError(f"{place}: no actions; name some of {', '.join(MOVES)}")
    header.actions = tuple(words)


def _read_labels(header: _Header, words: list[str], place: str) -> None:
    for word in words:
        mark, symbol = word[0], word[2:] if word[1:2] == "=" else word
        if not symbol or (len(word) > 1 and word[1] != "="):
            raise FormatError(
                f"{place}: label {word!r}; write character=symbol, such as 'c=coffee', or one "
                "character"
            )
        if mark in RESERVED or mark == FLOOR:
            raise FormatError(f"{place}: {mark!r} draws walls or floor; use another character")
        if mark in header.labels:
            raise FormatError(f"{place}: {mark!r} is explained twice; keep one")
        header.labels[mark] = symbol


def _read_alphabet(header: _Header, words: list[str], place: str) -> None:
    header.alphabet = tuple(words)


def _read_starts(header: _Header, words: list[str], place: str) -> None:
    for word in words:
        x, comma, y = word.partition(",")
        if len(word) == 1 and word not in RESERVED:
            header.start_marks.append(word)
        elif comma and all(_COORDINATE.fullmatch(part) for part in (x, y)):
            header.start_cells.append((int(x), int(y)))
        else:
            raise FormatError(
                f"{place}: start {word!r}; give a character of the drawing, or a cell such as 2,1"
            )


def _read_blocked(header: _Header, words: list[str], place: str) -> None:
    if words not in (["stays"], ["unavailable"]):
        raise FormatError(
            f"{place}: blocked {' '.join(words)!r}; a blocked move either 'stays' put or is "
            "'unavailable'"
        )
    header.closed = words == ["unavailable"]


_KEYS: dict[str, Callable[[_Header, list[str], str], None]] = {
    "slip": _read_slip,
    "actions": _read_actions,
    "labels": _read_labels,
    "alphabet": _read_alphabet,
    "starts": _read_starts,
    "blocked": _read_blocked,
}
