"""Demonstrations as a sheet of a workbook, `*.xlsx`, by the optional package openpyxl.

The first sheet that holds a table counts: two rows with two values each, at least; the first of
them is the header, and a title above it, a row of one value, is left out. Formulas
count as what they came to when the workbook was last saved; nothing in it is run.
"""

from __future__ import annotations

import io
import warnings
import zipfile
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from whence.errors import DemonstrationsError, FormatError, MissingExtraError, WhenceWarning
from whence.io.columns import Table, header_of
from whence.io.table_writer import columns
from whence.io.tables import ColumnNames, demonstrations
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

ENDINGS = (".xlsx",)
MOST_PACKED = 100  # bytes that one byte of an honest workbook unpacks to
ALWAYS_UNPACKED = 2**24  # bytes that even a small one may unpack to

MOST_SHEETS = 20  # that are looked into
MOST_EMPTY = 10  # cells for each that is there, beyond a few million


def dumps(demos: Demonstrations, mdp: LabeledMDP | None = None) -> bytes:
    """Write demonstrations, with the names of a world where one is given."""
    package = _package()
    from openpyxl.utils.exceptions import IllegalCharacterError

    book = package.Workbook(write_only=True)
    sheet = book.create_sheet("demonstrations")
    table = columns(demos, mdp)
    sheet.append(list(table))
    for number, row in enumerate(zip(*table.values(), strict=True)):
        try:
            sheet.append([_literal(sheet, cell) for cell in row])
        except IllegalCharacterError:
            raise DemonstrationsError(
                f"row {number} of the table: a workbook cannot hold control characters, as in "
                f"{next(c for c in row if isinstance(c, str) and not c.isprintable())!r}; save "
                "as .csv"
            ) from None
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _literal(sheet: Any, cell: Any) -> Any:
    """Return a cell that stays text where a workbook would take it for a formula."""
    if not isinstance(cell, str) or not cell.startswith("="):
        return cell
    from openpyxl.cell import WriteOnlyCell

    kept = WriteOnlyCell(sheet, value=cell)
    kept.data_type = "s"
    return kept


def loads(data: bytes, source: str, mdp: LabeledMDP | None = None) -> Demonstrations:
    """Read demonstrations whose columns have the usual names."""
    return demonstrations(read(data, source), ColumnNames(), mdp=mdp)


def read(data: bytes, source: str) -> Table:
    """Return the cells of the first sheet of a workbook that holds a table."""
    package = _package()
    _check_size(data, source)
    try:
        book = package.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheets = book.worksheets[:MOST_SHEETS]
        found, rows = sheets[0], _cells(sheets[0])
        for sheet in sheets[1:]:
            if len(_wide(rows)) > 1:
                break
            more = _cells(sheet)
            if len(_wide(more)) > 1:
                found, rows = sheet, more
    except Exception as error:
        reason = str(error).partition("\n")[0][:100] or type(error).__name__
        raise FormatError(
            f"{source}: not a workbook, or a damaged one: {reason}; save it as .xlsx, or as .csv"
        ) from None
    if found is not sheets[0]:
        warnings.warn(
            f"{source}: the first sheet, {sheets[0].title!r}, holds no table; {found.title!r} is "
            "read",
            WhenceWarning,
            stacklevel=2,
        )
    return _table(rows, source)


def _cells(sheet: Any) -> list[list[Any]]:
    sheet.reset_dimensions()
    return [list(row) for row in sheet.iter_rows(values_only=True)]


def _wide(rows: list[list[Any]]) -> list[int]:
    """Return which rows have two values or more."""
    return [at for at, row in enumerate(rows) if sum(cell is not None for cell in row) > 1]


def _table(rows: list[list[Any]], source: str) -> Table:
    """Return rows as columns; those without any value do not count."""
    head = next(iter(_wide(rows)), 0)  # what is above are titles
    numbers = [
        n for n, row in enumerate(rows, start=1) if n > head and any(c is not None for c in row)
    ]
    kept = [rows[number - 1] for number in numbers]
    if not kept:
        raise FormatError(
            f"{source}: the first sheet is empty; begin with a header such as episode, step, "
            "state, action, label"
        )
    while kept[0] and kept[0][-1] is None:
        kept[0].pop()
    header = ["" if name is None else str(name).strip() for name in kept[0]]
    if len(header) * len(kept) > MOST_EMPTY * (1_000_000 + sum(map(len, kept))):
        raise FormatError(
            f"{source}: {len(header)} columns, nearly all of them empty; leave those out"
        )
    counted, twice = header_of(header, f"{source}, row {numbers[0]}")
    for number, row in zip(numbers[1:], kept[1:], strict=True):
        if any(cell is not None for cell in row[len(header) :]):
            raise FormatError(
                f"{source}, row {number}: more cells than the header has names; name each column"
            )
    cells = {
        header[at]: [_plain(row[at]) if at < len(row) else None for row in kept[1:]]
        for at in counted
    }
    return Table(source, cells, np.array(numbers[1:], dtype=np.int64), "row", twice=twice)


def _plain(cell: Any) -> Any:
    """Return a cell as text or a number; dates as people write them."""
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return cell


def _check_size(data: bytes, source: str) -> None:
    """Refuse, before unpacking it, a workbook that would grow more than an honest one does."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise FormatError(
            f"{source}: not a workbook, or a damaged one; save it as .xlsx, or as .csv"
        ) from None
    if unpacked > ALWAYS_UNPACKED + MOST_PACKED * len(data):
        raise FormatError(
            f"{source}: {len(data)} bytes that claim to unpack to {unpacked}; save it again"
        )


def _package() -> Any:
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError(
            "workbooks need the package openpyxl; install it with: pip install 'whence[excel]'"
        ) from None
    return openpyxl
