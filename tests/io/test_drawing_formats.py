"""The formats that draw machines: as written, and read back from the comment they carry."""

from __future__ import annotations

from types import ModuleType

import pytest

from whence.errors import FormatError, WhenceWarning
from whence.io import machine_dot as dot
from whence.io import machine_json
from whence.io import machine_mermaid as mermaid
from whence.io import machine_tikz as tikz
from whence.model.machine import RewardMachine

DRAWINGS = [dot, mermaid, tikz]


def coffee() -> RewardMachine:
    return RewardMachine.from_arrows(
        [
            "before -c-> holding",
            "before -*-> over",
            "holding -o/2-> over",
            "holding -*-> over",
        ],
        alphabet=["c", "o", "*", "k"],
    )


def assert_same(found: RewardMachine, wanted: RewardMachine) -> None:
    assert found == wanted
    assert found.names == wanted.names


def read(module: ModuleType, text: str) -> RewardMachine:
    machine = module.loads(text, "m.x")
    assert isinstance(machine, RewardMachine)
    return machine


def test_dot_as_written() -> None:
    assert dot.dumps(coffee()).splitlines()[6:] == [
        '  y0 [label="before"];',
        '  y1 [label="holding"];',
        '  y2 [label="over"];',
        '  y0 -> y1 [label="c | 0"];',
        '  y0 -> y0 [label="o, k | 0"];',
        '  y0 -> y2 [label="* | 0"];',
        '  y1 -> y1 [label="c, k | 0"];',
        '  y1 -> y2 [label="o | 2\\n* | 0"];',
        '  y2 -> y2 [label="c, o, *, k | 0"];',
        "}",
    ]


def test_mermaid_as_written() -> None:
    assert mermaid.dumps(coffee()).splitlines()[7:] == [
        "  start --> y0",
        '  y0 --->|"c | 0"| y1',
        '  y0 -->|"o, k | 0"| y0',
        '  y0 --->|"#42; | 0"| y2',
        '  y1 -->|"c, k | 0"| y1',
        '  y1 --->|"o | 2<br>#42; | 0"| y2',
        '  y2 -->|"c, o, #42;, k | 0"| y2',
    ]


def test_tikz_as_written() -> None:
    text = tikz.dumps(coffee())
    assert "\\node[state,initial] (0) at (0,0) {before};" in text
    assert "edge[loop above] node[align=center] {$o \\vee k \\mid 0$} (0);" in text
    assert "(1) edge node[align=center] {$o \\mid 2$\\\\$* \\mid 0$} (2);" in text
    assert "(2) edge[loop above] node[align=center] {$0$} (2);" in text


@pytest.mark.parametrize("module", DRAWINGS)
def test_the_machine_stands_in_one_comment_as_it_does_in_json(module: ModuleType) -> None:
    lines = module.dumps(coffee()).splitlines()
    comments = [line for line in lines if "read back by whence: " in line]
    assert len(comments) == 1
    mark, _, carried = comments[0].partition(" read back by whence: ")
    assert mark.strip() == module.MARK
    assert_same(machine_json.loads(carried, "comment"), coffee())


HAND_DRAWN = [
    (dot, 'digraph {\n a -> b [label="x | 1"]\n}'),
    (mermaid, 'flowchart LR\n %% {"format": "other"}\n a -->|"x | 1"| b'),
    (tikz, "% uses \\usepackage{tikz}\n\\begin{tikzpicture}\\node (0) {a};\\end{tikzpicture}"),
    *[(module, "") for module in DRAWINGS],
    *[(module, '"' + machine_json.dumps(coffee())) for module in DRAWINGS],
]


@pytest.mark.parametrize(("module", "text"), HAND_DRAWN)
def test_a_drawing_without_the_comment_is_refused(module: ModuleType, text: str) -> None:
    with pytest.raises(FormatError) as caught:
        module.loads(text, "m.x")
    said = str(caught.value)
    assert said.startswith("m.x, line 1: no comment holds a machine")
    assert "only those that whence wrote can be read" in said
    assert ".json" in said
    assert "reward_machines repository" in said


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        (dot, "o | 2", "o | 7.5"),
        (mermaid, "o | 2", "o | 7.5"),
        (tikz, "o \\mid 2", "o \\mid 7.5"),
        (dot, "y1 -> y1", "y1 -> y0"),
        (dot, "}", "  y0 -> y1;}"),
    ],
)
def test_an_edited_drawing_is_not_read_and_that_is_said(
    module: ModuleType, old: str, new: str
) -> None:
    head, _, drawing = module.dumps(coffee()).partition("]}\n")
    assert old in drawing
    with pytest.warns(
        WhenceWarning, match=r"m\.x, line 2: the drawing is not that of the machine"
    ):
        found = read(module, head + "]}\n" + drawing.replace(old, new))
    assert_same(found, coffee())


@pytest.mark.parametrize("module", DRAWINGS)
def test_an_edited_comment_is_read_and_the_old_drawing_is_named(module: ModuleType) -> None:
    text = module.dumps(coffee()).replace("[0.0,2.0,0.0,0.0]", "[0.0,7.5,0.0,0.0]")
    with pytest.warns(WhenceWarning, match="write the file again"):
        found = read(module, text)
    assert found.step(1, "o") == (2, 7.5)


def test_a_picture_inside_a_document_is_read_without_a_word() -> None:
    picture = tikz.dumps(coffee()).replace("\n", "\n    ")
    text = f"\\documentclass{{article}}\n\\begin{{document}}\n{picture}\n\\end{{document}}"
    assert_same(read(tikz, text), coffee())


DAMAGED = [
    ("]}\n", "]\n", "not valid JSON"),
    ("machine/1", "machine/2", "must say 'whence/machine/1'"),
    ("[1,0,2,0]", "[1,0,2]", "transitions, state 0: 3 entries"),
    ("[1,0,2,0]", "[1,0,9,0]", "target 9"),
    ('"rewards"', '"reward"', "known are"),
]


@pytest.mark.parametrize("module", DRAWINGS)
@pytest.mark.parametrize(("old", "new", "said"), DAMAGED)
def test_a_damaged_comment_is_named_by_its_line(
    module: ModuleType, old: str, new: str, said: str
) -> None:
    text = module.dumps(coffee())
    assert old in text
    with pytest.raises(FormatError) as caught:
        module.loads(text.replace(old, new, 1), "m.x")
    assert str(caught.value).startswith("m.x, line 2: ")
    assert said in str(caught.value)


@pytest.mark.parametrize("module", DRAWINGS)
def test_two_machines_in_a_file_are_refused(module: ModuleType) -> None:
    text = module.dumps(coffee())
    line = 2 + len(text.splitlines())
    with pytest.raises(FormatError, match=rf"m\.x, line {line}: a second machine; keep one"):
        module.loads(text * 2, "m.x")
