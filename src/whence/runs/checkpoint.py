"""A search on disk: `checkpoint.npz`, the state, and `steps/*.npz`, what is kept of the steps.

Steps are written once, the new ones at each checkpoint; then the checkpoint, which names the
files that belong to it, takes the place of the old one in one rename. Whatever is killed when,
the old checkpoint or the new one is there, whole. Nothing is pickled: a state is filled in from
arrays, place by place, over a fresh one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from whence import _files as files
from whence.errors import FormatError
from whence.io import arrays
from whence.runs.walk import Walk
from whence.search.method import Row
from whence.search.tape import Tape
from whence.search.tempering import EXPERT

TAG = "whence/checkpoint/6"
READ = tuple(
    f"whence/checkpoint/{number}" for number in range(1, 7)
)  # what older ones lack is filled in
NAME = "checkpoint.npz"
STEPS = "steps"
HEADER = "header"
TAPES = ("rows", "records")
T = TypeVar("T")


class Part(msgspec.Struct, forbid_unknown_fields=True):
    """A file of steps: its name, its hash, and how many rows and records it holds."""

    file: str
    sha256: str
    rows: int
    records: int


class Spacing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many items a tape was offered, and the distance between those that it keeps."""

    offered: int
    every: int


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """What a checkpoint says beside the arrays of the state.

    Attributes:
        format: `whence/checkpoint/6`.
        job: what the run was asked to do, as in the manifest.
        settings: the method's, as extended.
        minutes: the limit, as extended.
        seconds: spent so far.
        stopped: why the search ended, or null.
        generator: the state of the generator; whole numbers in words, since they are long.
        rows: how many rows of the trace were offered so far, and how far apart the kept ones are.
        records: the same of records.
        parts: the files of steps, in order.
    """

    format: str
    job: dict[str, Any]
    settings: dict[str, Any]
    minutes: float | None
    seconds: float
    stopped: str | None
    generator: dict[str, Any]
    rows: Spacing
    records: Spacing
    parts: list[Part]


class Found(NamedTuple):
    """A checkpoint that was read: what it says, and the arrays of the state."""

    header: Header
    fields: arrays.Arrays


class Parts:
    """The files of steps of a run.

    Attributes:
        parts: those of the checkpoint that is written next, in order.
    """

    def __init__(self, folder: Path, header: Header | None = None) -> None:
        self.folder = folder
        self.parts = [] if header is None else list(header.parts)
        self._every = (1, 1) if header is None else (header.rows.every, header.records.every)
        self._old: list[Part] = []

    def add(self, walk: Walk) -> None:
        """Write the steps that no part holds yet; all of them where the walk now keeps fewer."""
        number = 1 + int(Path(self.parts[-1].file).stem) if self.parts else 0
        every = walk.rows.every, walk.records.every
        if every != self._every:
            self._every = every
            self._old, self.parts = self.parts, []
        rows, records = (sum(getattr(part, name) for part in self.parts) for name in TAPES)
        new = walk.rows.together(rows), walk.records.together(records)
        if new == (None, None):
            return
        data = arrays.write(flattened(new[0], "rows") | flattened(new[1], "records"))
        name = f"{number:06d}.npz"
        files.write_bytes(files.own(self.folder, f"{STEPS}/{name}"), data)
        counts = len(walk.rows) - rows, len(walk.records) - records
        self.parts.append(Part(name, hashlib.sha256(data).hexdigest(), *counts))

    def forget(self) -> None:
        """Delete the files that no checkpoint names any more."""
        for part in self._old:
            files.own(self.folder, f"{STEPS}/{part.file}").unlink(missing_ok=True)
        self._old = []


def write(folder: Path, header: Header, state: Any) -> None:
    """Put a checkpoint in the place of the old one."""
    text = msgspec.json.encode(header).decode()
    fields = {HEADER: np.array(text)} | flattened(state, "state")
    files.write_bytes(files.own(folder, NAME), arrays.write(fields))
    files.sync_folder(folder)


def read(folder: Path) -> Found | None:
    """Return what the checkpoint of a run says, and its arrays, or None where there is none."""
    path = files.own(folder, NAME)
    if not path.exists():
        return None
    fields = arrays.load(files.read_bytes(path), str(path))
    text = fields.pop(HEADER, None)
    if text is None or text.shape != () or text.dtype.kind != "U":
        raise FormatError(f"{path}: no header; the file is damaged: {_CURE}")
    try:
        header = msgspec.json.decode(str(text), type=Header)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"{path}: header: {error}; the file is damaged: {_CURE}") from None
    if header.format not in READ:
        raise FormatError(f"{path}: format is {header.format!r}; this file must say {TAG!r}")
    return Found(header, fields)


