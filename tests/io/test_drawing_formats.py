"""The formats that draw machines, as written and as people write them."""

from __future__ import annotations

from types import ModuleType

import pytest

from whence.errors import FormatError
from whence.io import machine_dot as dot
from whence.io import machine_mermaid as mermaid
from whence.io import machine_tikz as tikz
from whence.model.machine import RewardMachine


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


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [(dot, "o | 2", "o | 7.5"), (mermaid, "o | 2", "o | 7.5"), (tikz, "o \\mid 2", "o\\mid 7.5")],
)
def test_an_edited_reward_is_read(module: ModuleType, old: str, new: str) -> None:
    text = module.dumps(coffee())
    assert old in text
    found = read(module, text.replace(old, new))
    assert found.step(1, "o") == (2, 7.5)
    assert found.step(1, "*") == (2, 0.0)


@pytest.mark.parametrize(
    ("module", "loop"), [(dot, "y1 -> y1"), (mermaid, "y1 -->|"), (tikz, "(1) edge[loop")]
)
def test_a_missing_arrow_stays_and_pays_nothing(module: ModuleType, loop: str) -> None:
    lines = module.dumps(coffee()).split("\n")
    kept = [line for line in lines if loop not in line]
    assert len(kept) == len(lines) - 1
    assert_same(read(module, "\n".join(kept)), coffee())


HAND_WRITTEN = [
    (
        dot,
        """
        /* a machine
           by hand */ digraph {
        # by line
        node [shape=box]; here -> there [label = "x|1"] // ends
        there -> there [color=red,label="y | 2 \\n z | -.5";];
        "two words" [label="a \\"b\\" &lt; \\\\ &#99;"]
        in [shape=point] in -> here
        }""",
        ("x", "y", "z"),
        ["here", "there", 'a "b" < \\ c'],
        {(0, "x"): (1, 1.0), (1, "y"): (1, 2.0), (1, "z"): (1, -0.5)},
    ),
    (
        mermaid,
        """graph TD;
        %% by hand
        here[" here "] -->|"x|1"| there{"the#35;re"}; there -- "y | 2" --> there
        classDef red fill:#f00
          third:::red ==>|"x|1"| here-.->|"z | 3"|here
        first((" ")) --> here""",
        ("x", "y", "z"),
        ["here", "the#re", "third"],
        {(0, "x"): (1, 1.0), (1, "y"): (1, 2.0), (2, "x"): (0, 1.0), (0, "z"): (0, 3.0)},
    ),
    (
        tikz,
        """\\documentclass{article} % the figure of a paper
        \\begin{document}\\begin{tikzpicture} [node distance=2cm]
        \\node[state] (1) [below left=2cm and 1cm of 0] {$y_1$};
        \\node[state,initial] (0) {$y_0$};
        \\node[state] (2) [below right=2cm and 1cm of 0] {$y_{2}$}; % 50\\% \\node

        \\path[->] (0) edge[loop above] node[align=center] {$t \\vee w \\mid 0$} (0);
        \\path[->] (0) edge node[sloped,above] {$\\text{l l} \\mid 0$} (1)
                      edge node[above,sloped] {$r \\mid 1$} node[below] {$\\ast | -2$} (2);
        \\draw (1) edge [loop right] node {$0$} (1) (2) edge[loop left] node {$3$} (2);
        \\end{tikzpicture}\\end{document}""",
        ("t", "w", "l l", "r", "*"),
        None,
        {(0, "l l"): (1, 0.0), (0, "r"): (2, 1.0), (0, "*"): (2, -2.0), (2, "w"): (2, 3.0)},
    ),
]


@pytest.mark.parametrize(("module", "text", "alphabet", "names", "steps"), HAND_WRITTEN)
def test_drawings_by_hand(
    module: ModuleType,
    text: str,
    alphabet: tuple[str, ...],
    names: list[str] | None,
    steps: dict[tuple[int, str], tuple[int, float]],
) -> None:
    found = read(module, text)
    assert found.alphabet == alphabet
    assert found.names == (None if names is None else tuple(names))
    for (state, symbol), wanted in steps.items():
        assert found.step(state, symbol) == wanted


def test_the_order_of_numbered_states_does_not_matter() -> None:
    lines = dot.dumps(coffee()).splitlines()
    shuffled = [*lines[:6], *reversed(lines[6:-1]), lines[-1]]
    assert_same(read(dot, "\n".join(shuffled)), coffee())


def test_the_start_arrow_says_which_state_is_initial() -> None:
    found = read(dot, dot.dumps(coffee()).replace("start -> y0", "start -> y1"))
    assert found.state_names == ("holding", "before", "over")
    assert found.step(0, "o") == (2, 2.0)


