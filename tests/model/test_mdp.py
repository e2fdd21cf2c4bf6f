from __future__ import annotations

import numpy as np
import pytest

from support.problems import random_world
from whence import LabeledMDP, WhenceWarning
from whence.errors import WorldError

RING = [(0, 0, 1, 1.0), (1, 0, 2, 1.0), (2, 0, 0, 1.0)]


def _world(rows: object = RING, **changes: object) -> LabeledMDP:
    given: dict[str, object] = {
        "states": 3,
        "actions": ["go"],
        "labels": [None, "a", "b"],
        "initial": 0,
    }
    return LabeledMDP.from_triples(rows, **(given | changes))  # type: ignore[arg-type]


def test_rows_are_sorted_and_repeats_added_up() -> None:
    mdp = _world([(2, 0, 0, 1.0), (0, 0, 2, 0.5), (1, 0, 2, 1.0), (0, 0, 1, 0.25), (0, 0, 1, 0.25),
                  (1, 0, 0, 0.0)])  # fmt: skip
    assert mdp.successors.tolist() == [1, 2, 2, 0]
    assert mdp.probabilities.tolist() == [0.5, 0.5, 1, 1]
    assert mdp.offsets.tolist() == [0, 2, 3, 4]
    assert mdp.row(0, 0)[0].tolist() == [1, 2]


def test_dense_and_triples_give_the_same_world() -> None:
    dense = np.zeros((3, 1, 3))
    for state, action, successor, p in RING:
        dense[state, action, successor] = p
    built = LabeledMDP.from_dense(dense, labels=[None, "a", "b"], actions=["go"])
    assert built == _world()
    assert hash(built) == hash(_world())
    assert built != _world(initial=1)


def test_labels_initial_states_and_names() -> None:
    mdp = _world(initial=[(2, 0.25), (0, 0.5), (2, 0.25)], names=["x", "y", "z"])
    assert mdp.initial_states.tolist() == [0, 2]
    assert mdp.initial_probabilities.tolist() == [0.5, 0.5]
    assert [mdp.label(s) for s in range(3)] == [None, "a", "b"]
    assert mdp.state_name(1) == "y"
    assert _world().state_name(1) == "1"
    assert mdp.with_initial(1).initial_states.tolist() == [1]
    assert mdp.n_states == 3
    assert mdp.n_actions == 1
    assert mdp.is_deterministic


def test_rounding_in_a_row_is_mended_and_more_is_refused() -> None:
    thirds = [(0, 0, s, 0.3333333) for s in range(3)] + RING[1:]
    row = _world(thirds).row(0, 0)[1]
    assert abs(row.sum() - 1) < 1e-15
    with pytest.raises(WorldError, match=r"sum to 0\.99, not 1"):
        _world([(0, 0, 1, 0.99), *RING[1:]])


def test_reachable_and_readable() -> None:
    rows = [(0, 0, 0, 1.0), (1, 0, 2, 1.0), (2, 0, 0, 1.0)]
    with pytest.warns(WhenceWarning, match="carries 'a', 'b'"):
        mdp = _world(rows)
    assert mdp.reachable().tolist() == [True, False, False]
    assert mdp.readable().tolist() == [False, False]


def test_the_label_of_the_first_state_is_readable_only_where_it_is_entered_again() -> None:
    rows = [(0, 0, 1, 1.0), (1, 0, 1, 1.0), (2, 0, 1, 1.0)]
    with pytest.warns(WhenceWarning, match="'a'"):
        mdp = _world(rows, labels=["a", "b", None])
    assert mdp.readable().tolist() == [False, True]


