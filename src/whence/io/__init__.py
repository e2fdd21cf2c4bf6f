"""File formats, one small module each; a file's ending says which.

A module has `loads` and `dumps`; it knows nothing of files, and raises `FormatError`
with the place for content that it cannot read.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from whence import _files as files
from whence.errors import ArgumentError, FileError

if TYPE_CHECKING:
    from whence.io.tables import Table
    from whence.model.demos import Demonstrations
    from whence.model.machine import RewardMachine
    from whence.model.mdp import LabeledMDP

MACHINE_FORMATS = ("json", "dot", "mermaid", "tikz", "icarte")
PICTURES = ("svg", "png")
SOURCES = ("pyrewardmachines",)  # written for other libraries, never read

_MACHINE_MODULES = {
    "json": "machine_json",
    "dot": "machine_dot",
    "mermaid": "machine_mermaid",
    "tikz": "machine_tikz",
    "icarte": "machine_icarte",
}
_WORLD_MODULES = {"json": "world_json", "npz": "world_npz", "map": "world_map"}
_TABLE_MODULES = {"csv": "demos_csv", "parquet": "demos_parquet"}
_DEMOS_MODULES = {"jsonl": "demos_jsonl", "npz": "demos_npz", **_TABLE_MODULES}
_ENDINGS = {
    "json": (".json",),
    "dot": (".dot", ".gv"),
    "mermaid": (".mmd", ".mermaid"),
    "tikz": (".tex", ".tikz"),
    "icarte": (".txt", ".rm"),
    "npz": (".npz",),
    "map": (".map",),
    "jsonl": (".jsonl",),
    "csv": (".csv", ".tsv"),
    "parquet": (".parquet",),
    "pyrewardmachines": (".py",),
    "svg": (".svg",),
    "png": (".png",),
}


def load_machine(path: str | os.PathLike[str]) -> RewardMachine:
    """Read a machine in the format that the ending names."""
    module = _module(path, _MACHINE_MODULES, "machine")
    return module.loads(files.read_text(path), str(path))  # type: ignore[no-any-return]


def save_machine(machine: RewardMachine, path: str | os.PathLike[str]) -> None:
    """Write a machine in the format that the ending names."""
    name = _format_of(path, (*_MACHINE_MODULES, *PICTURES, *SOURCES), "machine")
    files.write_bytes(path, machine_bytes(machine, name))


def machine_bytes(machine: RewardMachine, name: str) -> bytes:
    """Return a machine in a format of `MACHINE_FORMATS`, `PICTURES` or `SOURCES`."""
    if name in PICTURES:
        from whence.drawing import machine_svg

        return _picture(machine_svg(machine), name)
    text: str = _import(f"machine_{name}").dumps(machine)
    return text.encode("utf-8")


def load_world(path: str | os.PathLike[str]) -> LabeledMDP:
    """Read a world in the format that the ending names."""
    module = _module(path, _WORLD_MODULES, "world")
    data = files.read_bytes(path)
    if module.__name__.endswith("map"):
        return module.loads(files.decode_text(data, str(path)), str(path))  # type: ignore[no-any-return]
    return module.loads(data, str(path))  # type: ignore[no-any-return]


def save_world(mdp: LabeledMDP, path: str | os.PathLike[str]) -> None:
    """Write a world in the format that the ending names."""
    name = _format_of(path, (*_WORLD_MODULES, *PICTURES), "world")
    if name in PICTURES:
        from whence.drawing import grid_svg

        data = _picture(grid_svg(mdp), name)
    else:
        content: str | bytes = _import(_WORLD_MODULES[name]).dumps(mdp)
        data = content.encode("utf-8") if isinstance(content, str) else content
    files.write_bytes(path, data)


def load_demonstrations(path: str | os.PathLike[str], mdp: LabeledMDP | None) -> Demonstrations:
    """Read demonstrations in the format that the ending names."""
    module = _module(path, _DEMOS_MODULES, "demonstrations")
    return module.loads(files.read_bytes(path), str(path), mdp)  # type: ignore[no-any-return]


def load_table(path: str | os.PathLike[str]) -> Table:
    """Read the cells of a table in the format that the ending names."""
    module = _module(path, _TABLE_MODULES, "table")
    return module.read(files.read_bytes(path), str(path))  # type: ignore[no-any-return]


def is_table(path: str | os.PathLike[str]) -> bool:
    """Whether a file's ending is that of a table."""
    return any(Path(path).suffix.lower() in _ENDINGS[name] for name in _TABLE_MODULES)


def save_demonstrations(
    demos: Demonstrations, path: str | os.PathLike[str], mdp: LabeledMDP | None
) -> None:
    """Write demonstrations in the format that the ending names."""
    module = _module(path, _DEMOS_MODULES, "demonstrations")
    files.write_bytes(path, module.dumps(demos, mdp))


def demonstrations_ending(path: str | os.PathLike[str]) -> None:
    """Refuse a file name that demonstrations cannot be written to."""
    _format_of(path, tuple(_DEMOS_MODULES), "demonstrations")


def save_product(
    mdp: LabeledMDP, machine: RewardMachine, name: str | os.PathLike[str]
) -> list[str]:
    """Write the product of a world and a machine for PRISM; return the files written."""
    texts: dict[str, str] = _import("prism").dumps(mdp, machine)
    paths = [f"{os.fspath(name)}.{ending}" for ending in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        files.write_bytes(path, text.encode("utf-8"))
    return paths


def named_for(output: str, name: str, *, alone: bool) -> str:
    """Return the file for a format: `output` where it has that ending, else with it added."""
    ending = Path(output).suffix.lower()
    if alone and ending in _ENDINGS[name]:
        return output
    known = {
        e for format_name in (*MACHINE_FORMATS, *PICTURES, *SOURCES) for e in _ENDINGS[format_name]
    }
    if ending in known:
        raise ArgumentError(
            f"-o {output}: {ending} is not the ending of {name}; leave the ending out, "
            f"{_ENDINGS[name][0]} is added"
        )
    return f"{output}{_ENDINGS[name][0]}"


def _module(path: str | os.PathLike[str], modules: dict[str, str], what: str) -> ModuleType:
    return _import(modules[_format_of(path, tuple(modules), what)])


def _import(module: str) -> ModuleType:
    return importlib.import_module(f"whence.io.{module}")


def _format_of(path: str | os.PathLike[str], names: tuple[str, ...], what: str) -> str:
    ending = Path(path).suffix.lower()
    for name in names:
        if ending in _ENDINGS[name]:
            return name
    known = ", ".join(e for name in names for e in _ENDINGS[name])
    if os.path.isdir(path):  # noqa: PTH112
        raise FileError(f"{path}: a folder; name a {what} file, which ends in one of {known}")
    raise FileError(f"{path}: a {what} file ends in one of {known}; rename it")


def _picture(svg: str, name: str) -> bytes:
    if name == "svg":
        return svg.encode("utf-8")
    from whence.drawing import svg_to_png

    return svg_to_png(svg)
