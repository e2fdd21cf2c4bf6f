"""whence sweep: every inference once, whatever stops it on the way, and one table at the end."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from runs import small
from whence.cli import run as whence_command
from whence.cli.sweeps import carrying, cells, page, plan, standing
from whence.errors import FormatError, WhenceError
from whence.runs import units

PLAN = """
format = "whence/sweep/1"
seeds = [0, 1]

[[worlds]]
world = "lab.json"
demos = ["one.jsonl", "two.jsonl"]

[settings]
discount = 0.9
states = 2
rewards = [0, 1]

[[variants]]
name = "sampled"
alpha = 20
lapse = 0.0
method = "tempering"
steps = 30
rungs = 3

[[variants]]
name = "every machine"
alpha = 20
lapse = 0.0
method = "exhaustive"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a sweep of eight inferences, beside its world and demonstrations."""
    mdp = small.world()
    demos = small.demonstrations(mdp)
    mdp.save(tmp_path / "lab.json")
    for name in ("one", "two"):
        demos.save(tmp_path / f"{name}.jsonl")
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def _rows(folder: Path) -> list[dict[str, str]]:
    with (folder / page.TABLE).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def _best(folder: Path, row: dict[str, str]) -> bytes:
    return (folder / row["run"] / "best.json").read_bytes()


def test_a_sweep_that_is_killed_twice_does_nothing_twice(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "sweep"
    done: list[str] = []
    work = cells.work

    def dies(asked: dict[str, Any]) -> dict[str, Any]:
        if len(done) in (3, 5) and done[-1] != "killed":
            done.append("killed")
            raise SystemExit
        done.append(asked["cell"])
        return work(asked)

    monkeypatch.setattr(cells, "work", dies)
    said = ["sweep", str(file), "-o", str(folder), "-q"]
    for _ in range(2):
        with pytest.raises(SystemExit):
            whence_command(said)
        assert not (folder / page.TABLE).exists()
    assert whence_command(["status", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "stopped; go on with the same whence sweep" in shown
    assert "4 of 8 inferences done, 0 failed" in shown
    assert f"{units.me()}: 4 inferences" in shown
    assert whence_command([*said, "--json"]) == 0
    made = [name for name in done if name != "killed"]
    assert len(made) == len(set(made)) == 8
    rows = _rows(folder)
    assert [row["status"] for row in rows] == ["done"] * 8
    assert [row["variant"] for row in rows[:4]] == ["sampled"] * 2 + ["every machine"] * 2
    assert {row["run"] for row in rows} == {f"runs/{name}" for name in made}
    told = json.loads(capsys.readouterr().out)
    assert told["inferences"] == 8
    assert told["failed"] == 0
    shown = (folder / page.PAGE_NAME).read_text()
    captions = re.findall(r"<figcaption>Machine \d+, lab.json: found by (.*?)</figcaption>", shown)
    assert shown.count("<figure") == len(captions) == len({_best(folder, row) for row in rows})
    found_by = [int(one) for caption in captions for one in re.findall(r"\d+", caption)]
    assert sorted(found_by) == list(range(1, 9))
    assert "`" not in shown
    assert whence_command(said) == 0
    assert len([name for name in done if name != "killed"]) == 8
    capsys.readouterr()
    assert whence_command(["status", str(folder), "--json"]) == 0
    stands = json.loads(capsys.readouterr().out)
    assert (stands["status"], stands["done"], stands["under_way"]) == ("finished", 8, [])


def test_an_inference_goes_on_where_it_was_killed(file: Path, tmp_path: Path) -> None:
    """One that was begun in the sweep's folder, and one whose folder its worker does not see."""
    planned = plan.read(str(file))
    folder = tmp_path / "sweep"
    carrying.opened(planned, folder)
    asked = cells.request(planned, planned.cells[0], folder, 1)
    row = cells.work(asked)["row"]
    assert cells.work(asked)["row"]["score"] == row["score"]
    away = cells.work(asked | {"folder": str(tmp_path / "nowhere")})
    kept = folder / cells.RUNS / planned.cells[0].name
    assert away["row"]["score"] == row["score"]
    assert away["files"]["best.json"] == (kept / "best.json").read_bytes()
    assert away["files"]["draws.npz"] == (kept / "draws.npz").read_bytes()


def test_an_inference_that_fails_is_told_and_tried_again(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(PLAN.replace('method = "exhaustive"', 'method = "exhaustive"\nlimit = 3'))
    folder = tmp_path / "sweep"
    assert whence_command(["sweep", str(file), "-o", str(folder)]) == 0
    rows = _rows(folder)
    assert [row["status"] for row in rows] == (["done"] * 2 + ["failed"] * 2) * 2
    assert "machines" in rows[2]["error"]
    assert "8 inferences, 4 failed" in capsys.readouterr().out
    shown = (folder / page.PAGE_NAME).read_text()
    assert shown.count('<a href="#failed">failed</a>') == 4
    stands = standing.standing(folder)
    took = [float(row["seconds"]) for row in rows if row["status"] == "done"]
    assert stands["seconds_each"] == pytest.approx(sum(took) / 4, abs=0.006)
    assert whence_command(["status", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "finished, 4 failed; the same whence sweep tries them again" in told


def test_a_sweep_is_watched_until_it_ends(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "sweep"
    carrying.opened(plan.read(str(file)), folder)
    holders = iter([7, 7, None])
    monkeypatch.setattr("whence.runs.lock.holder", lambda path: next(holders))
    monkeypatch.setattr("whence.cli.status.time.sleep", lambda seconds: None)
    assert whence_command(["status", str(folder), "--watch"]) == 0
    assert next(holders, "all were asked for") == "all were asked for"
    assert "stopped; go on with the same whence sweep" in capsys.readouterr().out


def test_a_page_says_how_many_machines_it_does_not_draw(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a sweep"
    assert whence_command(["sweep", str(file), "-o", str(folder), "-q"]) == 0
    monkeypatch.setattr(page, "MOST_DRAWN", 0)
    text = page.as_page(folder, _rows(folder))
    machines = {_best(folder, row) for row in _rows(folder)}
    assert f"Not drawn here: {len(machines)} more" in text
    assert text.count("<td>not drawn</td>") == 8
    assert "<figure" not in text
    assert f"whence report &#39;{folder}/runs/0001-lab-one-sampled-0&#39; -o" in text


def test_another_plan_is_refused_in_a_folder_that_was_begun(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    carrying.opened(plan.read(str(file)), folder)
    file.write_text(PLAN.replace("seeds = [0, 1]", "seeds = [0, 2]"))
    with pytest.raises(FormatError, match="another sweep was begun here"):
        carrying.opened(plan.read(str(file)), folder)
    with pytest.raises(WhenceError, match="not empty"):
        carrying.opened(plan.read(str(file)), tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("whence/sweep/1", "whence/sweep/9", "this file must say 'whence/sweep/1'"),
        ("rungs = 3", "rung = 3", "unknown setting 'rung'; known are states"),
        ('demos = ["one.jsonl", "two.jsonl"]', "", "no demonstrations; give demos"),
        ('"every machine"', '"sampled"', "two variants are called the same"),
        ("seeds = [0, 1]", 'seeds = ["x"]', r"Expected `int`, got `str` - at `\$.seeds"),
        ("[[worlds]]", "[[world]", "see docs/cluster.md"),
    ],
)
def test_a_plan_that_is_wrong_is_refused_by_name(
    file: Path, old: str, new: str, says: str
) -> None:
    file.write_text(PLAN.replace(old, new))
    with pytest.raises(FormatError, match=says):
        plan.read(str(file))
