from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import whence
from whence import Demonstrations, Episode, LabeledMDP
from whence.errors import DemonstrationsError, FormatError, WhenceError

EPISODES = [
    Episode([0, 1, 2], [0, 1]),
    Episode([3], [0], ["a"], ("b", "a")),
    Episode([], []),
    Episode([4, 4], [1], [None, "b"]),
    Episode([5], []),
]


@pytest.mark.parametrize("ending", [".jsonl", ".npz"])
def test_ragged_episodes_read_back(tmp_path: Path, ending: str) -> None:
    demos = Demonstrations.from_episodes(EPISODES)
    demos.save(tmp_path / f"d{ending}")
    again = Demonstrations.load(tmp_path / f"d{ending}")
    assert again == demos
    assert hash(again) == hash(demos)
    assert [tuple(map(_plain, e)) for e in again] == [tuple(map(_plain, e)) for e in EPISODES]


def _plain(value: object) -> object:
    return list(value) if isinstance(value, list | tuple) else value


def test_the_jsonl_lines_are_the_documented_ones(tmp_path: Path) -> None:
    Demonstrations.from_episodes(EPISODES[:2]).save(tmp_path / "d.jsonl")
    assert (tmp_path / "d.jsonl").read_text().splitlines() == [
        '{"states":[0,1,2],"actions":[0,1]}',
        '{"states":[3],"actions":[0],"labels":["a"],"history":["b","a"]}',
    ]


def test_names_of_states_and_actions_are_understood_where_the_world_is_known(
    tmp_path: Path,
) -> None:
    mdp = LabeledMDP.from_dense(
        [[[0, 1]], [[1, 0]]], labels=[None, "a"], names=["hall", "den"], actions=["go"]
    )
    path = tmp_path / "d.jsonl"
    path.write_text('\n{"states": ["hall", 1], "actions": ["go"]}\n\n')
    demos = Demonstrations.load(path, mdp)
    assert demos[0].states == [0, 1]
    assert demos.place(0) == f"{path}, line 2"
    with pytest.raises(FormatError, match="names need the world"):
        Demonstrations.load(path)
    path.write_text('{"states": ["attic"], "actions": ["go"]}')
    with pytest.raises(DemonstrationsError, match=r"states, entry 0: .* no state 'attic'"):
        Demonstrations.load(path, mdp)


@pytest.mark.parametrize("ending", [".jsonl", ".npz"])
def test_names_of_a_log_come_back_and_are_compared_with_a_world(
    tmp_path: Path, ending: str
) -> None:
    log = {"episode": [0, 0, 0], "state": ["den", "hall", "den"], "action": ["go", "back", None]}
    demos = Demonstrations.from_table(log)
    path = tmp_path / f"d{ending}"
    demos.save(path)
    again = Demonstrations.load(path)
    assert again == demos
    assert (again.state_names, again.action_names) == (demos.state_names, demos.action_names)
    assert sorted(again.state_names or ()) == ["den", "hall"]
    for names, fits in ((("den", "hall"), True), (("hall", "den"), False)):
        world = LabeledMDP.from_dense(
            np.ones((2, 2, 2)) / 2, labels=[None, "a"], names=names, actions=demos.action_names
        )
        assert Demonstrations.load(path, world).check(world).ok is fits


