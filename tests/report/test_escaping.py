"""Names that would break a careless writer appear as text, in every format that draws."""

from __future__ import annotations

import re
from types import ModuleType
from xml.etree import ElementTree

import pytest

from support import studies
from support.pages import parsed
from whence import RewardMachine
from whence.drawing import grid_svg, machine_svg, text
from whence.io import machine_dot as dot
from whence.io import machine_mermaid as mermaid
from whence.io import machine_tikz as tikz
from whence.report import render

NASTY = (*studies.NASTY, "-->", "]]>", "%", "\\", '"', "'", "a\nb", "🚀")


def machine() -> RewardMachine:
    """Every nasty name is a label, and the first ones name states."""
    m = len(NASTY)
    transitions = [[1] * m, [0] * m]
    return RewardMachine(NASTY, transitions, [[1.0] * m, [0.0] * m], names=NASTY[:2])


def test_the_report_shows_them_all() -> None:
    study = studies.nasty()
    root = parsed(render(study))
    shown = root.text
    for name in studies.NASTY:
        assert text.visible(name) in shown
    for name in (study.names[0], study.sources[0], *study.worlds[0][0].actions):
        assert text.visible(name) in shown
    assert not root.all("script", "img")
    assert [each.name for each in root.children[0].children] == ["head", "body"]


def test_the_command_keeps_its_lines() -> None:
    study = studies.nasty()
    pre = next(each for each in parsed(render(study)).all("pre"))
    wanted = "\n".join(text.visible(line) for line in study.command.split("\n"))
    assert pre.text == wanted


@pytest.mark.parametrize("svg", [machine_svg(machine()), grid_svg(studies.nasty().worlds[0][0])])
def test_drawings_hold_no_element_of_theirs(svg: str) -> None:
    root = ElementTree.fromstring(svg)
    names = {element.tag.split("}")[1] for element in root.iter()}
    assert names <= {"svg", "g", "title", "desc", "path", "rect", "text"}
    assert not any(name.startswith("on") for e in root.iter() for name in e.attrib)
    words = "".join(root.itertext())
    for name in studies.NASTY:
        assert text.visible(name) in words


@pytest.mark.parametrize("module", [dot, mermaid, tikz])
def test_what_is_written_reads_back(module: ModuleType) -> None:
    found = module.loads(module.dumps(machine()), "m")
    assert found == machine()
    assert found.names == machine().names


def test_dot_keeps_each_name_within_its_quotes() -> None:
    for line in dot.dumps(machine()).splitlines():
        outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
        assert '"' not in outside
        assert "<" not in outside
        assert "script" not in outside


def test_mermaid_holds_neither_markup_nor_directives() -> None:
    shown = mermaid.dumps(machine())
    body = shown.split("flowchart", 1)[-1].split("graph", 1)[-1]
    assert not re.search(r"<(?!br>)", body.replace("<-->", ""))
    assert "%%{" not in body
    for line in body.splitlines():
        assert line.count('"') % 2 == 0


def test_tikz_comments_nothing_out() -> None:
    shown = tikz.dumps(machine())
    drawn = shown[shown.index("\\begin{tikzpicture}") :]
    assert "100\\%" in drawn
    assert drawn.count("\\begin{tikzpicture}") == drawn.count("\\end{tikzpicture}") == 1
    for line in drawn.splitlines():
        comment = re.search(r"(?<!\\)(?:\\\\)*%", line)
        assert comment is None or comment.start() == 0 or line[comment.start() :].strip() == "%"
