"""No code from files, no network: what the source must not use."""

from __future__ import annotations

import ast
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import whence
from whence import Expert

SOURCE = Path(whence.__file__).parent
RUNS_CODE = {"eval", "exec", "compile", "__import__"}
CONNECTS = {"studio": {"asyncio", "socket"}}  # what a room may import nevertheless: it listens
FORBIDDEN = {
    "pickle", "marshal", "shelve", "dill", "socket", "ssl", "http", "urllib", "ftplib", "smtplib",
    "requests", "httpx", "asyncio",
}  # fmt: skip


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path, ast.parse(path.read_text())


def test_the_source_evaluates_no_code() -> None:
    calls = [
        f"{path.name}:{node.lineno}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in RUNS_CODE
    ]
    assert not calls


def test_the_source_allows_no_pickle() -> None:
    allowed = [
        f"{path.name}:{node.value.lineno}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword)
        and node.arg == "allow_pickle"
        and ast.unparse(node.value) != "False"
    ]
    assert not allowed


def test_the_source_imports_nothing_that_connects_or_unpickles() -> None:
    found = set()
    for path, tree in trees():
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            allowed = CONNECTS.get(path.relative_to(SOURCE).parts[0], set())
            found |= {
                f"{path.name}: {name}"
                for name in names
                if name.split(".")[0] in FORBIDDEN - allowed
            }
    assert not found


def test_one_module_knows_of_other_machines() -> None:
    """Dask by its name, which is imported where an address is given."""
    asking = [path.name for path, tree in trees() if "distributed" in _texts(tree)]
    starting = [path.name for path, tree in trees() if "multiprocessing" in _imported(tree)]
    assert asking == ["workers.py"]
    assert starting == ["experiment.py", "workers.py"]


def _texts(tree: ast.Module) -> set[str]:
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str)} | _imported(tree)


def _imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found


def test_an_inference_opens_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refused)
    monkeypatch.setattr(socket, "create_connection", refused)
    world = whence.worlds.recharge()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=2, length=5, seed=0)
    run = whence.infer(world.mdp, demos, states=2, expert=Expert(5, 0.9), steps=3)
    assert run.best.n_states == 2
