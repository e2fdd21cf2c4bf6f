"""Demonstrations as a table in a text file, `*.csv` or `*.tsv`: a header, then one row per state.

Cells are separated by commas, semicolons or tabs, whichever the header uses; quotes as usual.
"""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from whence._arrays import Ints
from whence._files import decode_text
from whence.errors import FormatError
from whence.io.columns import Table
from whence.io.table_writer import columns
from whence.io.tables import ColumnNames, demonstrations
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

ENDINGS = (".csv", ".tsv")
SEPARATORS = ",;\t"


def dumps(demos: Demonstrations, mdp: LabeledMDP | None = None) -> bytes:
    """Write demonstrations, with the names of a world where one is given."""
    table = columns(demos, mdp)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))
    return text.getvalue().encode("utf-8")


def loads(data: bytes, source: str, mdp: LabeledMDP | None = None) -> Demonstrations:
    """Read demonstrations whose columns have the usual names."""
    return demonstrations(read(data, source), ColumnNames(), mdp=mdp)


def read(data: bytes, source: str) -> Table:
    """Return the cells of a text file as a table."""
    text = decode_text(data, source)
    head = text.lstrip("\n").partition("\n")[0]
    separator = max(SEPARATORS, key=head.count)
    reader = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    try:
        rows = list(reader)
    except csv.Error as error:
        raise FormatError(
            f'{source}, line {reader.line_num}: {error}; write cells as in name,"a, b",name'
        ) from None
    lines = _lines(text, separator, len(rows), reader.line_num)
    kept = [number for number, row in enumerate(rows) if row]
    if len(kept) < len(rows):
        rows, lines = [rows[i] for i in kept], lines[kept]
    if not rows:
        raise FormatError(
            f"{source}: empty; begin with a header such as episode,step,state,action,label"
        )
    return _table(rows, lines, source)


def _lines(text: str, separator: str, n_rows: int, n_lines: int) -> Ints:
    """Return int64[R]: the line of each row; a quoted cell may hold line breaks."""
    if n_rows == n_lines:
        return np.arange(1, n_rows + 1)
    reader = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    return np.array([reader.line_num for _ in reader], dtype=np.int64)


def _table(rows: list[list[str]], lines: Ints, source: str) -> Table:
    header = [name.strip() for name in rows[0]]
    for column, name in enumerate(header):
        if not name or name in header[:column]:
            fault = f"{name!r} occurs twice" if name else "a column has no name"
            raise FormatError(f"{source}, line {lines[0]}: header: {fault}; name each column once")
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    wrong = np.flatnonzero(lengths != len(header))
    if len(wrong):
        row = int(wrong[0])
        raise FormatError(
            f"{source}, line {lines[row]}: {lengths[row]} cells for {len(header)} columns; leave "
            "a cell empty if it has no value, and quote cells that hold the separator"
        )
    cells: list[Any] = list(zip(*rows[1:], strict=True)) or [()] * len(header)
    return Table(source, dict(zip(header, cells, strict=True)), lines[1:], "line")