def restored(folder: Path, found: Found, fresh: Walk) -> Walk:
    """Return the search where the checkpoint left it; `fresh` is one that has just begun."""
    source = str(folder / NAME)
    header = found.header
    fields = _upgraded(found.fields, fresh)
    state = filled(_of_moves(_shaped(fresh, fields), fields), fields, "state", source)
    rows: list[Any] = []
    records: list[Any] = []
    for part in header.parts:
        place = files.own(folder, f"{STEPS}/{_plain(part.file, source)}")
        inside = _part(place, part)
        record = fresh.method.recorded(fresh.state)
        for name, like, blocks in (("rows", ROW, rows), ("records", record, records)):
            if any(key.startswith(f"{name}.") for key in inside):
                blocks.append(filled(like, inside, name, str(place), stacked=True))
    for block in (None, *records):
        if not fresh.method.sound(state, block):
            raise FormatError(f"{source}: a number is out of range; {_CURE}")
    tapes = _tape(rows, header.rows, source), _tape(records, header.records, source)
    walk = Walk(fresh.method, fresh.rng, state, *tapes, header.seconds)
    _set_generator(walk.rng, header.generator, source)
    return walk


def _upgraded(fields: arrays.Arrays, fresh: Walk) -> arrays.Arrays:
    """Return the arrays of a checkpoint as they are named now.

    In `whence/checkpoint/1` annealing kept rewards in the place of their levels, beside the
    scores, and did not repeat the expert, which is filled in from the job. Up to
    `whence/checkpoint/2` there was no finder, and rounds of the warm-up were all of one length;
    up to `whence/checkpoint/3` there was no census, and such runs go on without. Up to
    `whence/checkpoint/4` all ladders shared a stream and finders took turns, and batches of an
    enumeration were not thinned by themselves; such runs go on like that. Up to
    `whence/checkpoint/5` ladders had no copies.
    """
    result = dict(fields)
    if "state.current.rewards" in fields:
        levels = fresh.method.problem.posteriors[0].levels
        for part in ("state.current", "state.best"):
            rewards = result.pop(f"{part}.rewards")
            transitions = result.pop(f"{part}.transitions", np.zeros((0, 0, 0), dtype=np.int64))
            sizes = np.full(len(transitions), transitions.shape[-2], dtype=np.int64)
            result[f"{part}.machines.transitions"] = transitions
            result[f"{part}.machines.paid"] = np.searchsorted(levels, rewards).astype(np.int64)
            result[f"{part}.machines.n_states"] = sizes
            result |= flattened(fresh.state.best.experts, f"{part}.experts")
    if "state.replica" in fields and "state.round" not in fields:
        result["state.seeking.ladder"] = np.array(len(result["state.replica"]))
        result["state.round"] = np.array(fresh.state.round)
        result["state.turn"] = result["state.step"] + fresh.state.round
    if "state.replica" in fields and "state.weighed" not in fields:
        for name in ("census", "weighed", "alone", "drawn"):
            result |= flattened(getattr(fresh.state, name), f"state.{name}")
        result["state.weighed"] = np.array(-1)
    if "state.replica" in fields and "state.common" not in fields:
        result |= _with_a_common_stream(result, fresh)
    if "state.replica" in fields and "state.copies" not in fields:
        result["state.copies"] = np.array(1)
    if "state.log_dropped" in fields and "state.thinned" not in fields:
        result["state.thinned"] = np.array(False)
    return result


def _of_moves(state: Any, fields: arrays.Arrays) -> Any:
    """Return a state with as many kinds of moves as a checkpoint has.

    Moves that a run was begun without come last, but for that of the expert.
    """
    shares = fields.get("state.shares")
    if shares is None or not hasattr(state, "moves") or shares.ndim != 1:
        return state
    last = tuple(move for move in state.moves if move == EXPERT)
    first = tuple(move for move in state.moves if move != EXPERT)
    moves = (*first[: max(len(shares) - len(last), 0)], *last)
    nothing = np.zeros((len(state.tried), len(moves)))
    return dataclasses.replace(
        state, moves=moves, shares=np.zeros(len(moves)), tried=nothing, made=nothing
    )


def _shaped(fresh: Walk, fields: arrays.Arrays) -> Any:
    """Return a state that has just begun, with as many copies of ladders as a later one has."""
    copies, warm = fields.get("state.copies"), fields.get("state.warm")
    if copies is None or warm is None or copies.shape or warm.shape:
        return fresh.state
    known = int(copies) if int(copies) in (1, fresh.state.copies) else fresh.state.copies
    return fresh.method.shaped(fresh.state, int(warm) >= 0, known)


