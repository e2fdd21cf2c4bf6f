"""Tables as people have them: all that is wrong with one, and what a repair would make of it.

Nothing is corrected in silence. Each problem says where it is and which repair is suggested;
`examined` returns the table with all of these made, for whoever agrees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from whence.io.clocks import reading
from whence.io.columns import Table
from whence.io.guessing import EPISODE, NEXT, Guess, absent, episodes, ordered
from whence.io.spelling import slips, times
from whence.io.tables import SAID

NAMED = ("episode", "state", "action", "label")
MOSTLY = 0.5  # of all steps: numbers that are more than one apart so often are times
UNKNOWN = "take it as not known whether the task was over"
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
        times: whether its steps are times, between which nothing is missing.
    """

    plain: Table
    repaired: Table
    problems: tuple[Problem, ...]
    times: bool = False


class _Steps(NamedTuple):
    """When the rows of a table were.

    Attributes:
        numbers: of each row, its step, or None where it says none.
        episodes: of each row, the name of its episode.
        order: the rows by episode and step.
        gaps: what to do about a missing step: error, cut or ignore.
    """

    numbers: list[int | float | None]
    episodes: list[str]
    order: list[int]
    gaps: str


def examined(guess: Guess, *, spelling: bool = True, gaps: str | None = None) -> Examined:
    """Look through a table whose columns are known.

    Args:
        guess: the table, and which column is which.
        spelling: whether names may be misspelled.
        gaps: error, cut or ignore, as of `Demonstrations.from_table`; None decides by what the
            steps are: numbers that are mostly more than one apart are times.
    """
    names = guess.names
    plain = _plain(guess.table, names)
    problems = [
        Problem(each.row, f"{each.text}{_more(each.others)}.", each.repair)
        for each in guess.table.faults
    ]
    spelled, slipped = _spelled(plain, names) if spelling else (plain, [])
    stepped, numbers, counts, wrong = _stepped(spelled, names)
    steps = _Steps(numbers, episodes(stepped, names), ordered(stepped, names), gaps or "error")
    times = counts and gaps is None and _mostly_apart(steps)
    if times or not counts:
        steps = steps._replace(gaps="ignore")
    kept, broken = _whole(stepped, names, steps)
    labelled, more = _labelled(_rows(stepped, kept), names)
    ended, odd = _ended(labelled, names)
    more = [replace(each, row=kept[each.row]) for each in [*more, *odd]]
    every = sorted([*problems, *slipped, *wrong, *broken, *more], key=attrgetter("row"))
    return Examined(plain, ended, tuple(every), times)


def plain_cells(
    table: Table, names: Mapping[str, str], known: frozenset[str] = frozenset()
) -> Table:
    """Return a table whose columns that matter have neither spaces around nor words for nothing.

    Args:
        table: the cells.
        names: the columns that matter, by what they hold.
        known: names that stay as they are, whatever they look like.
    """

    def plain(cell: object) -> str:
        if cell in known:
            return str(cell)
        return "" if absent(cell) else _text(cell)

    columns = {name: [plain(cell) for cell in table.cells(name)] for name in names.values()}
    return replace(table, columns={**table.columns, **columns})


def _plain(table: Table, names: Mapping[str, str]) -> Table:
    """Return the columns that matter alone, as texts; what says that there is nothing is empty."""
    found = plain_cells(table, names).columns
    return replace(table, columns={name: found[name] for name in names.values()}, faults=())


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


def _ended(table: Table, names: Mapping[str, str]) -> tuple[Table, list[Problem]]:
    """Return the table without words on endings that cannot be used, and these."""
    if "ended" not in names:
        return table, []
    name = names["ended"]
    cells = list(table.columns[name])
    problems = []
    for row, cell in enumerate(cells):
        if cell and cell.lower() not in SAID:
            text = f"{table.place(row, name)}: `{cell}` is not true or false."
            problems.append(Problem(row, text, UNKNOWN))
            cells[row] = ""
    cells, lacking = _led_nowhere(_with(table, name, cells), names)
    return _with(table, name, cells), [*_first_few(problems), *lacking]


def _led_nowhere(table: Table, names: Mapping[str, str]) -> tuple[list[str], list[Problem]]:
    """Return what is said of endings, but where the last state is missing, and that in words."""
    name, own = names["ended"], episodes(table, names)
    cells, acted = list(table.columns[name]), table.columns[names["action"]]
    last = {own[row]: row for row in ordered(table, names)}
    lacking = [row for row in last.values() if acted[row] and SAID.get(cells[row].lower())]
    if not lacking:
        return cells, []
    row, gone = min(lacking), {own[row] for row in lacking}
    text = (
        f"{table.place(row, name)}: the task was over after this row's action, and the state that "
        f"it led to is missing; add a row for it, without an action{_more(len(lacking) - 1)}."
    )
    kept = ["" if each in gone else cell for each, cell in zip(own, cells, strict=True)]
    return kept, [Problem(row, text, UNKNOWN)]


