"""Which column of a table is which, where nobody says: by their names, else by what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from whence.errors import DemonstrationsError
from whence.io.columns import Table

WORDS = {
    "episode": "episode ep trial session run trajectory traj game bout visit id",
    "step": "step t time timestep index tick order frame sample nr no number",
    "state": "state place position location where cell room node zone site arm page at from",
    "action": "action choice move decision act response command did turn went next to",
    "label": "label event cue symbol stimulus sign seen read object observation landmark what",
    "ended": "ended end done terminated terminal finished over success",
}  # what people call them, the likelier names first
ABSENT = frozenset(("", "na", "n/a", "nan", "null", "none", "-", "?", ".", "missing"))
WHOLE = re.compile(r"-?[0-9]{1,18}(\.0+)?", re.ASCII)
EPISODE, NEXT = "(episode)", "(next state)"
SHOWN = 12
FEW, OFTEN = 20, 0.2  # a column of labels has few values, and often none


@dataclass(frozen=True, eq=False)
class Guess:
    """Which column is which.

    Attributes:
        table: with columns that were made where there were none.
        names: the column of each kind, by what it holds; some may be missing.
        said: what was guessed, in words.
        made_actions: whether the state that follows stands for the action.
    """

    table: Table
    names: Mapping[str, str]
    said: tuple[str, ...]
    made_actions: bool = False


def absent(value: object) -> bool:
    """Return whether a cell says that there is nothing: empty, NA, ?, and the like."""
    return value is None or value != value or str(value).strip().casefold() in ABSENT


def guessed(table: Table, given: Mapping[str, str]) -> Guess:
    """Return which column is which.

    Args:
        table: the cells.
        given: what was said, by what a column holds; it is not doubted.
    """
    names = dict(given)
    _check(table, names)
    for what, name in _by_name(table, names):
        names[what] = name
    if "label" not in names and (label := _label_like(table, names)) is not None:
        names["label"] = label
    _refuse(table, names)
    new = [what for what in WORDS if what in names and what not in given]
    said = [_told(table, what, names[what]) for what in new]
    guess = Guess(table, names, tuple(said))
    if "episode" not in names:
        guess = _with_episodes(guess)
    if "action" not in names:
        guess = _with_actions(guess)
    return guess


def _by_name(table: Table, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the columns that names tell: whole names first, then single words of them."""
    taken = set(names.values())
    left = [what for what in WORDS if what not in names]
    for parts in (_whole, _split):
        for what in list(left):
            words = WORDS[what].split()
            found = [
                (words.index(word), place, name)
                for place, name in enumerate(table.columns)
                if name not in taken
                for word in parts(name)
                if word in words and _fits(what, table, name)
            ]
            if found:
                name = min(found)[2]
                taken.add(name)
                left.remove(what)
                yield what, name


def _whole(name: str) -> list[str]:
    return [re.sub(r"[\W_]", "", name).casefold()]


def _split(name: str) -> list[str]:
    return [part.casefold() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]


def _fits(what: str, table: Table, name: str) -> bool:
    """Return whether a column can hold what its name says: steps are whole numbers."""
    if what != "step":
        return True
    cells = [cell for cell in table.columns[name] if not absent(cell)]
    whole = sum(WHOLE.fullmatch(str(cell).strip()) is not None for cell in cells)
    return bool(cells) and whole >= 0.9 * len(cells)


def _label_like(table: Table, names: Mapping[str, str]) -> str | None:
    """Return a further column that has few values and is often empty, if there is one."""
    for name, cells in table.columns.items():
        if name in names.values() or not len(cells):
            continue
        there = [str(cell).strip() for cell in cells if not absent(cell)]
        few = 0 < len(set(there)) <= FEW
        if few and len(there) <= (1 - OFTEN) * len(cells):
            return name
    return None


def _check(table: Table, names: Mapping[str, str]) -> None:
    """Refuse names of columns that the table does not have."""
    columns = ", ".join(repr(name) for name in list(table.columns)[:SHOWN])
    faults = [
        f"{table.source}: no column {name!r} for the {what}; the columns are {columns}"
        for what, name in names.items()
        if name not in table.columns
    ]
    if faults:
        raise DemonstrationsError.of(faults)


def _refuse(table: Table, names: Mapping[str, str]) -> None:
    """Refuse a table in which no states or no labels can be seen."""
    columns = ", ".join(repr(name) for name in list(table.columns)[:SHOWN])
    faults = []
    if "state" not in names:
        faults.append(
            f"{table.source}: no column looks like states; the columns are {columns}: name the "
            "one that says where the expert was with --state COLUMN"
        )
    if "label" not in names:
        own = names.get("state", "COLUMN")
        faults.append(
            f"{table.source}: no column looks like labels; name the one that says what is special "
            f"about a state with --label COLUMN, or let the states be their own: --label {own!r}"
        )
    if faults:
        raise DemonstrationsError.of(faults)


def _told(table: Table, what: str, name: str) -> str:
    cells = [str(cell).strip() for cell in table.columns[name] if not absent(cell)]
    kinds = list(dict.fromkeys(cells))
    if what == "step":
        return f"steps are {name!r}"
    some = ", ".join(kinds[:3]) + (", ..." if len(kinds) > 3 else "")
    called = {"ended": "whether the task was over is"}.get(what, f"{what}s are")
    return f"{called} {name!r} ({len(kinds)} of them: {some})" if kinds else f"{called} {name!r}"


def _with_episodes(guess: Guess) -> Guess:
    """Number episodes: a new one begins where steps begin again."""
    table, step = guess.table, guess.names.get("step")
    numbers: list[str] = []
    episode, last = 1, None
    for row in range(len(table.rows)):
        cell = "" if step is None else str(table.columns[step][row]).strip()
        now = int(float(cell)) if WHOLE.fullmatch(cell) else None
        if now is not None:
            episode += last is not None and now < last
            last = now
        numbers.append(str(episode))
    text = (
        "no column looks like episodes: all rows are one"
        if step is None
        else f"no column looks like episodes: {episode} begin where {step!r} begins again"
    )
    return replace(
        guess,
        table=replace(table, columns={**table.columns, EPISODE: numbers}),
        names={**guess.names, "episode": EPISODE},
        said=(*guess.said, text),
    )


def _with_actions(guess: Guess) -> Guess:
    """Take the state that follows for the action."""
    table, names = guess.table, guess.names
    order = ordered(table, names)
    state, episode = table.columns[names["state"]], table.columns[names["episode"]]
    follows: list[str] = [""] * len(table.rows)
    for row, after in pairwise(order):
        if str(episode[row]).strip() == str(episode[after]).strip():
            follows[row] = "" if absent(state[after]) else str(state[after]).strip()
    return replace(
        guess,
        table=replace(table, columns={**table.columns, NEXT: follows}),
        names={**names, "action": NEXT},
        said=(*guess.said, "no column looks like actions: going to the next state is one"),
        made_actions=True,
    )


def ordered(table: Table, names: Mapping[str, str]) -> list[int]:
    """Return the rows by episode and step; those without a step stay where they stand."""
    first: dict[str, int] = {}
    keys = []
    for row in range(len(table.rows)):
        episode = str(table.columns[names["episode"]][row]).strip()
        cell = str(table.columns[names["step"]][row]).strip() if "step" in names else ""
        step = int(float(cell)) if WHOLE.fullmatch(cell) else row
        keys.append((first.setdefault(episode, row), step if "step" in names else row, row))
    return [row for _, _, row in sorted(keys)]
