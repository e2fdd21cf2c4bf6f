"""Do the tests notice? Change a module in one place at a time, and run its own tests.

python benchmarks/mutation.py [--modules model.prior,likelihood.evidence] [--most 60]

A mutant swaps an operator, a constant, a branch, or drops a raise or a return value; texts of
messages stay. It is killed where a test fails or does not end. Every mutant runs in a fork of a
process that has the libraries loaded, and sees the changed module in place of the real one.
Survivors are printed with their line.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 90  # that the tests of one mutant may take
TESTS = {
    "model.machine": ["tests/model/test_machine.py", "tests/model/test_equivalence.py"],
    "model.canonical": ["tests/model/test_canonical.py", "tests/model/test_machine.py"],
    "model.prior": ["tests/model/test_prior.py"],
    "likelihood.evidence": ["tests/likelihood/test_evidence.py"],
    "search.annealing": ["tests/search/test_acceptance.py", "tests/search/test_annealing.py"],
    "search.ladder": ["tests/search/test_acceptance.py"],
    "search.tempering": ["tests/search/test_acceptance.py"],
}
QUIET = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what was loaded beforehand
ONLY = {"search.tempering": {"acceptance", "apart"}}  # functions that are changed; else all
SWAPPED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div,
    ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def places(tree: ast.AST, only: set[str] | None) -> Iterator[tuple[ast.AST, str]]:
    """Yield every node that can be changed, and what would be changed about it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom | ast.AnnAssign):
            if isinstance(node, ast.AnnAssign) and node.value is not None:
                yield from places(ast.Expression(node.value), only)
            continue
        if isinstance(node, ast.FunctionDef):
            if node.name in ("__repr__", "__str__", "_repr_svg_"):
                continue
            if only is not None and node.name not in only:
                continue
            yield from places(ast.Module(node.body, []), None)
            continue
        if isinstance(node, ast.ClassDef):
            yield from places(ast.Module(node.body, []), only)
            continue
        if only is not None:
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield from changes(node)
        yield from places(node, only)


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield the changes of one node."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        yield node, "compare"
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in SWAPPED:
        yield node, "operator"
    if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield node, "unary"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield node, "constant"
    if isinstance(node, ast.IfExp):
        yield node, "branches"
    if isinstance(node, ast.Raise):
        yield node, "raise"
    if isinstance(node, ast.Return) and ast.unparse(node) not in ("return", "return None"):
        yield node, "return"


def mutated(source: str, number: int, only: set[str] | None) -> tuple[ast.Module, str]:
    """Return the module with change `number` made, and a description."""
    tree = ast.parse(source)
    node, kind = list(places(tree, only))[number]
    before = ast.unparse(node)
    line = getattr(node, "lineno", 0)
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPPED[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign):
        node.op = SWAPPED[type(node.op)]()
    elif isinstance(node, ast.UnaryOp):
        node.op, node.operand = ast.UAdd(), copy.copy(node.operand)
        if before.startswith("not "):
            node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Constant):
        old = node.value
        node.value = (not old) if isinstance(old, bool) else old + 1  # type: ignore[operator]
    elif isinstance(node, ast.IfExp):
        node.body, node.orelse = node.orelse, node.body
    elif isinstance(node, ast.Raise):
        node.exc, node.cause = ast.Name("KeyboardInterrupt", ast.Load()), None
    elif isinstance(node, ast.Return):
        node.value = ast.Constant(None)
    after = ast.unparse(ast.fix_missing_locations(node))
    return ast.fix_missing_locations(tree), f"line {line}: {kind}: {before[:70]} -> {after[:70]}"


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives out a changed module under the real one's name."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, fullname: str, path: object = None, target: object = None):
        """Answer for the one module."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_loader(fullname, self, origin=str(self.path))

    def exec_module(self, module: object) -> None:
        """Run the changed module."""
        module.__file__ = str(self.path)  # type: ignore[attr-defined]
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)


def survives(name: str, path: Path, tree: ast.Module, tests: list[str]) -> bool:
    """Whether all tests pass with the changed module."""
    child = os.fork()
    if child == 0:
        try:
            import pytest

            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            sys.meta_path.insert(0, Changed(name, path, tree))
            options = [
                "-x",
                "-q",
                "-p",
                "no:cacheprovider",
                "-p",
                "no:xdist",
                "-m",
                "not slow",
                *QUIET,
            ]
            os._exit(int(pytest.main([*options, "--hypothesis-seed=0", *tests])))
        except BaseException:
            os._exit(99)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def main() -> None:
    """Print survivors, and how many of how many were killed, for each module."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--modules", default=",".join(TESTS))
    parser.add_argument("--most", type=int, default=10**6, help="a sample of so many a module")
    chosen = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "tests"))
    for library in ("numpy", "numba", "pytest", "hypothesis", "msgspec"):
        importlib.import_module(library)
    for module in chosen.modules.split(","):
        name = f"whence.{module}"
        path = ROOT / "src" / Path(*name.split(".")).with_suffix(".py")
        source, only = path.read_text(), ONLY.get(module)
        tests = [test for test in TESTS[module] if (ROOT / test).exists()]
        assert survives(name, path, ast.parse(source), tests), f"the tests of {module} fail"
        count = len(list(places(ast.parse(source), only)))
        numbers = sorted(random.Random(0).sample(range(count), min(chosen.most, count)))
        killed = 0
        for number in numbers:
            tree, said = mutated(source, number, only)
            if survives(name, path, tree, tests):
                print(f"{module}: survived: {said}", flush=True)
            else:
                killed += 1
        share = killed / max(len(numbers), 1)
        print(f"{module}: {killed} of {len(numbers)} killed ({share:.0%}), of {count}", flush=True)


if __name__ == "__main__":
    main()
