"""Demonstrations from the rows of a table: one row per state, with the action taken in it.

Columns hold the episode, the step, the state, the action taken there, the state's label, whether
the episode ended there because the task was over, and who acted.
Rows may come in any order if there are steps; an episode's last row may leave the action out.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from whence._arrays import BLANK, Bools, Ints, frozen_own, offsets_of
from whence.errors import ArgumentError, WhenceWarning
from whence.io import clocks
from whence.io.binning import LABEL, STATE, Bin, Box, binned
from whence.io.columns import Coded, Faults, Table, by_subject, coded, labelled
from whence.model.demos import Demonstrations, TableRows
from whence.model.episodes import UNKNOWN
from whence.model.mdp import LabeledMDP

WHOLE = re.compile(r"(0|[1-9][0-9]*)(\.0+)?", re.ASCII)
LARGEST = 2**31 - 1
GAPS = ("error", "cut", "ignore")
SHOWN = 8
SAID = {"true": 1, "1": 1, "yes": 1, "false": 0, "0": 0, "no": 0}  # whether an episode ended


class ColumnNames(NamedTuple):
    """What the columns are called; None stands for the usual name, if there is such a column."""

    episode: str = "episode"
    step: str | None = None
    state: str = "state"
    action: str = "action"
    label: str | None = None
    ended: str | None = None
    subject: str | None = None


class Spoken(NamedTuple):
    """How messages name what to set.

    Attributes:
        options: of each column, by what it holds.
        cut: keeps what is before a gap.
        ignore: says that there are no gaps.
        bins: cuts columns of numbers into states.
    """

    options: dict[str, str]
    cut: str
    ignore: str
    bins: str


COLUMNS = ("episode", "step", "state", "action", "label", "ended", "subject")
IN_PYTHON = Spoken(
    {what: f"{what}=..." for what in COLUMNS}, 'gaps="cut"', 'gaps="ignore"', "bins"
)


class _Rows(NamedTuple):
    """The columns that matter, all of the same length."""

    episode: Coded
    state: Coded
    action: Coded
    label: Coded | None
    step: Ints | None
    number: Ints
    ended: Coded | None
    clock: Coded | None
    subject: Coded | None
    counts: bool

    def at(self, rows: Ints | Bools) -> _Rows:
        return _Rows(
            self.episode.at(rows),
            self.state.at(rows),
            self.action.at(rows),
            None if self.label is None else self.label.at(rows),
            None if self.step is None else self.step[rows],
            self.number[rows],
            None if self.ended is None else self.ended.at(rows),
            None if self.clock is None else self.clock.at(rows),
            None if self.subject is None else self.subject.at(rows),
            self.counts,
        )


def demonstrations(
    table: Table,
    names: ColumnNames,
    *,
    mdp: LabeledMDP | None = None,
    numbers: bool = True,
    gaps: str = "error",
    bins: Sequence[Bin] = (),
    boxes: Sequence[Box] | None = None,
    spoken: Spoken = IN_PYTHON,
) -> Demonstrations:
    """Return the episodes of a table; see `Demonstrations.from_table`.

    What is wrong is told all at once, the first of each kind, as `spoken` names arguments.
    """
    if gaps not in GAPS:
        raise ArgumentError(f"gaps is {gaps!r}; choose one of {', '.join(GAPS)}")
    faults = Faults()
    for each in table.faults:
        faults.add(each.row, each.text, each.others)
    table, names = _with_bins(table, names, bins, boxes, faults, spoken)
    rows = _ordered(_columns(table, names, faults, spoken))
    rows = _without_repeats(table, rows, faults)
    rows = _without_gaps(table, rows, gaps, faults, spoken)
    last = np.append(np.diff(rows.episode.codes) != 0, True)[: len(rows.number)]
    _check_actions(table, rows, last, faults)
    states, state_names = _numbered(table, rows, "state", mdp, numbers, faults)
    actions, action_names = _numbered(table, rows, "action", mdp, numbers, faults)
    ended = _endings(table, rows, last, faults)
    faults.raise_any()
    acted = rows.action.codes >= 0
    names_of = rows.episode.values
    alphabet, labels = labelled(rows.label)
    result = Demonstrations.from_flat(
        states,
        offsets_of(np.bincount(rows.episode.codes, minlength=len(names_of))),
        actions[acted],
        offsets_of(np.bincount(rows.episode.codes[acted], minlength=len(names_of))),
        alphabet=alphabet,
        labels=labels,
        ended=ended,
        subjects=_subjects(rows, last),
        source=table.source,
    )
    origin = TableRows(names_of, frozen_own(table.rows[rows.number]), table.word)
    return replace(result, table=origin, state_names=state_names, action_names=action_names)


def _with_bins(
    table: Table,
    names: ColumnNames,
    bins: Sequence[Bin],
    boxes: Sequence[Box] | None,
    faults: Faults,
    spoken: Spoken,
) -> tuple[Table, ColumnNames]:
    """Return the table with its states binned and its labels by boxes, where that is asked."""
    if not bins:
        if boxes is not None:
            raise ArgumentError(f"boxes label binned states; say what to bin with {spoken.bins}")
        return table, names
    found = binned(table, bins, boxes, faults, spoken.bins)
    names = names._replace(state=STATE)
    return found, names if boxes is None else names._replace(label=LABEL)


def _subjects(rows: _Rows, last: Bools) -> list[str | None] | None:
    """Return who acted in each episode."""
    if rows.subject is None or not len(rows.subject.values):
        return None
    names = (*rows.subject.values, None)
    return [names[code] for code in rows.subject.codes[last].tolist()]


def _columns(table: Table, names: ColumnNames, faults: Faults, spoken: Spoken) -> _Rows:
    """Return the columns that matter; every row must name its episode and its state."""
    found: dict[str, Coded] = {}
    for what, given in names._asdict().items():
        name = what if given is None else given
        if name in table.columns:
            found[what] = coded(name, table.cells(name), table)
        elif given is not None:
            known = ", ".join(repr(column) for column in list(table.columns)[:SHOWN])
            faults.add(
                -1,
                f"{table.source}: no column {name!r} for the {what}; the columns are {known}: "
                f"name the right one with {spoken.options[what]}",
            )
    if not {"episode", "state", "action"} <= set(found) or any(
        given is not None and what not in found for what, given in names._asdict().items()
    ):
        faults.raise_any()
    step, subject = found.get("step"), found.get("subject")
    rows = _Rows(
        found["episode"] if subject is None else by_subject(found["episode"], subject),
        found["state"],
        found["action"],
        found.get("label"),
        None if step is None else np.zeros(len(table.rows), dtype=np.int64),
        np.arange(len(table.rows)),
        found.get("ended"),
        step,
        subject,
        True,
    )
    kept = np.ones(len(table.rows), dtype=np.bool_)
    for what in ("episode", "state"):
        empty = np.flatnonzero(found[what].codes == BLANK)
        kept[empty] = False
        if len(empty) and found[what].name != STATE:  # of binned states all has been said
            first = int(empty[0])
            place = table.place(first, found[what].name)
            faults.add(first, f"{place}: empty; every row names its {what}", len(empty) - 1)
    if step is not None:
        clock = clocks.read(table, step, faults)
        kept &= ~clock.wrong
        rows = rows._replace(step=clock.order, counts=clock.counts)
    faults.spoil(rows.episode.codes[~kept])
    return rows.at(kept)


def _ordered(rows: _Rows) -> _Rows:
    """Return the rows by episode, in order of appearance, and by step within each."""
    codes = rows.episode.codes
    if rows.step is None:
        return rows.at(np.argsort(codes, kind="stable"))
    return rows.at(np.lexsort((rows.number, rows.step, codes)))


def _without_repeats(table: Table, rows: _Rows, faults: Faults) -> _Rows:
    """Leave out rows that repeat another; refuse those that contradict each other."""
    if rows.step is None:
        return rows
    again = (np.diff(rows.episode.codes) == 0) & (np.diff(rows.step) == 0)
    repeated = np.flatnonzero(again) + 1
    if not len(repeated):
        return rows
    for part in (rows.state, rows.action, rows.label):
        if part is None:
            continue
        differs = part.codes[repeated] != part.codes[repeated - 1]
        differs &= faults.sound(rows.episode.codes[repeated])
        if differs.any():
            second = int(repeated[np.argmax(differs)])
            one, two = (table.rows[rows.number[i]] for i in (second - 1, second))
            faults.add(
                int(rows.number[second]),
                f"{table.source}, {table.word}s {one} and {two}, column {part.name!r}: "
                f"{_cell(part, second - 1)} and {_cell(part, second)} in the same step "
                f"{_when(rows, second)} of episode {_cell(rows.episode, second)}; keep one",
                int(np.sum(differs)) - 1,
            )
            faults.spoil(rows.episode.codes[repeated[differs]])
    whole = faults.sound(rows.episode.codes[repeated])
    if whole.any():
        warnings.warn(
            f"{table.source}: {int(whole.sum())} rows repeat another row, the first in "
            f"{table.word} {table.rows[rows.number[repeated[np.argmax(whole)]]]}; they are left "
            "out",
            WhenceWarning,
            stacklevel=4,
        )
    kept = np.ones(len(rows.number), dtype=np.bool_)
    kept[repeated] = False
    return rows.at(kept)


def _without_gaps(table: Table, rows: _Rows, gaps: str, faults: Faults, spoken: Spoken) -> _Rows:
    """Refuse episodes that lack a step, or keep what is before it."""
    if rows.step is None or not rows.counts or gaps == "ignore":
        return rows
    same = np.diff(rows.episode.codes) == 0
    behind = np.flatnonzero(same & (np.diff(rows.step) > 1)) + 1
    behind = behind[faults.sound(rows.episode.codes[behind])]
    if not len(behind):
        return rows
    first = int(behind[0])
    if gaps == "error":
        faults.add(
            int(rows.number[first]),
            f"{table.source}, {table.word} {table.rows[rows.number[first]]}: step "
            f"{rows.step[first - 1] + 1} of episode {_cell(rows.episode, first)} is missing; add "
            f"it, keep what is before it with {spoken.cut}, or, if the column is a time, say that "
            f"nothing is missing with {spoken.ignore}",
            len(behind) - 1,
        )
        return rows
    start = np.full(len(rows.episode.values), len(rows.number))
    np.minimum.at(start, rows.episode.codes[behind], behind)
    kept = np.arange(len(rows.number)) < start[rows.episode.codes]
    warnings.warn(
        f"{table.source}: {len(np.unique(rows.episode.codes[behind]))} episodes lack a step; "
        f"{int((~kept).sum())} rows after it are left out, since what was read is not known",
        WhenceWarning,
        stacklevel=4,
    )
    return rows.at(kept)


def _check_actions(table: Table, rows: _Rows, last: Bools, faults: Faults) -> None:
    """Refuse a row without an action that is not its episode's last."""
    empty = np.flatnonzero((rows.action.codes == BLANK) & ~last)
    empty = empty[faults.sound(rows.episode.codes[empty])]
    if len(empty):
        row = int(empty[np.argmin(rows.number[empty])])
        faults.add(
            int(rows.number[row]),
            f"{table.place(int(rows.number[row]), rows.action.name)}: empty, but episode "
            f"{_cell(rows.episode, row)} goes on; only its last row may leave the action out",
            len(empty) - 1,
        )


