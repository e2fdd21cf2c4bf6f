from __future__ import annotations

import numpy as np
import pytest

import whence
from whence import RewardMachine
from whence.errors import MachineError
from whence.model.machine import number

COFFEE = [
    "before -c-> holding",
    "before -*-> over",
    "holding -o/1-> over",
    "holding -*-> over",
]


@pytest.fixture
def coffee() -> RewardMachine:
    return RewardMachine.from_arrows(COFFEE, alphabet=("c", "o", "*"))


def test_arrows_fill_the_tables_and_the_rest_stays_and_pays_nothing(
    coffee: RewardMachine,
) -> None:
    assert coffee.names == ("before", "holding", "over")
    assert coffee.transitions.tolist() == [[1, 0, 2], [1, 2, 2], [2, 2, 2]]
    assert coffee.rewards.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_arrows_take_several_symbols_and_negative_rewards() -> None:
    machine = RewardMachine.from_arrows(["a -x,y/-2.5-> b"])
    assert machine.alphabet == ("x", "y")
    assert machine.rewards.tolist() == [[-2.5, -2.5], [0, 0]]
    assert machine.transitions.tolist() == [[1, 1], [1, 1]]


def test_run_visits_states_and_pays(coffee: RewardMachine) -> None:
    trace = coffee.run(["o", None, "c", "c", None, "o", "o"])
    assert trace.states == (0, 0, 0, 1, 1, 1, 2, 2)
    assert trace.rewards == (0, 0, 0, 0, 0, 1, 0)
    assert coffee.step(1, "o") == (2, 1.0)
    assert coffee.step(1, None) == (1, 0.0)


def test_tables_are_frozen_and_the_callers_stay_free() -> None:
    transitions = np.zeros((1, 1), dtype=np.int64)
    machine = RewardMachine(("a",), transitions, [[1.0]])
    transitions[0, 0] = 5
    assert machine.transitions[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        machine.rewards[0, 0] = 3.0


def test_equality_is_of_tables_and_ignores_names(coffee: RewardMachine) -> None:
    unnamed = RewardMachine(coffee.alphabet, coffee.transitions, coffee.rewards)
    assert coffee == unnamed
    assert hash(coffee) == hash(unnamed)
    assert coffee != RewardMachine(coffee.alphabet, coffee.transitions, coffee.rewards * 2)
    zero, negative = (RewardMachine(("a",), [[0]], [[value]]) for value in (0.0, -0.0))
    assert zero == negative
    assert hash(zero) == hash(negative)


def test_targets_may_be_whole_numbers_of_any_type() -> None:
    machine = RewardMachine(("a",), np.array([[1.0], [0.0]]), [[0], [1]])
    assert machine.transitions.dtype.kind == "i"
    assert machine.transitions.tolist() == [[1], [0]]
    assert RewardMachine(("a",), np.array([[0]], dtype=np.uint8), [[1]]).n_states == 1


def test_default_names_count_as_none() -> None:
    assert RewardMachine(("a",), [[1], [0]], [[0], [1]], ["y0", "y1"]).names is None


def test_validity(coffee: RewardMachine) -> None:
    assert coffee.is_valid
    assert not RewardMachine(("a",), [[0]], [[0]]).is_valid
    assert not RewardMachine(("a",), [[0], [0]], [[1], [1]]).is_valid
    assert coffee.can_pay.tolist() == [True, True, False]


def test_columns_follow_another_order_of_the_alphabet(coffee: RewardMachine) -> None:
    turned = coffee.over(("*", "c", "o"))
    for labels in (["c", "o"], ["*", "c", "o"], ["o", "c", "*", "o"]):
        assert turned.run(labels) == coffee.run(labels)


def test_an_empty_alphabet_is_a_machine_that_reads_nothing() -> None:
    machine = RewardMachine((), np.zeros((1, 0)), np.zeros((1, 0)))
    assert machine.run([None, None]).rewards == (0, 0)
    plain = np.empty((2, 0), dtype=object)
    assert RewardMachine((), plain, plain).n_states == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RewardMachine("co", [[0, 0]], [[0, 0]]), "one string"),
        (lambda: RewardMachine(["c", "c"], [[0, 0]], [[0, 0]]), "'c' occurs twice"),
        (lambda: RewardMachine(["c", ""], [[0, 0]], [[0, 0]]), "entry 1"),
        (lambda: RewardMachine(["c"], [[1]], [[0]]), "state 0, symbol 0: target 1"),
        (lambda: RewardMachine(["c"], [[0.5]], [[0]]), "whole numbers"),
        (lambda: RewardMachine(["c"], [[0, 0]], [[0]]), "rows of 2 entries"),
        (lambda: RewardMachine(["c"], [[0], [0, 1]], [[0], [0]]), "not a table"),
        (lambda: RewardMachine(["c"], [[0]], [[0], [0]]), "rewards has 2 rows"),
        (lambda: RewardMachine(["c"], [[0]], [[np.nan]]), "state 0, symbol 'c': nan"),
        (lambda: RewardMachine(["c"], np.zeros((0, 1)), np.zeros((0, 1))), "no rows"),
        (lambda: RewardMachine(["c"], [[0]], [[0]], ["a", "b"]), "2 names for 1 states"),
        (lambda: RewardMachine.from_arrows([]), "no arrows"),
        (lambda: RewardMachine.from_arrows(["a c b"]), "'a c b' cannot be read"),
        (lambda: RewardMachine.from_arrows(["a -x/y-> b"]), "reward 'y' is not a number"),
        (lambda: RewardMachine.from_arrows(["a -x-> b -y/1-> c"]), "holds two arrows"),
        (lambda: RewardMachine(["c"], [], []), "no rows"),
        (lambda: RewardMachine(["c"], [["0"]], [[0]]), "not a table of numbers"),
        (lambda: RewardMachine(["c"], [[[0]]], [[0]]), "not a table of numbers"),
        (lambda: RewardMachine(["c"], [0], [[0]]), "not a table of numbers"),
        (lambda: RewardMachine.from_arrows(["a -,x-> b"]), "an empty symbol"),
        (lambda: RewardMachine.from_arrows(["a -x-> b", "a -x-> a"]), "already has an arrow"),
        (lambda: RewardMachine.from_arrows(["a -x-> b"], alphabet=["y"]), "'x' is not in"),
    ],
)
def test_bad_machines_are_refused_with_the_culprit(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(MachineError, match=message):
        make()


def test_unknown_symbols_and_states_are_refused(coffee: RewardMachine) -> None:
    with pytest.raises(MachineError, match="'tea' is not in the machine's alphabet"):
        coffee.run(["tea"])
    with pytest.raises(MachineError, match="state 3"):
        coffee.step(3, "c")
    with pytest.raises(MachineError, match="differ in"):
        coffee.over(("c", "o"))


def test_arrows_merge_symbols_with_equal_target_and_reward() -> None:
    machine = RewardMachine(("a", "b", "c"), [[0, 0, 0]], [[0, 0, 2]])
    assert [(arrow.symbols, arrow.reward) for arrow in machine.arrows()] == [
        (("a", "b"), 0.0),
        (("c",), 2.0),
    ]


def test_notebooks_get_a_picture(coffee: RewardMachine) -> None:
    assert coffee._repr_svg_().startswith("<svg")
    assert "holding" in str(coffee)
    assert "3 states" in repr(coffee)
    assert whence.RewardMachine is RewardMachine


def test_names_travel_with_their_states(coffee: RewardMachine) -> None:
    order = [0, 2, 1]
    new = np.argsort(order)
    shuffled = RewardMachine(
        coffee.alphabet,
        new[coffee.transitions[order]],
        coffee.rewards[order],
        ("before", "over", "holding"),
    )
    assert shuffled.canonical() == coffee
    assert shuffled.canonical().names == coffee.names
    assert coffee.over(("*", "o", "c")).names == coffee.names
    doubled = RewardMachine(("a",), [[1], [2], [1]], [[0], [1], [1]], ("x", "y", "z"))
    assert doubled.minimised().names == ("x", "y")
    assert RewardMachine(("a",), [[0]], [[1]]).canonical().names is None


def test_differences_with_and_without_a_world(coffee: RewardMachine) -> None:
    reach = RewardMachine.from_arrows(["before -o/1-> over"], alphabet=("c", "o", "*"))
    assert coffee.difference(reach) == ("o",)
    assert coffee.difference(coffee) is None
    assert coffee.same_as(coffee)
    assert not coffee.same_as(reach)
    silent = _world_without_offices()
    assert coffee.same_in(reach, silent) is True
    assert coffee.difference(reach, silent) is None
    office = whence.worlds.coffee().mdp
    assert coffee.same_in(reach, office) is False
    assert coffee.difference(reach, office) is not None


def _world_without_offices() -> whence.LabeledMDP:
    with pytest.warns(whence.WhenceWarning, match="'o'"):
        return whence.LabeledMDP.from_dense(
            [[[0, 1], [1, 0]], [[0, 1], [1, 0]]], labels=["c", "*"], alphabet=("c", "o", "*")
        )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-3.0, "-3"), (0.5, "0.5"), (-1e-9, "-1e-09"), (1e15, "1000000000000000.0"),
        (999999999999999.0, "999999999999999"), (-1e15, "-1000000000000000.0"), (1e300, "1e+300"),
    ],
)  # fmt: skip
def test_numbers_are_short_and_read_back(value: float, text: str) -> None:
    assert number(value) == text
    assert float(text) == value


