"""Facts about machines as text and as tables."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from whence import RewardMachine
from whence.drawing.terminal import machine_table, machine_text
from whence.drawing.text import cells

COFFEE = RewardMachine.from_arrows(
    ["before -c-> holding", "before -*-> over", "holding -o/1-> over", "holding -*-> over"],
    alphabet=["c", "o", "*"],
)
STRANGE = RewardMachine(
    ["a", "\x1b[2J", "☕"],
    [[1, 2, 0], [1, 1, 2], [2, 2, 2]],
    [[0.0, 0.0, -1.5], [0.0, 1 / 3, 0.0], [0.0, 0.0, 0.0]],
    ["[red]日本", "two\nlines", "x" * 99],
)


def rendered(machine: RewardMachine) -> str:
    out = io.StringIO()
    Console(file=out, width=160).print(machine_table(machine))
    return out.getvalue()


def test_coffee_as_text() -> None:
    assert machine_text(COFFEE).splitlines() == [
        "→ before   c      ──▶ holding",
        "           *      ──▶ over",
        "           o      ↺",
        "  holding  o | 1  ──▶ over",
        "           *      ──▶ over",
        "           c      ↺",
        "  over     any    ↺",
    ]
    assert str(COFFEE) == machine_text(COFFEE)


def test_ascii_only() -> None:
    assert machine_text(STRANGE, ascii_only=True).isascii()
    assert machine_text(COFFEE, ascii_only=True).splitlines()[3] == ("  holding  o | 1  --> over")


def test_no_control_character_is_ever_printed() -> None:
    for shown in (machine_text(STRANGE), rendered(STRANGE)):
        assert not any(ord(character) < 32 and character != "\n" for character in shown)
        assert r"\x1b[2J" in shown
        assert r"two\nlines" in shown
        assert "-1.5" in shown


def test_wide_characters_are_aligned() -> None:
    lines = machine_text(STRANGE).splitlines()
    columns = {cells(line.split("↺")[0]) for line in lines if "↺" in line}
    columns |= {cells(line.split("──▶")[0]) for line in lines if "──▶" in line}
    assert len(columns) == 1
    widths = {cells(line) for line in rendered(STRANGE).splitlines()}
    assert len(widths) == 1


def test_many_symbols_wrap() -> None:
    symbols = [f"symbol{at}" for at in range(40)]
    machine = RewardMachine(symbols, [[1] * 39 + [0], [1] * 40], [[1] * 40, [0] * 40])
    drawn = machine_text(machine)
    assert max(map(len, drawn.splitlines())) < 70
    assert all(symbol in drawn for symbol in symbols)
    assert drawn.count("──▶") == 1


def test_a_machine_without_symbols() -> None:
    empty = RewardMachine([], np.zeros((2, 0), dtype=int), np.zeros((2, 0)))
    assert machine_text(empty) == "→ y0\n  y1"


def test_the_table_shows_every_entry_and_no_markup() -> None:
    shown = rendered(COFFEE)
    assert "→ before" in shown
    assert shown.count("over, 1") == 1
    assert shown.count("·") == 5
    assert "[red]日本" in rendered(STRANGE)
