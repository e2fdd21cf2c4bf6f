"""The column that orders the rows of a table: steps in whole numbers, decimal times, or dates.

Whole numbers count steps, so that one may be missing. Between times nothing can be missing.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from whence._arrays import BLANK, Bools, Ints
from whence.io.columns import Coded, Faults, Table

STEP = re.compile(r"(-?[0-9]{1,18})(\.0+)?", re.ASCII)


class Clock(NamedTuple):
    """When each row was: R rows.

    Attributes:
        order: int64[R], steps themselves, or the ranks of times.
        wrong: bool[R], where a cell is neither.
        counts: whether the numbers count steps, so that one may be missing.
    """

    order: Ints
    wrong: Bools
    counts: bool


def read(table: Table, column: Coded, faults: Faults) -> Clock:
    """Return the order of rows; cells that say nothing about it are noted."""
    whole = [STEP.fullmatch(text) for text in column.values]
    decimal = [_decimal(text) for text in column.values]
    dates = [
        None if d is not None else _date(t) for t, d in zip(column.values, decimal, strict=True)
    ]
    known = sum(date is not None for date in dates)
    if known > len(dates) / 2:
        return _timed(table, column, dates, faults, "a date, such as 2024-05-01T09:30:00")
    if any(d is not None and w is None for d, w in zip(decimal, whole, strict=True)):
        return _timed(table, column, decimal, faults, "a time: give a number in every row")
    number = np.array([0 if m is None else int(m[1]) for m in whole] + [0], dtype=np.int64)
    wrong = np.array([m is None for m in whole] + [True])[column.codes]
    _note(table, column, wrong, faults, "a step; count steps in whole numbers")
    return Clock(number[column.codes], wrong, True)


def _timed(
    table: Table, column: Coded, times: list[float | None], faults: Faults, wanted: str
) -> Clock:
    """Return times by their ranks."""
    values = np.array([math.nan if time is None else time for time in times] + [math.nan])
    _, rank = np.unique(values, return_inverse=True)
    wrong = np.isnan(values)[column.codes]
    _note(table, column, wrong, faults, wanted)
    return Clock(rank.reshape(-1)[column.codes].astype(np.int64), wrong, False)


def _note(table: Table, column: Coded, wrong: Bools, faults: Faults, wanted: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        shown = "empty" if column.codes[row] == BLANK else repr(column.values[column.codes[row]])
        faults.add(
            row,
            f"{table.place(row, column.name)}: {shown} is not {wanted}, or leave the column out "
            "where the rows are in order",
            int(wrong.sum()) - 1,
        )


def _decimal(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _date(text: str) -> float | None:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
