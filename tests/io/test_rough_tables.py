"""Tables as people have them: which column is which, and all that is wrong, with repairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whence.errors import DemonstrationsError
from whence.io.columns import Table, framed
from whence.io.guessing import EPISODE, NEXT, guessed
from whence.io.rough import examined
from whence.io.spelling import alike, slips
from whence.io.tables import ColumnNames, demonstrations


def _table(**columns: list[Any]) -> Table:
    return framed(columns, "log.csv")


def _maze(episodes: int = 6, length: int = 9) -> dict[str, list[Any]]:
    """A rat that goes from the middle to arm3, which is lit, and back."""
    rows = [
        (
            f"day {e}",
            t,
            "arm3" if t % 2 else "middle",
            "back" if t % 2 else "in",
            "light" * (t % 2),
        )
        for e in range(episodes)
        for t in range(length)
    ]
    names = ("Trial", "t", "place", "choice", "cue")
    return {name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}


def test_columns_are_known_by_their_names() -> None:
    names = guessed(_table(**_maze()), {}).names
    assert names == {
        "episode": "Trial", "step": "t", "state": "place", "action": "choice", "label": "cue",
    }  # fmt: skip
    other = _table(
        session_id=["a"], timeStep=[0], AnimalPosition=["x"], nextMove=["y"], eventSeen=["z"]
    )
    assert guessed(other, {}).names == {
        "episode": "session_id", "step": "timeStep", "state": "AnimalPosition",
        "action": "nextMove", "label": "eventSeen",
    }  # fmt: skip


def test_what_is_said_of_columns_is_not_doubted() -> None:
    table = _maze()
    table["state"] = ["?"] * len(table["t"])
    assert guessed(_table(**table), {}).names["state"] == "state"
    assert guessed(_table(**table), {"state": "place"}).names["state"] == "place"


def test_columns_that_are_not_there_are_refused_together() -> None:
    with pytest.raises(DemonstrationsError) as caught:
        guessed(_table(**_maze()), {"state": "where", "label": "what"})
    assert len(caught.value.problems) == 2
    assert "no column 'where' for the state; the columns are 'Trial', 't'" in str(caught.value)


def test_times_and_dates_order_rows_and_that_is_said() -> None:
    table = _maze()
    steps = table.pop("t")
    for when in (
        [0.25 * t + 0.1 for t in steps],
        [f"2024-05-01 09:{t:02}" for t in steps],
        [f"1.5.2024 9:{t:02}:30".replace(" 9", " 09") for t in steps],
        [f"9:{t:02}:30" for t in steps],
    ):
        rows = np.random.default_rng(1).permutation(len(when)).tolist()
        mixed = {
            name: [cells[row] for row in rows] for name, cells in {**table, "time": when}.items()
        }
        guess = guessed(_table(**mixed), {})
        assert guess.names["step"] == "time"
        assert any("do not stand in this order, and are sorted by it" in s for s in guess.said)
        found = examined(guess)
        assert found.problems == ()
        demos = demonstrations(found.plain, ColumnNames(**guess.names), numbers=False)
        straight = demonstrations(_table(**_maze()), ColumnNames("Trial", "t", "place", "choice"))
        assert sorted(list(e.states) for e in demos) == sorted(list(e.states) for e in straight)


def test_what_is_no_time_of_rows_is_no_step() -> None:
    table = _maze()
    del table["t"]
    table["date"] = [f"2024-05-1{e[-1]}" for e in table["Trial"]]  # a day each
    table["reaction_time"] = list(np.random.default_rng(0).random(len(table["date"])))
    assert "step" not in guessed(_table(**table), {}).names
    table["time"] = [f"{row}th" for row in range(len(table["date"]))]
    guess = guessed(_table(**table), {})
    assert "step" not in guess.names
    assert any("'time' is not taken for steps" in text and "'0th'" in text for text in guess.said)


def test_whole_numbers_that_jump_are_times() -> None:
    table = _maze()
    table["t"] = [40 * t for t in table["t"]]
    found = examined(guessed(_table(**table), {}))
    assert found.times
    assert found.problems == ()
    kept = examined(guessed(_table(**table), {}), gaps="error")
    assert not kept.times
    assert "step 1 of episode `day 0` is missing" in str(kept.problems[0])
    assert examined(guessed(_table(**table), {}), gaps="ignore").problems == ()


def test_trials_of_several_animals_are_several() -> None:
    table = {name: [*cells, *cells] for name, cells in _maze().items()}
    table["rat"] = ["ada"] * (len(table["t"]) // 2) + ["bob"] * (len(table["t"]) // 2)
    table["rat_weight"] = list(range(len(table["t"])))
    guess = guessed(_table(**table), {})
    assert guess.names["subject"] == "rat"
    found = examined(guess)
    assert found.problems == ()
    assert len(demonstrations(found.plain, ColumnNames(**guess.names), numbers=False)) == 12
    del table["Trial"]
    made = guessed(_table(**table), {})
    assert "12 begin where 't' begins again" in made.said[-1]
    assert len(set(made.table.columns[EPISODE])) == 6


def test_words_on_endings_that_say_nothing_are_told_with_the_others() -> None:
    table = _maze()
    table["done"] = ["" if t < 8 else "maybe" for t in table["t"]]
    found = examined(guessed(_table(**table), {}))
    assert "`maybe` is not true or false" in str(found.problems[0])
    assert set(found.repaired.columns["done"]) == {""}


def test_a_table_without_states_is_told_what_else_to_say() -> None:
    track = _table(trial=[1] * 30, x=list(np.linspace(0, 1, 30)), turn=["left"] * 30)
    with pytest.raises(DemonstrationsError, match=r"--bin x:20") as caught:
        guessed(track, {})
    assert "--boxes FILE" in str(caught.value)
    with pytest.raises(DemonstrationsError, match="is its first line no header"):
        guessed(framed({"1": ["a"], "hall": ["b"]}, "log.csv"), {})
    with pytest.raises(DemonstrationsError, match="no rows below the header"):
        guessed(_table(state=[], label=[]), {})


def test_labels_are_found_by_what_they_are() -> None:
    table = _maze()
    table["zzz"] = table.pop("cue")
    assert guessed(_table(**table), {}).names["label"] == "zzz"
    del table["zzz"]
    with pytest.raises(DemonstrationsError, match="--label 'place'"):
        guessed(_table(**table), {})


def test_episodes_begin_where_steps_begin_again_and_places_stand_for_actions() -> None:
    table = _maze()
    del table["Trial"], table["choice"]
    guess = guessed(_table(**table), {})
    assert len(set(guess.table.columns[EPISODE])) == 6
    assert guess.table.columns[NEXT][:9] == ["arm3", "middle"] * 4 + [""]
    assert guess.made_actions
    demos = demonstrations(examined(guess).plain, ColumnNames(**guess.names), numbers=False)
    assert len(demos) == 6
    assert demos.action_names == ("arm3", "middle")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("am7", "arm7", True), ("amr7", "arm7", True), ("arm7x", "arm7", True),
        ("Arm 7", "arm7", True), ("arm1", "arm2", False), ("arm1", "arm11", False),
        ("a", "b", False), ("left", "right", False), ("lihgt", "light", True),
        ("kitchen", "kitchens", True), ("1.0", "10", False), ("-1", "1", False),
        ("(1, 12)", "(11, 2)", False), ("Arm-7", "arm 7", True),
    ],
)  # fmt: skip
def test_names_are_alike_when_one_slip_makes_one_the_other(
    one: str, other: str, same: bool
) -> None:
    assert alike(one, other) is same
    assert alike(other, one) is same


def test_only_rare_names_are_doubted() -> None:
    assert [slip.question for slip in slips({"am7": 1, "arm7": 506, "arm8": 3})] == [
        "`am7` stands once, `arm7` 506 times: the same?"
    ]
    assert slips({"arm": 20, "farm": 25}) == []
    assert slips({"cat": 4, "car": 500}) == []


def test_a_number_that_is_spelt_in_several_ways_is_asked_about_however_often_it_stands() -> None:
    found = slips({"1": 40, "1.0": 30, "01": 3, "1,0": 2, "10": 200, "-1": 5, "2": 9})
    assert [(slip.name, slip.meant) for slip in found] == [("1.0", "1"), ("01", "1"), ("1,0", "1")]
    assert slips({"1,000": 3, "1": 50, "1000": 50, "": 9}) == []  # a thousand, or one
    table = _maze()
    table["place"] = ["1" if place == "middle" else "2" for place in table["place"]]
    table["place"][2:10:2], table["place"][3] = ["1.0"] * 4, "02"
    found_in = examined(guessed(_table(**table), {}))
    assert [each.repair for each in found_in.problems] == ["read it as `1`", "read it as `2`"]
    assert set(found_in.repaired.columns["place"]) == {"1", "2"}
    as_is = examined(guessed(_table(**table), {}), spelling=False)
    assert set(as_is.plain.columns["place"]) >= {"1", "1.0", "02"}


def _spoiled() -> dict[str, list[Any]]:
    table = _maze()
    table["place"][1] = "amr3"
    table["t"][13] = "4?"
    table["cue"][21] = "NA"
    table["place"][30] = None
    for name, value in zip(table, ("day 4", 4, "arm3", "back", "light"), strict=True):
        table[name].insert(41, value)
    return table


def test_all_that_is_wrong_is_said_at_once_with_repairs() -> None:
    guess = guessed(_table(**_spoiled()), {})
    problems = examined(guess).problems
    assert [(each.row, each.repair) for each in problems] == [
        (1, "read it as `arm3`"),
        (13, "read 4, which is between the rows around it"),
        (21, "read `light` there always"),
        (30, "cut its episode there"),
        (41, "keep the first"),
    ]
    assert [each.doubtful for each in problems] == [True, False, False, False, False]


def test_labels_of_rows_that_are_left_out_do_not_count() -> None:
    table = _maze()
    for name, value in zip(table, ("day 4", 4, "shed", "back", "light"), strict=True):
        table[name].insert(41, value)
    for name, value in zip(table, ("day 5", 9, "shed", "", ""), strict=True):
        table[name].append(value)
    (problem,) = examined(guessed(_table(**table), {})).problems
    assert problem.repair == "keep the first"


def test_repairs_make_a_table_that_reads_as_before() -> None:
    guess = guessed(_table(**_spoiled()), {})
    repaired = demonstrations(examined(guess).repaired, ColumnNames(**guess.names), numbers=False)
    whole = demonstrations(_table(**_maze()), ColumnNames(*guess.names.values()), numbers=False)
    assert repaired.state_names == whole.state_names
    for episode in (0, 1, 2, 4, 5):
        assert np.array_equal(repaired[episode].states, whole[episode].states)
        assert np.array_equal(repaired[episode].actions, whole[episode].actions)
    assert np.array_equal(repaired[3].states, whole[3].states[:3])


def test_a_missing_step_and_a_missing_action_end_an_episode() -> None:
    table = _maze()
    for name in table:
        del table[name][4]
    table["choice"][20] = ""
    guess = guessed(_table(**table), {})
    found = examined(guess)
    assert [each.repair for each in found.problems] == [
        "keep what is before it", "cut its episode there",
    ]  # fmt: skip
    repaired = demonstrations(found.repaired, ColumnNames(**guess.names), numbers=False)
    assert [len(each.states) for each in (repaired[0], repaired[1], repaired[2])] == [4, 9, 3]


def test_labels_that_differ_often_are_for_the_user_to_tell() -> None:
    table = _maze()
    table["cue"] = [
        cue and ("light", "dark")[row % 3 == 0] for row, cue in enumerate(table["cue"])
    ]
    (problem,) = examined(guessed(_table(**table), {})).problems
    assert problem.repair == ""
    assert "state `arm3`" in str(problem)


def test_a_sound_table_has_no_problems_and_names_may_be_kept() -> None:
    guess = guessed(_table(**_maze()), {})
    assert examined(guess).problems == ()
    spoiled = guessed(_table(**_spoiled()), {})
    assert len(examined(spoiled, spelling=False).problems) == 4


def test_an_ending_without_its_last_state_is_told_with_a_repair() -> None:
    table = _maze()
    table["done"] = [int(t == 8) for t in table["t"]]
    found = examined(guessed(_table(**table), {}))
    (problem,) = found.problems
    assert problem.text.startswith("log.csv, row 8, column 'done': the task was over after this ")
    assert problem.text.endswith("add a row for it, without an action (5 more like this).")
    assert problem.repair == "take it as not known whether the task was over"
    names = ColumnNames(**guessed(_table(**table), {}).names)
    assert all(each.ended is None for each in demonstrations(found.repaired, names))
    table["choice"] = [
        "" if t == 8 else a for t, a in zip(table["t"], table["choice"], strict=True)
    ]
    whole = examined(guessed(_table(**table), {}))
    assert not whole.problems
    assert all(each.ended for each in demonstrations(whole.plain, names))


def test_single_letters_are_names_but_no_parts_of_names() -> None:
    table = _table(episode=["a"], t=[0], s=["x"], a=["y"], event=["z"])
    assert guessed(table, {}).names == {
        "episode": "episode", "step": "t", "state": "s", "action": "a", "label": "event",
    }  # fmt: skip
    with pytest.raises(DemonstrationsError, match="no column looks like states"):
        guessed(_table(episode=["a"], time_s=[0.5], event=["z"]), {})
