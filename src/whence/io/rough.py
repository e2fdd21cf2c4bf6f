"""Tables as people have them: all that is wrong with one, and what a repair would make of it.

Nothing is corrected in silence. Each problem says where it is and which repair is suggested;
`examined` returns the table with all of these made, for whoever agrees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from whence.io.columns import Table
from whence.io.guessing import EPISODE, NEXT, WHOLE, Guess, absent, ordered
from whence.io.spelling import slips, times

NAMED = ("episode", "state", "action", "label")
MINOR = 0.1  # of a state's rows: a label that stands less often is taken for a mistake


@dataclass(frozen=True)
class Problem:
    """Something wrong with a table.

    Attributes:
        row: the first that it concerns.
        text: where and what it is.
        repair: what would be done about it; empty where only the user can tell.
        doubtful: whether it may be no mistake at all.
    """

    row: int
    text: str
    repair: str = ""
    doubtful: bool = False

    def __str__(self) -> str:
        return self.text + (f" Repair: {self.repair}." if self.repair else "")


@dataclass(frozen=True, eq=False)
class Examined:
    """A table that was looked through.

    Attributes:
        plain: the table with spaces and words for nothing taken out of its cells.
        repaired: the same with every suggested repair made.
        problems: what is wrong, in the order of the rows.
    """

    plain: Table
    repaired: Table
    problems: tuple[Problem, ...]


def examined(guess: Guess, *, spelling: bool = True) -> Examined:
    """Look through a table whose columns are known.

    Args:
        guess: the table, and which column is which.
        spelling: whether names may be misspelled.
    """
    names = guess.names
    plain = _plain(guess.table, names)
    spelled, problems = _spelled(plain, names) if spelling else (plain, [])
    stepped, numbers, wrong = _stepped(spelled, names)
    kept, broken = _whole(stepped, names, numbers)
    labelled, more = _labelled(_rows(stepped, kept), names)
    more = [replace(each, row=kept[each.row]) for each in more]
    every = sorted([*problems, *wrong, *broken, *more], key=attrgetter("row"))
    return Examined(plain, labelled, tuple(every))


def _plain(table: Table, names: Mapping[str, str]) -> Table:
    """Return the columns that matter, as texts; what says that there is nothing is empty."""
    columns = {
        names[what]: ["" if absent(cell) else _text(cell) for cell in table.columns[names[what]]]
        for what in names
    }
    return replace(table, columns=columns)


def _text(cell: object) -> str:
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return str(cell).strip()


def _rows(table: Table, kept: Sequence[int]) -> Table:
    """Return some rows of a table."""
    columns = {name: [cells[row] for row in kept] for name, cells in table.columns.items()}
    return replace(table, columns=columns, rows=table.rows[np.array(kept, dtype=np.int64)])


def _with(table: Table, name: str, cells: Sequence[str]) -> Table:
    return replace(table, columns={**table.columns, name: list(cells)})


def _spelled(table: Table, names: Mapping[str, str]) -> tuple[Table, list[Problem]]:
    """Return the table with names that look misspelled replaced, and questions about them."""
    problems: list[Problem] = []
    fixed = table
    for what in NAMED:
        name = names.get(what)
        if name in (None, NEXT, EPISODE):
            continue
        cells = table.columns[name]
        meant = {}
        for slip in slips(Counter(cell for cell in cells if cell)):
            meant[slip.name] = slip.meant
            row = cells.index(slip.name)
            text = f"{table.place(row, name)}: {slip.question}"
            problems.append(Problem(row, text, f"read it as `{slip.meant}`", doubtful=True))
        fixed = _with(fixed, name, [meant.get(cell, cell) for cell in cells])
        if what == "state" and names.get("action") == NEXT:
            following = [meant.get(cell, cell) for cell in table.columns[NEXT]]
            fixed = _with(fixed, NEXT, following)
    return fixed, problems


def _labelled(table: Table, names: Mapping[str, str]) -> tuple[Table, list[Problem]]:
    """Return the table with one label for each state, and where that was not so."""
    states, labels = table.columns[names["state"]], list(table.columns[names["label"]])
    if names["state"] == names["label"]:
        return table, []
    seen: dict[str, Counter[str]] = {}
    for state, label in zip(states, labels, strict=True):
        if state:
            seen.setdefault(state, Counter())[label] += 1
    problems, usual = [], {}
    for state, counts in seen.items():
        if len(counts) > 1:
            (top, often), *others = counts.most_common()
            usual[state] = top
            row = next(
                at
                for at, (place, label) in enumerate(zip(states, labels, strict=True))
                if place == state and label == others[0][0]
            )
            rare = sum(count for _, count in others)
            problems.append(_unlike(table, names, row, state, counts, rare <= MINOR * often))
    for row, state in enumerate(states):
        if state in usual:
            labels[row] = usual[state]
    return _with(table, names["label"], labels), problems


def _unlike(
    table: Table, names: Mapping[str, str], row: int, state: str, counts: Counter[str], minor: bool
) -> Problem:
    said = " and ".join(
        f"{f'`{label}`' if label else 'no label'} {times(count)}"
        for label, count in counts.most_common(3)
    )
    text = f"{table.place(row, names['label'])}: state `{state}` has {said}; a state has one label"
    if minor:
        top = counts.most_common(1)[0][0]
        return Problem(row, text + ".", f"read {f'`{top}`' if top else 'no label'} there always")
    return Problem(
        row, text + ": write what differs into the state's name, such as `arm 3, lit`, too."
    )


def _stepped(
    table: Table, names: Mapping[str, str]
) -> tuple[Table, list[int | None], list[Problem]]:
    """Return the table, the step of each row or None, and cells that are no steps."""
    if "step" not in names:
        return table, list(range(len(table.rows))), []
    name = names["step"]
    cells = list(table.columns[name])
    episodes = table.columns[names["episode"]]
    numbers = [int(float(cell)) if WHOLE.fullmatch(cell) else None for cell in cells]
    problems: list[Problem] = []
    for row, number in enumerate(list(numbers)):
        if number is not None:
            continue
        before = numbers[row - 1] if row and episodes[row - 1] == episodes[row] else None
        after = None
        if row + 1 < len(numbers) and episodes[row + 1] == episodes[row]:
            after = numbers[row + 1]
        shown = f"`{cells[row]}` is not a step" if cells[row] else "empty; every row has a step"
        place = table.place(row, name)
        if before is not None and after == before + 2:
            numbers[row] = before + 1
            cells[row] = str(before + 1)
            repair = f"read {before + 1}, which is between the rows around it"
        else:
            repair = "leave the row out, and cut its episode there"
        problems.append(Problem(row, f"{place}: {shown}.", repair))
    return _with(table, name, cells), numbers, _first_few(problems)


def _first_few(problems: list[Problem], most: int = 3) -> list[Problem]:
    """Return the first problems of one kind; the last one shown says how many more there are."""
    if len(problems) <= most:
        return problems
    more = f" ({len(problems) - most} more like this)"
    last = problems[most - 1]
    return [*problems[: most - 1], replace(last, text=last.text + more)]


def _whole(
    table: Table, names: Mapping[str, str], numbers: list[int | None]
) -> tuple[list[int], list[Problem]]:
    """Return the rows that are left once each episode ends before its first fault, in order."""
    found: dict[str, list[Problem]] = {}
    kept: list[int] = []
    episodes = table.columns[names["episode"]]
    cut: str | None = None
    last: int | None = None
    order = ordered(table, names)
    for place, row in enumerate(order):
        if not episodes[row]:
            _note(found, "episode", _empty(table, row, names["episode"], "episode"))
            continue
        if last is not None and episodes[last] != episodes[row]:
            cut, last = None, None
        goes_on = place + 1 < len(order) and episodes[order[place + 1]] == episodes[row]
        if cut == episodes[row]:
            continue
        kind, problem, repeated = _fault(table, names, numbers, row, last, goes_on)
        if problem is not None:
            _note(found, kind, problem)
        if kind == "":
            kept.append(row)
            last = row
        elif not repeated:
            cut = episodes[row]
            last = row if last is None else last
    return sorted(kept), [each for several in found.values() for each in _first_few(several)]


def _note(found: dict[str, list[Problem]], kind: str, problem: Problem) -> None:
    found.setdefault(kind, []).append(problem)


def _empty(table: Table, row: int, name: str, what: str) -> Problem:
    repair = "leave the row out" if what == "episode" else "cut its episode there"
    return Problem(row, f"{table.place(row, name)}: empty; every row names its {what}.", repair)


def _fault(
    table: Table,
    names: Mapping[str, str],
    numbers: list[int | None],
    row: int,
    last: int | None,
    goes_on: bool,
) -> tuple[str, Problem | None, bool]:
    """Return what is wrong with a row: its kind, or nothing; the problem; whether it repeats."""
    if numbers[row] is None:
        return "step", None, False  # said already
    if last is not None and "step" in names:
        step, before = numbers[row], numbers[last]
        assert step is not None
        if step == before:
            return _again(table, names, row, last)
        if before is not None and step > before + 1:
            text = (
                f"{table.source}, {table.word} {table.rows[row]}: step {before + 1} of episode "
                f"`{table.columns[names['episode']][row]}` is missing."
            )
            return "gap", Problem(row, text, "keep what is before it"), False
    if not table.columns[names["state"]][row]:
        return "state", _empty(table, row, names["state"], "state"), False
    if goes_on and names["action"] != NEXT and not table.columns[names["action"]][row]:
        place = table.place(row, names["action"])
        text = f"{place}: empty, but its episode goes on; only its last row may have no action."
        return "action", Problem(row, text, "cut its episode there"), False
    return "", None, False


def _again(
    table: Table, names: Mapping[str, str], row: int, last: int
) -> tuple[str, Problem | None, bool]:
    """Return what to think of a row that has the step of the one before."""
    for what in ("state", "action", "label"):
        cells = table.columns[names[what]]
        if cells[row] != cells[last] and names[what] != NEXT:
            text = (
                f"{table.source}, {table.word}s {table.rows[last]} and {table.rows[row]}, column "
                f"{names[what]!r}: `{cells[last]}` and `{cells[row]}` in the same step of an "
                "episode."
            )
            return "repeat", Problem(row, text, "keep the first"), True
    return "same", None, True
