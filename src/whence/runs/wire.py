"""Parts of a search as bytes: what travels between a run and its workers.

Arrays by name, as in checkpoints, packed: nothing of whence is pickled, so that a worker of
another version gets as far as being told so.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

from whence.io import arrays
from whence.runs.checkpoint import ROW, filled, flattened
from whence.search.method import Carried, Method, Part

FAST = 1  # how hard bytes are packed
SOURCE = "a message between a run and its workers"


def packed(name: str, tree: Any) -> bytes:
    """Return the arrays and numbers of a tree as bytes."""
    return zlib.compress(arrays.write(flattened(tree, name)), FAST)


def unpacked(data: bytes) -> arrays.Arrays:
    """Return arrays by name."""
    return arrays.load(zlib.decompress(data), SOURCE)


def key_of(*parts: bytes) -> str:
    """Return a name for some bytes, by what they are."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


def part_of(
    method: Method[Any, Any, Any], fresh: Any, request: dict[str, Any], shared: Any
) -> Part:
    """Return the part that a request asks for; `fresh` is a state that has just begun."""
    places = tuple(request["places"])
    like = method.part_of(fresh, places)
    state = filled(like, unpacked(request["state"]), "state", SOURCE)
    return Part(request["name"], places, state, shared, request["scans"])


def reply_of(carried: Carried) -> bytes:
    """Return what became of a part as bytes."""
    fields = flattened(carried.state, "state")
    for name, block in (("rows", carried.rows), ("records", carried.records)):
        if block is not None:
            fields |= flattened(block, name)
    return zlib.compress(arrays.write(fields), FAST)


def carried_of(method: Method[Any, Any, Any], part: Part, data: bytes) -> Carried:
    """Return what became of a part, from bytes."""
    fields = unpacked(data)
    state = filled(method.carried_like(part), fields, "state", SOURCE)
    blocks = [
        filled(like, fields, name, SOURCE, stacked=True)
        if any(key.startswith(f"{name}.") for key in fields)
        else None
        for name, like in (("rows", ROW), ("records", method.recorded(part.state)))
    ]
    return Carried(state, *blocks)
