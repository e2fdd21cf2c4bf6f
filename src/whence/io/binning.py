"""States from numbers: columns such as positions cut into bins, and regions labelled by boxes.

A bin is an interval of a column, all of one width; a state is a bin of each binned column, named
by their middles: `x=0.25 y=1.75`. A box is a region with a label; a state carries the label of the
box that its middle lies in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.errors import ArgumentError, DemonstrationsError, FormatError
from whence.io.columns import Coded, Faults, Table, as_number, coded

STATE, LABEL = "state (binned)", "label (of boxes)"  # the columns that are made
MOST = 10_000  # bins of a column
LARGEST = 1e100  # the size of a number that is binned; beyond, differences overflow
FINEST = 1e-6  # of its size: half of what the bins of a column of one number span, at least
LOW, HIGH = "_low", "_high"  # how the columns of a file of boxes end


class Bin(NamedTuple):
    """How a column is cut.

    Attributes:
        column: its name.
        many: how many bins.
        low: where the first begins; None stands for the column's least number.
        high: where the last ends; None stands for its largest.
    """

    column: str
    many: int
    low: float | None = None
    high: float | None = None


class Box(NamedTuple):
    """A region with a label: for some binned columns the interval from low to high."""

    label: str
    sides: Mapping[str, tuple[float, float]]


def parse(text: str) -> Bin:
    """Return what `x:20` or `x:20:0:2.5` stands for; a column's name may hold colons."""
    parts = text.split(":")
    for tail in (3, 1):
        numbers = [as_number(part) for part in parts[-tail:]]
        if len(parts) > tail and None not in numbers:
            column, ends = ":".join(parts[:-tail]), numbers[1:]
            return checked(Bin(column, _whole(parts[-tail]), *ends))
    raise ArgumentError(
        f"--bin {text}: give a column and how many bins, such as x:20, or where they begin and "
        "end, too: x:20:0:2.5"
    )


def checked(cut: Bin) -> Bin:
    """Return a cut, or refuse it."""
    if not 1 <= cut.many <= MOST:
        raise ArgumentError(
            f"{cut.many} bins of {cut.column!r}; give a whole number from 1 to {MOST:,}"
        )
    ends = [end for end in (cut.low, cut.high) if end is not None]
    if not all(abs(end) <= LARGEST for end in ends):
        raise ArgumentError(
            f"bins of {cut.column!r} from {cut.low:g} to {cut.high:g}; give numbers up to "
            f"{LARGEST:g}"
        )
    if cut.low is not None and cut.high is not None and not cut.low < cut.high:
        raise ArgumentError(
            f"bins of {cut.column!r} from {cut.low:g} to {cut.high:g}; the end comes after the "
            "beginning"
        )
    return cut


def cuts(given: Mapping[str, Any]) -> tuple[Bin, ...]:
    """Return the cuts of `{"x": 20, "y": (20, 0.0, 2.5)}`."""
    result = []
    for column, value in given.items():
        parts = value if isinstance(value, Sequence) else (value,)
        whole = isinstance(parts[0], int | np.integer) and not isinstance(parts[0], bool)
        if len(parts) not in (1, 3) or not whole:
            raise ArgumentError(
                f"bins: {column!r} is {value!r}; give how many, such as 20, or (20, 0.0, 2.5) "
                "with where they begin and end"
            )
        result.append(checked(Bin(column, int(parts[0]), *(float(end) for end in parts[1:]))))
    return tuple(result)


def binned(
    table: Table, given: Sequence[Bin], boxes: Sequence[Box] | None, faults: Faults, option: str
) -> Table:
    """Return a table with a column of states and, of boxes, one of labels.

    Args:
        table: with a column of numbers for each cut.
        given: how to cut; each column once.
        boxes: the labelled regions, or None.
        faults: where what is wrong is noted: cells that are no numbers, or outside of all bins.
        option: what messages call the argument that cuts.
    """
    missing = [cut.column for cut in given if cut.column not in table.columns]
    if missing or not len(table.rows):
        known = ", ".join(repr(name) for name in list(table.columns)[:8])
        raise DemonstrationsError(
            f"{table.source}: no column {missing[0]!r} to bin; the columns are {known}: name the "
            f"right one with {option}"
            if missing
            else f"{table.source}: no rows; there is nothing to bin"
        )
    places, middles = [], []
    for cut in given:
        numbers = _numbers(table, cut.column, faults, option)
        place, middle = _places(table, cut, numbers, faults)
        places.append(place)
        middles.append(middle)
    empty = np.any([place < 0 for place in places], axis=0)
    names = [_spelled(cut.column, middle) for cut, middle in zip(given, middles, strict=True)]
    rows = np.stack(places, axis=1)
    kinds, kind = np.unique(rows, axis=0, return_inverse=True)
    said = [" ".join(n[max(i, 0)] for n, i in zip(names, each, strict=True)) for each in kinds]
    states = [None if gone else said[k] for k, gone in zip(kind.reshape(-1), empty, strict=True)]
    columns: dict[str, Sequence[Any]] = {**table.columns, STATE: states}
    if boxes is not None:
        where = [middle[np.maximum(kinds[:, at], 0)] for at, middle in enumerate(middles)]
        labels = _labels(given, boxes, where, said)
        columns[LABEL] = [None if gone else labels[k]
                          for k, gone in zip(kind.reshape(-1), empty, strict=True)]  # fmt: skip
    return replace(table, columns=columns)