def test_states_are_counted_from_0_to_n_minus_1(coffee: RewardMachine) -> None:
    assert coffee.step(0, None) == (0, 0.0)
    assert coffee.step(2, None) == (2, 0.0)
    for state in (-1, 3):
        with pytest.raises(MachineError, match=r"the machine has 3 states \(0 to 2\)"):
            coffee.step(state, None)


@pytest.mark.parametrize("names", [["a", ""], ["a", 3], ["a", "a"]])
def test_names_are_different_texts(names: list[str]) -> None:
    with pytest.raises(MachineError, match="names"):
        RewardMachine(["c"], [[0], [1]], [[0], [0]], names)


def test_equality_looks_at_the_alphabet_and_at_other_kinds(coffee: RewardMachine) -> None:
    assert RewardMachine(("a",), [[0]], [[1]]) != RewardMachine(("b",), [[0]], [[1]])
    assert RewardMachine(("a",), [[1], [0]], [[1], [0]]) != RewardMachine(
        ("a",), [[1], [1]], [[1], [0]]
    )
    assert coffee != "coffee"


def test_arrows_part_at_target_and_reward() -> None:
    machine = RewardMachine(("a", "b", "c"), [[0, 1, 1], [1, 1, 1]], [[1, 1, 0], [0, 0, 0]])
    assert [tuple(arrow) for arrow in machine.arrows()] == [
        (0, 0, ("a",), 1.0),
        (0, 1, ("b",), 1.0),
        (0, 1, ("c",), 0.0),
        (1, 1, ("a", "b", "c"), 0.0),
    ]


def test_a_machine_must_reach_every_state_and_pay_something() -> None:
    assert RewardMachine(("a",), [[1], [1]], [[0], [-1]]).is_valid
    assert not RewardMachine(("a",), [[1], [1]], [[0], [0]]).is_valid
    assert not RewardMachine(("a",), [[0], [1]], [[1], [1]]).is_valid
