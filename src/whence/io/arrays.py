"""Named arrays in `*.npz` files, read without pickle."""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from whence.errors import FormatError

Arrays = dict[str, npt.NDArray[Any]]
MOST_PACKED = 100  # bytes that one byte of an honest archive unpacks to
ALWAYS_UNPACKED = 2**26  # bytes that even a small archive may unpack to
LAST_CHARACTER = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)
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
    if data.startswith(np.lib.format.MAGIC_PREFIX):
        raise FormatError(f"{source}: one array, not an archive of arrays; write it with np.savez")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_size(archive, len(data), source)
            arrays = _members(archive, source)
    except UNREADABLE:
        raise FormatError(
            f"{source}: not an npz file of plain arrays, or a damaged one; write it with "
            "np.savez, without object arrays"
        ) from None
    return arrays


def read(data: bytes, source: str, required: Iterable[str], optional: Iterable[str]) -> Arrays:
    """Return the arrays of a file; refuse it if a required one is missing or one is unknown."""
    known = [*required, *optional]
    arrays = load(data, source)
    for name in required:
        if name not in arrays:
            raise FormatError(f"{source}: no array {name!r}; there must be {', '.join(required)}")
    for name in arrays:
        if name not in known:
            raise FormatError(f"{source}: unknown array {name!r}; known are {', '.join(known)}")
    return arrays


def _check_size(archive: zipfile.ZipFile, size: int, source: str) -> None:
    """Refuse, before unpacking it, an archive that would grow more than an honest one does."""
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > ALWAYS_UNPACKED + MOST_PACKED * size:
        raise FormatError(
            f"{source}: {size} bytes that claim to unpack to {unpacked}; write it with np.savez, "
            "which does not pack"
        )


def _members(archive: zipfile.ZipFile, source: str) -> Arrays:
    arrays: Arrays = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name in arrays:
            raise FormatError(f"{source}: two arrays {name!r}; keep one")
        arrays[name] = _array(archive.read(member))
    return arrays


def _array(content: bytes) -> npt.NDArray[Any]:
    """Return an array; refuse a header that claims more than the content holds."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read_header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read_header(stream)
    left = len(content) - stream.tell()
    if min(shape, default=0) < 0 or math.prod(shape) * max(dtype.itemsize, 1) > left:
        raise ValueError("the header claims more than there is")
    stream.seek(0)
    array = np.asarray(np.lib.format.read_array(stream, allow_pickle=False))
    if dtype.kind == "U":
        _check_characters(array)
    return array


def _check_characters(array: npt.NDArray[Any]) -> None:
    """Refuse numbers that are not characters; NumPy does not check."""
    codes = np.frombuffer(
        array.tobytes(), dtype=np.dtype(np.uint32).newbyteorder(array.dtype.byteorder)
    )
    if ((codes > LAST_CHARACTER) | ((codes >= SURROGATES[0]) & (codes <= SURROGATES[1]))).any():
        raise ValueError("a text holds numbers that are not characters")


def write(arrays: Arrays) -> bytes:
    """Return an uncompressed npz file of these arrays, byte for byte that of `np.savez`.

    Only recent versions of NumPy can keep that function from pickling objects.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
    return buffer.getvalue()


def tagged(arrays: Arrays, tags: Sequence[str], source: str) -> None:
    """Refuse arrays that call themselves something else than one of `tags`."""
    value = arrays["format"]
    if value.shape != () or str(value) not in tags:
        known = " or ".join(repr(tag) for tag in tags)
        raise FormatError(f"{source}: format is {value!r}; this file must say {known}")


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
