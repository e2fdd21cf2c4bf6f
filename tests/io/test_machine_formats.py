"""What all machine formats have in common: round trips, and no text that breaks a reader."""

from __future__ import annotations

import contextlib
import re
import warnings
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whence.errors import FormatError, MachineError
from whence.io import labels
from whence.io import machine_dot as dot
from whence.io import machine_icarte as icarte
from whence.io import machine_mermaid as mermaid
from whence.io import machine_tikz as tikz
from whence.model.machine import RewardMachine

DRAWINGS = [dot, mermaid, tikz]
FORMATS = [*DRAWINGS, icarte]
EXAMPLES = settings(
    max_examples=200,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
NASTY = [
    *["a,b", "|", '"', "\\", "\n", "\r", "\t", "\x00", "\x7f", "\u2028", "\u202e", "😀", "é"],
    *["<script>alert(1)</script>", "%", "%%{init: {}}%%", "-->", "$#_^~{}&%", " x ", "  ", "`"],
    *["*", "&amp;", "#35;", "#quot;", "it's", "\\N", "\\\\", "¶ß", "ﬂ°", "1.", "- a", "[", "]"],
    *["}", "{", "(", ")", ";", "a\\", '"a"', "\\end{tikzpicture}", "]}", "/*", "//", "*/", "%%"],
    *["<br>", "\\textbackslash{}", "$", "y0", "y1", "True", "0", "a | 1", "a b", "a  b", "\u00a0"],
]
REWARDS = [0.0, 0.0, 1.0, 2.0, -0.5, 0.1, 1e-9, -1e9, 1e300, 1 / 3, 5e-324, 1e15, 123456789.0]

texts = st.sampled_from(NASTY) | st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6
)
rewards = st.sampled_from(REWARDS) | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def machines(draw: st.DrawFn, symbols: st.SearchStrategy[str] = texts) -> RewardMachine:
    n, m = draw(st.integers(1, 6)), draw(st.integers(0, 5))
    alphabet = draw(st.lists(symbols, min_size=m, max_size=m, unique=True))
    names = draw(st.none() | st.lists(texts, min_size=n, max_size=n, unique=True))
    targets = draw(st.lists(st.integers(0, n - 1), min_size=n * m, max_size=n * m))
    paid = draw(st.lists(rewards, min_size=n * m, max_size=n * m))
    return RewardMachine(
        alphabet,
        np.array(targets, dtype=np.int64).reshape(n, m),
        np.array(paid, dtype=np.float64).reshape(n, m),
        names,
    )


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
    assert found.rewards.tobytes() == wanted.rewards.tobytes()


def read(module: ModuleType, text: str) -> RewardMachine:
    machine = module.loads(text, "m.x")
    assert isinstance(machine, RewardMachine)
    return machine


@pytest.mark.parametrize("module", DRAWINGS)
@EXAMPLES
@given(machine=machines())
def test_drawings_hold_every_machine(module: ModuleType, machine: RewardMachine) -> None:
    assert_same(read(module, module.dumps(machine)), machine)


@pytest.mark.parametrize("module", DRAWINGS)
@EXAMPLES
@given(machine=machines())
def test_no_name_ends_the_comment_that_carries_it(
    module: ModuleType, machine: RewardMachine
) -> None:
    [line] = [line for line in module.dumps(machine).split("\n") if "read back by whence" in line]
    carried = line.partition(": ")[2]
    assert re.fullmatch(r'[A-Za-z0-9 _.+\-/{}\[\],:"\\]+', carried)
    assert carried.count('"') % 2 == 0
    assert not re.search(r"\\[^u0-9bfnrt]", carried)


@EXAMPLES
@given(machine=machines())
def test_rule_files_hold_a_machine_or_refuse_it(machine: RewardMachine) -> None:
    refused = [symbol for symbol in machine.alphabet if not is_proposition(symbol)]
    if refused:
        with pytest.raises(MachineError, match=re.escape(f"symbol {refused[0]!r} cannot stand")):
            icarte.dumps(machine)
    else:
        assert_same(read(icarte, icarte.dumps(machine)), machine)


def is_proposition(symbol: str) -> bool:
    plain = symbol.isprintable() and not set(symbol) & set(" &|!'\"\\#(),")
    return plain and symbol not in ("True", "False")


