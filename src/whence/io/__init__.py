"""File formats, one module each; a file's ending says which.

A format is a module of this folder, named after what it holds and the format: `machine_dot`,
`world_map`, `demos_csv`. Nothing else needs to mention it. It has

- `ENDINGS`: how its files end; the first is added to a name without one;
- `dumps`: returns what to write, text or bytes, for a machine, a world, or demonstrations and
  their world, which may be None;
- `loads`, if it can be read: takes the content (text for a machine, bytes for the others), the
  name of the file for messages and, for demonstrations, a world or None.

It knows nothing of files, and raises `FormatError` with the place for content that it cannot read.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from whence import _files as files
from whence.errors import ArgumentError, FileError

if TYPE_CHECKING:
    from whence.io.columns import Table
    from whence.model.demos import Demonstrations
    from whence.model.machine import RewardMachine
    from whence.model.mdp import LabeledMDP

PICTURES = ("svg", "png")  # of machines and worlds; written, never read

Endings = dict[str, tuple[str, ...]]  # of each format, by its name


def machine_formats() -> tuple[str, ...]:
    """Return the names of the formats that a machine can be written in."""
    return (*_names("machine"), *PICTURES)


def load_machine(path: str | os.PathLike[str]) -> RewardMachine:
    """Read a machine in the format that the ending names."""
    module = _reader(path, "machine")
    return module.loads(files.read_text(path), str(path))  # type: ignore[no-any-return]


def save_machine(machine: RewardMachine, path: str | os.PathLike[str]) -> None:
    """Write a machine in the format that the ending names."""
    name = _format_of(path, _machine_endings(), "machine")
    files.write_bytes(path, machine_bytes(machine, name))


def machine_bytes(machine: RewardMachine, name: str) -> bytes:
    """Return a machine in one of the `machine_formats`."""
    if name in PICTURES:
        from whence.drawing import machine_svg

        return _picture(machine_svg(machine), name)
    return _encoded(_formats("machine")[name].dumps(machine))


def load_world(path: str | os.PathLike[str]) -> LabeledMDP:
    """Read a world in the format that the ending names."""
    _reader(path, "world")  # a name without a known ending is refused unread
    return read_world(files.read_bytes(path), str(path))


def read_world(data: bytes, name: str) -> LabeledMDP:
    """Return the world that a file's content stands for; its name says in which format."""
    return _reader(name, "world").loads(data, name)  # type: ignore[no-any-return]


def save_world(mdp: LabeledMDP, path: str | os.PathLike[str]) -> None:
    """Write a world in the format that the ending names."""
    name = _format_of(path, _endings(_formats("world")) | _picture_endings(), "world")
    if name in PICTURES:
        from whence.drawing import grid_svg

        data = _picture(grid_svg(mdp), name)
    else:
        data = _encoded(_formats("world")[name].dumps(mdp))
    files.write_bytes(path, data)


def load_demonstrations(path: str | os.PathLike[str], mdp: LabeledMDP | None) -> Demonstrations:
    """Read demonstrations in the format that the ending names."""
    _reader(path, "demos")
    return read_demonstrations(files.read_bytes(path), str(path), mdp)


def read_demonstrations(data: bytes, name: str, mdp: LabeledMDP | None) -> Demonstrations:
    """Return the demonstrations of a file's content; its name says in which format."""
    return _reader(name, "demos").loads(data, name, mdp)  # type: ignore[no-any-return]


def save_demonstrations(
    demos: Demonstrations, path: str | os.PathLike[str], mdp: LabeledMDP | None
) -> None:
    """Write demonstrations in the format that the ending names."""
    module = _formats("demos")[demonstrations_format(path)]
    files.write_bytes(path, _encoded(module.dumps(demos, mdp)))


def demonstrations_format(path: str | os.PathLike[str]) -> str:
    """Return the format of demonstrations that a file name stands for, or refuse the name."""
    return _format_of(path, _endings(_formats("demos")), "demonstrations")


def load_table(path: str | os.PathLike[str]) -> Table:
    """Read the cells of a table in the format that the ending names."""
    _format_of(path, _endings(_tables()), "table")
    return read_table(files.read_bytes(path), str(path))


def read_table(data: bytes, name: str) -> Table:
    """Return the cells of a table's content; its name says in which format."""
    module = _tables()[_format_of(name, _endings(_tables()), "table")]
    return module.read(data, name)  # type: ignore[no-any-return]


def is_table(path: str | os.PathLike[str]) -> bool:
    """Whether a file name ends like a table's."""
    ending = Path(path).suffix.lower()
    return any(ending in endings for endings in _endings(_tables()).values())


def save_product(
    mdp: LabeledMDP, machine: RewardMachine, name: str | os.PathLike[str]
) -> list[str]:
    """Write the product of a world and a machine for PRISM; return the files written."""
    from whence.io import prism

    texts = prism.dumps(mdp, machine)
    paths = [f"{os.fspath(name)}.{ending}" for ending in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        files.write_bytes(path, text.encode("utf-8"))
    return paths


def named_for(output: str, name: str, *, alone: bool) -> str:
    """Return the file name for a machine format, with its ending added if `output` has none."""
    known = _machine_endings()
    ending = Path(output).suffix.lower()
    if alone and ending in known[name]:
        return output
    if any(ending in endings for endings in known.values()):
        raise ArgumentError(
            f"-o {output}: {ending} is not the ending of {name}; leave the ending out, "
            f"{known[name][0]} is added"
        )
    return f"{output}{known[name][0]}"


@cache
def _names(kind: str) -> tuple[str, ...]:
    """Return the names of the formats of a kind, without importing any."""
    modules = (module.name.partition("_") for module in pkgutil.iter_modules(__path__))
    return tuple(name for before, _, name in modules if before == kind)


@cache
def _formats(kind: str) -> dict[str, ModuleType]:
    return {name: importlib.import_module(f"{__name__}.{kind}_{name}") for name in _names(kind)}


def _tables() -> dict[str, ModuleType]:
    """Return the formats of demonstrations that are tables."""
    return {name: module for name, module in _formats("demos").items() if hasattr(module, "read")}


def _endings(formats: dict[str, ModuleType]) -> Endings:
    return {name: module.ENDINGS for name, module in formats.items()}


def _picture_endings() -> Endings:
    return {name: (f".{name}",) for name in PICTURES}


def _machine_endings() -> Endings:
    return _endings(_formats("machine")) | _picture_endings()


def _reader(path: str | os.PathLike[str], kind: str) -> ModuleType:
    known = {name: m for name, m in _formats(kind).items() if hasattr(m, "loads")}
    what = "demonstrations" if kind == "demos" else kind
    return known[_format_of(path, _endings(known), what)]


def _format_of(path: str | os.PathLike[str], formats: Endings, what: str) -> str:
    ending = Path(path).suffix.lower()
    for name, endings in formats.items():
        if ending in endings:
            return name
    known = ", ".join(each for endings in formats.values() for each in endings)
    if os.path.isdir(path):  # noqa: PTH112
        raise FileError(f"{path}: a folder; name a {what} file, which ends in one of {known}")
    raise FileError(f"{path}: a {what} file ends in one of {known}; rename it")


def _encoded(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def _picture(svg: str, name: str) -> bytes:
    if name == "svg":
        return svg.encode("utf-8")
    from whence.drawing import svg_to_png

    return svg_to_png(svg)
