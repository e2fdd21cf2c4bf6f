"""JSON documents with a `format` field, decoded against a type."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from whence.errors import FormatError

T = TypeVar("T")
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRING_OR_BRACE = re.compile(rf"({_STRING})(\s*+:)?+|[{{}}]", re.DOTALL)


def decode(data: bytes | str, kind: type[T], tag: str, source: str) -> T:
    """Decode a document that calls itself `tag`, or say what is wrong with it."""
    return decode_any(data, {tag: kind}, source)


def decode_any(data: bytes | str, kinds: Mapping[str, type[T]], source: str) -> T:
    """Decode a document by what it calls itself; `kinds` are its versions, oldest first."""
    tag = next(iter(kinds))
    try:
        head = msgspec.json.decode(data, type=_Tagged)
    except msgspec.ValidationError as error:
        raise FormatError(
            f'{source}: {error}; a document of this kind begins {{"format": "{tag}", ...'
        ) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"{source}: not valid JSON: {_syntax(error, data)}") from None
    if head.format not in kinds:
        known = " or ".join(repr(tag) for tag in kinds)
        raise FormatError(f"{source}: format is {head.format!r}; this file must say {known}")
    kind = kinds[head.format]
    try:
        document = msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise FormatError(f"{source}: {explained(error, kind)}") from None
    refuse_repeats(data, source)
    return document


def refuse_repeats(data: bytes | str, place: str) -> None:
    """Refuse a valid JSON document in which an object has a key twice."""
    text = data if isinstance(data, str) else data.decode("utf-8")
    open_objects: list[set[str]] = []
    for match in _STRING_OR_BRACE.finditer(text):
        if match[0] == "{":
            open_objects.append(set())
        elif match[0] == "}":
            open_objects.pop()
        elif match[2] is not None:
            key = json.loads(match[1])
            if key in open_objects[-1]:
                raise FormatError(f"{place}: the key {key!r} appears twice; keep one")
            open_objects[-1].add(key)


def explained(error: msgspec.ValidationError, kind: type[Any]) -> str:
    """Return what msgspec found, and what to do about it."""
    message = str(error)
    fields = msgspec.structs.fields(kind)
    if "unknown field" in message:
        return f"{message}; known are {', '.join(f.encode_name for f in fields)}"
    if "missing required" in message:
        needed = [f.encode_name for f in fields if f.required]
        return f"{message}; there must be {', '.join(needed)}"
    return f"{message}; correct it there (docs/formats.md shows each field)"


def _syntax(error: Exception, data: bytes | str) -> str:
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    message = str(error)
    _, _, tail = message.partition("(byte ")
    position = tail.rstrip(")")
    if not position.isdigit():
        return f"{message}; is the file cut off?"
    line = raw.count(b"\n", 0, int(position)) + 1
    return f"line {line}: {message}"


class _Tagged(msgspec.Struct):
    format: str
