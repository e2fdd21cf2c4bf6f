"""Tables before they are understood: columns of cells, and their values as codes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from whence._arrays import BLANK, Bools, Ints
from whence.errors import ArgumentError, DemonstrationsError, FormatError

MISSING = ("NAType", "NaTType")  # what pandas calls a value that is not there
HEADER = "episode,step,state,action,label"
COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+", re.ASCII)


class Fault(NamedTuple):
    """Something wrong with the rows of a file that can be read nevertheless.

    Attributes:
        row: the first that it concerns.
        text: where and what it is, and what to do about it.
        repair: how it was read; empty where that is a guess that only the user can make.
        others: how many more rows it concerns.
    """

    row: int
    text: str
    repair: str
    others: int


@dataclass(frozen=True, eq=False)
class Table:
    """A table before it is understood.

    Attributes:
        source: what messages call it.
        columns: the values of each column, R entries each.
        rows: int64[R], the number of each row as messages give it.
        word: what that number counts: `line` in a text file, else `row`.
        owner: what else messages name a row by: a word, and the column that has its number.
        twice: names that the header has more than once, with the header's place; such a column
            cannot be asked for.
        faults: what is wrong with its rows, whatever they hold.
        commas: whether a number may have a decimal comma.
    """

    source: str
    columns: Mapping[str, Sequence[Any]]
    rows: Ints
    word: str
    owner: tuple[str, str] | None = None
    twice: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    commas: bool = False

    def cells(self, column: str) -> Sequence[Any]:
        """Return the cells of a column, which must be the only one of its name."""
        if column in self.twice:
            raise FormatError(
                f"{self.twice[column]}: header: {column!r} occurs twice, and it is not "
                "clear which is meant; give one of them another name"
            )
        return self.columns[column]

    def place(self, row: int, column: str) -> str:
        """Return what messages call a cell."""
        first = ""
        if self.owner is not None:
            first = f", {self.owner[0]} {self.columns[self.owner[1]][row]}"
        return f"{self.source}{first}, {self.word} {self.rows[row]}, column {column!r}"


class Coded(NamedTuple):
    """A column as codes: `codes` int64[R] into `values`, -1 for an empty cell."""

    name: str
    values: tuple[str, ...]
    codes: Ints

    def at(self, rows: Ints | Bools) -> Coded:
        """Return some rows."""
        return self._replace(codes=self.codes[rows])


def framed(table: Any, source: str) -> Table:
    """Return a frame of pandas, polars or pyarrow, or a mapping of columns, as a table."""
    if isinstance(table, Mapping):
        header = list(table)
    else:
        header = list(getattr(table, "column_names", getattr(table, "columns", ())))
    if not header:
        raise ArgumentError(
            f"{source}: {type(table).__name__} is not a table with columns; give a path, a pandas "
            "or polars frame, or a dictionary of columns"
        )
    columns = {str(name): _listed(table[name]) for name in header}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        short, long = (pick(lengths, key=lengths.__getitem__) for pick in (min, max))
        raise DemonstrationsError(
            f"{source}: column {short!r} has {lengths[short]} rows and {long!r} has "
            f"{lengths[long]}; give all columns the same length"
        )
    return Table(source, columns, np.arange(next(iter(lengths.values()))), "row")


def header_of(names: Sequence[str], place: str) -> tuple[list[int], dict[str, str]]:
    """Return which columns count, each name once, and those that stand more than once.

    Columns without a name, such as the numbers of rows that some programs write, do not count.
    """
    first = {name: at for at, name in reversed(list(enumerate(names))) if name}
    if not first:
        raise FormatError(f"{place}: no column has a name; begin with a header such as {HEADER}")
    named = [name for name in names if name]
    return sorted(first.values()), {name: place for name in first if named.count(name) > 1}


def as_number(text: str, *, commas: bool = False) -> float | None:
    """Return a text as a finite number, or None.

    A comma is a decimal point where `commas` says so, but for 1,000, which is one or a thousand.
    """
    if commas and COMMA.fullmatch(text) and not re.fullmatch(r"[-+]?[1-9]\d{0,2},\d{3}", text):
        text = text.replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _listed(column: Any) -> list[Any]:
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def coded(name: str, values: Sequence[Any], table: Table) -> Coded:
    """Return a column as codes, numbered in order of appearance."""
    try:
        raw = {value: number for number, value in enumerate(dict.fromkeys(values))}
        codes = np.fromiter(map(raw.__getitem__, values), np.int64, len(values))
    except TypeError:
        row = next(i for i, value in enumerate(values) if not _hashable(value))
        raise DemonstrationsError(
            f"{table.place(row, name)}: {type(values[row]).__name__} is not a name; give one "
            "string or number per row, or discretise it first"
        ) from None
    texts = [_text(value) for value in raw]
    index: dict[str, int] = {}
    number = [BLANK if t is None else index.setdefault(t, len(index)) for t in texts]
    return Coded(name, tuple(index), np.array([*number, BLANK], dtype=np.int64)[codes])


def by_subject(episode: Coded, subject: Coded) -> Coded:
    """Return episodes that belong to one subject each, numbered in order of appearance.

    Where an episode's name stands for several, each has its subject's name added.
    """
    known = episode.codes != BLANK
    pairs = np.stack([episode.codes, subject.codes], axis=1)
    kinds, first, kind = np.unique(pairs[known], axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    shared = np.bincount(kinds[:, 0], minlength=len(episode.values)) > 1
    who = (*subject.values, "nobody")
    names = [
        f"{episode.values[e]} of {who[s]}" if shared[e] else episode.values[e]
        for e, s in kinds[order].tolist()
    ]
    codes = np.full(len(known), BLANK, dtype=np.int64)
    codes[known] = rank[kind.reshape(-1)]
    return Coded(episode.name, tuple(names), codes)


def labelled(label: Coded | None) -> tuple[tuple[str, ...], Ints | None]:
    """Return the alphabet, sorted, and the label of each row; an empty column is no column."""
    if label is None or not len(label.values):
        return (), None
    order = sorted(range(len(label.values)), key=label.values.__getitem__)
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order] = np.arange(len(order))
    place[-1] = BLANK
    return tuple(label.values[i] for i in order), place[label.codes]


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _text(value: Any) -> str | None:
    """Return a value as a name, or None for an empty cell."""
    if value is None or type(value).__name__ in MISSING:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, float):
        if value != value:
            return None
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value) or None


class Faults:
    """What is wrong with a table, gathered, so that all of it can be told at once."""

    def __init__(self) -> None:
        self._found: list[tuple[int, str]] = []
        self._episodes: set[int] = set()

    def add(self, row: int, message: str, others: int = 0) -> None:
        """Note a problem by its first row, and how many more there are of its kind."""
        more = f" ({others} more like this)" if others else ""
        self._found.append((row, message + more))

    def spoil(self, episodes: Ints) -> None:
        """Note episodes about which nothing more is asked: what is wrong there has been said."""
        self._episodes.update(episodes.tolist())

    def sound(self, episodes: Ints) -> Bools:
        """Return bool: which episodes are not spoilt."""
        return ~np.isin(episodes, list(self._episodes))

    def raise_any(self) -> None:
        """Raise all problems as one error, in the order of the rows."""
        if self._found:
            ordered = sorted(self._found, key=itemgetter(0))
            raise DemonstrationsError.of([text for _, text in ordered])
