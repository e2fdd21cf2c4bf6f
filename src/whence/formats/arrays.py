"""Named arrays in `*.npz` files, read without pickle."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from whence.errors import FormatError

Arrays = dict[str, npt.NDArray[Any]]
UNREADABLE = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
    TypeError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


def load(data: bytes, source: str) -> Arrays:
    """Return the arrays of a file, whatever their names."""
    try:
        archive = np.load(io.BytesIO(data), allow_pickle=False)
        single = isinstance(archive, np.ndarray)
        arrays = {} if single else {name: archive[name] for name in archive.files}
    except UNREADABLE:
        raise FormatError(
            f"{source}: not an npz file of plain arrays, or a damaged one; write it with "
            "np.savez, without object arrays"
        ) from None
    if single:
        raise FormatError(f"{source}: one array, not an archive of arrays; write it with np.savez")
    return arrays


def read(data: bytes, source: str, required: Iterable[str], optional: Iterable[str]) -> Arrays:
    """Return the arrays of a file, all the required ones among them and none unknown."""
    known = [*required, *optional]
    arrays = load(data, source)
    for name in required:
        if name not in arrays:
            raise FormatError(f"{source}: no array {name!r}; there must be {', '.join(required)}")
    for name in arrays:
        if name not in known:
            raise FormatError(f"{source}: unknown array {name!r}; known are {', '.join(known)}")
    return arrays


def write(arrays: Arrays) -> bytes:
    """Return an uncompressed npz file of these arrays."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def tagged(arrays: Arrays, tag: str, source: str) -> None:
    """Refuse arrays that do not call themselves `tag`."""
    value = arrays["format"]
    if value.shape != () or str(value) != tag:
        raise FormatError(f"{source}: format is {value!r}; this file must say {tag!r}")


def integer(arrays: Arrays, name: str, source: str) -> int:
    """Return an array that holds one whole number."""
    value = arrays[name]
    if value.shape != () or value.dtype.kind not in "iu":
        raise FormatError(f"{source}: {name} must be one whole number")
    return int(value)


def strings(arrays: Arrays, name: str, source: str) -> tuple[str, ...]:
    """Return an array of strings."""
    value = arrays[name]
    if value.ndim != 1 or (value.dtype.kind != "U" and value.size):
        raise FormatError(f"{source}: {name} must be a flat array of strings")
    return tuple(value.tolist())


def text_array(values: Iterable[str], what: str) -> npt.NDArray[np.str_]:
    """Return strings as an array; NumPy drops trailing NULs, so those are refused."""
    items = list(values)
    for item in items:
        if item.endswith("\0"):
            raise FormatError(f"npz cannot hold the {what} {item!r}, which ends in NUL; use JSON")
    return np.array(items, dtype=np.str_) if items else np.zeros(0, dtype="U1")