def test_files_with_the_names_of_a_log_are_joined_where_they_agree(tmp_path: Path) -> None:
    path, line = tmp_path / "d.jsonl", '{"states":[1,0],"actions":[0]}\n'
    head = '{"state_names":["den","hall"],"format":"whence/demos/2"}\n'
    path.write_text(head + line + head + line)
    assert (len(Demonstrations.load(path)), Demonstrations.load(path).place(1)) == (
        2, f"{path}, line 4",
    )  # fmt: skip
    other = head.replace("den", "attic")
    for text in (line + head + line, head + line + other + line, head + other + line):
        path.write_text(text)
        with pytest.raises(FormatError, match="other names than those of the episodes before"):
            Demonstrations.load(path)
    for bad, message in (
        (head.replace("/2", "/9"), "line 1: format is 'whence/demos/9'; this file must say"),
        (head.replace('"den",', ""), "1 state_names for numbers up to 1; name each"),
        (head.replace("state_names", "names"), "line 1: .*unknown field `names`"),
        (head.replace("den", "den\\ud800"), "line 1"),
    ):
        path.write_text(bad + line)
        with pytest.raises(FormatError, match=message):
            Demonstrations.load(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not valid JSON"),
        ("[1]", "line 2: Expected `object`"),
        ('{"states": [0]}', "line 2: .*actions"),
        ('{"states": [0, 0, 0], "actions": [0]}', "line 2: 3 states for 1 actions"),
        ('{"states": [], "actions": [0]}', "line 2: 0 states for 1 actions"),
        ('{"states": [-1], "actions": [0]}', "line 2, states, entry 0: -1"),
        ('{"states": [99999999999999999999], "actions": [0]}', "line 2"),
        ('{"states": [0.5], "actions": [0]}', "line 2"),
        ('{"states": [0], "actions": [0], "labels": []}', "line 2: 0 labels for 1 states"),
        ('{"states": [0], "actions": [0], "labels": [""]}', "line 2, labels, entry 0: ''"),
        ('{"states": [0], "actions": [0], "label": ["a"]}', "line 2: .*unknown field `label`"),
        ('{"states": [0], "actions": [0], "history": [null]}', "line 2"),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"states": [0], "actions": [0]}\n' + line + "\n")
    with pytest.raises(WhenceError, match=message) as caught:
        Demonstrations.load(path, whence.worlds.coffee().mdp)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"action_offsets": [0, 1]}, "state_offsets do not fit"),
        ({"state_offsets": [0, 2, 1]}, "never fall"),
        ({"states": np.array([0.5, 1, 2])}, "flat array of whole numbers"),
        ({"labels": [0, 0, 0]}, "labels: a symbol outside"),
        ({"labels": [-2, -1, -1]}, "say all or none"),
        ({"actions": [-1]}, "negative"),
        ({"colour": [1]}, "unknown array 'colour'"),
    ],
)
def test_bad_arrays_are_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    good: dict[str, object] = {
        "format": "whence/demos/1",
        "states": np.array([0, 1, 2]),
        "state_offsets": [0, 2, 3],
        "actions": [0],
        "action_offsets": [0, 1, 1],
    }
    np.savez(tmp_path / "d.npz", **(good | change))  # type: ignore[arg-type]
    with pytest.raises(FormatError, match=message):
        Demonstrations.load(tmp_path / "d.npz")


def test_workbooks_keep_names_that_look_like_formulas(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    demos = Demonstrations.from_episodes([Episode([0, 1], [0], [None, "=1+1"], subject="=x")])
    demos.save(tmp_path / "d.xlsx")
    assert Demonstrations.load(tmp_path / "d.xlsx") == demos
    bell = Demonstrations.from_episodes([Episode([0, 1], [0], [None, "a\x07"])])
    with pytest.raises(DemonstrationsError, match=r"control characters, as in 'a\\x07'; save as"):
        bell.save(tmp_path / "d.xlsx")


def test_tables_refuse_labels_that_are_all_blank_on_purpose(tmp_path: Path) -> None:
    world = whence.LabeledMDP.from_dense(np.eye(2)[:, None][::-1], labels=[None, "c"])
    demos = Demonstrations.from_episodes([Episode([0, 1], [0], [None, None])])
    for mdp in (None, world):
        with pytest.raises(DemonstrationsError, match=r"all labels are blank.*save as .jsonl"):
            demos.save(tmp_path / "d.csv", mdp)
    demos.save(tmp_path / "d.jsonl")
    assert Demonstrations.load(tmp_path / "d.jsonl") == demos
    elsewhere = whence.LabeledMDP.from_dense(np.eye(2)[:, None][::-1], labels=[None, None])
    assert "label" in demos.to_table(elsewhere)
