"""The draft of a machine that the reader of a drawing fills in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.errors import FormatError
from whence.io.labels import LARGEST, MOST_ENTRIES, read_symbols, shown, too_large
from whence.model.machine import RewardMachine

_NUMBERED = re.compile(r"y?[0-9]{1,9}")


class _Said(NamedTuple):
    """An arrow as a file says it; `symbols` None is every symbol."""

    line: int
    source: str
    target: str
    symbols: tuple[str, ...] | None
    reward: float


@dataclass
class Draft:
    """What a reader has found of a machine so far.

    Attributes:
        source: the file's name, for messages.
        names: name and line of every state, by the key that the file uses for it.
        alphabet: the declared alphabet, or None.
        initial: the key of the initial state, or None for the first.
    """

    source: str
    names: dict[str, tuple[str, int]] = field(default_factory=dict)
    alphabet: tuple[str, ...] | None = None
    initial: str | None = None
    _arrows: list[_Said] = field(default_factory=list)

    def place(self, line: int) -> str:
        """Return the place of a line, for messages."""
        return f"{self.source}, line {line}"

    def declare(self, text: str, line: int) -> None:
        """Take the alphabet from a list of symbols."""
        if self.alphabet is not None:
            raise FormatError(f"{self.place(line)}: a second alphabet; keep one of the two")
        self.alphabet = read_symbols(text, self.place(line))
        seen: set[str] = set()
        for symbol in self.alphabet:
            if symbol in seen:
                raise FormatError(
                    f"{self.place(line)}: the alphabet has {shown(symbol)} twice; name each "
                    "symbol once"
                )
            seen.add(symbol)

    def start(self, key: str, line: int) -> None:
        """Take a state as the initial one."""
        if self.initial is not None and self.initial != key:
            raise FormatError(
                f"{self.place(line)}: {shown(key)} and {shown(self.initial)} are both initial; "
                "keep one"
            )
        self.initial = key

    def arrow(
        self,
        line: int,
        source: str,
        target: str,
        label: tuple[tuple[str, ...] | None, float],
    ) -> None:
        """Add an arrow; symbols None stands for the whole alphabet."""
        self._arrows.append(_Said(line, source, target, *label))

    def machine(self) -> RewardMachine:
        """Return the machine; what no arrow says stays put and pays 0."""
        if not self.names:
            raise FormatError(f"{self.place(1)}: no state is drawn; a machine has at least one")
        keys = self._ordered()
        alphabet = self._symbols()
        if too_large(len(keys), len(alphabet)):
            raise FormatError(
                f"{self.place(1)}: {len(keys)} states and {len(alphabet)} symbols are too many; "
                f"keep to {LARGEST} of each and {MOST_ENTRIES} table entries, or use .json"
            )
        transitions, rewards = self._tables(keys, alphabet)
        return RewardMachine(alphabet, transitions, rewards, self._checked_names(keys))

    def _ordered(self) -> list[str]:
        """Return the initial state, then the others by number, or else by appearance."""
        keys = list(self.names)
        if all(_NUMBERED.fullmatch(key) for key in keys):
            keys.sort(key=lambda key: int(key.removeprefix("y")))
        return sorted(keys, key=lambda key: key != (self.initial or keys[0]))

    def _symbols(self) -> tuple[str, ...]:
        if self.alphabet is not None:
            return self.alphabet
        return tuple(dict.fromkeys(x for arrow in self._arrows for x in arrow.symbols or ()))

    def _checked_names(self, keys: list[str]) -> tuple[str, ...]:
        owners: dict[str, str] = {}
        for key in keys:
            name, line = self.names[key]
            if not name:
                raise FormatError(f"{self.place(line)}: a state without a name; give it one")
            if owners.setdefault(name, key) != key:
                raise FormatError(
                    f"{self.place(line)}: a second state is named {shown(name)}; rename one"
                )
        return tuple(owners)

    def _tables(self, keys: list[str], alphabet: tuple[str, ...]) -> tuple[Ints, Floats]:
        rows = {key: row for row, key in enumerate(keys)}
        transitions = np.tile(np.arange(len(keys))[:, None], (1, len(alphabet)))
        rewards = np.zeros(transitions.shape)
        lines = np.zeros(transitions.shape, dtype=np.int64)
        for arrow, column in self._entries(alphabet):
            entry = rows[arrow.source], column
            if lines[entry]:
                raise FormatError(
                    f"{self.place(arrow.line)}: symbol {shown(alphabet[column])} already leaves "
                    f"state {shown(self.names[arrow.source][0])} on line {lines[entry]}; keep one "
                    "of the two arrows"
                )
            lines[entry] = arrow.line
            transitions[entry] = rows[arrow.target]
            rewards[entry] = arrow.reward
        return transitions, rewards

    def _entries(self, alphabet: tuple[str, ...]) -> Iterator[tuple[_Said, int]]:
        columns = {symbol: column for column, symbol in enumerate(alphabet)}
        for arrow in self._arrows:
            self._check_ends(arrow)
            for symbol in alphabet if arrow.symbols is None else arrow.symbols:
                if symbol not in columns:
                    raise FormatError(
                        f"{self.place(arrow.line)}: symbol {shown(symbol)} is not in the declared "
                        "alphabet; add it there or correct the arrow"
                    )
                yield arrow, columns[symbol]

    def _check_ends(self, arrow: _Said) -> None:
        for key in (arrow.source, arrow.target):
            if key not in self.names:
                raise FormatError(
                    f"{self.place(arrow.line)}: there is no state {shown(key)}; draw it or "
                    "correct the arrow"
                )
