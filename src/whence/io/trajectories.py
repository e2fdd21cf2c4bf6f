"""Demonstrations from trajectories: anything with observations and actions.

A trajectory has `obs`, T + 1 (or T) observations, `acts`, T actions, and optionally `infos`.
Functions say what observations and actions stand for, unless they are whole numbers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from whence import _files as files
from whence.errors import ArgumentError, DemonstrationsError, FormatError, MissingExtraError
from whence.io.columns import Table
from whence.io.tables import ColumnNames, demonstrations
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

Meaning = Callable[[Any], "str | int | None"]
Label = Meaning | str | None


class Record(NamedTuple):
    """One trajectory; `infos` has the info that came with each observation, or None.

    `ended` says whether the environment ended it, as opposed to somebody who stopped; `subject`
    who acted, where that is known.
    """

    obs: Sequence[Any]
    acts: Sequence[Any]
    infos: Sequence[Mapping[str, Any] | None] | None
    ended: bool | None = None
    subject: str | None = None


def from_records(
    records: Iterable[Record],
    *,
    state: Meaning | None,
    action: Meaning | None,
    label: Label,
    mdp: LabeledMDP | None,
    source: str,
) -> Demonstrations:
    """Return demonstrations; an info without the label's key is blank."""
    columns: dict[str, list[Any]] = {"episode": [], "state": [], "action": []}
    labels: list[Any] = []
    positions: list[int] = []
    endings: list[bool | None] = []
    subjects: list[str | None] = []
    for number, record in enumerate(records):
        place = f"{source}, trajectory {number}"
        _check_lengths(record, place)
        n = len(record.obs)
        columns["episode"] += [number] * n
        columns["state"] += _meanings(record.obs, state, "observation", "state", place)
        taken = _meanings(record.acts, action, "action", "action", place)
        columns["action"] += taken + [None] * (n - len(taken))
        labels += _labels(record, label, place)
        positions += range(n)
        endings += [None] * (n - 1) + [record.ended]
        subjects += [record.subject] * n
    if any(symbol is not None for symbol in labels):
        columns["label"] = labels
    if any(ended is not None for ended in endings):
        columns["ended"] = endings
    if any(subject is not None for subject in subjects):
        columns["subject"] = subjects
    rows = np.array(positions, dtype=np.int64)
    table = Table(source, columns, rows, "observation", ("trajectory", "episode"))
    return demonstrations(table, ColumnNames(), mdp=mdp)


def records_of(trajectories: Iterable[Any]) -> Iterable[Record]:
    """Return objects, or mappings, with `obs` and `acts` as records.

    `infos` has one entry per action, about the observation that it led to, or one per
    observation. `terminated`, or imitation's `terminal`, says whether the episode ended there.
    """
    for number, each in enumerate(trajectories):
        get = each.get if isinstance(each, Mapping) else lambda name, each=each: getattr(
            each, name, None
        )  # fmt: skip
        obs, acts, infos = get("obs"), get("acts"), get("infos")
        if obs is None or acts is None:
            raise ArgumentError(
                f"trajectories, entry {number}: {type(each).__name__} has no obs and acts; give "
                "objects that have both, or the folder that imitation saved them to"
            )
        if infos is not None and len(infos) == len(acts) == len(obs) - 1:
            infos = [None, *infos]
        ended = get("terminal") if get("terminated") is None else get("terminated")
        yield Record(obs, acts, infos, None if ended is None else bool(ended))


def saved_records(folder: str | os.PathLike[str]) -> list[Record]:
    """Read the folder that `imitation.data.serialize.save` writes: a table in Arrow files."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError(
            "saved trajectories need the package pyarrow; install it with: "
            "pip install 'whence[tables]'"
        ) from None
    state = Path(folder) / "state.json"
    try:
        names = [each["filename"] for each in json.loads(files.read_text(state))["_data_files"]]
        data = [files.read_bytes(Path(folder) / Path(name).name) for name in names]
        rows = [
            row for part in data for row in pyarrow.ipc.open_stream(part).read_all().to_pylist()
        ]
        found = [{"infos": None} | row for row in rows]
        for row in found:
            if row["infos"] is not None:
                row["infos"] = [json.loads(info) for info in row["infos"]]
    except (ValueError, KeyError, TypeError, AttributeError, pyarrow.ArrowException) as error:
        raise FormatError(
            f"{folder}: not a folder of trajectories as imitation saves them "
            f"({type(error).__name__}: {error}); load it there and pass the list"
        ) from None
    return list(records_of(found))


def _check_lengths(record: Record, place: str) -> None:
    states, actions = len(record.obs), len(record.acts)
    if not states or states - actions not in (0, 1):
        raise DemonstrationsError(
            f"{place}: {states} observations for {actions} actions; give as many as actions, or "
            "one more"
        )


def _meanings(
    values: Sequence[Any], meaning: Meaning | None, what: str, wanted: str, place: str
) -> list[Any]:
    if meaning is not None:
        return [meaning(value) for value in values]
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if len(array) and (array.ndim != 1 or array.dtype.kind not in "iuUSO"):
        shape = "x".join(map(str, array.shape[1:])) or "one"
        raise DemonstrationsError(
            f"{place}: an {what} is {shape} of {array.dtype}, not a whole number or a name; say "
            f"what it stands for with {wanted}=function"
        )
    return list(array.tolist())


def _labels(record: Record, label: Label, place: str) -> list[Any]:
    if callable(label):
        return [label(value) for value in record.obs]
    if label is None or record.infos is None:
        return [None] * len(record.obs)
    if len(record.infos) != len(record.obs):
        raise DemonstrationsError(
            f"{place}: {len(record.infos)} infos for {len(record.obs)} observations; give one each"
        )
    return [None if info is None else info.get(label) for info in record.infos]
