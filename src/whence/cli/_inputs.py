"""What the arguments of verbs stand for."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whence import io as formats
from whence.cli._console import COLUMNS, Output
from whence.errors import ArgumentError, FileError, MachineError, WhenceWarning
from whence.io import binning
from whence.io.columns import Table
from whence.io.rough import plain_cells
from whence.io.tables import ColumnNames, Spoken, world_names
from whence.io.tables import demonstrations as demonstrations_of
from whence.model.coverage import Coverage
from whence.model.demos import Demonstrations
from whence.model.estimation import estimate
from whence.model.expert import BOLTZMANN, Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.prior import Prior, checked_levels
from whence.model.product import in_world
from whence.paper.worlds import BUILT_IN, World

SPOKEN = Spoken(
    {what: f"{option} COLUMN" for what, (option, _) in COLUMNS.items()},
    "--gaps cut",
    "--gaps ignore",
    "--bin COLUMN:N",
)
ADVICE = "name another column with --label COLUMN"
DISCOUNT = 0.95  # if neither the user nor the world gives one
ALPHA = 30.0  # of a simulated expert
INFERENCE_ALPHA = 50.0  # the paper's
LENGTH = 100
EPISODES = 100


class Setting:
    """A world given on the command line, with what is known about it beforehand."""

    def __init__(
        self, mdp: LabeledMDP, built_in: World | None, coverage: Coverage | None = None
    ) -> None:
        self.mdp = mdp
        self.built_in = built_in
        self.coverage = coverage

    @property
    def episodes(self) -> int:
        """The number of episodes, if the user gives none."""
        return self.built_in.episodes if self.built_in else EPISODES

    @property
    def length(self) -> int:
        """The number of steps, if the user gives none."""
        return self.built_in.length if self.built_in else LENGTH

    @property
    def discount(self) -> float:
        """The discount, if the user gives none."""
        return self.built_in.expert.discount if self.built_in else DISCOUNT

    @property
    def alpha(self) -> float:
        """The rationality, if the user gives none."""
        return self.built_in.expert.alpha if self.built_in else ALPHA

    def expert(
        self,
        alpha: float | None,
        discount: float | None,
        lapse: float,
        usual_alpha: float,
        kind: str = BOLTZMANN,
    ) -> Expert:
        """Return the expert that the options describe, with the usual values for the rest."""
        return Expert(
            alpha=usual_alpha if alpha is None else alpha,
            discount=self.discount if discount is None else discount,
            lapse=lapse,
            kind=kind,
        )

    def task(self, given: str | None, option: str) -> RewardMachine:
        """Return the machine that an option names, or the built-in world's task."""
        if given is not None:
            return machine_in(given, self.mdp)
        if self.built_in is None:
            raise ArgumentError(
                f"{option} is missing: a world from a file has no task of its own; "
                f"name a machine with {option} FILE"
            )
        return self.built_in.task


def setting(
    world: str,
    start: str | None = None,
    available: str | None = None,
    table: Mapping[str, Any] | None = None,
) -> Setting:
    """Return the world that an argument names: a built-in one, a file, or a table.

    A table of demonstrations, its columns called as `table` says, stands for the world that is
    estimated from it, with the actions that `available` says.
    """
    if available is not None and not formats.is_table(world):
        raise ArgumentError(
            f"--available {available}: {world} is no log; it says itself which actions states have"
        )
    built_in = coverage = None
    if world in BUILT_IN:
        built_in = BUILT_IN[world](None)
        mdp = built_in.mdp
    elif formats.is_table(world):
        log = _from_table(world, None, table or {}, numbers=False)
        mdp = estimate(log, available=available or "all", advice=ADVICE)
        coverage = log.coverage(mdp)
    else:
        _refuse_unknown(world, "world")
        mdp = LabeledMDP.load(world)
    if start is not None:
        mdp = mdp.with_initial(start_of(mdp, start))
    return Setting(mdp, built_in, coverage)


def demonstrations(path: str, mdp: LabeledMDP, table: Mapping[str, Any]) -> Demonstrations:
    """Return the demonstrations that an argument names; a table's columns are called as said."""
    if formats.is_table(path):
        return _from_table(path, mdp, table)
    return Demonstrations.load(path, mdp)


def check_columns(table: Mapping[str, Any], *paths: str) -> None:
    """Refuse options for the columns of tables where there is no table."""
    if table and not any(formats.is_table(path) for path in paths):
        name = next(iter(table))
        option = COLUMNS[name][0] if name in COLUMNS else f"--{name}"
        raise ArgumentError(
            f"{option} {table[name]}: {' and '.join(paths)} have no columns; name a table, which "
            "ends in .csv, .tsv or .parquet, or leave the option out"
        )


