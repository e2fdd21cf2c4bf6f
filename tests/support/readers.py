"""Every reader of whence as a function of bytes, for the fuzzer and for its corpus.

A reader returns whether it took its input. It may refuse with a `WhenceError`; any other
exception is a finding. What is taken must read back as it was written.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from whence import (
    Demonstrations,
    Expert,
    LabeledMDP,
    RewardMachine,
    Tempering,
    WhenceError,
    WhenceWarning,
    infer,
)
from whence._files import decode_text
from whence.cli import _inputs as inputs
from whence.io import (
    binning,
    demos_csv,
    demos_excel,
    demos_jsonl,
    demos_npz,
    guessing,
    machine_json,
    rough,
    tables,
    world_json,
    world_npz,
)
from whence.io import machine_dot as dot
from whence.io import machine_icarte as icarte
from whence.io import machine_mermaid as mermaid
from whence.io import machine_tikz as tikz
from whence.io import world_map as drawing
from whence.io.arrows import said_arrows
from whence.runs import checkpoint, journal, manifest
from whence.runs.keeper import Keeper
from whence.runs.resuming import _kept_job
from whence.runs.status import status_document
from whence.search.problem import checked_sizes
from whence.search.unknowns import unknowns

ALPHABET = ("c", "o", "*")
RUN_FILES = (
    manifest.NAME, checkpoint.NAME, journal.NAME, "steps/000000.npz", "inputs/world-1.npz",
    "inputs/demos-1.npz", "best.json", "lock",
)  # fmt: skip
NAMED = LabeledMDP.from_triples(
    [(0, 0, 1, 1.0), (0, 1, 0, 1.0), (1, 0, 0, 0.5), (1, 0, 1, 0.5), (1, 1, 1, 1.0)],
    states=2,
    actions=("go", "stay"),
    labels=("c", "o"),
    names=("here", "there"),
)


def world_json_reader(data: bytes) -> bool:
    """Worlds as JSON."""
    return _same_again(world_json.loads(data, "w.json"), world_json.dumps, _world_json)


def world_npz_reader(data: bytes) -> bool:
    """Worlds as npz, the very bytes of the archive."""
    world_npz.loads(data, "w.npz")
    return True


def world_arrays_reader(data: bytes) -> bool:
    """Worlds as npz, the archive built from arrays that the bytes describe."""
    archive = archive_of(data, (*world_npz.REQUIRED, *world_npz.OPTIONAL), world_json.TAG)
    return _same_again(world_npz.loads(archive, "w.npz"), world_npz.dumps, _world_npz)


def map_reader(data: bytes) -> bool:
    """Drawings of grids."""
    return _same_again(drawing.loads(decode_text(data, "w.map"), "w.map"), drawing.dumps, _map)


def demos_jsonl_reader(data: bytes) -> bool:
    """Demonstrations as JSON lines, without a world and with one."""
    with suppress(WhenceError):
        demos_jsonl.loads(data, "d.jsonl")
    found = demos_jsonl.loads(data, "d.jsonl", NAMED)
    found.check(NAMED)
    return _same_again(found, demos_jsonl.dumps, _demos_jsonl)


def demos_csv_reader(data: bytes) -> bool:
    """Demonstrations as a table, with a world, without one, and as the world themselves."""
    with suppress(WhenceError):
        demos_csv.loads(data, "d.csv", NAMED).check(NAMED)
    found = demos_csv.loads(data, "d.csv")
    LabeledMDP.from_demonstrations(found)
    return True


def positions_reader(data: bytes) -> bool:
    """A table of positions with its subjects and times, binned, and labelled by its own boxes.

    What comes before the first empty line is the table, the rest are the boxes.
    """
    first, _, rest = data.partition(b"\n\n")
    table = demos_csv.read(first, "d.csv")
    boxes = binning.read_boxes(demos_csv.read(rest, "b.csv")) if rest.strip() else None
    columns = list(table.columns)
    cuts = [binning.parse(f"{name}:3") for name in ("x", "y") if name in columns]
    found = tables.demonstrations(table, tables.ColumnNames(), bins=cuts, boxes=boxes)
    said: dict[str | int, str | None] | None = None if found.labels is not None else {}
    found.check(LabeledMDP.from_demonstrations(found, labels=said))
    return _same_again(found, demos_jsonl.dumps, _demos_jsonl)


def log_reader(data: bytes) -> bool:
    """A table alone, its columns guessed; repaired, where every problem has a repair."""
    guess = guessing.guessed(demos_csv.read(data, "d.csv"), {})
    found = rough.examined(guess)
    hopeless = any(not each.repair for each in found.problems)
    table = found.repaired if found.problems and not hopeless else found.plain
    gaps = "ignore" if found.times else "error"
    names = tables.ColumnNames(**guess.names)
    demos = tables.demonstrations(table, names, numbers=False, gaps=gaps)
    LabeledMDP.from_demonstrations(demos)
    return True


def excel_reader(data: bytes) -> bool:
    """Workbooks, the very bytes, or a first sheet of theirs."""
    if data[:2] != b"PK":
        data = _book(data)
    demos_excel.loads(data, "d.xlsx")
    return True


def _book(sheet: bytes) -> bytes:
    """Return a small workbook with other bytes for its first sheet."""
    buffer = io.BytesIO()
    parts = {
        "[Content_Types].xml": CONTENT,
        "_rels/.rels": RELATION.format("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": BOOK,
        "xl/_rels/workbook.xml.rels": RELATION.format("worksheet", "worksheets/sheet1.xml"),
    }
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    return buffer.getvalue()


OFFICE = "http://schemas.openxmlformats.org/"
RELATION = (
    f'<Relationships xmlns="{OFFICE}package/2006/relationships"><Relationship Id="rId1" '
    f'Type="{OFFICE}officeDocument/2006/relationships/{{}}" Target="{{}}"/></Relationships>'
)
BOOK = (
    f'<workbook xmlns="{OFFICE}spreadsheetml/2006/main" '
    f'xmlns:r="{OFFICE}officeDocument/2006/relationships"><sheets><sheet name="s" sheetId="1" '
    'r:id="rId1"/></sheets></workbook>'
)
_KIND = "application/vnd.openxmlformats-"
CONTENT = (
    f'<Types xmlns="{OFFICE}package/2006/content-types"><Default Extension="rels" '
    f'ContentType="{_KIND}package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
    f'ContentType="{_KIND}officedocument.spreadsheetml.sheet.main+xml"/><Override '
    f'PartName="/xl/worksheets/sheet1.xml" '
    f'ContentType="{_KIND}officedocument.spreadsheetml.worksheet+xml"/></Types>'
)


def run_reader(data: bytes) -> bool:
    """The folder of a run, one file of which the bytes replace; its state is read, not used."""
    place = data[0] % len(RUN_FILES) if data else 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        shutil.copytree(_run(), folder)
        target = folder / RUN_FILES[place]
        content = data[1:]
        if target.name == checkpoint.NAME and content[:1] < b"\x80":
            content = _checkpoint(target, content[1:])
        target.write_bytes(content)
        status_document(folder)
        kept = Keeper(folder, manifest.read(folder), None)
        job, found = _kept_job(kept)
        assert found is not None
        kept.restore(found, job, job.problem(1))
    return True


@cache
def _run() -> Path:
    """Return the folder of a short run, which lasts as long as the process."""
    folder = Path(tempfile.mkdtemp()) / "run"
    demos = Demonstrations.from_episodes([([0, 1, 0], [0, 0, 1])])
    settings = Tempering(rungs=2, ladders=2, warm_up=2, pace=2, steps=4, every=2)
    infer(NAMED, demos, states=2, expert=Expert(2, 0.5), settings=settings, folder=folder)
    return folder


def _checkpoint(path: Path, data: bytes) -> bytes:
    """Return a checkpoint with one array, or a part of its header, as the bytes say."""
    with np.load(path) as archive:
        fields = {name: archive[name] for name in archive.files}
    source = _Bytes(data)
    names = list(fields)
    name = names[source.number(len(names))]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as changed:
        for other in names:
            content: bytes | None = npy(fields[other])
            if other == name and name == checkpoint.HEADER:
                text = str(fields[name])
                cut = source.number(256) * len(text) // 256
                more = source.part(8).decode("latin-1")
                content = npy(np.array(text[:cut] + more + text[cut + source.number(16) :]))
            elif other == name:
                content = _member(source, name, "")
            if content is not None:
                changed.writestr(zipfile.ZipInfo(f"{other}.npy"), content)
    return buffer.getvalue()


def demos_npz_reader(data: bytes) -> bool:
    """Demonstrations as npz, the very bytes of the archive."""
    demos_npz.loads(data, "d.npz")
    return True


def demos_arrays_reader(data: bytes) -> bool:
    """Demonstrations as npz, the archive built from arrays that the bytes describe."""
    archive = archive_of(data, (*demos_npz.REQUIRED, *demos_npz.OPTIONAL), demos_npz.TAG)
    found = demos_npz.loads(archive, "d.npz")
    found.check(NAMED)
    return _same_again(found, demos_npz.dumps, _demos_npz)


def arrows_reader(data: bytes) -> bool:
    """Machines as arrows, and the arrows that a search must keep."""
    lines = decode_text(data, "fix.txt").splitlines()
    with suppress(WhenceError):
        said_arrows(lines, ALPHABET)
    RewardMachine.from_arrows(lines)
    return True


def numbers_reader(data: bytes) -> bool:
    """The arguments that are numbers, or several, as texts and as numbers."""
    text = decode_text(data, "argument")
    taken = False
    levels = NAMED.with_initial
    attempts: list[Callable[[], object]] = [
        lambda: inputs.levels(text, []),
        lambda: levels(inputs.start_of(NAMED, text)),
        lambda: _numeric(text),
    ]
    for attempt in attempts:
        with suppress(WhenceError):
            attempt()
            taken = True
    return taken


def _numeric(text: str) -> None:
    numbers: list[Any] = []
    for part in text.split(","):
        with suppress(ValueError):
            numbers.append(int(part) if part.strip().lstrip("+-").isdecimal() else float(part))
    if len(numbers) == 1:
        checked_sizes(numbers[0])
    if len(numbers) == 2:
        checked_sizes(tuple(numbers))
        inputs.prior(*numbers)
    if len(numbers) == 3:
        Expert(*numbers)
        unknowns(None, *numbers)


def _machine_reader(module: Any, name: str) -> Callable[[bytes], bool]:
    def reader(data: bytes) -> bool:
        machine = module.loads(decode_text(data, name), name)
        try:
            text = module.dumps(machine)
        except WhenceError:
            assert module is icarte, "a machine that was read must be writable"
            return True
        again = module.loads(text, name)
        assert again == machine
        assert again.state_names == machine.state_names
        return True

    return reader


def _same_again(value: Any, dumps: Callable[[Any], Any], loads: Callable[[Any], Any]) -> bool:
    try:
        written = dumps(value)
    except WhenceError:
        return True
    assert loads(written) == value, "what was read and written reads back differently"
    return True


def _world_json(data: bytes) -> LabeledMDP:
    return world_json.loads(data, "w.json")


def _world_npz(data: bytes) -> LabeledMDP:
    return world_npz.loads(data, "w.npz")


def _map(text: str) -> LabeledMDP:
    return drawing.loads(text, "w.map")


def _demos_jsonl(data: bytes) -> Demonstrations:
    return demos_jsonl.loads(data, "d.jsonl")


def _demos_npz(data: bytes) -> Demonstrations:
    return demos_npz.loads(data, "d.npz")


READERS: dict[str, Callable[[bytes], bool]] = {
    "world-json": world_json_reader,
    "world-npz": world_npz_reader,
    "world-arrays": world_arrays_reader,
    "map": map_reader,
    "machine-json": _machine_reader(machine_json, "m.json"),
    "dot": _machine_reader(dot, "m.dot"),
    "mermaid": _machine_reader(mermaid, "m.mmd"),
    "tikz": _machine_reader(tikz, "m.tex"),
    "icarte": _machine_reader(icarte, "m.txt"),
    "arrows": arrows_reader,
    "demos-jsonl": demos_jsonl_reader,
    "demos-npz": demos_npz_reader,
    "demos-arrays": demos_arrays_reader,
    "demos-csv": demos_csv_reader,
    "demos-log": log_reader,
    "demos-positions": positions_reader,
    "demos-excel": excel_reader,
    "numbers": numbers_reader,
    "run": run_reader,
}


def read(name: str, data: bytes) -> bool:
    """Return whether a reader takes `data`; let through whatever is no `WhenceError`."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", WhenceWarning)
        try:
            return READERS[name](data)
        except WhenceError:
            return False


