"""Rule files in the manner of Toro Icarte's `reward_machines`."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.errors import FormatError, MachineError, WhenceWarning
from whence.io import machine_icarte as icarte
from whence.model.machine import RewardMachine

SYMBOLS = ["c", "co", "coffee", "o", "*", "k", "oo", "fe", "-", "é", "😀", "Tru", "y=1", ";"]


@st.composite
def machines(draw: st.DrawFn) -> RewardMachine:
    n, m = draw(st.integers(1, 6)), draw(st.integers(0, 5))
    alphabet = draw(st.lists(st.sampled_from(SYMBOLS), min_size=m, max_size=m, unique=True))
    targets = draw(st.lists(st.integers(0, n - 1), min_size=n * m, max_size=n * m))
    levels = st.sampled_from([0.0, 0.0, 1.0, 2.0, -0.1, 1e300])
    rewards = draw(st.lists(levels, min_size=n * m, max_size=n * m))
    transitions = np.array(targets, dtype=np.int64).reshape(n, m)
    paid = np.array(rewards, dtype=np.float64).reshape(n, m)
    for state in draw(st.sets(st.integers(0, n - 1))):  # absorbing states are the special case
        transitions[state], paid[state] = state, 0.0
    return RewardMachine(alphabet, transitions, paid)


class Loader:
    """What the repository's loader makes of a file: one rule a pair, one end, texts in texts."""

    END = "end"

    def __init__(self, text: str) -> None:
        lines = text.splitlines()
        self.state: int | str = int(lines[0].split("#")[0])
        ends = [int(end) for end in lines[1].split("]")[0].strip("[").split(",") if end]
        self.rules: dict[int | str, dict[int | str, tuple[str, float]]] = {}
        for line in lines[2:]:
            source, target, formula, reward = line[1:-1].split(",")
            if int(source) in ends:
                continue
            goal = self.END if int(target) in ends else int(target)
            paid = float(reward.removeprefix("ConstantRewardFunction(").removesuffix(")"))
            self.rules.setdefault(int(source), {})[goal] = (formula.strip("'"), paid)

    def step(self, label: str) -> float:
        rules = self.rules[self.state]
        self.state = next(
            (goal for goal, (formula, _) in rules.items() if self.holds(formula, label)), self.END
        )
        return rules[self.state][1] if self.state in rules else 0.0

    @staticmethod
    def holds(formula: str, label: str) -> bool:
        def literal(text: str) -> bool:
            if text.startswith("!"):
                return not literal(text[1:])
            return text == "True" or (text != "False" and text in label)

        return any(all(map(literal, term.split("&"))) for term in formula.split("|"))


@settings(max_examples=300, derandomize=True, deadline=None)
@given(machine=machines(), seed=st.integers(0, 2**32 - 1))
def test_the_repository_would_pay_the_same(machine: RewardMachine, seed: int) -> None:
    text = icarte.dumps(machine)
    choices: list[str | None] = [None, *machine.alphabet]
    drawn = np.random.default_rng(seed).integers(0, len(choices), 40)
    labels = [choices[k] for k in drawn]
    loader, paid = Loader(text), []
    for label in labels:
        paid.append(0.0 if loader.state == Loader.END else loader.step(label or ""))
    trace = machine.run(labels)
    assert tuple(paid) == trace.rewards
    assert (loader.state != Loader.END) or not machine.can_pay[trace.states[-1]]


@settings(max_examples=300, derandomize=True, deadline=None)
@given(machine=machines())
def test_round_trip(machine: RewardMachine) -> None:
    assert icarte.loads(icarte.dumps(machine), "m.txt") == machine


def test_as_written() -> None:
    machine = RewardMachine(
        ["c", "coffee", "o"],
        [[1, 0, 0], [1, 2, 2], [2, 2, 2]],
        [[0, 0, 0], [1, 0, 3], [0, 0, 0]],
        ["before", "a, b", "over"],
    )
    assert icarte.dumps(machine).splitlines() == [
        '0 # initial state | alphabet: c, coffee, o | names: before, "a, b", over',
        "[2] # terminal states | copies: 3=1, 4=2",
        "(0,0,'!c&!coffee&!o|coffee|o&!coffee',ConstantRewardFunction(0))",
        "(0,1,'c&!coffee',ConstantRewardFunction(0))",
        "(1,1,'!c&!coffee&!o',ConstantRewardFunction(0))",
        "(1,3,'c&!coffee',ConstantRewardFunction(1))",
        "(1,2,'coffee',ConstantRewardFunction(0))",
        "(1,4,'o&!coffee',ConstantRewardFunction(3))",
        "(3,3,'!c&!coffee&!o',ConstantRewardFunction(0))",
        "(3,1,'c&!coffee',ConstantRewardFunction(1))",
        "(3,2,'coffee',ConstantRewardFunction(0))",
        "(3,4,'o&!coffee',ConstantRewardFunction(3))",
        "(4,4,'True',ConstantRewardFunction(0))",
    ]


