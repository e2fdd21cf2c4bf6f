"""Count what a package is made of: modules, lines, imports that point upward, cycles.

    python tests/support/modules.py [src/whence]

Imports inside functions and those for type checking count like any other.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOMS = (
    "model", "drawing", "io", "likelihood", "planning", "envs", "search", "analysis", "runs",
    "ask", "report", "paper", "studio", "cli",
)  # fmt: skip
FACES = ("", "__main__", "worlds")  # the names that users import; these stand above all rooms
CONVENIENCES = "model.conveniences"  # what gives models their methods may look upward


@dataclass(frozen=True)
class Package:
    """A package as its source says.

    Attributes:
        name: of the package.
        files: where each module stands, by its name below the package.
        imports: for each module, the modules of the package that it imports, and at which lines.
    """

    name: str
    files: dict[str, Path]
    imports: dict[str, dict[str, int]]


def read(folder: Path) -> Package:
    """Return the modules below a folder, with their imports of each other."""
    files = {_name(path, folder): path for path in sorted(folder.rglob("*.py"))}
    imports = {}
    for module, path in files.items():
        found = _imported(ast.parse(path.read_text(encoding="utf-8")), folder.name, files)
        imports[module] = {other: line for other, line in found if other != module}
    return Package(folder.name, files, imports)


def _name(path: Path, folder: Path) -> str:
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module, name: str, files: dict[str, Path]) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == name:
                    yield alias.name[len(name) + 1 :], node.lineno
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == name:
            base = (node.module or "")[len(name) + 1 :]
            for alias in node.names:
                below = f"{base}.{alias.name}".strip(".")
                yield (below if below in files else base), node.lineno


def room(module: str) -> int:
    """Return the height of the room that a module stands in; what has no room is below all."""
    first = module.split(".")[0]
    return ROOMS.index(first) if first in ROOMS else -1


def upward(package: Package) -> list[str]:
    """Return the imports that point from a room to a later one."""
    return [
        f"{package.files[module]}, line {line}: {module} imports {other}"
        for module, others in package.imports.items()
        if module not in (*FACES, CONVENIENCES)
        for other, line in others.items()
        if room(other) > room(module) or other == ""
    ]


def cycles(package: Package) -> list[list[str]]:
    """Return the groups of modules that import each other, by Tarjan's algorithm."""
    graph = {m: list(o) for m, o in package.imports.items() if m != CONVENIENCES}
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = low[module] = len(number)
        stack.append(module)
        for other in graph.get(module, []):
            if other not in number:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], number[other])
        if low[module] == number[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for module in graph:
        if module not in number:
            visit(module)
    return found


def long_functions(package: Package, most: int) -> list[tuple[int, str]]:
    """Return the functions of more than `most` lines, the longest first."""
    found = []
    for module, path in package.files.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = body_lines(node)
                if lines > most:
                    found.append((lines, f"{module}.{node.name}"))
    return sorted(found, reverse=True)


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return how many lines the body of a function has, its docstring left out."""
    body = node.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    first = body[1] if documented and len(body) > 1 else body[0]
    return (node.end_lineno or first.lineno) - first.lineno + 1


def lengths(package: Package) -> dict[str, int]:
    """Return the number of lines of each module."""
    return {m: len(p.read_text(encoding="utf-8").splitlines()) for m, p in package.files.items()}


def main() -> None:
    """Print the counts of a package."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("src/whence")
    package = read(folder)
    sizes = lengths(package)
    entries = [p for p in folder.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()]
    longest = max(sizes, key=lambda module: sizes[module])
    functions = long_functions(package, 0)
    knots = cycles(package)
    rows = {
        "entries at the top level": len(entries),
        "of these modules": sum(p.suffix == ".py" for p in entries),
        "modules": len(sizes),
        "lines": sum(sizes.values()),
        "longest module": f"{longest}, {sizes[longest]}",
        "longest function": f"{functions[0][1]}, {functions[0][0]}",
        "functions over 60 lines": sum(lines > 60 for lines, _ in functions),
        "upward imports": len(upward(package)),
        "cycles": len(knots),
        "modules in cycles": sum(len(knot) for knot in knots),
    }
    for name, value in rows.items():
        sys.stdout.write(f"{name:28} {value}\n")
    for line in [*upward(package), *(", ".join(knot) for knot in knots)]:
        sys.stdout.write(f"  {line}\n")


if __name__ == "__main__":
    main()