class _Bytes:
    """Bytes that are taken from the front; zeros follow the last."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def number(self, below: int) -> int:
        self.place += 1
        return self.data[self.place - 1] % below if self.place <= len(self.data) else 0

    def part(self, size: int) -> bytes:
        found = self.data[self.place : self.place + size]
        self.place += size
        return found.ljust(size, b"\0")


KINDS = (
    "<i4",
    "<i8",
    "<f8",
    "<U1",
    "<U4",
    "<u8",
    "<i1",
    "<f4",
    "|S2",
    "<c16",
    "|b1",
    ">i4",
    "<U0",
)


def archive_of(data: bytes, names: Sequence[str], tag: str) -> bytes:
    """Return an npz file with some of the arrays `names`, as the bytes say.

    The first byte of an array chooses among: left out, small numbers, bytes of any kind, texts,
    a header that claims another shape than the data has.
    """
    source = _Bytes(data)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in names:
            content = _member(source, name, tag)
            if content is not None:
                archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content)
    return buffer.getvalue()


def _member(source: _Bytes, name: str, tag: str) -> bytes | None:
    how = source.number(8)
    if name == "format":
        return npy(np.array(tag if how < 6 else "other"))
    if how == 0:
        return None
    shape = tuple(source.number(6) for _ in range(source.number(4)))
    size = int(np.prod(shape))
    if how <= 3:
        values = [source.number(8) - (how == 3) for _ in range(size)]
        kind = ("<i8", "<i4", "<f8")[source.number(3)]
        return npy(np.array(values, dtype=kind).reshape(shape))
    if how == 4:
        texts = [chr(97 + source.number(4)) * source.number(3) for _ in range(size)]
        return npy(np.array(texts, dtype="<U2").reshape(shape))
    kind = np.dtype(KINDS[source.number(len(KINDS))]).str
    raw = source.part(min(size * np.dtype(kind).itemsize, 64))
    if how == 5:
        claimed = tuple(source.number(256) ** source.number(7) for _ in shape)
        return header(kind, claimed) + raw
    return header(kind, shape) + raw


def header(kind: str, shape: tuple[int, ...]) -> bytes:
    """Return the head of an array in a file; nothing need follow it."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        buffer, {"descr": kind, "fortran_order": False, "shape": shape}
    )
    return buffer.getvalue()


def npy(array: npt.NDArray[Any]) -> bytes:
    """Return an array as a file."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()