@pytest.mark.parametrize("module", FORMATS)
def test_two_rewards_between_the_same_states(module: ModuleType) -> None:
    found = read(module, module.dumps(coffee()))
    assert_same(found, coffee())
    assert found.step(1, "o") == (2, 2.0)
    assert found.step(1, "*") == (2, 0.0)


@pytest.mark.parametrize("module", FORMATS)
def test_texts_are_lines_of_printable_characters(module: ModuleType) -> None:
    machine = RewardMachine(["a", "b"], [[0, 1], [1, 1]], [[0, 1], [0, 0]], ["\x00\n", "\u202e"])
    assert all(line.isprintable() for line in module.dumps(machine).split("\n"))


@pytest.mark.parametrize("module", FORMATS)
def test_lone_surrogates_are_refused(module: ModuleType) -> None:
    with pytest.raises(MachineError, match=r"symbol '\\ud800' holds a lone surrogate"):
        module.dumps(RewardMachine(["\ud800"], [[0]], [[1]]))
    with pytest.raises(MachineError, match="state name"):
        module.dumps(RewardMachine(["a"], [[0]], [[1]], ["\udfff"]))


@pytest.mark.parametrize("module", FORMATS)
def test_too_many_states_are_refused(module: ModuleType) -> None:
    n = labels.LARGEST + 1
    with pytest.raises(MachineError, match=r"save it as \.json"):
        module.dumps(RewardMachine([], np.zeros((n, 0)), np.zeros((n, 0))))


CARRIED = '// %% read back by whence: {"format":"whence/machine/1","alphabet":'
HOSTILE = (
    [piece * 100_000 for piece in '"({[\\|,;%#&!-=$ \n']
    + [
        CARRIED.replace("//", mark) + rest
        for mark in ("//", "%%")
        for rest in (
            "[" * 100_000,
            '["' + "\\" * 99_999,
            "9" * 100_000,
            '["a"' * 50_000,
            "\n" * 50_000,
        )
    ]
    + [
        "// {" * 50_000,
        "%%{" * 50_000,
        '% {"format"' * 20_000,
        "0\n[]\n(" + "0," * 50_000,
        "0\n[" + "1," * 50_000 + "]\n(0,0,'" + "!" * 50_000 + "',ConstantRewardFunction(0))",
        "0\n[]\n(0,0,'"
        + "&".join(f"!a{k}" for k in range(20_000))
        + "',ConstantRewardFunction(0))",
        "9" * 5_000 + "\n[]",
    ]
)


@pytest.mark.parametrize("module", FORMATS)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_refused(module: ModuleType, text: str) -> None:
    with pytest.raises(FormatError, match=r"^m\.x, line \d+: "):
        module.loads(text, "m.x")


edits = st.tuples(
    st.sampled_from(["cut", "insert", "repeat"]),
    st.floats(0, 1),
    st.integers(0, 12),
    st.sampled_from(NASTY) | st.sampled_from(["//", "],[", '"names"', "9", "(0)", "1e999"]),
)


def edited(text: str, kind: str, where: float, length: int, piece: str) -> str:
    start = int(where * len(text))
    if kind == "cut":
        return text[:start] + text[start + length :]
    if kind == "repeat":
        piece = text[start : start + 4 * length]
    return text[:start] + piece + text[start:]


def outcome(module: ModuleType, text: str) -> RewardMachine | FormatError:
    try:
        return read(module, text)
    except FormatError as error:
        return error


@pytest.mark.parametrize("module", FORMATS)
@EXAMPLES
@given(machine=machines(st.sampled_from("abc*é%$_")), changes=st.lists(edits, max_size=4))
def test_no_edit_breaks_a_reader(
    module: ModuleType, machine: RewardMachine, changes: list[tuple[str, float, int, str]]
) -> None:
    text = module.dumps(machine)
    for change in changes:
        text = edited(text, *change)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcome(module, text)
    if isinstance(found, RewardMachine):
        with contextlib.suppress(MachineError):  # a rule file can name what none can write
            assert_same(read(module, module.dumps(found)), found)
    else:
        assert re.match(r"m\.x, line \d+: ", str(found))
