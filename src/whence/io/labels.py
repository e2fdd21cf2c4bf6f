"""The text on an arrow, `t, w | 0`, as every format that draws a machine writes it.

A symbol stands in a label as it is, or as a JSON string where it would be ambiguous: with a
comma, a bar, white space, quotes, a backslash, or characters that do not print. So every text
made here is one line of printable characters, which the formats then escape in their own way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from whence.errors import MachineError
from whence.model.machine import Arrow, RewardMachine, number

LARGEST = 10_000  # states, or symbols, of a machine in a text format
MOST_ENTRIES = 1_000_000  # of its table
_AMBIGUOUS = frozenset(",|\"'\\ ")


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


def shown(text: str) -> str:
    """Return `text` for a message, shortened where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


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
                f"{what} {shown(text)} holds a lone surrogate, which UTF-8 cannot hold; rename it"
            )


def too_large(n: int, m: int) -> bool:
    """Whether a table of n states and m symbols is beyond what text formats hold."""
    return n > LARGEST or m > LARGEST or n * m > MOST_ENTRIES


def is_text(text: str) -> bool:
    """Whether `text` can be encoded, that is, holds no lone surrogate."""
    return not any("\ud800" <= c <= "\udfff" for c in text)
