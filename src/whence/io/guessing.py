"""Which column of a table is which, where nobody says: by their names, else by what they hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from whence.errors import DemonstrationsError
from whence.io import clocks
from whence.io.columns import Table, as_number

WORDS = {
    "episode": "episode ep trial session run trajectory traj game bout visit id",
    "subject": "subject animal participant rat mouse monkey person user player who subjectid "
    "animalid participantid ratid mouseid personid userid playerid subjectname animalname",
    "step": "step t time timestep index tick order frame sample seconds sec ms timestamp date "
    "datetime clock nr no number",
    "state": "state place position location where cell room node zone site arm patch "
    "chamber compartment page at from s",
    "action": "action choice move decision act response command did turn went heading "
    "direction key button next to a",
    "label": "label event cue symbol stimulus sign seen read object observation landmark what",
    "ended": "ended end done terminated terminal finished over success",
}  # what people call them, the likelier names first
LETTERS = ("s", "a")  # of a name they say nothing: time_s
ABSENT = frozenset(("", "na", "n/a", "nan", "null", "none", "-", "?", ".", "missing"))
EPISODE, NEXT = "(episode)", "(next state)"
SHOWN = 12
READABLE = 0.9  # of a column of steps
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
    unread = _unread(table, names)
    for what, name in _by_name(table, names):
        names[what] = name
    if "label" not in names and (label := _label_like(table, names)) is not None:
        names["label"] = label
    _refuse(table, names)
    new = [what for what in WORDS if what in names and what not in given]
    said = [_told(table, what, names) for what in new]
    if "step" not in names and unread is not None:
        said.append(unread)
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
            if what == "subject" and parts is _split:  # a rat's weight is not its name
                continue
            words = WORDS[what].split()
            if parts is _split:
                words = [word for word in words if word not in LETTERS]
            found = [
                (words.index(word), place, name)
                for place, name in enumerate(table.columns)
                if name not in taken
                for word in parts(name)
                if word in words and _fits(what, table, name, names, whole=parts is _whole)
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


def _fits(what: str, table: Table, name: str, names: Mapping[str, str], *, whole: bool) -> bool:
    """Return whether a column can hold what its name says: steps are whole numbers.

    Times and dates are steps, too, where the column is called so by its whole name, and where
    they are not the same throughout each episode.
    """
    if what != "step":
        return True
    if not _readable(table, name):
        return False
    when = moments(table, name)
    if all(isinstance(moment, int | None) for moment in when):
        return True
    own = episodes(table, names) if "episode" in names else [""] * len(when)
    return whole and len(set(zip(own, when, strict=True))) > len(set(own))


def _readable(table: Table, name: str) -> bool:
    """Return whether at least nine in ten cells say when something was."""
    cells = [str(cell).strip() for cell in table.columns[name] if not absent(cell)]
    when = moments(table, name)
    return bool(cells) and sum(each is not None for each in when) >= READABLE * len(cells)


def _unread(table: Table, names: Mapping[str, str]) -> str | None:
    """Return a word on a column that is called like steps and says nothing of the kind."""
    for name in table.columns:
        called = _whole(name)[0] in WORDS["step"].split()
        if name in names.values() or not called or _readable(table, name):
            continue
        pairs = zip(table.columns[name], moments(table, name), strict=True)
        odd = [str(cell) for cell, when in pairs if when is None and not absent(cell)]
        if odd and any(character.isdigit() for character in odd[0]):
            return (
                f"{name!r} is not taken for steps, since cells such as {odd[0]!r} are no whole "
                "numbers, times or dates like 2024-05-01T09:30:00: the rows of an episode are "
                "taken in the order in which they stand"
            )
    return None


def moments(table: Table, name: str) -> list[int | float | None]:
    """Return when each row was, as a column says, or None."""
    cells = ["" if absent(cell) else str(cell).strip() for cell in table.columns[name]]
    kinds = [text for text in dict.fromkeys(cells) if text]
    known = dict(zip(kinds, clocks.reading(kinds, commas=table.commas).values, strict=True))
    return [known.get(text) for text in cells]


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
    if not len(table.rows):
        raise DemonstrationsError(f"{table.source}: no rows below the header; add some")
    faults = []
    if "state" not in names:
        faults.append(
            f"{table.source}: no column looks like states; the columns are {columns}: name the "
            f"one that says where the expert was with --state COLUMN{_hint(table, names)}"
        )
    if "label" not in names:
        own = (
            f"let the states be their own: --label {names['state']!r}"
            if "state" in names
            else ("label states that are cut from numbers by a file of boxes: --boxes FILE")
        )
        faults.append(
            f"{table.source}: no column looks like labels; name the one that says what is special "
            f"about a state with --label COLUMN, or {own}"
        )
    if faults:
        raise DemonstrationsError.of(faults)


def _hint(table: Table, names: Mapping[str, str]) -> str:
    """Return what else may be meant by a table without states."""
    if any(as_number(name) is not None for name in table.columns):
        return "; is its first line no header? Then add one that names the columns"
    for name, cells in table.columns.items():
        texts = {str(cell).strip() for cell in cells if not absent(cell)}
        decimals = [as_number(text, commas=table.commas) for text in texts]
        if len(texts) > FEW and None not in decimals and name not in names.values():
            return f", or cut columns of numbers into states with --bin {name}:20"
    return ""


def _told(table: Table, what: str, names: Mapping[str, str]) -> str:
    name = names[what]
    cells = [str(cell).strip() for cell in table.columns[name] if not absent(cell)]
    kinds = list(dict.fromkeys(cells))
    if what == "step":
        return f"steps are {name!r}{_sorted_by(table, names)}"
    some = ", ".join(kinds[:3]) + (", ..." if len(kinds) > 3 else "")
    called = {"ended": "whether the task was over is"}.get(what, f"{what}s are")
    return f"{called} {name!r} ({len(kinds)} of them: {some})" if kinds else f"{called} {name!r}"


def _sorted_by(table: Table, names: Mapping[str, str]) -> str:
    """Return a word on rows that times put into another order than they stand in."""
    when = moments(table, names["step"])
    if "episode" not in names or all(isinstance(moment, int | None) for moment in when):
        return ""
    others = {what: name for what, name in names.items() if what != "step"}
    if ordered(table, names) == ordered(table, others):
        return ""
    return "; the rows of an episode do not stand in this order, and are sorted by it"


def _with_episodes(guess: Guess) -> Guess:
    """Number episodes, of each subject: a new one begins where its steps begin again."""
    table, step = guess.table, guess.names.get("step")
    when = [None] * len(table.rows) if step is None else moments(table, step)
    subject = guess.names.get("subject")
    who = [""] * len(table.rows) if subject is None else table.columns[subject]
    numbers: list[str] = []
    now: dict[str, tuple[int, float]] = {}  # of each subject: its episode, and its last step
    for person, moment in zip(map(str, who), when, strict=True):
        number, last = now.get(person, (1, -math.inf))
        if moment is not None:
            number, last = number + (moment < last), moment
        now[person] = number, last
        numbers.append(str(number))
    many = sum(number for number, _ in now.values())
    begin = f"{many} begin where {step!r} begins again" if step else f"all rows of {subject!r} are"
    text = "all rows are" if step is subject is None else begin
    return replace(
        guess,
        table=replace(table, columns={**table.columns, EPISODE: numbers}),
        names={**guess.names, "episode": EPISODE},
        said=(*guess.said, f"no column looks like episodes: {text}{'' if step else ' one'}"),
    )


def _with_actions(guess: Guess) -> Guess:
    """Take the state that follows for the action."""
    table, names = guess.table, guess.names
    order = ordered(table, names)
    state, episode = table.columns[names["state"]], episodes(table, names)
    follows: list[str] = [""] * len(table.rows)
    for row, after in pairwise(order):
        if episode[row] == episode[after]:
            follows[row] = "" if absent(state[after]) else str(state[after]).strip()
    return replace(
        guess,
        table=replace(table, columns={**table.columns, NEXT: follows}),
        names={**names, "action": NEXT},
        said=(*guess.said, "no column looks like actions: going to the next state is one"),
        made_actions=True,
    )


def episodes(table: Table, names: Mapping[str, str]) -> list[str]:
    """Return the name of each row's episode; those of two subjects are two. Empty: none."""
    cells = table.columns[names["episode"]]
    own = ["" if absent(cell) else str(cell).strip() for cell in cells]
    if "subject" not in names:
        return own
    who = [str(cell).strip() for cell in table.columns[names["subject"]]]
    return [f"{name} of {person}" if name else "" for name, person in zip(own, who, strict=True)]


def ordered(table: Table, names: Mapping[str, str]) -> list[int]:
    """Return the rows by episode and step; those without a step stay where they stand."""
    first: dict[str, int] = {}
    when = moments(table, names["step"]) if "step" in names else [None] * len(table.rows)
    keys = []
    for row, (episode, moment) in enumerate(zip(episodes(table, names), when, strict=True)):
        place = row if moment is None else moment
        keys.append((first.setdefault(episode, row), place, row))
    return [row for _, _, row in sorted(keys)]