def _from_table(
    path: str, mdp: LabeledMDP | None, table: Mapping[str, Any], numbers: bool = True
) -> Demonstrations:
    said = {name: value for name, value in table.items() if name in ColumnNames._fields}
    boxes = table.get("boxes")
    return demonstrations_of(
        _plain(formats.load_table(path), said, mdp),
        ColumnNames(**said),
        mdp=mdp,
        numbers=numbers,
        gaps=table.get("gaps", "error"),
        bins=[binning.parse(text) for text in table.get("bin", ())],
        boxes=None if boxes is None else binning.read_boxes(formats.load_table(boxes)),
        spoken=SPOKEN,
    )


def _plain(table: Table, said: Mapping[str, str], mdp: LabeledMDP | None) -> Table:
    """Return a table without spaces around names and words for nothing that are no names."""
    known: frozenset[str] = frozenset()
    if mdp is not None:
        known = frozenset((*world_names(mdp, "state"), *mdp.actions, *mdp.alphabet))
    names = {what: said.get(what, what) for what in ColumnNames._fields}
    there = {what: name for what, name in names.items() if name in table.columns}
    return plain_cells(table, there, known)


def warn_estimated(given: Setting, world: str, out: Output) -> None:
    """Say how much of the dynamics is known, if the world is estimated from a log."""
    if given.coverage is not None:
        text = str(given.coverage).replace("\n", "; ")
        out.warn(f"{world}: the dynamics are estimated from this log: {text}")


def machine_in(name: str, mdp: LabeledMDP) -> RewardMachine:
    """Return the machine that an argument names, over the alphabet of a world."""
    try:
        return in_world(machine(name), mdp)
    except MachineError as error:
        raise MachineError(f"{name}: {error}") from None


def machine(name: str) -> RewardMachine:
    """Return the machine that an argument names: a file, a run, or a built-in world's task."""
    if name in BUILT_IN:
        if (Path(name) / "best.json").is_file():
            warnings.warn(
                f"{name}: the task of the built-in world is meant, not the run in the folder of "
                f"that name; for that, write ./{name}",
                WhenceWarning,
                stacklevel=2,
            )
        return BUILT_IN[name](None).task
    if os.path.isdir(name):  # noqa: PTH112 (a name that is too long is simply no folder)
        return RewardMachine.load(Path(name) / "best.json")
    _refuse_unknown(name, "machine")
    return RewardMachine.load(name)


def run_folder(name: str) -> Path | None:
    """Return the folder of a run that an argument for a machine names; None for other machines."""
    return Path(name) if name not in BUILT_IN and Path(name).is_dir() else None


def levels(text: str | None, machines: list[RewardMachine]) -> tuple[float, ...]:
    """Return the reward levels of `--rewards`, or 0 and all that the machines pay."""
    if text is None:
        return (0.0, *sorted({float(r) for m in machines for r in m.rewards.flat} - {0.0}))
    try:
        return checked_levels(tuple(float(part) for part in text.split(",")))
    except ValueError:
        raise ArgumentError(f"--rewards {text}: give numbers, such as 0,1") from None


def prior(p_self: float | None, p_zero: float | None) -> Prior:
    """Return the prior of `--p-self` and `--p-zero`, with the paper's values for the rest."""
    usual = Prior()
    return Prior(
        p_self=usual.p_self if p_self is None else p_self,
        p_zero=usual.p_zero if p_zero is None else p_zero,
    )


def finite(value: float) -> float | None:
    """Return a number for JSON, which has no infinities: None stands for one."""
    return value if math.isfinite(value) else None


def _refuse_unknown(name: str, what: str) -> None:
    if not Path(name).suffix and not os.path.exists(name):  # noqa: PTH110 (as above)
        raise FileError(
            f"{name}: no such file, and no built-in {what}; built in are {', '.join(BUILT_IN)}"
        )


def start_of(mdp: LabeledMDP, text: str) -> int:
    """Return the state that `--start` names: x,y on a grid, a state's name or its number."""
    if mdp.names is not None and text in mdp.names:
        return mdp.names.index(text)
    x, _, y = text.partition(",")
    across, up, state = _whole(x), _whole(y), _whole(text)
    if mdp.grid is not None and across is not None and up is not None:
        return mdp.grid.state(across, up)
    if state is not None and state < mdp.n_states:
        return state
    cure = (
        "give a cell such as 2,1"
        if mdp.grid is not None
        else f"give a state from 0 to {mdp.n_states - 1}, or its name"
    )
    raise ArgumentError(f"--start {text[:40]}: no such state; {cure}")


def _whole(text: str) -> int | None:
    """Return a text as a whole number, or None."""
    said = text.strip()
    return int(said) if said.isdecimal() and len(said) <= 9 else None
