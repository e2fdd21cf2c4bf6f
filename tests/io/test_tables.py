from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import whence
from support.house import HOUSE
from whence import Demonstrations, LabeledMDP, WhenceWarning
from whence.errors import ArgumentError, DemonstrationsError, FormatError, WhenceError
from whence.io.columns import as_number

WORLD = whence.worlds.coffee()
ROWS = """episode,step,state,action,label
monday,0,hall,on,
tuesday,0,hall,on,
monday,2,den,,bed
monday,1,kitchen,on,tea
tuesday,1,kitchen,back,tea
"""


def written(tmp_path: Path, text: str, name: str = "log.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_in_any_order_become_episodes(tmp_path: Path) -> None:
    demos = Demonstrations.from_table(written(tmp_path, ROWS))
    assert demos.state_names == ("den", "hall", "kitchen")
    assert demos.action_names == ("back", "on")
    assert demos.alphabet == ("bed", "tea")
    monday, tuesday = demos
    assert ([*monday.states], [*monday.actions]) == ([1, 2, 0], [1, 1])
    assert monday.labels == [None, "tea", "bed"]
    assert ([*tuesday.states], [*tuesday.actions]) == ([1, 2], [1, 0])
    assert demos.place(0) == f"{tmp_path / 'log.csv'}, episode 'monday'"
    assert demos.place(0, 1) == f"{tmp_path / 'log.csv'}, line 5, episode 'monday'"


def test_a_world_gives_its_own_numbers(tmp_path: Path) -> None:
    demos = Demonstrations.from_table(written(tmp_path, ROWS), mdp=HOUSE)
    assert [*demos[0].states] == [0, 1, 2]
    assert [*demos[1].actions] == [0, 1]
    assert demos.check(HOUSE).ok
    by_number = Demonstrations.from_table(
        {"episode": [7, 7], "state": [0, 1], "action": [0, None]}, mdp=HOUSE
    )
    assert by_number.check(HOUSE).ok
    assert by_number.state_names is None


def test_names_numbered_without_the_world_are_refused_by_it(tmp_path: Path) -> None:
    demos = Demonstrations.from_table(written(tmp_path, ROWS))
    with pytest.raises(
        DemonstrationsError, match=r"'den' in the log and 'hall' in the world.*mdp="
    ):
        whence.Posterior(HOUSE, demos, expert=whence.Expert(1.0, 0.9))


def frames() -> list[Any]:
    columns = {
        "who": ["a", "a", "b"],
        "where": ["x", "y", "x"],
        "what": [1, None, 0],
        "sign": [None, "s", None],
    }
    return [
        columns,
        pd.DataFrame(columns),
        pd.DataFrame(columns).convert_dtypes(),
        pd.DataFrame(columns).astype({"where": "category"}),
        pl.DataFrame(columns),
        pa.table(columns),
        {name: np.array(column, dtype=object) for name, column in columns.items()},
    ]


@pytest.mark.parametrize("frame", frames(), ids=lambda f: type(f).__module__)
def test_frames_and_their_missing_values_are_understood(frame: Any) -> None:
    demos = Demonstrations.from_table(
        frame, episode="who", state="where", action="what", label="sign"
    )
    assert [[*e.states] for e in demos] == [[0, 1], [0]]
    assert [[*e.actions] for e in demos] == [[1], [0]]
    assert demos[0].labels == [None, "s"]
    assert demos.state_names == ("x", "y")
    assert demos.action_names is None


def test_whole_numbers_are_numbers_unless_names_are_asked_for() -> None:
    table = {"episode": [0, 0, 0], "state": ["10", "9", "10"], "action": ["3", "3.0", ""]}
    demos = Demonstrations.from_table(table)
    assert ([*demos[0].states], [*demos[0].actions]) == ([10, 9, 10], [3, 3])
    named = Demonstrations.from_table(table, numbers=False)
    assert named.state_names == ("9", "10")
    assert [*named[0].states] == [1, 0, 1]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("mdp", [WORLD.mdp, HOUSE], ids=["grid", "named"])
def test_tables_read_back_what_they_write(tmp_path: Path, ending: str, mdp: LabeledMDP) -> None:
    task = whence.RewardMachine(mdp.alphabet, [[0] * len(mdp.alphabet)], [[1] * len(mdp.alphabet)])
    demos = whence.simulate(mdp, task, whence.Expert(3.0, 0.9), episodes=7, length=9, seed=1)
    path = tmp_path / f"d{ending}"
    demos.save(path, mdp)
    again = Demonstrations.load(path, mdp)
    assert np.array_equal(again.states, demos.states)
    assert np.array_equal(again.actions, demos.actions)
    assert np.array_equal(again.state_offsets, demos.state_offsets)
    assert [e.labels for e in again] == [[mdp.label(s) for s in e.states] for e in demos]
    demos.save(path)
    assert Demonstrations.load(path) == demos


def test_names_survive_npz(tmp_path: Path) -> None:
    demos = Demonstrations.from_table(written(tmp_path, ROWS))
    demos.save(tmp_path / "d.npz")
    again = Demonstrations.load(tmp_path / "d.npz")
    assert again == demos
    assert (again.state_names, again.action_names) == (demos.state_names, demos.action_names)


def test_quoted_cells_semicolons_and_blank_lines(tmp_path: Path) -> None:
    text = 'episode;state;action\n\n1;"a\nb";"x;y"\n1;"c ""d""";\n'
    demos = Demonstrations.from_table(written(tmp_path, text))
    assert demos.state_names == ("a\nb", 'c "d"')
    assert demos.action_names == ("x;y",)
    assert demos.place(0, 1).endswith("line 5, episode '1'")


def test_repeated_rows_are_left_out_and_gaps_can_be_cut(tmp_path: Path) -> None:
    twice = ROWS + "monday,1,kitchen,on,tea\n"
    with pytest.warns(WhenceWarning, match="1 rows repeat another row, the first in line 7"):
        demos = Demonstrations.from_table(written(tmp_path, twice))
    assert demos == Demonstrations.from_table(written(tmp_path, ROWS))
    gap = {"episode": [0] * 4, "step": [1, 2, 4, 5], "state": list("abcd"), "action": list("xxxx")}
    with pytest.warns(WhenceWarning, match="1 episodes lack a step; 2 rows"):
        cut = Demonstrations.from_table(gap, gaps="cut")
    assert cut.state_names == ("a", "b")
    assert cut.n_steps == 2


BAD = [
    ("", "log.csv: empty; begin with a header"),
    ("episode,state\n1,a\n", "no column 'action' for the action; the columns are 'episode'"),
    ("episode,state,action\n1,a\n", "line 2: 2 cells for 3 columns"),
    ("episode,state,action,state\n", "line 1: header: 'state' occurs twice"),
    ('episode,state,action\n1,"a,x\n', r"line 2: unexpected end of data"),
    ("episode,state,action\n1,a,x\n1,,x\n", "line 3, column 'state': empty"),
    ("episode,state,action\n1,a,\n1,b,x\n", "line 2, column 'action': empty, but episode '1'"),
    ("episode,step,state,action\n1,first,a,x\n", "line 2, column 'step': 'first' is not a step"),
    ("episode,step,state,action\n1,1,a,x\n1,3,b,x\n", "line 3: step 2 of episode '1' is missing"),
    ("episode,step,state,action\n1,1,a,x\n1,1,b,x\n", "lines 2 and 3, column 'state': 'a' and"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD, ids=[m[:40] for _, m in BAD])
def test_what_is_wrong_is_named_with_line_and_column(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(WhenceError) as caught:
        Demonstrations.from_table(written(tmp_path, text))
    assert message in str(caught.value)


def test_unknown_names_are_refused_at_their_first_line(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS.replace("kitchen,back", "attic,back"))
    with pytest.raises(
        DemonstrationsError, match="line 6, column 'state': the world has no state 'attic'"
    ):
        Demonstrations.from_table(path, mdp=HOUSE)
    with pytest.raises(DemonstrationsError, match=r"row 1, column 'state': list is not a name"):
        Demonstrations.from_table({"episode": [1, 1], "state": ["a", [1]], "action": [1, 1]})
    with pytest.raises(ArgumentError, match="int is not a table"):
        Demonstrations.from_table(3)
    with pytest.raises(ArgumentError, match="gaps is 'fill'"):
        Demonstrations.from_table(path, gaps="fill")
    with pytest.raises(FormatError, match="not a Parquet file"):
        Demonstrations.from_table(written(tmp_path, "PAR?", "log.parquet"))


def test_a_step_that_the_world_forbids_is_named_as_the_table_names_it(tmp_path: Path) -> None:
    path = written(tmp_path, "episode,state,action\nx,hall,on\nx,den,back\n")
    demos = Demonstrations.from_table(path, mdp=HOUSE)
    assert (
        demos.check(HOUSE)
        .problems[0]
        .endswith(
            "log.csv, line 2, episode 'x', step 0: action 'on' never leads from state 'hall' to "
            "state 'den'; correct the step or the world"
        )
    )


def test_what_a_table_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DemonstrationsError, match="read before an episode"):
        Demonstrations.from_episodes([whence.Episode([0], [0], None, ("a",))]).to_table()
    with pytest.raises(DemonstrationsError, match="episode 0: no states"):
        Demonstrations.from_episodes([([], [])]).to_table()


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_any_strings_in_any_order_come_back(data: st.DataObject) -> None:
    names = st.text(min_size=1, max_size=3)
    rows = []
    for episode in data.draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        cells = st.tuples(names, names)
        for step, (state, action) in enumerate(data.draw(st.lists(cells, min_size=1, max_size=4))):
            rows.append((episode, step, state, action))
    mixed = data.draw(st.permutations(rows))
    table = dict(
        zip(("episode", "step", "state", "action"), zip(*mixed, strict=True), strict=True)
    )
    demos = Demonstrations.from_table(table, numbers=False)
    assert demos.state_names is not None
    assert demos.action_names is not None
    assert demos.table is not None
    found = [
        (demos.table.episodes[e], step, demos.state_names[s], demos.action_names[a])
        for e, episode in enumerate(demos)
        for step, (s, a) in enumerate(zip(episode.states, episode.actions, strict=True))
    ]
    assert sorted(found) == sorted(rows)


def test_files_as_programs_write_them_are_read(tmp_path: Path) -> None:
    plain = "trip;place;move;cue\n1;h\u00e4ll;on;\n1;den;;bed\n"
    names: dict[str, Any] = {
        "episode": "trip", "state": "place", "action": "move", "label": "cue",
    }  # fmt: skip
    wanted = Demonstrations.from_table(written(tmp_path, plain), **names)
    for text in (
        "# exported by Logger 3, with; semicolons\n\n" + plain,
        plain.replace("\n", "\r\n"),
        plain.replace("1;den;;bed\n", "1;den;;bed;;\n;;;\n"),
        plain.replace("trip", ";trip").replace("1;", ";1;"),  # the numbers of rows, unnamed
        plain.replace(";", "|"),
        "sep=;\n" + plain.replace("cue", "cue,,,,,,,,"),
        "#" + plain,
    ):
        found = names | ({"episode": "#trip"} if text[:2] == "#t" else {})
        found |= {"label": "cue,,,,,,,,"} if text[:4] == "sep=" else {}
        assert Demonstrations.from_table(written(tmp_path, text), **found) == wanted
    path = tmp_path / "log.csv"
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_bytes(plain.encode(encoding))
        assert Demonstrations.from_table(path, **names) == wanted
    path.write_bytes(plain.encode("latin-1"))
    with pytest.warns(WhenceWarning, match=r"line 2: byte 0xe4 .* read as Windows-1252"):
        assert Demonstrations.from_table(path, **names) == wanted
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WhenceError, match="damaged UTF-16"):
        Demonstrations.from_table(path, **names)


def test_a_name_may_stand_twice_where_nobody_asks_for_it(tmp_path: Path) -> None:
    path = written(tmp_path, "episode,state,action,note,note\n1,a,go,x,y\n1,b,,,\n")
    assert len(Demonstrations.from_table(path)) == 1
    with pytest.raises(WhenceError, match="'note' occurs twice"):
        Demonstrations.from_table(path, label="note")


def test_rows_of_other_lengths_are_told_with_all_else(tmp_path: Path) -> None:
    path = written(
        tmp_path, "episode,step,state,action\n1,0,a\n1,2,b,go\n2,0,,go\n2,1,a,b,c\n3,0,a,go\n"
    )
    with pytest.raises(WhenceError) as caught:
        Demonstrations.from_table(path)
    faults = caught.value.problems
    assert [fault.partition("line ")[2][0] for fault in faults] == list("22345")
    assert "3 cells for 4 columns" in faults[0]
    wide = "episode,state,action," + ",".join(f"c{i}" for i in range(5_000)) + "\n1\n" * 5_000
    with pytest.raises(WhenceError, match="line 2: 1 cells for 5003 columns"):
        Demonstrations.from_table(written(tmp_path, wide))


@pytest.mark.parametrize(
    ("text", "value"),
    [("0,5", 0.5), ("-12,25", -12.25), ("1,000", None), ("1,0000", 1.0), ("1,2,3", None)],
)
def test_decimal_commas_are_read_where_they_separate_nothing(
    text: str, value: float | None
) -> None:
    assert as_number(text, commas=True) == value
    assert as_number(text) is None
