"""The column that orders the rows of a table: steps in whole numbers, decimal times, or dates.

Whole numbers count steps, so that one may be missing. Between times nothing can be missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, time
from typing import NamedTuple

import numpy as np

from whence._arrays import BLANK, Bools, Ints
from whence.io.columns import Coded, Faults, Table, as_number

STEP = re.compile(r"(-?[0-9]{1,18})(\.0+)?", re.ASCII)
POINTED = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})\b(.*)", re.ASCII)
STEPS = "a step; count steps in whole numbers"
TIMES = "a time: give a number in every row"
DATES = "a date, such as 2024-05-01T09:30:00, or a time of day, such as 09:30:00"


class Reading(NamedTuple):
    """What texts say of when something was.

    Attributes:
        values: of each text, a whole step, a time, or None where it says neither.
        counts: whether the numbers count steps, so that one may be missing.
        wanted: what a text that says nothing is not.
    """

    values: list[int | float | None]
    counts: bool
    wanted: str


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


def reading(texts: Sequence[str], *, commas: bool = False) -> Reading:
    """Return what texts say, all of one kind: dates where most are, else times, else steps.

    Args:
        texts: the values of a column.
        commas: whether a comma may be a decimal point.
    """
    whole = [STEP.fullmatch(text) for text in texts]
    decimal = [as_number(text, commas=commas) for text in texts]
    dates = [None if d is not None else _date(t) for t, d in zip(texts, decimal, strict=True)]
    if sum(date is not None for date in dates) > len(dates) / 2:
        return Reading(list(dates), False, DATES)
    if any(d is not None and w is None for d, w in zip(decimal, whole, strict=True)):
        return Reading(list(decimal), False, TIMES)
    return Reading([None if m is None else int(m[1]) for m in whole], True, STEPS)


def read(table: Table, column: Coded, faults: Faults) -> Clock:
    """Return the order of rows; cells that say nothing about it are noted."""
    found = reading(column.values, commas=table.commas)
    unread = np.array([value is None for value in found.values] + [True])
    wrong = unread[column.codes]
    _note(table, column, wrong, faults, found.wanted)
    if found.counts:
        steps = np.array([value or 0 for value in found.values] + [0], dtype=np.int64)
        return Clock(steps[column.codes], wrong, True)
    times = np.array([math.nan if v is None else v for v in found.values] + [math.nan])
    _, rank = np.unique(times, return_inverse=True)
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


def _date(text: str) -> float | None:
    """Return a date, or a time of day, in seconds."""
    said = text.strip()
    pointed = POINTED.fullmatch(said)
    if pointed is not None:  # 1.5.2024 is the first of May wherever people write points
        day, month, year, rest = pointed.groups()
        said = f"{year}-{int(month):02}-{int(day):02}{rest}"
    try:
        found = datetime.fromisoformat(said)
    except ValueError:
        return _time(said)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _time(text: str) -> float | None:
    """Return a time of day in seconds since midnight."""
    hour, colon, rest = text.partition(":")
    if not colon:
        return None
    try:
        found = time.fromisoformat(f"{hour.zfill(2)}:{rest}")
    except ValueError:
        return None
    return 3600 * found.hour + 60 * found.minute + found.second + found.microsecond / 1e6
