"""Demonstrations from the rows of a table: one row per state, with the action taken in it.

Columns hold the episode, the step, the state, the action taken there and the state's label.
Rows may come in any order if there are steps; an episode's last row may leave the action out.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from whence._arrays import BLANK, Bools, Ints, frozen_own, offsets_of
from whence.errors import ArgumentError, DemonstrationsError, WhenceWarning
from whence.model.demos import Demonstrations, TableRows
from whence.model.mdp import LabeledMDP

WHOLE = re.compile(r"(0|[1-9][0-9]*)(\.0+)?", re.ASCII)
STEP = re.compile(r"(-?[0-9]{1,18})(\.0+)?", re.ASCII)
LARGEST = 2**31 - 1
GAPS = ("error", "cut")
MISSING = ("NAType", "NaTType")  # what pandas calls a value that is not there
SHOWN = 8


class ColumnNames(NamedTuple):
    """What the columns are called; None: `step` or `label`, if there is such a column."""

    episode: str = "episode"
    step: str | None = None
    state: str = "state"
    action: str = "action"
    label: str | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """A table before it is understood.

    Attributes:
        source: what messages call it.
        columns: the values of each column, R entries each.
        rows: int64[R], the number of each row as messages give it.
        word: what that number counts: `line` in a text file, else `row`.
        owner: what else messages name a row by: a word, and the column that has its number.
    """

    source: str
    columns: Mapping[str, Sequence[Any]]
    rows: Ints
    word: str
    owner: tuple[str, str] | None = None

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


class _Rows(NamedTuple):
    """The columns that matter, all of the same length."""

    episode: Coded
    state: Coded
    action: Coded
    label: Coded | None
    step: Ints | None
    number: Ints

    def at(self, rows: Ints | Bools) -> _Rows:
        return _Rows(
            self.episode.at(rows),
            self.state.at(rows),
            self.action.at(rows),
            None if self.label is None else self.label.at(rows),
            None if self.step is None else self.step[rows],
            self.number[rows],
        )


def demonstrations(
    table: Table,
    names: ColumnNames,
    *,
    mdp: LabeledMDP | None = None,
    numbers: bool = True,
    gaps: str = "error",
) -> Demonstrations:
    """Return the episodes of a table; see `Demonstrations.from_table`."""
    if gaps not in GAPS:
        raise ArgumentError(f"gaps is {gaps!r}; choose one of {', '.join(GAPS)}")
    rows = _ordered(_columns(table, names))
    rows = _without_repeats(table, rows)
    rows = _without_gaps(table, rows, gaps)
    last = np.append(rows.episode.codes[1:] != rows.episode.codes[:-1], True)
    _check_actions(table, rows, last)
    states, state_names = _numbered(table, rows, "state", mdp, numbers)
    actions, action_names = _numbered(table, rows, "action", mdp, numbers)
    acted = rows.action.codes >= 0
    names_of = rows.episode.values
    alphabet, labels = _labels(rows.label)
    result = Demonstrations.from_flat(
        states,
        offsets_of(np.bincount(rows.episode.codes, minlength=len(names_of))),
        actions[acted],
        offsets_of(np.bincount(rows.episode.codes[acted], minlength=len(names_of))),
        alphabet=alphabet,
        labels=labels,
        source=table.source,
    )
    origin = TableRows(names_of, frozen_own(table.rows[rows.number]), table.word)
    return replace(result, table=origin, state_names=state_names, action_names=action_names)


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


def _columns(table: Table, names: ColumnNames) -> _Rows:
    """Return the columns that matter; every row must name its episode and its state."""
    found: dict[str, Coded] = {}
    for what, given in names._asdict().items():
        name = what if given is None else given
        if name in table.columns:
            found[what] = coded(name, table.columns[name], table)
        elif given is not None:
            known = ", ".join(repr(column) for column in list(table.columns)[:SHOWN])
            raise DemonstrationsError(
                f"{table.source}: no column {name!r} for the {what}; the columns are {known}: "
                f"name the right one with {what}=..."
            )
    for what in ("episode", "state"):
        empty = np.flatnonzero(found[what].codes == BLANK)
        if len(empty):
            raise DemonstrationsError(
                f"{table.place(int(empty[0]), found[what].name)}: empty; every row names its "
                f"{what}"
            )
    step = found.get("step")
    return _Rows(
        found["episode"],
        found["state"],
        found["action"],
        found.get("label"),
        None if step is None else _steps(table, step),
        np.arange(len(table.rows)),
    )


def _steps(table: Table, step: Coded) -> Ints:
    """Return int64[R]: the step of each row."""
    matched = [STEP.fullmatch(text) for text in step.values]
    number = np.array([0 if m is None else int(m[1]) for m in matched] + [0], dtype=np.int64)
    wrong = np.array([m is None for m in matched] + [True])[step.codes]
    if wrong.any():
        row = int(np.argmax(wrong))
        shown = "empty" if step.codes[row] == BLANK else repr(step.values[step.codes[row]])
        raise DemonstrationsError(
            f"{table.place(row, step.name)}: {shown} is not a step; count steps in whole numbers, "
            "or leave the column out where the rows are in order"
        )
    return number[step.codes]


def _ordered(rows: _Rows) -> _Rows:
    """Return the rows by episode, in order of appearance, and by step within each."""
    codes = rows.episode.codes
    if rows.step is None:
        return rows.at(np.argsort(codes, kind="stable"))
    return rows.at(np.lexsort((rows.number, rows.step, codes)))


def _without_repeats(table: Table, rows: _Rows) -> _Rows:
    """Leave out rows that repeat another; refuse those that contradict each other."""
    if rows.step is None:
        return rows
    again = (np.diff(rows.episode.codes) == 0) & (np.diff(rows.step) == 0)
    repeated = np.flatnonzero(again) + 1
    if not len(repeated):
        return rows
    for part in (rows.state, rows.action, rows.label):
        differs = [] if part is None else part.codes[repeated] != part.codes[repeated - 1]
        if part is not None and np.any(differs):
            second = int(repeated[np.argmax(differs)])
            one, two = (table.rows[rows.number[i]] for i in (second - 1, second))
            raise DemonstrationsError(
                f"{table.source}, {table.word}s {one} and {two}, column {part.name!r}: "
                f"{_cell(part, second - 1)} and {_cell(part, second)} in the same step "
                f"{rows.step[second]} of episode {_cell(rows.episode, second)}; keep one"
            )
    warnings.warn(
        f"{table.source}: {len(repeated)} rows repeat another row, the first in {table.word} "
        f"{table.rows[rows.number[repeated[0]]]}; they are left out",
        WhenceWarning,
        stacklevel=4,
    )
    kept = np.ones(len(rows.number), dtype=np.bool_)
    kept[repeated] = False
    return rows.at(kept)


def _without_gaps(table: Table, rows: _Rows, gaps: str) -> _Rows:
    """Refuse episodes that lack a step, or keep what is before it."""
    if rows.step is None:
        return rows
    same = np.diff(rows.episode.codes) == 0
    behind = np.flatnonzero(same & (np.diff(rows.step) > 1)) + 1
    if not len(behind):
        return rows
    first = int(behind[0])
    if gaps == "error":
        raise DemonstrationsError(
            f"{table.source}, {table.word} {table.rows[rows.number[first]]}: step "
            f"{rows.step[first - 1] + 1} of episode {_cell(rows.episode, first)} is missing; add "
            'it, or keep what is before it with gaps="cut"'
        )
    start = np.full(len(rows.episode.values), len(rows.number))
    np.minimum.at(start, rows.episode.codes[behind], behind)
    kept = np.arange(len(rows.number)) < start[rows.episode.codes]
    warnings.warn(
        f"{table.source}: {len(np.unique(rows.episode.codes[behind]))} episodes lack a step; "
        f"{int((~kept).sum())} rows after it are left out, since what was read is not known",
        WhenceWarning,
        stacklevel=4,
    )
    return rows.at(kept)


def _check_actions(table: Table, rows: _Rows, last: Bools) -> None:
    """Refuse a row without an action that is not its episode's last."""
    empty = np.flatnonzero((rows.action.codes == BLANK) & ~last)
    if len(empty):
        row = int(empty[np.argmin(rows.number[empty])])
        raise DemonstrationsError(
            f"{table.place(int(rows.number[row]), rows.action.name)}: empty, but episode "
            f"{_cell(rows.episode, row)} goes on; only its last row may leave the action out"
        )


