"""whence ask: questions at a terminal, or answered by a machine."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

import whence
from runs import small
from whence import cli
from whence.cli.ask import _of_group
from whence.drawing import machine_svg
from whence.errors import ArgumentError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mdp = small.world()
    demos = small.demonstrations(mdp).subset([0])
    whence.infer(mdp, demos, states=2, expert=whence.Expert(3, 0.9), folder=tmp_path / "run",
                 method="exhaustive")  # fmt: skip
    task = whence.RewardMachine.from_arrows(["x -a-> y", "y -b/1-> x"], alphabet=("a", "b"))
    task.save(tmp_path / "task.json")
    return tmp_path / "run"


def test_a_machine_answers_and_its_answers_are_kept_and_withdrawn(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = str(folder.parent / "task.json")
    line = ["ask", str(folder), "--simulate", task, "--most", "3", "--kind", "sequence", "--json"]
    assert cli.run(line) == 0
    told = msgspec.json.decode(capsys.readouterr().out)
    assert [each["id"] for each in told["answers"]] == ["1", "2", "3"]
    assert set(told["error_rate"]) == {"mean", "deviation"}
    assert told["answer"] == whence.load(folder).answer
    assert cli.run(["ask", str(folder), "--withdraw", "2"]) == 0
    out = capsys.readouterr().out
    assert "2. " in out
    assert "(withdrawn)" in out
    assert "2 answers; " in out
    assert cli.run(["ask", str(folder), "--list", "--json"]) == 0
    told = msgspec.json.decode(capsys.readouterr().out)
    assert [each["withdrawn"] for each in told["answers"]] == [False, True, False]


def test_a_person_answers_at_a_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("1\nstop\n"))
    assert cli.run(["ask", str(folder), "--kind", "sequence"]) == 0
    out = capsys.readouterr().out
    assert "question 1: " in out
    assert "question 2: " in out
    assert "so far: " in out
    assert "nats are expected for" in out
    assert "it would settle: if 0, " in out
    assert [each.value for each in whence.load(folder).answers] == [1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seconds", "sequence"], "--seconds sequence: give KIND=S"),
        (["--seconds", "guess=1"], "kind is 'guess'"),
        (["--withdraw", "7"], "answer '7' cannot be withdrawn; those that stand: none"),
        (["--bound", "-1"], "bound is -1"),
        (["--simulate", "nowhere.json"], "nowhere.json"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(
    options: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["ask", str(folder), *options]) == 1
    assert message in capsys.readouterr().err
    assert not (folder / "answers.jsonl").exists()


@pytest.mark.parametrize("group", [0, 3, -1])
def test_groups_are_counted_from_one(group: int) -> None:
    run = SimpleNamespace(groups=SimpleNamespace(groups=("one", "two")))
    with pytest.raises(ArgumentError, match=f"--group {group}: the run has 2; give 1 to 2"):
        _of_group(run, group)  # type: ignore[arg-type]


def test_a_run_that_is_called_like_a_built_in_world_is_named_by_its_folder(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    folder.rename("coffee")
    assert cli.run(["show", "coffee", "--json"]) == 0
    told = capsys.readouterr()
    assert "task of the built-in world is meant" in told.err
    assert "write ./coffee" in told.err
    found = msgspec.json.decode(told.out)
    assert found["alphabet"] == ["c", "o", "*"]
    assert found["answer"] is None
    assert cli.run(["show", "./coffee", "--json"]) == 0
    told = capsys.readouterr()
    assert "warning" not in told.err
    found = msgspec.json.decode(told.out)
    assert found["alphabet"] == ["a", "b"]
    assert found["answer"] == whence.load("coffee").answer
    assert cli.run(["export", "coffee", "--to", "svg", "-o", "of-world.svg"]) == 0
    assert Path("of-world.svg").read_text() == machine_svg(whence.worlds.coffee().task)
