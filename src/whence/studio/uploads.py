"""Files that people bring: worlds, drawn maps, demonstrations, logs. Each is read or refused."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath

from whence import io as formats
from whence.drawing import text
from whence.errors import DemonstrationsError, FileError, WhenceWarning
from whence.io import demos_jsonl
from whence.io.guessing import guessed
from whence.io.rough import examined
from whence.io.tables import ColumnNames
from whence.io.tables import demonstrations as demonstrations_of
from whence.model.demos import Demonstrations
from whence.model.estimation import estimate, likely_available
from whence.model.mdp import LabeledMDP

WORLD_ENDINGS = (".map", ".json")
DEMO_ENDINGS = (".jsonl",)
EITHER = (".npz",)


@dataclass(frozen=True, eq=False)
class Brought:
    """What a file holds.

    Attributes:
        mdp: a world, or None where it holds demonstrations for the one that is there.
        demos: demonstrations, or None.
        notes: what was guessed and repaired, in words.
    """

    mdp: LabeledMDP | None
    demos: Demonstrations | None
    notes: tuple[str, ...] = ()


def plain_name(name: str) -> str:
    """Return a file's name without folders, whichever system it comes from, fit to be shown."""
    last = PureWindowsPath(PurePosixPath(name).name).name
    return text.shorten(text.visible(last), 80) or "file"


def stem(name: str) -> str:
    """Return a file's name without its ending."""
    return PurePosixPath(plain_name(name)).stem


def read(data: bytes, name: str, mdp: LabeledMDP | None, *, repair: bool = False) -> Brought:
    """Return what a file holds.

    Args:
        data: its content.
        name: its name, whose ending says what it is.
        mdp: the world that demonstrations are for; without one, a table stands for its own.
        repair: make the repairs that are suggested for a table.
    """
    shown = plain_name(name)
    ending = PurePosixPath(shown).suffix.lower()
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always", WhenceWarning)
        found = _read(data, shown, ending, mdp, repair)
    said = tuple(str(each.message) for each in noted)
    return Brought(found.mdp, found.demos, (*found.notes, *said))


def _read(data: bytes, name: str, ending: str, mdp: LabeledMDP | None, repair: bool) -> Brought:
    if formats.is_table(name):
        if mdp is not None:
            table = formats.read_table(data, name)
            return Brought(None, demonstrations_of(table, ColumnNames(), mdp=mdp))
        return _log(data, name, repair)
    if ending in WORLD_ENDINGS or (ending in EITHER and mdp is None):
        return Brought(formats.read_world(data, name), None)
    if ending in DEMO_ENDINGS or ending in EITHER:
        if mdp is None:
            raise FileError(f"{name}: demonstrations need a world; open or draw one first")
        return Brought(None, formats.read_demonstrations(data, name, mdp))
    raise FileError(
        f"{name}: the studio reads worlds (.map, .json, .npz), demonstrations (.jsonl, .npz) and "
        "logs (.csv, .tsv, .parquet, .xlsx)"
    )


def _log(data: bytes, name: str, repair: bool) -> Brought:
    """Return the world that a log stands for, and its demonstrations."""
    guess = guessed(formats.read_table(data, name), {})
    found = examined(guess)
    hopeless = [each for each in found.problems if not each.repair]
    if found.problems and (not repair or hopeless):
        raise DemonstrationsError.of([str(each) for each in found.problems])
    table = found.repaired if found.problems else found.plain
    gaps = "ignore" if found.times else "error"
    demos = demonstrations_of(table, ColumnNames(**guess.names), numbers=False, gaps=gaps)
    kinds = "seen" if guess.made_actions else likely_available(demos)
    done = tuple(f"{each.text} Done: {each.repair}." for each in found.problems)
    return Brought(estimate(demos, available=kinds), demos, (*guess.said, *done))


def lines_of(demos: Demonstrations) -> list[bytes]:
    """Return demonstrations as lines of a project's file, whose world has the names."""
    return demos_jsonl.episode_lines(demos)
