"""A table alone: guessed, looked through, and the whole job done."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import msgspec
import pytest

from whence import cli
from whence.analysis import roughness

ROWS = [
    (f"day {e}", t, "arm3" if t % 2 else "middle", "back" if t % 2 else "in", "light" * (t % 2))
    for e in range(6)
    for t in range(9)
]
HEAD = ("Trial", "t", "place", "choice", "cue")


def _write(path: Path, rows: list[tuple[Any, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        writer.writerows(rows)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_attempt_shows_every_problem_and_writes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [list(row) for row in ROWS]
    rows[1][2] = "amr3"
    rows[13][1] = "4?"
    rows[21][4] = ""
    rows[30][2] = "NA"
    rows.insert(41, ["day 4", 4, "arm3", "back", "light"])
    _write(folder / "rat.csv", [tuple(row) for row in rows])
    assert cli.run(["rat.csv"]) == 1
    error = capsys.readouterr().err
    assert "`amr3` stands once, `arm3` 23 times: the same?" in error
    for line in (15, 23, 32):
        assert f"line {line}, " in error
    assert "lines 42 and 43" in error
    assert "whence infer rat.csv -o rat-run --repair" in error
    assert [path.name for path in folder.iterdir()] == ["rat.csv"]


def test_what_has_no_repair_is_named_alone_where_repairs_are_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[tuple[Any, ...]] = list(ROWS)
    rows[1] = (*rows[1][:2], "amr3", *rows[1][3:])
    rows[13] = (*rows[13], "a cell too many")
    _write(folder / "rat.csv", rows)
    assert cli.run(["rat.csv"]) == 1
    assert "2 problems; correct those without a repair" in capsys.readouterr().err
    assert cli.run(["rat.csv", "--repair"]) == 1
    error = capsys.readouterr().err
    assert "`amr3` stands once" not in error
    assert "line 15: 6 cells for 5 columns" in error
    assert error.rstrip().endswith(
        "this has no repair: correct it in the file, and the other problem will be repaired by "
        "the same command"
    )


def test_a_table_alone_gives_an_answer_and_a_report(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roughness, "STEPS", 500)
    arms = {1: ("arm3", "light"), 3: ("arm8", "water")}
    rows = [
        (e, t, place, "back" if cue else ("to arm3", "to arm8")[t // 2 % 2], cue)
        for e in range(6)
        for t in range(9)
        for place, cue in [arms.get(t % 4, ("middle", ""))]
    ]
    _write(folder / "rat.csv", rows)
    assert cli.run(["rat.csv", "--states", "2", "--steps", "200", "--json"]) == 0
    captured = capsys.readouterr()
    document = msgspec.json.decode(captured.out)
    assert document["written"] == "rat-run"
    assert document["report"] == str(Path("rat-run") / "report.html")
    assert "light" in document["answer"]
    assert Path(document["report"]).stat().st_size > 10_000
    assert "labels are 'cue' (2 of them: light, water)" in captured.err
    assert cli.spelled_out(["rat.csv"]) == ["infer", "rat.csv", "-o", "rat-run-2"]


def test_a_world_without_demonstrations_is_wrong_usage(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["infer", "coffee", "-o", "run"]) == 2
    assert "Missing argument 'DEMOS'" in capsys.readouterr().err
    _write(folder / "rat.csv", ROWS)
    assert cli.run(["infer", "rat.csv", "rat.csv", "-o", "run", "--repair"]) == 2
    assert cli.run(["world", "rat.csv", "--json"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out)["states"] == 2