def _numbers(table: Table, column: str, faults: Faults, option: str) -> Floats:
    """Return float64[R], the numbers of a column; not a number where a cell is none."""
    cells: Coded = coded(column, table.cells(column), table)
    each = [as_number(text, commas=table.commas) for text in cells.values]
    kept = [math.nan if v is None or not abs(v) <= LARGEST else v for v in each]
    values = np.array([*kept, math.nan], dtype=np.float64)
    numbers = values[cells.codes]
    wrong = np.flatnonzero(np.isnan(numbers))
    if len(wrong):
        row = int(wrong[0])
        code = int(cells.codes[row])
        shown = "empty" if code < 0 else repr(cells.values[code])
        large = code >= 0 and each[code] is not None
        beyond = f"is beyond {LARGEST:g}; give a smaller number"
        fault = beyond if large else "is not a number; give one"
        faults.add(
            row,
            f"{table.place(row, column)}: {shown} {fault} in every row of a "
            f"column that is binned, or leave its {option} out",
            len(wrong) - 1,
        )
    return np.asarray(numbers)


def _places(table: Table, cut: Bin, numbers: Floats, faults: Faults) -> tuple[Ints, Floats]:
    """Return int64[R], the bin of each number, and the middles; -1 where there is none."""
    known = numbers[np.isfinite(numbers)]
    low = cut.low if cut.low is not None else float(known.min(initial=math.inf))
    high = cut.high if cut.high is not None else float(known.max(initial=-math.inf))
    if not low < high:  # one value, or none
        half = max(0.5, FINEST * abs(low))
        low, high = (low - half, low + half) if math.isfinite(low) else (0.0, 1.0)
    width = (high - low) / cut.many
    middles = low + width * (np.arange(cut.many) + 0.5)
    inside = np.isfinite(numbers) & (numbers >= low) & (numbers <= high)
    place = np.full(len(numbers), -1, dtype=np.int64)
    share = (numbers[inside] - low) / (high - low)
    place[inside] = np.minimum((share * cut.many).astype(np.int64), cut.many - 1)
    wrong = np.flatnonzero(~inside & ~np.isnan(numbers))
    if len(wrong):
        row = int(wrong[0])
        faults.add(
            row,
            f"{table.place(row, cut.column)}: {numbers[row]:g} is outside of the bins from "
            f"{low:g} to {high:g}; let them reach as far",
            len(wrong) - 1,
        )
    return place, np.asarray(middles)


def _spelled(column: str, middles: Floats) -> list[str]:
    """Return what bins are called, as short as they differ."""
    for digits in range(3, 17):
        texts = [f"{value:.{digits}g}" for value in middles.tolist()]
        if len(set(texts)) == len(texts):
            break
    return [f"{column}={text}" for text in texts]


def _labels(
    given: Sequence[Bin], boxes: Sequence[Box], where: Sequence[Floats], names: Sequence[str]
) -> list[str | None]:
    """Return the label of each state; a state may lie in boxes of one label alone."""
    columns = [cut.column for cut in given]
    result: list[str | None] = [None] * len(names)
    for number, box in enumerate(boxes, start=1):
        strange = [side for side in box.sides if side not in columns]
        if strange:
            raise ArgumentError(
                f"box {number}, {box.label!r}: {strange[0]!r} is not binned; binned are "
                f"{', '.join(map(repr, columns))}: bin it, or leave it out of the boxes"
            )
        inside = np.ones(len(names), dtype=np.bool_)
        for side, (low, high) in box.sides.items():
            middle = where[columns.index(side)]
            inside &= (middle >= low) & (middle <= high)
        for state in np.flatnonzero(inside).tolist():
            if result[state] not in (None, box.label):
                raise ArgumentError(
                    f"box {number}, {box.label!r}: state {names[state]!r} lies in a box of "
                    f"{result[state]!r}, too, and a state has one label: shrink one of them, or "
                    "give the overlap a box and a symbol of its own, "
                    f"'{result[state]}&{box.label}'"
                )
            result[state] = box.label
    return result


def read_boxes(table: Table) -> tuple[Box, ...]:
    """Return the boxes of a table: `label`, and for each side its column with _low and _high."""
    sides = [name.removesuffix(LOW) for name in table.columns if name.endswith(LOW)]
    needed = ["label", *(side + end for side in sides for end in (LOW, HIGH))]
    strange = [name for name in table.columns if name not in needed]
    missing = [name for name in needed if name not in table.columns]
    if strange or missing or not sides:
        fault = (
            f"no column {missing[0]!r}" if missing else f"unknown column {(strange or ['?'])[0]!r}"
        )
        raise FormatError(
            f"{table.source}: {fault}; a file of boxes has a header such as "
            "label,x_low,x_high,y_low,y_high, and a line for each box"
        )
    result = []
    for row in range(len(table.rows)):
        label = str(table.columns["label"][row] or "").strip()
        ends = {
            side: (
                _end(table, row, side + LOW, -math.inf),
                _end(table, row, side + HIGH, math.inf),
            )
            for side in sides
        }
        empty = [side for side, (low, high) in ends.items() if not low < high]
        if not label or empty:
            where = table.place(row, "label" if not label else empty[0] + HIGH)
            fault = "empty; every box has a label" if not label else "no more than its beginning"
            raise FormatError(f"{where}: {fault}; correct the box, or leave it out")
        result.append(Box(label, ends))
    return tuple(result)


def _end(table: Table, row: int, column: str, open_end: float) -> float:
    """Return where a side of a box begins or ends; an empty cell leaves it open."""
    cell = table.columns[column][row]
    text = "" if cell is None else str(cell).strip()
    if not text:
        return open_end
    value = as_number(text, commas=table.commas)
    if value is None:
        raise FormatError(f"{table.place(row, column)}: {text!r} is not a number; give one")
    return value


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0
