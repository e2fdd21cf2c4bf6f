"""Machines written as readable arrows, such as `holding -o/1-> over`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.errors import MachineError
from whence.io.labels import LARGEST, MOST_ENTRIES, too_large
from whence.model.machine import checked_alphabet, listed

_OPENING = re.compile(r"\s-")
_CLOSING = re.compile(r"->\s")


class _Line(NamedTuple):
    """One arrow as it was written, and what it says."""

    text: str
    source: str
    symbols: list[str]
    reward: float
    target: str


def tables(
    arrows: list[str], alphabet: Iterable[str] | None
) -> tuple[tuple[str, ...], Ints, Floats, tuple[str, ...]]:
    """Return alphabet, transitions, rewards and names; what no arrow mentions stays and pays 0."""
    lines = [_parsed(arrow) for arrow in arrows]
    if not lines:
        raise MachineError("from_arrows: no arrows; give at least one, such as 'a -x/1-> b'")
    names = tuple(dict.fromkeys(name for line in lines for name in (line.source, line.target)))
    said = dict.fromkeys(symbol for line in lines for symbol in line.symbols)
    symbols = tuple(said) if alphabet is None else checked_alphabet(alphabet)
    if too_large(len(names), len(symbols)):
        raise MachineError(
            f"from_arrows: {len(names)} states and {len(symbols)} symbols are too many; keep to "
            f"{LARGEST} of each and {MOST_ENTRIES} table entries, or use RewardMachine"
        )
    transitions = np.tile(np.arange(len(names))[:, None], (1, len(symbols)))
    rewards = np.zeros(transitions.shape)
    states = {name: state for state, name in enumerate(names)}
    columns = {symbol: column for column, symbol in enumerate(symbols)}
    written: set[tuple[int, int]] = set()
    for line in lines:
        for symbol in line.symbols:
            entry = states[line.source], _column(line, symbol, columns)
            if entry in written:
                raise MachineError(
                    f"arrow {line.text!r}: {line.source!r} already has an arrow for {symbol!r}; "
                    "keep one of the two"
                )
            written.add(entry)
            transitions[entry] = states[line.target]
            rewards[entry] = line.reward
    return symbols, transitions, rewards, names


def said_arrows(
    arrows: list[str], alphabet: tuple[str, ...]
) -> dict[tuple[int, int], tuple[int, float]]:
    """Return only what the arrows say: (state, symbol) -> (target, reward), by number.

    States are numbered in the order in which they are named, the initial one first.
    """
    if not arrows:
        return {}
    _, transitions, rewards, names = tables(arrows, alphabet)
    said = {}
    states = {name: state for state, name in enumerate(names)}
    columns = {symbol: column for column, symbol in enumerate(alphabet)}
    for line in (_parsed(arrow) for arrow in arrows):
        for symbol in line.symbols:
            entry = states[line.source], columns[symbol]
            said[entry] = int(transitions[entry]), float(rewards[entry])
    return said


def _column(line: _Line, symbol: str, columns: dict[str, int]) -> int:
    if symbol not in columns:
        raise MachineError(
            f"arrow {line.text!r}: symbol {symbol!r} is not in the alphabet {listed(columns)}; "
            "add it there or correct the arrow"
        )
    return columns[symbol]


def _parts(text: str) -> tuple[str, str, str] | None:
    """Cut at the first ` -` and the last `-> `; None if one is missing, or a line breaks."""
    opening = _OPENING.search(text)
    closing = [match.start() for match in _CLOSING.finditer(text)]
    if opening is None or not closing or closing[-1] <= opening.end():
        return None
    source, target = text[: opening.start()].rstrip(), text[closing[-1] + 2 :].lstrip()
    label = text[opening.end() : closing[-1]]
    return None if "\n" in source + label + target else (source, label, target)


def _parsed(arrow: str) -> _Line:
    parts = _parts(arrow.strip())
    if parts is None:
        raise MachineError(
            f"arrow {arrow!r} cannot be read; write 'state -symbol-> state' or "
            "'state -symbol/reward-> state'"
        )
    source, label, target = parts
    if "->" in label:
        raise MachineError(f"arrow {arrow!r} holds two arrows; write one in each line")
    said, slash, amount = label.rpartition("/")
    if not slash:
        said, amount = label, "0"
    symbols = [symbol.strip() for symbol in said.split(",")]
    try:
        reward = float(amount)
    except ValueError:
        raise MachineError(
            f"arrow {arrow!r}: reward {amount!r} is not a number; write '-symbol/1->'"
        ) from None
    if not all(symbols):
        raise MachineError(f"arrow {arrow!r}: an empty symbol; write '-symbol->' or '-a,b->'")
    return _Line(arrow, source, symbols, reward, target)
