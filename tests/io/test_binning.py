"""Tables of positions: numbers cut into bins, regions labelled by boxes, times and subjects."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import whence
from whence import Demonstrations, LabeledMDP
from whence.analysis import roughness
from whence.cli import run as main
from whence.errors import ArgumentError, DemonstrationsError, FormatError, WhenceError
from whence.io import binning, load_table

BOXES = "label,x_low,x_high,y_low,y_high\nwater,1.5,2,,\nhome,0,0.5,0,1\n"


def positions(folder: Path, *, shuffled: bool = True) -> Path:
    """Write two rats on a track of four cells of half a metre, jittered, as somebody's log."""
    rng = np.random.default_rng(4)
    rows = []
    for rat in ("ann", "bob"):
        for trial in range(3):
            cell, clock = 0, 10.0 * trial
            for step in range(12):
                to = min(max(cell + (1 if step % 6 < 3 else -1), 0), 3)
                x, y = 0.5 * cell + 0.05 + 0.4 * rng.random(), 0.2 + 0.6 * rng.random()
                rows.append((rat, trial, f"{clock:.2f}", f"{x:.3f}", f"{y:.3f}",
                             "on" if to > cell else "back"))  # fmt: skip
                cell, clock = to, clock + 0.25 + 0.1 * rng.random()
    if shuffled:
        rng.shuffle(rows)
    path = folder / "track.csv"
    lines = [",".join(map(str, row)) for row in [("rat", "trial", "t", "x", "y", "turn"), *rows]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "boxes.csv").write_text(BOXES, encoding="utf-8")
    return path


OPTIONS = ["--episode", "trial", "--order", "t", "--action", "turn", "--subject", "rat", "--bin",
           "x:4:0:2", "--bin", "y:1:0:1"]  # fmt: skip


def read(path: Path, **more: object) -> Demonstrations:
    bins, boxes = {"x": (4, 0, 2), "y": (1, 0, 1)}, path.parent / "boxes.csv"
    given = {"episode": "trial", "step": "t", "action": "turn", "subject": "rat",
             "bins": bins, "boxes": boxes}  # fmt: skip
    return Demonstrations.from_table(path, **(given | more))  # type: ignore[arg-type]


def test_positions_become_states_and_boxes_labels(tmp_path: Path) -> None:
    demos = read(positions(tmp_path))
    names = ("x=0.25 y=0.5", "x=0.75 y=0.5", "x=1.25 y=0.5", "x=1.75 y=0.5")
    assert demos.state_names == names
    assert demos[0].states == [0, 1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1]
    mdp = LabeledMDP.from_demonstrations(demos)
    assert [mdp.label(s) for s in range(4)] == ["home", None, None, "water"]


def test_times_order_rows_and_subjects_tell_episodes_apart(tmp_path: Path) -> None:
    """Trials 0 to 2 of two rats are six episodes; rows out of order make no difference."""
    shuffled = read(positions(tmp_path))
    assert sorted(map(str, shuffled.subjects or ())) == ["ann"] * 3 + ["bob"] * 3
    ordered = read(positions(tmp_path, shuffled=False))
    assert {tuple(e.states) for e in shuffled} == {tuple(e.states) for e in ordered}
    assert len(shuffled) == 6
    assert shuffled.table is not None
    assert set(shuffled.table.episodes) == {
        f"{t} of {r}" for t in range(3) for r in ("ann", "bob")
    }


@pytest.mark.parametrize("ending", ["jsonl", "npz", "csv"])
def test_subjects_come_back_from_files(tmp_path: Path, ending: str) -> None:
    demos = read(positions(tmp_path))
    demos.save(tmp_path / f"d.{ending}")
    again = Demonstrations.load(tmp_path / f"d.{ending}")
    assert again.subjects == demos.subjects
    assert again.subset([1, 4]).subjects == (demos[1].subject, demos[4].subject)
    assert again == demos


def test_files_without_subjects_are_written_as_before(tmp_path: Path) -> None:
    plain = Demonstrations.from_episodes([([0, 1], [0])])
    plain.save(tmp_path / "d.npz")
    with np.load(tmp_path / "d.npz") as arrays:
        assert str(arrays["format"]) == "whence/demos/1"
    plain.save(tmp_path / "d.jsonl")
    assert json.loads((tmp_path / "d.jsonl").read_text()) == {"states": [0, 1], "actions": [0]}