def _numbered(
    table: Table, rows: _Rows, what: str, mdp: LabeledMDP | None, numbers: bool, faults: Faults
) -> tuple[Ints, tuple[str, ...] | None]:
    """Return the states or actions as numbers, and the names if the column holds names."""
    column: Coded = getattr(rows, what)
    used = np.unique(column.codes[column.codes != BLANK])
    texts = [column.values[code] for code in used.tolist()]
    whole = all(WHOLE.fullmatch(text) for text in texts)
    known = {} if mdp is None else world_names(mdp, what)
    number = np.full(len(column.values) + 1, BLANK, dtype=np.int64)
    if known and all(text in known for text in texts):
        number[used] = [known[text] for text in texts]
        return number[column.codes], tuple(known)
    if whole and (numbers or mdp is not None):
        values = [int(text.partition(".")[0]) for text in texts]
        if max(values, default=0) <= LARGEST:
            number[used] = values
            return number[column.codes], None
    if mdp is not None:
        _note_unknown(table, rows, what, known, faults)
    order = sorted(
        range(len(texts)), key=lambda i: (int(float(texts[i])) if whole else 0, texts[i])
    )
    number[used[order]] = np.arange(len(order))
    return number[column.codes], tuple(texts[i] for i in order)


def world_names(mdp: LabeledMDP, what: str) -> dict[str, int]:
    """Return the numbers of a world's states or actions by name, in order of the numbers."""
    if what == "action":
        return {name: number for number, name in enumerate(mdp.actions)}
    if mdp.names is not None:
        return {name: number for number, name in enumerate(mdp.names)}
    if mdp.grid is not None:
        return {mdp.state_name(state): state for state in range(mdp.n_states)}
    return {}