def _numbered(
    table: Table, rows: _Rows, what: str, mdp: LabeledMDP | None, numbers: bool
) -> tuple[Ints, tuple[str, ...] | None]:
    """Return the states or actions as numbers, and the names if the column holds names."""
    column: Coded = getattr(rows, what)
    used = np.unique(column.codes[column.codes != BLANK])
    texts = [column.values[code] for code in used.tolist()]
    whole = all(WHOLE.fullmatch(text) for text in texts)
    known = {} if mdp is None else world_names(mdp, what)
    number = np.full(len(column.values) + 1, BLANK, dtype=np.int64)
    if known and all(text in known for text in texts):
        number[used] = [known[text] for text in texts]
        return number[column.codes], tuple(known)
    if whole and (numbers or mdp is not None):
        values = [int(text.partition(".")[0]) for text in texts]
        if max(values, default=0) <= LARGEST:
            number[used] = values
            return number[column.codes], None
    if mdp is not None:
        _refuse_unknown(table, rows, what, known)
    order = sorted(
        range(len(texts)), key=lambda i: (int(float(texts[i])) if whole else 0, texts[i])
    )
    number[used[order]] = np.arange(len(order))
    return number[column.codes], tuple(texts[i] for i in order)


def world_names(mdp: LabeledMDP, what: str) -> dict[str, int]:
    """Return the numbers of a world's states or actions by name, in order of the numbers."""
    if what == "action":
        return {name: number for number, name in enumerate(mdp.actions)}
    if mdp.names is not None:
        return {name: number for number, name in enumerate(mdp.names)}
    if mdp.grid is not None:
        return {mdp.state_name(state): state for state in range(mdp.n_states)}
    return {}


def _refuse_unknown(table: Table, rows: _Rows, what: str, known: dict[str, int]) -> None:
    column: Coded = getattr(rows, what)
    strange = np.array([text not in known for text in column.values] + [False])[column.codes]
    first = int(rows.number[strange].min())
    row = int(np.flatnonzero(rows.number == first)[0])
    some = ", ".join(list(known)[:SHOWN]) or "none: give numbers"
    raise DemonstrationsError(
        f"{table.place(first, column.name)}: the world has no {what} {_cell(column, row)}; its "
        f"names are {some}" + (", ..." if len(known) > SHOWN else "")
    )


def _cell(column: Coded, row: int) -> str:
    code = int(column.codes[row])
    return "nothing" if code == BLANK else repr(column.values[code])


def _labels(label: Coded | None) -> tuple[tuple[str, ...], Ints | None]:
    """Return the alphabet, sorted, and the label of each row; an empty column is no column."""
    if label is None or not len(label.values):
        return (), None
    order = sorted(range(len(label.values)), key=label.values.__getitem__)
    place = np.empty(len(order) + 1, dtype=np.int64)
    place[order] = np.arange(len(order))
    place[-1] = BLANK
    return tuple(label.values[i] for i in order), place[label.codes]
