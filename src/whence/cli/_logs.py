"""A table alone: guess its columns, look it through, estimate its world."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from whence import io as formats
from whence.cli._console import Output, typed
from whence.cli._inputs import SPOKEN, Setting, demonstrations, setting, start_of
from whence.errors import DemonstrationsError
from whence.io.columns import Table
from whence.io.guessing import guessed
from whence.io.rough import Examined, Problem, examined
from whence.io.tables import ColumnNames
from whence.io.tables import demonstrations as demonstrations_of
from whence.model.demos import Demonstrations
from whence.model.estimation import likely_available
from whence.model.mdp import LabeledMDP

if TYPE_CHECKING:
    from whence.runs.result import Run

REPORT, MINUTES = "report.html", 2.0
STATES = "1-4"  # of a machine, where nothing else is said about a log


def free_name(log: str) -> str:
    """Return the first name for the folder of a log's run that is not taken."""
    stem = Path(log).stem or "log"
    number, name = 1, f"{stem}-run"
    while Path(name).exists():
        number += 1
        name = f"{stem}-run-{number}"
    return name


def read(
    log: str,
    table: Mapping[str, str],
    out: Output,
    *,
    start: str | None = None,
    available: str | None = None,
    repair: bool = False,
    as_is: bool = False,
) -> tuple[Setting, Demonstrations]:
    """Return the world that a log alone stands for, and its demonstrations.

    Args:
        log: the table's file.
        table: what was said of its columns, and of gaps.
        out: where to say what was guessed and repaired.
        start: where episodes start, in place of where they do in the log.
        available: which actions states have.
        repair: make the suggested repairs.
        as_is: take names as they stand, however much they are alike.
    """
    if table.get("bin") or table.get("boxes"):  # who bins positions has looked at the columns
        given = setting(log, start, available, table)
        return given, demonstrations(log, given.mdp, table)
    said = {name: value for name, value in table.items() if name in ColumnNames._fields}
    guess = guessed(formats.load_table(log), said)
    for text in guess.said:
        out.note(f"{log}: {text}")
    found = examined(guess, spelling=not as_is, gaps=table.get("gaps"))
    if found.times:
        step = guess.names["step"]
        out.note(f"{log}: {step!r} are times, mostly more than one apart (or: --gaps error)")
    demos = demonstrations_of(
        _chosen(found, repair, out),
        ColumnNames(**guess.names),
        numbers=False,
        gaps="ignore" if found.times else table.get("gaps", "error"),
        spoken=SPOKEN,
    )
    kinds = available or ("seen" if guess.made_actions else likely_available(demos))
    if kinds == "seen" and available is None:
        out.note(f"{log}: states have the actions that were taken in them (or: --available all)")
    mdp = LabeledMDP.from_demonstrations(demos, available=kinds)
    coverage = demos.coverage(mdp)
    if start is not None:
        mdp = mdp.with_initial(start_of(mdp, start))
    return Setting(mdp, None, coverage), demos


def _chosen(found: Examined, repair: bool, out: Output) -> Table:
    """Return the table to go on with, or refuse it with all that is wrong."""
    hopeless = [each for each in found.problems if not each.repair]
    if not found.problems:
        return found.plain
    if not repair or hopeless:
        listed = hopeless if repair else found.problems
        cure = _left(found.problems, hopeless) if repair else _cure(found.problems)
        raise DemonstrationsError.of([*map(str, listed), cure])
    for each in found.problems:
        out.note(f"{each.text} Done: {each.repair}.")
    return found.repaired


def _cure(problems: Sequence[Problem]) -> str:
    """Return what to do about problems, as a command where one helps."""
    able = [each for each in problems if each.repair]
    total = f"{len(problems)} problems" if len(problems) > 1 else "one problem"
    if not able:
        return f"{total}: correct the file"
    said = [word for word in typed() if word != "--repair"]
    again = shlex.join([*said, "--repair"])
    text = f"{total}; to make the repairs: {again}"
    if len(able) < len(problems):
        text = f"{total}; correct those without a repair in the file, and then: {again}"
    if any(each.doubtful for each in problems):
        text += "; where names that are alike are different ones: --as-is"
    return text


def _left(problems: Sequence[Problem], hopeless: Sequence[Problem]) -> str:
    """Return what to do about problems that have no repair, where repairs were asked for."""
    able, one = len(problems) - len(hopeless), len(hopeless) == 1
    which = "this has" if one else "these have"
    text = f"{which} no repair: correct {'it' if one else 'them'} in the file"
    if able:
        others = "the other problem" if able == 1 else f"the other {able} problems"
        text += f", and {others} will be repaired by the same command"
    return text


def report_on(run: Run, folder: str, threads: int | None, out: Output) -> str:
    """Write the report into the run's folder; returns its path."""
    from whence.cli._live import loading, watching
    from whence.cli.report import study_of
    from whence.report import write

    path = str(Path(folder) / REPORT)
    out.note(
        "for the report, a machine is inferred once more, from four fifths of the episodes: how "
        f"well does it predict the rest? (at most {MINUTES:g} minutes)"
    )
    with watching(out) as show:
        study = study_of(run, folder, minutes=MINUTES, threads=threads, on_event=show)
    with loading(out, "drawing the report"):
        write(path, study)
    return path
