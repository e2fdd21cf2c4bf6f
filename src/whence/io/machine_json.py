"""Machines as JSON, `whence/machine/1`: a file of its own, or a comment in a drawing.

The formats that draw machines carry the machine itself in a comment, and are read back from it.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable

import msgspec

from whence.errors import FormatError, MachineError, WhenceWarning
from whence.io import documents
from whence.model.machine import RewardMachine

ENDINGS = (".json",)
TAG = "whence/machine/1"
_CARRIED = re.compile(r'\{\s*+"format"\s*+:\s*+"whence/machine/')
_QUOTES = re.compile(r'\\(["\\])')
_ODD = re.compile(r'[^A-Za-z0-9 _.+\-/{}\[\],:"\\]')


class _Document(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    format: str
    alphabet: list[str]
    transitions: list[list[int]]
    rewards: list[list[float]]
    names: list[str] | None = None


def dumps(machine: RewardMachine) -> str:
    """Write a machine."""
    document = _Document(
        format=TAG,
        alphabet=list(machine.alphabet),
        transitions=machine.transitions.tolist(),
        rewards=machine.rewards.tolist(),
        names=None if machine.names is None else list(machine.names),
    )
    try:
        return msgspec.json.encode(document).decode() + "\n"
    except UnicodeEncodeError as error:
        raise MachineError(f"a symbol or name cannot be written as UTF-8: {error}") from None


def loads(text: str, source: str) -> RewardMachine:
    """Read a machine."""
    document = documents.decode(text, _Document, TAG, source)
    for field in ("transitions", "rewards"):
        for state, row in enumerate(getattr(document, field)):
            if len(row) != len(document.alphabet):
                raise FormatError(
                    f"{source}: {field}, state {state}: {len(row)} entries for an alphabet of "
                    f"{len(document.alphabet)} symbols; give one entry per symbol"
                )
    try:
        return RewardMachine(
            document.alphabet, document.transitions, document.rewards, document.names
        )
    except MachineError as error:
        raise FormatError(f"{source}: {error}") from None


def comment(machine: RewardMachine, mark: str) -> str:
    """Return the machine as a comment of one line, for a drawing to carry.

    All but ASCII letters, digits and a few marks is written as codes, so that no name can end
    the comment, or mean something to the program that reads the drawing.
    """
    text = json.dumps(json.loads(dumps(machine)), separators=(",", ":"))
    text = _QUOTES.sub(lambda found: _code(found[1]), text)
    return f"{mark} read back by whence: {_ODD.sub(lambda found: _code(found[0]), text)}"


def read_comment(
    text: str, source: str, mark: str, draw: Callable[[RewardMachine], str]
) -> RewardMachine:
    """Return the machine that a drawing carries in a comment.

    Args:
        text: the drawing.
        source: what messages call it.
        mark: what opens a comment.
        draw: how whence draws a machine in this format.

    Raises:
        FormatError: if there is no such comment, or it does not hold a machine.

    Warns:
        WhenceWarning: if whence would draw that machine differently.
    """
    (line, said), *more = _carried(text, mark) or [(1, "")]
    place = f"{source}, line {line}"
    if not said:
        raise FormatError(
            f"{place}: no comment holds a machine; of drawings, only those that whence wrote can "
            "be read: use .json, or .txt in the format of the reward_machines repository"
        )
    if more:
        raise FormatError(f"{source}, line {more[0][0]}: a second machine; keep one per file")
    machine = loads(said, place)
    try:
        drawn = draw(machine)
    except MachineError as error:
        raise FormatError(f"{place}: {error}") from None
    if _squeezed(drawn) not in _squeezed(text):
        warnings.warn(
            f"{place}: the drawing is not that of the machine in this comment, and only the "
            "comment is read; change the comment too, or write the file again",
            WhenceWarning,
            stacklevel=2,
        )
    return machine


def _code(character: str) -> str:
    return f"\\u{ord(character):04x}"


def _carried(text: str, mark: str) -> list[tuple[int, str]]:
    """Return the line and the JSON of each comment that holds a machine."""
    lines = enumerate(text.split("\n"), start=1)
    comments = [(number, line) for number, line in lines if line.lstrip().startswith(mark)]
    found = [(number, line, _CARRIED.search(line)) for number, line in comments]
    return [(number, line[match.start() :]) for number, line, match in found if match]


def _squeezed(text: str) -> str:
    return "".join(text.split())
