"""What the documentation names is there: modules, functions, files, verbs and their options."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import whence
from whence import cli

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
SPAN = re.compile(r"`([^`\n]+)`")
DOTTED = re.compile(r"(?<![\w./-])whence(?:\.[A-Za-z_]\w*)+")
FOLDERS = ("src", "tests", "docs", "scripts", "benchmarks", "examples", "fuzz")
ROOMS = tuple(path.name for path in (ROOT / "src" / "whence").iterdir() if path.is_dir())
PLACE = re.compile(rf"(?<![\w./-])(?:{'|'.join(FOLDERS + ROOMS)})/[\w./-]*\w")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
SHELL = re.compile(r"^```(?:sh|console|bash)\n(.*?)^```", re.DOTALL | re.MULTILINE)
MODULES = ("ask", "envs", "report", "studio", "worlds")


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def _mentions(pattern: re.Pattern[str]) -> set[tuple[str, str]]:
    """Return what pages mention in backticks, inline or in blocks, with the page."""
    found = set()
    for page in PAGES:
        blocks = _text(page).split("```")[1::2]
        for code in [*SPAN.findall(_text(page)), *blocks]:
            found |= {(page.relative_to(ROOT).as_posix(), name) for name in pattern.findall(code)}
    return found


def _resolves(name: str) -> bool:
    """Whether a dotted name is a module, or is reached from one by attributes."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        try:
            functools.reduce(getattr, parts[length:], found)
        except (AttributeError, DeprecationWarning):  # gone, or about to go
            return False
        return True
    return False


def test_names_of_whence_in_the_docs_exist() -> None:
    names = _mentions(DOTTED)
    assert len(names) > 30
    assert not sorted(f"{page}: {name}" for page, name in names if not _resolves(name))


def test_a_name_that_is_gone_is_noticed() -> None:
    assert _resolves("whence.LabeledMDP.load")
    assert not _resolves("whence.LabeledMDP.lode")
    assert not _resolves("whence.nowhere.load")
    assert not _resolves("whence.telling_sequences")  # an old name, with a warning


def test_paths_in_the_docs_exist() -> None:
    places = _mentions(PLACE)
    assert len(places) > 30
    missing = [
        f"{page}: {place}"
        for page, place in places
        if not (ROOT / place).exists() and not (ROOT / "src" / "whence" / place).exists()
    ]
    assert not sorted(missing)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files_where_the_pages_are_read_as_such(page: Path) -> None:
    links = [link for link in LINK.findall(_text(page)) if "://" not in link]
    assert not [link for link in links if not (page.parent / link).exists()]


def test_the_api_pages_have_every_public_name_once() -> None:
    pages = "\n".join(_text(page) for page in (ROOT / "docs" / "api").glob("*.md"))
    listed = re.findall(r"^::: whence\.(\w+)$", pages, re.MULTILINE)
    public = [name for name in whence.__all__ if not name.startswith("_")]
    assert sorted(listed) == sorted(public)
    assert set(MODULES) <= set(public)


def _commands() -> Iterator[tuple[str, list[str]]]:
    """Return every command line of whence in a block of a page, in words."""
    for page in PAGES:
        for block in SHELL.findall(_text(page)):
            for line in block.splitlines():
                words = line.removeprefix("$ ").split()
                if len(words) > 1 and words[0] == "whence":
                    yield page.relative_to(ROOT).as_posix(), cli.spelled_out(words[1:])


def test_verbs_and_options_in_the_docs_exist() -> None:
    wrong, seen = [], 0
    context = click.Context(cli.cli)
    for page, (verb, *words) in _commands():
        seen += 1
        command = cli.cli.get_command(context, verb)
        known = {"--help", "-h"}
        for parameter in command.params if command else []:
            known.update(parameter.opts, parameter.secondary_opts)
        options = [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]
        if command is None or not set(options) <= known:
            wrong.append(f"{page}: whence {verb} {' '.join(words)}")
    assert seen > 10
    assert not wrong