def test_three_commands_lead_from_positions_to_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = positions(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(roughness, "STEPS", 500)
    boxed = [*OPTIONS, "--boxes", "boxes.csv"]
    assert main(["world", log.name, *boxed, "-o", "world.json", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["states"], shown["alphabet"]) == (4, ["home", "water"])
    few = ["--states", "1", "--steps", "60", "--alpha", "5", "--discount", "0.9", "--method",
           "tempering"]  # fmt: skip
    assert main(["infer", "world.json", log.name, *boxed, "-o", "run", "-q", *few]) == 0
    assert main(["report", "run", "-o", "report.html", "-q"]) == 0
    assert "x=1.75 y=0.5" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_faults_of_positions_are_told_with_the_others(tmp_path: Path) -> None:
    log = positions(tmp_path, shuffled=False)
    lines = log.read_text().splitlines()
    lines[1] = "ann,0,0.00,far,0.5,on"
    lines[3] = "ann,0,later,0.7,0.5,on"
    lines[5] = "ann,0,1.2,0.7,7,on"
    log.write_text("\n".join(lines) + "\n")
    with pytest.raises(DemonstrationsError) as caught:
        read(log)
    told = caught.value.problems
    assert len(told) == 3
    assert "line 2, column 'x': 'far' is not a number" in told[0] + told[1]
    assert any("line 4, column 't': 'later' is not a time" in each for each in told)
    assert any("column 'y': 7 is outside of the bins from 0 to 1" in each for each in told)


def test_dates_order_rows(tmp_path: Path) -> None:
    table = {"episode": [1, 1, 1], "step": ["2024-05-02", "2024-05-01T10:00", "2024-05-01T09:00"],
             "state": ["c", "b", "a"], "action": [None, "on", "on"]}  # fmt: skip
    assert Demonstrations.from_table(table)[0].states == [0, 1, 2]


def test_whole_numbers_may_be_times(tmp_path: Path) -> None:
    table = {"episode": [1, 1], "step": [100, 300], "state": ["a", "b"], "action": ["on", None]}
    with pytest.raises(DemonstrationsError, match='gaps="ignore"'):
        Demonstrations.from_table(table)
    assert Demonstrations.from_table(table, gaps="ignore")[0].states == [0, 1]


@pytest.mark.parametrize(
    ("text", "cut"),
    [("x:20", ("x", 20, None, None)), ("x:4:0:2.5", ("x", 4, 0.0, 2.5)),
     ("a:b:3", ("a:b", 3, None, None)), ("t:1:2:3:4", ("t:1", 2, 3.0, 4.0))],
)  # fmt: skip
def test_cuts_are_read(text: str, cut: tuple[object, ...]) -> None:
    assert tuple(binning.parse(text)) == cut


def test_large_numbers_are_binned_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "far.csv"
    path.write_text("episode,x,action\n1,-1e39,go\n1,-1e39,go\n", encoding="utf-8")
    demos = Demonstrations.from_table(path, bins={"x": 3})
    assert demos.state_names == ("x=-1e+39",)
    path.write_text("episode,x,action\n1,-1e308,go\n1,1e308,go\n", encoding="utf-8")
    with pytest.raises(DemonstrationsError, match=r"beyond 1e\+100; give a smaller number"):
        Demonstrations.from_table(path, bins={"x": 3})


@pytest.mark.parametrize("text", ["x", "x:0", "x:-3", "x:2.5", "x:2:5:1", "x:99999", ":", "x:nan"])
def test_other_cuts_are_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="bins"):
        binning.parse(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [("label,x_low\na,1\n", "no column 'x_high'"),
     ("label,x_low,x_high,z\na,0,1,2\n", "unknown column 'z'"),
     ("label,x_low,x_high\n,0,1\n", "every box has a label"),
     ("label,x_low,x_high\na,1,1\n", "no more than its beginning"),
     ("label,x_low,x_high\na,one,2\n", "'one' is not a number"), ("label\na\n", "unknown column")],
)  # fmt: skip
def test_boxes_that_are_none_are_refused(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "boxes.csv"
    path.write_text(text)
    with pytest.raises(FormatError, match=fault):
        binning.read_boxes(load_table(path))


def test_a_state_in_two_boxes_is_refused(tmp_path: Path) -> None:
    log = positions(tmp_path)
    (tmp_path / "boxes.csv").write_text("label,x_low,x_high\na,0,1\nb,0.5,2\n")
    with pytest.raises(ArgumentError, match=r"'x=0\.75 y=0\.5' lies in a box of 'a', too"):
        read(log)
    (tmp_path / "boxes.csv").write_text("label,z_low,z_high\na,0,1\n")
    with pytest.raises(ArgumentError, match="'z' is not binned"):
        read(log)


def test_the_command_line_speaks_of_its_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = str(positions(tmp_path))
    assert main(["world", log, *OPTIONS]) == 1
    assert "name another column with --label COLUMN" in capsys.readouterr().err
    assert main(["world", log, *OPTIONS, "--bin", "z:3"]) == 1
    assert "no column 'z' to bin" in capsys.readouterr().err
    assert main(["world", log, *OPTIONS[:8], "--boxes", str(tmp_path / "boxes.csv")]) == 1
    assert "say what to bin with --bin COLUMN:N" in capsys.readouterr().err


def test_a_workbook_is_a_table(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    log = positions(tmp_path)
    book = openpyxl.Workbook()
    for number, line in enumerate(log.read_text().splitlines()):
        cells = line.split(",")
        book.active.append(cells if number == 0 else [
            float(c) if c.replace(".", "").isdigit() else c for c in cells
        ])  # fmt: skip
    book.save(tmp_path / "track.xlsx")
    assert read(tmp_path / "track.xlsx") == read(log)
    whence.Demonstrations.from_episodes([([0, 1], [0])]).save(tmp_path / "d.xlsx")
    assert Demonstrations.load(tmp_path / "d.xlsx")[0].states == [0, 1]
    for spoilt in (b"", b"PK", (tmp_path / "track.xlsx").read_bytes()[:900]):
        (tmp_path / "bad.xlsx").write_bytes(spoilt)
        with pytest.raises(WhenceError, match="damaged"):
            Demonstrations.load(tmp_path / "bad.xlsx")


def test_a_sheet_of_notes_and_a_title_are_no_table(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    rows = [("episode", "state", "action"), (1, "here", "go"), (1, "there", None)]
    plain, book = openpyxl.Workbook(), openpyxl.Workbook()
    book.active["A1"] = "who made this"
    sheet = book.create_sheet("data")
    sheet["A1"] = "Experiment 3"
    sheet.merge_cells("A1:C1")
    for row in rows:
        plain.active.append(row)
        sheet.append(row)
    plain.save(tmp_path / "plain.xlsx")
    book.save(tmp_path / "book.xlsx")
    with pytest.warns(
        whence.WhenceWarning, match="first sheet, 'Sheet', holds no table; 'data' is"
    ):
        found = Demonstrations.load(tmp_path / "book.xlsx")
    assert found == Demonstrations.load(tmp_path / "plain.xlsx")
