"""The text on an arrow, `t, w | 0`, as every format that draws a machine writes it.

A symbol stands in a label as it is, or as a JSON string where it would be ambiguous: with a
comma, a bar, white space, quotes, a backslash, or characters that do not print. So every text
made here is one line of printable characters, which the formats then escape in their own way.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterable
from html.entities import name2codepoint

from whence.errors import FormatError, MachineError
from whence.model.machine import Arrow, RewardMachine, number

LARGEST = 10_000  # states, or symbols, of a machine in a text format
MOST_ENTRIES = 1_000_000  # of its table
_AMBIGUOUS = frozenset(",|\"'\\ ")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")
_ITEM = re.compile(r"[^,|]++")
_JSON = json.JSONDecoder()


def quoted(text: str) -> str:
    """Return `text` as a JSON string of printable characters."""
    kept = (c if c.isprintable() and c not in '"\\' else json.dumps(c)[1:-1] for c in text)
    return '"' + "".join(kept) + '"'


def symbol_text(symbol: str) -> str:
    """Return a symbol as it stands in a label."""
    plain = symbol.isprintable() and _AMBIGUOUS.isdisjoint(symbol)
    return symbol if plain else quoted(symbol)


def symbols_text(symbols: Iterable[str]) -> str:
    """Return symbols as a list, `t, w`."""
    return ", ".join(map(symbol_text, symbols))


def label_text(arrow: Arrow) -> str:
    """Return the label of an arrow, `t, w | 0`."""
    return f"{symbols_text(arrow.symbols)} | {number(arrow.reward)}"


def by_ends(machine: RewardMachine) -> dict[tuple[int, int], list[Arrow]]:
    """Return the arrows by source and target, so that a drawing shows one line for each."""
    found: dict[tuple[int, int], list[Arrow]] = {}
    for arrow in machine.arrows():
        found.setdefault((arrow.source, arrow.target), []).append(arrow)
    return found


def name_text(name: str) -> str:
    """Return a state's name as it stands in a drawing."""
    plain = name.isprintable() and name == name.strip() and not name.startswith('"')
    return name if plain else quoted(name)


def read_symbol(text: str, place: str) -> str:
    """Return the symbol that `text` stands for."""
    if not text.startswith('"'):
        if not text:
            raise FormatError(f"{place}: an empty symbol; write symbols as in 'a, b | 1'")
        return text
    symbol, end = _read_quoted(text, 0, place)
    if end < len(text):
        raise FormatError(
            f"{place}: {shown(text[end:])} follows the symbol {shown(symbol)}; separate symbols "
            "with commas"
        )
    return symbol


def read_name(text: str, place: str) -> str:
    """Return the state's name that `text` stands for."""
    text = text.strip()
    return read_symbol(text, place) if text.startswith('"') else text


def read_symbols(text: str, place: str) -> tuple[str, ...]:
    """Read a list of symbols, such as `t, w`; a blank text holds none."""
    if not text.strip():
        return ()
    symbols, end = scan_symbols(text, 0, place)
    if end < len(text):
        raise FormatError(
            f"{place}: the symbol list {shown(text)} has a bar; write a symbol with a bar as a "
            'JSON string, such as "a|b"'
        )
    return symbols


def scan_symbols(text: str, start: int, place: str) -> tuple[tuple[str, ...], int]:
    """Read symbols up to a bar or the end of `text`; return them and where they end."""
    symbols, position = [], start
    while True:
        symbol, position = _scan_symbol(text, position, place)
        symbols.append(symbol)
        if position == len(text) or text[position] == "|":
            return tuple(symbols), position
        position += 1


def read_label(text: str, place: str) -> tuple[tuple[str, ...], float]:
    """Read the label of an arrow, such as `t, w | 0`."""
    symbols, end = scan_symbols(text, 0, place)
    if end == len(text):
        raise FormatError(
            f"{place}: the label {shown(text)} has no reward; write symbols, a bar and the "
            "reward, as in 'a, b | 1'"
        )
    return symbols, read_reward(text[end + 1 :], place)


def read_reward(text: str, place: str) -> float:
    """Read a finite decimal number."""
    said = text.strip()
    value = float(said) if _NUMBER.fullmatch(said) else math.nan
    if not math.isfinite(value):
        raise FormatError(
            f"{place}: the reward {shown(said)} is not a finite number; write one, such "
            "as 1 or -0.5"
        )
    return value


def shown(text: str) -> str:
    """Return `text` for a message, shortened where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def entity(name: str) -> str | None:
    """Return the character of an HTML entity such as `amp` or `#38`; None for an unknown one."""
    if not name.startswith("#"):
        code = name2codepoint.get(name, 0)
    elif re.fullmatch(r"#[0-9]{1,7}", name):
        code = int(name[1:])
    else:
        code = int(name[2:], 16) if re.fullmatch(r"#[xX][0-9a-fA-F]{1,6}", name) else 0
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else None


class Lines:
    """Line numbers of the characters of a text."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def of(self, position: int) -> int:
        """Return the line, counted from 1, of the character at `position`."""
        return bisect_right(self._ends, position - 1) + 1


def check_writable(machine: RewardMachine) -> None:
    """Refuse a machine that no text file can hold.

    Raises:
        MachineError: if it is too large, or a symbol or name is not Unicode text.
    """
    n, m = machine.transitions.shape
    if too_large(n, m):
        raise MachineError(
            f"the machine has {n} states and {m} symbols; a drawing or rule file holds at most "
            f"{LARGEST} of each and {MOST_ENTRIES} table entries: save it as .json"
        )
    for what, text in [
        *(("symbol", symbol) for symbol in machine.alphabet),
        *(("state name", name) for name in machine.state_names),
    ]:
        if not is_text(text):
            raise MachineError(
                f"{what} {shown(text)} holds a lone surrogate, which no UTF-8 file can; rename it"
            )


def too_large(n: int, m: int) -> bool:
    """Whether a table of n states and m symbols is beyond what text formats hold."""
    return n > LARGEST or m > LARGEST or n * m > MOST_ENTRIES


def is_text(text: str) -> bool:
    """Whether `text` can be encoded, that is, holds no lone surrogate."""
    return not any("\ud800" <= c <= "\udfff" for c in text)


def _scan_symbol(text: str, start: int, place: str) -> tuple[str, int]:
    """Read one symbol; the position returned is that of a comma, a bar or the end."""
    position = start
    while position < len(text) and text[position].isspace():
        position += 1
    if text[position : position + 1] != '"':
        item = _ITEM.match(text, position)
        end = position if item is None else item.end()
        return read_symbol(text[position:end].strip(), place), end
    symbol, position = _read_quoted(text, position, place)
    item = _ITEM.match(text, position)
    end = position if item is None else item.end()
    read_symbol(quoted(symbol) + text[position:end].strip(), place)
    return symbol, end


def _read_quoted(text: str, start: int, place: str) -> tuple[str, int]:
    try:
        value, end = _JSON.raw_decode(text, start)
    except ValueError:
        value, end = "", start
    if not isinstance(value, str) or not value or not is_text(value):
        raise FormatError(
            f"{place}: {shown(text[start:])} does not begin with a non-empty JSON string; "
            'write one, such as "a, b"'
        )
    return value, end
