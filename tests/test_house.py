"""The package keeps its order: rooms import downward only, and nothing imports in a circle."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from support import modules
from support.modules import Package

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def whence() -> Package:
    return modules.read(ROOT / "src" / "whence")


def test_no_room_imports_from_a_later_one(whence: Package) -> None:
    assert modules.upward(whence) == []


def test_no_modules_import_each_other(whence: Package) -> None:
    assert modules.cycles(whence) == []


def test_modules_and_functions_stay_small(whence: Package) -> None:
    long = {name: size for name, size in modules.lengths(whence).items() if size > 400}
    assert long == {}
    assert modules.long_functions(whence, 60) == []


def test_the_top_level_holds_the_rooms_and_little_else(whence: Package) -> None:
    top = {name for name in whence.files if name and "." not in name}
    assert top - set(modules.ROOMS) == {"__main__", "_arrays", "_files", "errors", "worlds"}


def test_the_contract_names_the_rooms_in_their_order(whence: Package) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    layers = [layer for layer in reversed(contract["layers"]) if not layer.startswith("_")]
    assert tuple(layers) == modules.ROOMS


def test_circles_and_upward_imports_are_found(tmp_path: Path) -> None:
    for name, text in (
        ("model/a.py", "def f():\n    from toy.io import b\n"),
        ("io/b.py", "from toy.io import c\n"),
        ("io/c.py", "if False:\n    import toy.io.b\n"),
    ):
        path = tmp_path / "toy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    toy = modules.read(tmp_path / "toy")
    assert modules.cycles(toy) == [["io.b", "io.c"]]
    assert len(modules.upward(toy)) == 1
    assert "line 2: model.a imports io.b" in modules.upward(toy)[0]