def _with_a_common_stream(fields: arrays.Arrays, fresh: Walk) -> arrays.Arrays:
    """Return what a run of tempering lacks whose ladders share a stream."""
    ladders = len(fields["state.replica"])
    tiled = {
        name: np.tile(fields[name], (ladders, 1))
        for name in ("state.tried", "state.made")
        if name in fields
    }
    result = tiled | {"state.ladder": np.arange(ladders), "state.common": np.array(True)}
    now = int(fields.get("state.seeking.ladder", np.array(ladders)))
    result |= flattened(fresh.state.seeking, "state.seeking")
    result["state.seeking.heard"] = np.array(now >= ladders)
    for place in range(ladders):
        result[f"state.seeking.found.{place}.over"] = np.array(place < now)
    if "state.seeking.scored" in fields:
        result["state.seeking.found.0.scored"] = fields["state.seeking.scored"]
        own = f"state.seeking.found.{min(now, ladders - 1)}."
        for name, value in fields.items():
            if name.startswith("state.seeking.found.") and now < ladders:
                result[own + name.removeprefix("state.seeking.found.")] = value
    return result


def flattened(value: Any, name: str) -> arrays.Arrays:
    """Return the arrays and numbers of a tree, each by its path; what is neither is left out."""
    if isinstance(value, np.ndarray):
        return {name: value}
    if isinstance(value, bool | int | float):
        return {name: np.array(value)}
    result: arrays.Arrays = {}
    for key, part in _parts(value):
        result |= flattened(part, f"{name}.{key}")
    return result


def filled(like: T, fields: arrays.Arrays, name: str, source: str, *, stacked: bool = False) -> T:
    """Return a tree like another one, with the arrays and numbers of a file in their places.

    Args:
        like: a tree of the same kinds and shapes; a first axis of length 0 may have any length.
        fields: arrays by path.
        name: the path of the tree.
        source: the file, for messages.
        stacked: whether the file's arrays have one axis more, the first.
    """
    if isinstance(like, np.ndarray | bool | int | float):
        array = fields.get(name)
        if array is None or not _fits(array, like, stacked):
            raise FormatError(f"{source}: {name} is missing or has another shape; {_CURE}")
        return array if isinstance(like, np.ndarray) else array.item()  # type: ignore[return-value]
    parts = {
        key: filled(part, fields, f"{name}.{key}", source, stacked=stacked)
        for key, part in _parts(like)
    }
    if dataclasses.is_dataclass(like) and not isinstance(like, type):
        return dataclasses.replace(like, **parts)
    if type(like) is tuple:
        return tuple(parts.values())  # type: ignore[return-value]
    return type(like)(**parts) if parts else like


def generator_document(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a generator for JSON; whole numbers in words, since they are long."""
    return {key: _words(part) for key, part in rng.bit_generator.state.items()}


ROW = Row(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.bool_))
_CURE = "restore the run from a copy, or start it again with whence infer"


def _parts(value: Any) -> list[tuple[str, Any]]:
    """Return the parts of a tree that hold arrays or numbers, by name."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = [(each.name, getattr(value, each.name)) for each in dataclasses.fields(value)]
    elif type(value) is tuple and value and all(map(dataclasses.is_dataclass, value)):
        pairs = [(str(place), part) for place, part in enumerate(value)]
    else:
        pairs = list(value._asdict().items()) if hasattr(value, "_asdict") else []
    leaves = np.ndarray | bool | int | float
    return [(key, part) for key, part in pairs if isinstance(part, leaves) or _parts(part)]


def _fits(array: Any, like: Any, stacked: bool) -> bool:
    """Return whether an array of a file can stand where an array or a number stood."""
    if not isinstance(like, np.ndarray):
        return array.shape == () and array.dtype.kind in "bif"
    shape = array.shape[1:] if stacked else array.shape
    if array.dtype != like.dtype or array.ndim != like.ndim + stacked:
        return False
    free = like.shape[:1] == (0,)
    return bool(shape[1:] == like.shape[1:] if free else shape == like.shape)


def _part(path: Path, part: Part) -> arrays.Arrays:
    """Return the arrays of a file of steps, if it is the one that was written."""
    data = files.read_bytes(path)
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise FormatError(f"{path}: not the file that the checkpoint names; {_CURE}")
    return arrays.load(data, str(path))


def _tape(blocks: list[T], spacing: Spacing, source: str) -> Tape[T]:
    """Return what is kept of steps, if it can have come about so."""
    offered, every = spacing.offered, spacing.every
    tape = Tape(blocks, offered=offered, every=every)
    if every < 1 or offered < 0 or every & (every - 1) or len(tape) != -(-offered // every):
        raise FormatError(f"{source}: the counts of steps contradict each other; {_CURE}")
    return tape


def _plain(name: str, source: str) -> str:
    if not re.fullmatch(r"\d{6,18}\.npz", name):
        raise FormatError(f"{source}: {name!r} is not the name of a file of steps; {_CURE}")
    return name


def _set_generator(rng: np.random.Generator, document: dict[str, Any], source: str) -> None:
    try:
        rng.bit_generator.state = _numbers(document)
    except (ValueError, TypeError, KeyError, OverflowError):
        raise FormatError(f"{source}: the generator's state is damaged; {_CURE}") from None


def _words(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _words(part) for key, part in value.items()}
    return str(value) if isinstance(value, int) else value


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(part) for key, part in value.items()}
    return int(value) if isinstance(value, str) and value.isdecimal() else value