DOT = 'digraph {{\n a -> b [label="{}"];\n}}'
MERMAID = 'flowchart LR\n a -->|"{}"| b'
TIKZ = (
    "\\begin{{tikzpicture}}\n\\node (0) {{$a$}};\n\\node (1) {{$b$}};\n"
    "\\path (0) edge node {{{}}} (1);\n\\end{{tikzpicture}}"
)
BAD = [
    *[
        (module, shape.format(label), line, said)
        for module, shape, line in [(dot, DOT, 2), (mermaid, MERMAID, 2), (tikz, TIKZ, 4)]
        for label, said in [
            ("x | one", "'one' is not a finite number"),
            ("x | 1e999", "'1e999' is not a finite number"),
            ("x | 1 | 2", "is not a finite number"),
            ("x | nan", "'nan' is not"),
            ("x | ", "the reward '' is not"),
            ("x, | 1", "an empty symbol"),
            (" | 1", "an empty symbol"),
            ("x, x | 1", "'x' already leaves state 'a' on line"),
            ("", "label" if module is mermaid else ""),
        ]
    ],
    (dot, "", 1, "begins with 'digraph machine {'"),
    (dot, "strict digraph {}", 1, "'strict' is unexpected"),
    (dot, "digraph {}", 1, "no state"),
    (dot, "digraph {\n a -> b\n}", 2, "a -> b has no label"),
    (dot, "digraph {\n a -> b [label=x]\n}", 2, "'x' has no reward"),
    (dot, "digraph {\n a -- b\n}", 2, "'--' is unexpected"),
    (dot, "digraph {\n subgraph s {a}\n}", 2, "subgraphs cannot be read"),
    (dot, "digraph {\n a [label=<b>]\n}", 2, "'<b>"),
    (dot, "digraph {\n a [label=b\n", 3, "the file ends"),
    (dot, 'digraph {\n a [label="b', 2, "close every quote"),
    (dot, "digraph {a}\n}", 2, "nothing follows"),
    (dot, 'digraph {\n a [label=c]\n b [label="c"]\n}', 3, "a second state is named 'c'"),
    (dot, 'digraph {\n a [label="\\n"]\n}', 2, "without a name"),
    (dot, 'digraph {\n a [label="\\G"]\n}', 2, "escape \\G"),
    (dot, 'digraph {\n alphabet="x, x"\n a\n}', 2, "'x' twice"),
    (dot, 'digraph {\n alphabet="x|y"\n a\n}', 2, "has a bar"),
    (dot, "digraph {\n alphabet=x\n alphabet=y\n a\n}", 3, "a second alphabet"),
    (dot, 'digraph {\n alphabet=x\n a -> a [label="y | 1"]\n}', 3, "'y' is not in the declared"),
    (dot, "digraph {\n s [shape=point]\n s -> a\n s -> b\n}", 4, "both initial"),
    (dot, 'digraph {\n s [shape=point]\n a -> s [label="x|1"]\n}', 3, "start point"),
    (dot, 'digraph {\n a -> a [label="\\"x | 1"]\n}', 2, "JSON string"),
    (dot, 'digraph {\n a -> a [label="\\"x\\"y | 1"]\n}', 2, "separate symbols with commas"),
    (mermaid, "", 1, "no state"),
    (mermaid, "\nstateDiagram-v2", 2, "begin with 'flowchart LR'"),
    (mermaid, "flowchart LR\n a --> b", 2, "a --> b has no label"),
    (mermaid, "flowchart LR\n subgraph x", 2, "cannot be read"),
    (mermaid, "flowchart LR\n a & b", 2, "'& b' cannot be read"),
    (mermaid, 'flowchart LR\n a[("x', 2, "cannot be read"),
    (mermaid, "flowchart LR\n s(( )) --> a\n s --> b", 3, "both initial"),
    (mermaid, 'flowchart LR\n s(( ))\n a -->|"x | 1"| s', 3, "start point"),
    (mermaid, "flowchart LR\n a[x]\n b[x]", 3, "a second state is named 'x'"),
    (tikz, "", 1, "no picture"),
    (tikz, "\n\\begin{tikzpicture}", 2, "does not end"),
    (tikz, "\\begin{tikzpicture}\n\\end{tikzpicture}", 1, "no state"),
    (tikz, "\\begin{tikzpicture}\\end{tikzpicture}\n\\begin{tikzpicture}", 2, "a second picture"),
    *[
        (tikz, f"\\begin{{tikzpicture}}\n{statement}\n\\end{{tikzpicture}}", 2, said)
        for statement, said in [
            ("\\node (0) {a}", "close it with ';'"),
            ("\\node (0) {a;", "'{' is not closed"),
            ("\\node (0] {a};", "'(' is not closed"),
            ("\\node (0) a};", "closes nothing"),
            ("\\node {a};", "without a key or a text"),
            ("\\node (0) {a}; \\node (0) {b};", "a second node (0)"),
            ("\\node (0) {\\input{x}};", "command \\input cannot be read"),
            ("\\node (0) {a} to (1);", "'to' cannot be read"),
            ("\\foo (0) {a};", "'\\\\foo' cannot be read"),
            ("\\node (0) {a}; \\path (0) edge node {$x \\mid 1$} (1);", "no state '1'"),
            ("\\node (0) {a}; \\path (0) edge (0);", "'0' cannot be read"),
            ("\\node (0) {a}; \\path (0) edge node {$x \\mid 1$};", "cannot be read"),
            ("\\node (0) {a}; \\path edge node {$x \\mid 1$} (0);", "'edge' cannot be read"),
            ("\\node (0) {a}; \\path (0) edge node {$x \\vee y$} (0);", "has no reward"),
        ]
    ],
]


@pytest.mark.parametrize(("module", "text", "line", "said"), BAD)
def test_bad_drawings(module: ModuleType, text: str, line: int, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        module.loads(text, "m.x")
    assert str(caught.value).startswith(f"m.x, line {line}: ")
    assert said in str(caught.value)