@pytest.mark.parametrize("symbol", ["a b", "a&b", "!a", "a#", "(a)", "a,b", "a'", "True", "\x00"])
def test_symbols_that_are_no_propositions_are_refused(symbol: str) -> None:
    with pytest.raises(MachineError) as caught:
        icarte.dumps(RewardMachine(["x", symbol], [[0, 0]], [[0, 1]]))
    assert f"symbol {symbol!r} cannot stand in a formula" in str(caught.value)


def rules(*lines: str, first: str = "0 # initial state", second: str = "[9]") -> str:
    """Return a rule file; a rule is written as `0 1 a&!b 1`."""
    parts = [line.split(" ") for line in lines]
    body = [f"({u},{v},'{formula}',ConstantRewardFunction({r}))" for u, v, formula, r in parts]
    return "\n".join([first, second, *body])


def test_a_file_by_hand() -> None:
    text = rules(
        "5 5 !p&!q&!r 0",
        "5 2 p&!q 0",
        "5 3 q|r&p 0.5",
        "5 8 r 0",
        "2 2 !q 0",
        "2 8 q 1",
        "3 3 True 0",
        "8 5 p 7",
        first="5",
        second=" [ 8 , ]",
    )
    machine = icarte.loads(text, "m.txt")
    assert machine.alphabet == ("p", "q", "r")
    assert machine.names is None
    assert machine.transitions.tolist() == [[1, 2, 3], [1, 3, 1], [2, 2, 2], [3, 3, 3]]
    assert machine.rewards.tolist() == [[0, 0.5, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]


def test_the_first_matching_rule_wins() -> None:
    machine = icarte.loads(rules("0 9 a|b 1", "0 0 True 0", "0 1 a 5", "1 1 True 0"), "m.txt")
    assert machine.rewards.tolist()[0] == [1, 1]
    assert machine.n_states == 3


def test_white_space_quotes_and_comments_are_free() -> None:
    text = """
      # a file
      0    # initial state | alphabet: b, a

      [ ]  # no end
      ( 0 , 0 , "!a & !b | b" , ConstantRewardFunction( 0 ) )  # waits
      # and then
      (0,1, 'a' ,ConstantRewardFunction(-1.5))
      (1,1,'True',ConstantRewardFunction(0))
    """
    machine = icarte.loads(text, "m.txt")
    assert machine.alphabet == ("b", "a")
    assert machine.step(0, "a") == (1, -1.5)
    assert machine.step(0, "b") == (0, 0.0)


def test_what_matches_no_rule_ends() -> None:
    text = rules("0 0 !a&!n 0", "0 1 a&!n 0", "1 1 !g&!n 0", "1 9 g&!n 0")
    machine = icarte.loads(text, "m.txt")
    assert machine.alphabet == ("a", "n", "g")
    assert machine.step(0, "n") == (2, 0.0)
    assert machine.step(1, "n") == (2, 0.0)


def test_an_end_is_added_where_there_is_none() -> None:
    machine = icarte.loads(rules("0 0 !a&!n 0", second="[]"), "m.txt")
    assert machine.transitions.tolist() == [[1, 1], [1, 1]]
    assert not machine.rewards.any()


def test_falling_off_beside_a_paid_end_is_ambiguous() -> None:
    text = rules("0 0 !g&!n 0", "0 9 g&!n 1")
    with pytest.warns(WhenceWarning, match=r"m\.txt, line 4: state 0 has no rule for 'n'.*pays 1"):
        machine = icarte.loads(text, "m.txt")
    assert machine.step(0, "g") == (1, 1.0)
    assert machine.step(0, "n") == (1, 0.0)
    assert math.isclose(Loader(text).step("n"), 1.0)


def test_edited_copies() -> None:
    machine = RewardMachine(["a", "b"], [[1, 1], [1, 0]], [[1, 2], [0, 0]], ["x", "y"])
    text = icarte.dumps(machine)
    assert "copies: 2=1" in text
    edited = text.replace("'a',ConstantRewardFunction(1)", "'a',ConstantRewardFunction(8)")
    assert icarte.loads(edited, "m.txt").step(0, "a") == (1, 8.0)
    broken = text.replace(
        "(2,0,'b',ConstantRewardFunction(0))", "(2,0,'b',ConstantRewardFunction(1))"
    )

    with pytest.raises(FormatError, match=r"line 5: state 2 is named as a copy of 1 .* at 'b'"):
        icarte.loads(broken, "m.txt")
    apart = icarte.loads(text.replace(" | copies: 2=1", "").replace(" | names: x, y", ""), "m.txt")
    assert apart.n_states == 3
    assert apart.same_as(machine)


RULE = "(0,0,'True',ConstantRewardFunction(0))"
BAD = [
    ("", 1, "the file ends"),
    ("0\n", 2, "the file ends"),
    ("a\n[]", 1, "'a' cannot be read; write the initial state"),
    ("0\n1", 2, "write the terminal states"),
    ("0\n[1,,2]", 2, "terminal state '' is not a whole number"),
    ("0\n[x]", 2, "terminal state 'x'"),
    ("0\n[]", 1, "state 0 has no rule for steps where no proposition holds"),
    ("0\n[]\nhello", 3, "'hello' is not a rule"),
    ("0\n[]\n(0,0,'a',__import__('os'))", 3, "__import__ is not a constant reward"),
    ("0\n[]\n(0,0,'!a',RewardControl())", 3, "RewardControl is not a constant reward"),
    ("0\n[]\n(0,0,'!a',ConstantRewardFunction(inf))", 3, "'inf' is not a finite number"),
    ("0\n[]\n(0,0,'!a',ConstantRewardFunction())", 3, "the reward '' is not"),
    (rules("0 0 (a|b) 0"), 3, "'(a' is not a proposition"),
    (rules("0 0 a&&b 0"), 3, "'' is not a proposition"),
    (rules("0 0 ! 0"), 3, "'!' is not a proposition"),
    (rules("0 1 !a 0", "1 1 True 0"), 3, "moves or pays where no proposition holds"),
    (rules("0 0 !a 1"), 3, "moves or pays"),
    (rules("0 0 !a 0", "0 1 a 1"), 4, "state 1 has no rule for steps"),
    (rules("0 0 a 0"), 1, "add (0,0,'!a',ConstantRewardFunction(0))"),
    (f"0 # | alphabet: a, a\n[]\n{RULE}", 1, "'alphabet' names something twice"),
    (f'0 # | alphabet: "a\n[]\n{RULE}', 1, "JSON string"),
    (rules("0 0 !b 0", first="0 # | alphabet: a"), 3, "'b' is not in the alphabet"),
    (f"0 # | names: a, b\n[]\n{RULE}", 1, "2 names for 1 states"),
    (f"0\n[] # | copies: 1=0\n{RULE}", 2, "'1=0' cannot be read"),
    (f"0\n[1] # | copies: 1\n{RULE}", 2, "'1' cannot be read"),
    (f"0\n[1] # | copies: 0=1\n{RULE}", 2, "'0=1' cannot be read"),
    (f"0\n[1,2,3] # | copies: 1=2, 2=3\n{RULE}", 2, "a copy of a copy"),
]


@pytest.mark.parametrize(("text", "line", "said"), BAD)
def test_bad_files(text: str, line: int, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        icarte.loads(text, "m.txt")
    assert str(caught.value).startswith(f"m.txt, line {line}: ")
    assert said in str(caught.value)


def test_rules_for_the_same_pair_are_read_in_order_with_a_warning() -> None:
    text = rules("0 0 !o&!p 0", "0 1 o 2", "0 1 p 0", second="[1]")
    with pytest.warns(WhenceWarning, match="line 5: line 4 leads from state 0 to the same state"):
        machine = icarte.loads(text, "m.txt")
    assert machine.run(["o"]).rewards == (2,)
    assert machine.run(["p", "o"]).rewards == (0, 0)
    assert icarte.loads(icarte.dumps(machine), "again.txt") == machine