@pytest.mark.parametrize("seed", range(20))
def test_reachability_equals_powers_of_the_matrix(seed: int) -> None:
    mdp = random_world(np.random.default_rng(seed), states=9, actions=2, symbols=1, successors=1)
    step = np.zeros((9, 9))
    for state in range(9):
        for action in range(2):
            step[state, mdp.row(state, action)[0]] = 1
    start = np.zeros(9)
    start[mdp.initial_states] = 1
    expected = start @ np.linalg.matrix_power(np.eye(9) + step, 9) > 0
    assert mdp.reachable().tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("rows", "changes", "message"),
    [
        ([(0, 0, 1, 0.5), *RING[1:]], {}, r"state 0, action 0 \(go\).*sum to 0.5"),
        ([*RING[:1], RING[2]], {}, r"state 1, action 0 \(go\).*sum to 0.*stays put"),
        ([(0, 0, 1, 1.5), (0, 0, 2, -0.5), *RING[1:]], {}, "state 0, action 0.*-0.5"),
        ([(0, 0, 1, float("nan")), *RING[1:]], {}, "state 0, action 0.*nan"),
        ([(0, 0, 1, float("inf")), *RING[1:]], {}, "state 0, action 0.*inf"),
        ([(0, 0, 3, 1.0), *RING[1:]], {}, "row 0: successor 3 does not exist; use 0 to 2"),
        ([(0, 1, 1, 1.0), *RING[1:]], {}, "row 0: action 1 does not exist"),
        ([(-1, 0, 1, 1.0), *RING[1:]], {}, "row 0: state -1 does not exist"),
        ([(0, 0.5, 1, 1.0), *RING[1:]], {}, "row 0: action 0.5"),
        ([("x", 0, 1, 1.0)], {}, "not numbers"),
        ([(0, 0, 1)], {}, "shape"),
        (RING, {"labels": [None, "a"]}, "2 labels for 3 states"),
        (RING, {"alphabet": ["a"]}, "state 2: label 'b' is not in the alphabet"),
        (RING, {"labels": np.array([-1, 0, 2]), "alphabet": ["a", "b"]}, "state 2: label 2"),
        (RING, {"labels": np.array([-1, 0, 0])}, "give the alphabet"),
        (RING, {"labels": [None, "a", 3]}, "label 3|3 is not a symbol"),
        (RING, {"labels": [True, False, True], "alphabet": ["a", "b"]}, "label True"),
        (RING, {"initial": 3}, "initial state 3 does not exist"),
        (RING, {"initial": [(0, 0.5)]}, "sum to 0.5"),
        (RING, {"initial": [(0, -1.0), (1, 2.0)]}, "initial state 0 is -1"),
        (RING, {"initial": []}, "initial is empty"),
        (RING, {"initial": "x"}, "initial is 'x'"),
        (RING, {"initial": [0, 1]}, r"initial is \[0, 1\]; give a state or a list"),
        (np.array(RING) * (1 + 1j), {}, "not numbers"),
        (np.array(RING).astype(str), {}, "not numbers"),
        (np.array(RING) > 0, {}, "not numbers"),
        (RING, {"states": 0}, "states is 0"),
        (RING, {"states": 2.5}, "states is 2.5"),
        (RING, {"actions": []}, "actions is empty"),
        (RING, {"actions": ["go", "go"]}, "'go' occurs twice"),
        (RING, {"names": ["a", "b"]}, "2 names for 3 states"),
    ],
)
def test_bad_worlds_name_the_first_offender(
    rows: object, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(WorldError, match=message):
        _world(rows, **changes)


def test_dense_arrays_must_be_square() -> None:
    with pytest.raises(WorldError, match="shape"):
        LabeledMDP.from_dense(np.zeros((2, 1, 3)), labels=[None, None])
    with pytest.raises(WorldError, match="not an array"):
        LabeledMDP.from_dense([[["x"]]], labels=[None])


def test_the_callers_arrays_stay_their_own() -> None:
    rows = np.array([[0.0, 0.0, 0.0, 1.0]])
    mdp = LabeledMDP.from_triples(rows, states=1, actions=1, labels=[None])
    rows[0, 3] = 0.5
    assert mdp.probabilities.tolist() == [1.0]


def test_labels_may_be_a_list_of_indices() -> None:
    assert _world(labels=[-1, 0, 1], alphabet=["a", "b"]) == _world()
