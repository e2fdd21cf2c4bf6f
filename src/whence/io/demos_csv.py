"""Demonstrations as a table in a text file, `*.csv` or `*.tsv`: a header, then one row per state.

Cells are separated by commas, semicolons, tabs or bars, whichever the header uses; quotes as
usual. Where that is no comma, numbers may have a decimal comma. A first line such as `sep=;`, as
spreadsheets write it, says the separator.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from typing import Any

import numpy as np

from whence._arrays import Ints
from whence._files import decode_text
from whence.errors import FormatError, WhenceWarning
from whence.io.columns import HEADER, Fault, Table, header_of
from whence.io.table_writer import columns
from whence.io.tables import ColumnNames, demonstrations
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

ENDINGS = (".csv", ".tsv")
SEPARATORS = ",;\t|"
SAID = re.compile(rf'("?sep=([{SEPARATORS}])"?)\n', re.IGNORECASE)
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # what no text has


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
    """Return the cells of a text file as a table; lines that are all empty do not count."""
    text = _decoded(data, source)
    said = SAID.match(text)
    text = _without_remarks(text if said is None else text[said.end(1) :])
    head = text.lstrip("\n").partition("\n")[0]
    separator = max(SEPARATORS, key=head.count) if said is None else said[2]
    reader = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    try:
        rows = list(reader)
    except csv.Error as error:
        raise FormatError(
            f'{source}, line {reader.line_num}: {error}; write cells as in name,"a, b",name'
        ) from None
    lines = _lines(text, separator, len(rows), reader.line_num)
    kept = [number for number, row in enumerate(rows) if "".join(row).strip()]
    if len(kept) < len(rows):
        rows, lines = [rows[i] for i in kept], lines[kept]
    if not rows:
        raise FormatError(f"{source}: empty; begin with a header such as {HEADER}")
    return _table(rows, lines, source, separator)


def _decoded(data: bytes, source: str) -> str:
    """Return the text of a file: UTF-8, UTF-16 that says so, or Windows-1252, with a warning."""
    try:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            data = data.decode("utf-16").encode("utf-8")
        return decode_text(data, source)
    except UnicodeError:
        raise FormatError(f"{source}: damaged UTF-16 text; save the file as UTF-8") from None
    except FormatError as error:
        try:
            text = data.decode("cp1252")
        except UnicodeDecodeError:
            raise error from None
        if CONTROL.search(text):
            raise
        warnings.warn(
            f"{error}. It is read as Windows-1252, as older programs write it",
            WhenceWarning,
            stacklevel=2,
        )
        return decode_text(text.encode("utf-8"), source)


def _without_remarks(text: str) -> str:
    """Return a text with remarks, lines with # before the header, emptied.

    A header may begin so, too: then it has as many cells as the line after it.
    """
    lines = text.split("\n", 100)
    first = next((at for at, line in enumerate(lines) if line and line[0] != "#"), 0)
    begun = [at for at in range(first) if lines[at]]
    if begun and any(
        lines[first].count(mark) == lines[begun[-1]].count(mark) > 0 for mark in SEPARATORS
    ):
        begun.pop()
    for at in begun:
        lines[at] = ""
    return "\n".join(lines) if begun else text


def _lines(text: str, separator: str, n_rows: int, n_lines: int) -> Ints:
    """Return int64[R]: the line of each row; a quoted cell may hold line breaks."""
    if n_rows == n_lines:
        return np.arange(1, n_rows + 1)
    reader = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    return np.array([reader.line_num for _ in reader], dtype=np.int64)


def _table(rows: list[list[str]], lines: Ints, source: str, separator: str) -> Table:
    header = [name.strip() for name in rows[0]]
    kept, twice = header_of(header, f"{source}, line {lines[0]}")
    faults = _fitted(rows, lines, source)
    cells: list[Any] = list(zip(*rows[1:], strict=True)) or [()] * len(header)
    return Table(
        source,
        {header[at]: cells[at] for at in kept},
        lines[1:],
        "line",
        twice=twice,
        faults=faults,
        commas=separator != ",",
    )


def _fitted(rows: list[list[str]], lines: Ints, source: str) -> tuple[Fault, ...]:
    """Make all rows as long as the first; returns what was wrong with them."""
    wide = len(rows[0])
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    short = np.flatnonzero(lengths < wide).tolist()
    long = [row for row in np.flatnonzero(lengths > wide).tolist() if any(rows[row][wide:])]

    def said(row: int, cure: str) -> str:
        return f"{source}, line {lines[row]}: {lengths[row]} cells for {wide} columns; {cure}"

    cure = "leave a cell empty, with its separator, if it has no value"
    if np.maximum(wide - lengths, 0).sum() > lengths.sum():
        raise FormatError(said(short[0], cure))
    for row in np.flatnonzero(lengths != wide).tolist():
        rows[row] = (rows[row] + [""] * wide)[:wide]
    faults = []
    if short:
        repair = "read the missing cells as empty"
        faults.append(Fault(short[0] - 1, said(short[0], cure), repair, len(short) - 1))
    if long:
        cure = "quote cells that hold the separator"
        faults.append(Fault(long[0] - 1, said(long[0], cure), "", len(long) - 1))
    return tuple(faults)
