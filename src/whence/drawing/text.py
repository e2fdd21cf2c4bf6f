"""Text for drawings: made visible, measured, shortened and escaped."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np

from whence._arrays import Ints
from whence.model.machine import RewardMachine, number

FONT = "DejaVu Sans, Verdana, sans-serif"  # widths are those of the first
ELLIPSIS = "…"

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_JOINERS = "\u200c\u200d"
_NARROW = frozenset("ijltfrIJ|.,:;'!()[]/\\- ")
_BROAD = frozenset("mwMW@%&+<>=~#^")
_EMS = {"narrow": 0.41, "plain": 0.645, "capital": 0.79, "broad": 1.0, "wide": 1.3}


def visible(text: str) -> str:
    r"""Return `text` with every character that draws nothing written as an escape.

    Control characters (an escape sequence of a terminal, a line break), marks that reorder
    text, lone surrogates and what XML forbids become `\n`, `\x1b`, `\u202e` and the like.
    """
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    code = ord(character)
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    if not (hidden or code & 0xFFFE == 0xFFFE) or character in _JOINERS:
        return character
    if character in _NAMED:
        return _NAMED[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def plain(text: str) -> str:
    """Return `text` made visible and in ASCII, the rest as escapes."""
    return visible(text).encode("ascii", "backslashreplace").decode("ascii")


def xml(text: str) -> str:
    """Return `text` made visible and escaped for XML, in elements and in attributes."""
    shown = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return shown.replace('"', "&quot;").replace("'", "&#39;")


def cells(text: str) -> int:
    """Return how many columns of a terminal `text` takes; wide characters take two."""
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if character in _JOINERS or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def padded(text: str, width: int) -> str:
    """Return `text` with spaces after it, `width` columns wide."""
    return text + " " * (width - cells(text))


def pixels(text: str, size: float) -> float:
    """Return a width that `text` does not exceed in the drawings' fonts of a given size."""
    return size * sum(_ems(character) for character in text)


def _ems(character: str) -> float:
    columns = _cells(character)
    if columns != 1:
        return _EMS["wide"] * (columns // 2)
    if character in _NARROW:
        return _EMS["narrow"]
    if character in _BROAD or ord(character) > 0x2000:
        return _EMS["broad"]
    return _EMS["capital" if character.isupper() else "plain"]


def shorten(text: str, width: int) -> str:
    """Return `text` in at most `width` columns, cut in the middle: the ends tell names apart."""
    if cells(text) <= width:
        return text
    tail = _prefix(text[::-1], (width - 1) // 2)[::-1]
    return _prefix(text, width - 1 - cells(tail)) + ELLIPSIS + tail.lstrip(_JOINERS)


def _prefix(text: str, width: int) -> str:
    end, used = 0, 0
    while end < len(text) and used + _cells(text[end]) <= width:
        used += _cells(text[end])
        end += 1
    return text[:end].rstrip(_JOINERS)


def amount(reward: float) -> str:
    """Return a reward in a few characters: exact if it is short, else four digits of it."""
    exact = number(reward)
    return exact if len(exact) <= 7 else f"{reward:.4g}"


def label(symbols: Sequence[str], reward: float, *, width: int, lines: int = 3) -> list[str]:
    """Return the lines `a, b | 1` of one arrow, each about `width` columns at most.

    Beyond `lines` lines, symbols are counted instead of named.
    """
    rows: list[list[str]] = [[]]
    for symbol in symbols:
        if rows[-1] and cells(", ".join([*rows[-1], symbol])) > width:
            rows.append([])
        rows[-1].append(symbol)
    if len(rows) > lines:
        left = sum(len(row) for row in rows[lines:])
        rows = [*rows[:lines], [f"and {left} more"]]
    texts = [", ".join(row) + "," for row in rows]
    return [*texts[:-1], f"{texts[-1][:-1]} | {amount(reward)}"]


def symbol_names(alphabet: Iterable[str], width: int) -> tuple[str, ...]:
    """Return the symbols as drawings show them: visible, and at most `width` columns wide."""
    return tuple(shorten(visible(symbol), width) for symbol in alphabet)


def everything(machine: RewardMachine) -> str:
    """Return the word that stands for all symbols together, one that is not a symbol."""
    word = "any"
    while word in machine.alphabet:
        word += " symbol"
    return word


def grouped(machine: RewardMachine, state: int) -> dict[tuple[int, float], Ints]:
    """Return the columns of each (target, reward) of a state; in order of columns."""
    pairs = list(
        zip(machine.transitions[state].tolist(), machine.rewards[state].tolist(), strict=True)
    )
    return {
        pair: np.array([at for at, other in enumerate(pairs) if other == pair])
        for pair in dict.fromkeys(pairs)
    }
