"""Demonstrations as a Parquet table, by the optional package pyarrow."""

from __future__ import annotations

import io
from typing import Any

from whence.errors import FormatError, MissingExtraError
from whence.io.columns import Table, framed
from whence.io.table_writer import columns
from whence.io.tables import ColumnNames, demonstrations
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

ENDINGS = (".parquet",)


def dumps(demos: Demonstrations, mdp: LabeledMDP | None = None) -> bytes:
    """Write demonstrations, with the names of a world where one is given."""
    arrow, parquet = _packages()
    buffer = io.BytesIO()
    parquet.write_table(arrow.table(columns(demos, mdp)), buffer)
    return buffer.getvalue()


def loads(data: bytes, source: str, mdp: LabeledMDP | None = None) -> Demonstrations:
    """Read demonstrations whose columns have the usual names."""
    return demonstrations(read(data, source), ColumnNames(), mdp=mdp)


def read(data: bytes, source: str) -> Table:
    """Return the cells of a Parquet file as a table."""
    arrow, parquet = _packages()
    try:
        table = parquet.read_table(io.BytesIO(data))
    except (arrow.ArrowException, OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise FormatError(f"{source}: not a Parquet file, or a damaged one: {reason}") from None
    return framed(table, source)


def _packages() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError(
            "Parquet needs the package pyarrow; install it with: pip install 'whence[tables]'"
        ) from None
    return pyarrow, pyarrow.parquet