def _stepped(
    table: Table, names: Mapping[str, str]
) -> tuple[Table, list[int | float | None], bool, list[Problem]]:
    """Return the table, each row's step or None, whether they count, and cells that are none."""
    if "step" not in names:
        return table, list(range(len(table.rows))), False, []
    name = names["step"]
    cells = list(table.columns[name])
    kinds = [text for text in dict.fromkeys(cells) if text]
    found = reading(kinds, commas=table.commas)
    known = dict(zip(kinds, found.values, strict=True))
    numbers = [known.get(cell) for cell in cells]
    own = episodes(table, names)
    problems: list[Problem] = []
    for row, now in enumerate(numbers):
        if now is not None or not own[row]:  # a row without an episode is left out
            continue
        between = _between(numbers, own, row) if found.counts else None
        wanted = found.wanted.partition(":")[0].partition(";")[0]
        shown = f"`{cells[row]}` is not {wanted}" if cells[row] else "empty; every row has a step"
        if between is not None:
            numbers[row] = between
            cells[row] = str(between)
            repair = f"read {between}, which is between the rows around it"
        else:
            repair = "leave the row out, and cut its episode there"
        problems.append(Problem(row, f"{table.place(row, name)}: {shown}.", repair))
    return _with(table, name, cells), numbers, found.counts, _first_few(problems)


def _between(numbers: list[int | float | None], own: list[str], row: int) -> int | None:
    """Return the step that is missing between the rows before and after one, if it is one."""
    if not 0 < row < len(numbers) - 1 or not own[row - 1] == own[row] == own[row + 1]:
        return None
    before, after = numbers[row - 1], numbers[row + 1]
    if before is None or after is None or after != before + 2:
        return None
    return int(before) + 1


def _mostly_apart(steps: _Steps) -> bool:
    """Whether most rows of an episode are more than one step after the row before."""
    pairs = [
        (steps.numbers[row], steps.numbers[after])
        for row, after in pairwise(steps.order)
        if steps.episodes[row] == steps.episodes[after]
    ]
    apart = [b - a > 1 for a, b in pairs if a is not None and b is not None]
    return sum(apart) > MOSTLY * len(apart)


def _more(others: int) -> str:
    return f" ({others} more like this)" if others else ""


def _first_few(problems: list[Problem], most: int = 3) -> list[Problem]:
    """Return the first problems of one kind; the last one shown says how many more there are."""
    if len(problems) <= most:
        return problems
    last = problems[most - 1]
    more = replace(last, text=last.text + _more(len(problems) - most))
    return [*problems[: most - 1], more]


def _whole(
    table: Table, names: Mapping[str, str], steps: _Steps
) -> tuple[list[int], list[Problem]]:
    """Return the rows that are left once each episode ends before its first fault, in order."""
    found: dict[str, list[Problem]] = {}
    kept: list[int] = []
    own, order = steps.episodes, steps.order
    cut: str | None = None
    last: int | None = None
    for place, row in enumerate(order):
        if not own[row]:
            _note(found, "episode", _empty(table, row, names["episode"], "episode"))
            continue
        if last is not None and own[last] != own[row]:
            cut, last = None, None
        goes_on = place + 1 < len(order) and own[order[place + 1]] == own[row]
        if cut == own[row]:
            continue
        kind, problem, repeated = _fault(table, names, steps, row, last, goes_on)
        if problem is not None:
            _note(found, kind, problem)
        if kind == "":
            kept.append(row)
            last = row
        elif not repeated:
            cut = own[row]
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
    steps: _Steps,
    row: int,
    last: int | None,
    goes_on: bool,
) -> tuple[str, Problem | None, bool]:
    """Return what is wrong with a row: its kind, or nothing; the problem; whether it repeats."""
    step = steps.numbers[row]
    if step is None:
        return "step", None, False  # said already
    before = None if last is None or "step" not in names else steps.numbers[last]
    if before is not None and last is not None:
        if step == before:
            return _again(table, names, row, last)
        if steps.gaps != "ignore" and step > before + 1:
            text = (
                f"{table.source}, {table.word} {table.rows[row]}: step {before + 1} of episode "
                f"`{steps.episodes[row]}` is missing."
            )
            problem = Problem(row, text, "keep what is before it")
            return "gap", problem if steps.gaps == "error" else None, False
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