def _note_unknown(
    table: Table, rows: _Rows, what: str, known: dict[str, int], faults: Faults
) -> None:
    column: Coded = getattr(rows, what)
    strange = np.array([text not in known for text in column.values] + [False])[column.codes]
    first = int(rows.number[strange].min())
    row = int(np.flatnonzero(rows.number == first)[0])
    some = ", ".join(list(known)[:SHOWN]) or "none: give numbers"
    faults.add(
        first,
        f"{table.place(first, column.name)}: the world has no {what} {_cell(column, row)}; its "
        f"names are {some}" + (", ..." if len(known) > SHOWN else ""),
        int(strange.sum()) - 1,
    )


def _when(rows: _Rows, row: int) -> str:
    assert rows.clock is not None
    return rows.clock.values[int(rows.clock.codes[row])]


def _cell(column: Coded, row: int) -> str:
    code = int(column.codes[row])
    return "nothing" if code == BLANK else repr(column.values[code])


def _endings(table: Table, rows: _Rows, last: Bools, faults: Faults) -> Ints | None:
    """Return int8[E]: what each episode's last row says of its end; no other may say true."""
    column = rows.ended
    if column is None or not len(column.values):
        return None
    meaning = np.array([SAID.get(text.lower(), -2) for text in column.values] + [UNKNOWN])
    said = meaning[column.codes]
    wrong = np.flatnonzero((said == -2) | ((said == 1) & ~last))
    if len(wrong):
        row = int(wrong[np.argmin(rows.number[wrong])])
        fault = (
            f"{_cell(column, row)} is not true or false"
            if said[row] == -2
            else f"true, but episode {_cell(rows.episode, row)} goes on"
        )
        faults.add(
            int(rows.number[row]),
            f"{table.place(int(rows.number[row]), column.name)}: {fault}; say in an episode's "
            "last row whether it ended there because the task was over, or leave the cell empty",
            len(wrong) - 1,
        )
    return said[last].astype(np.int8)
