"""Machines and grids as plain text, and machines as tables.

Names and symbols come from files that anyone may have written: control characters are shown as
escapes, so that none reaches the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from whence.drawing import text
from whence.drawing.map import grid_text
from whence.model.machine import RewardMachine

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

__all__ = ["grid_text", "machine_table", "machine_text"]

_NAME, _SYMBOL, _LINE = 30, 24, 36


def machine_text(machine: RewardMachine, *, ascii_only: bool = False) -> str:
    """Return a machine as lines of text, one per arrow; rewards are shown if they are not 0.

    An arrow marks the initial state; `↺` is a loop.

    Args:
        machine: what to draw.
        ascii_only: use no character outside of ASCII.
    """
    names = [_shown(name, _NAME, ascii_only) for name in machine.state_names]
    rows = [_rows(machine, state, names, ascii_only) for state in range(machine.n_states)]
    name_width = max(text.cells(name) for name in names)
    label_width = max((text.cells(label) for row in rows for label, _ in row), default=0)
    mark = ">" if ascii_only else "→"
    lines = []
    for state, row in enumerate(rows):
        for at, (label, arrow) in enumerate(row or [("", "")]):
            name = text.padded("" if at else names[state], name_width)
            shown = text.padded(label, label_width)
            lines.append(f"{' ' if state or at else mark} {name}  {shown}  {arrow}".rstrip())
    return "\n".join(lines)


def _shown(name: str, width: int, ascii_only: bool) -> str:
    if not ascii_only:
        return text.shorten(text.visible(name), width)
    return text.shorten(text.plain(name), width).replace(text.ELLIPSIS, "~")


def _rows(
    machine: RewardMachine, state: int, names: list[str], ascii_only: bool
) -> list[tuple[str, str]]:
    """Return (label, arrow) for each line of a state; loops that pay nothing come last."""
    loop, arrow = ("(stays)", "-->") if ascii_only else ("↺", "──▶")
    rows = []
    groups = text.grouped(machine, state).items()
    for (target, reward), columns in sorted(groups, key=lambda group: group[0] == (state, 0)):
        symbols = [machine.alphabet[column] for column in columns.tolist()]
        if len(symbols) == len(machine.alphabet) > 1:
            symbols = [text.everything(machine)]
        shown = [_shown(symbol, _SYMBOL, ascii_only) for symbol in symbols]
        label = text.label(shown, reward, width=_LINE, lines=99)
        label[-1] = label[-1] if reward else label[-1].removesuffix(" | 0")
        rows += [(line, "") for line in label[:-1]]
        rows.append((label[-1], loop if target == state else f"{arrow} {names[target]}"))
    return rows


def machine_table(machine: RewardMachine) -> Table:
    """Return a machine as a table for `rich`: a row per state, a column per symbol.

    An entry is the next state, and the reward if it is not 0; `·` is a loop that pays 0.
    """
    from rich.table import Table
    from rich.text import Text

    table = Table(header_style="bold")
    table.add_column("")
    for symbol in text.symbol_names(machine.alphabet, _SYMBOL):
        table.add_column(Text(symbol), justify="center")
    for state, name in enumerate(text.symbol_names(machine.state_names, _NAME)):
        head = Text(f"{'  ' if state else '→ '}{name}", style="" if state else "bold")
        table.add_row(head, *_entries(machine, state))
    return table


def _entries(machine: RewardMachine, state: int) -> Iterator[Text]:
    from rich.text import Text

    names = text.symbol_names(machine.state_names, _NAME)
    row = zip(machine.transitions[state].tolist(), machine.rewards[state].tolist(), strict=True)
    for target, reward in row:
        place = "·" if target == state else names[target]
        if reward:
            yield Text(f"{place}, {text.amount(reward)}", style="bold blue")
        else:
            yield Text(place, style="dim" if target == state else "")
