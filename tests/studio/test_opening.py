"""What `whence studio WHAT` opens, and how it is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import whence
from support.house import HOUSE
from whence import Demonstrations, Episode, Expert, LabeledMDP, cli
from whence.errors import ArgumentError, FileError, MissingExtraError
from whence.studio import files as places
from whence.studio import need_studio
from whence.studio.opening import opened, studio_folder
from whence.studio.project import Project

LOG = "episode,state,action,label\n" + "".join(
    f"{e},hall,on,\n{e},kitchen,on,tea\n{e},den,,bed\n" for e in range(3)
)


def test_a_built_in_world_is_opened_once(tmp_path: Path) -> None:
    assert opened(tmp_path, "coffee") == "coffee"
    assert opened(tmp_path, "coffee") == "coffee"
    assert opened(tmp_path, None) == "coffee"
    assert places.project_names(tmp_path) == ["coffee"]
    project = Project(tmp_path / "coffee")
    assert project.mdp == whence.worlds.coffee().mdp
    settings = project.state.settings
    assert (settings.least, settings.most, settings.rewards) == (3, 3, (0.0, 1.0))


def test_another_world_of_the_same_name_is_another_project(tmp_path: Path) -> None:
    path = tmp_path / "my rooms.map"
    path.write_text("labels: a\nstarts: 0,0\nmap:\n.a\n")
    folder = studio_folder(str(path), str(tmp_path / "studio"))
    assert opened(folder, str(path)) == "my%20rooms"
    path.write_text("labels: a\nstarts: 0,0\nmap:\n..a\n")
    assert opened(folder, str(path)) == "my%20rooms-2"


def test_a_log_stands_for_its_world_and_demonstrations(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    folder = studio_folder(str(path), str(tmp_path / "studio"))
    assert opened(folder, str(path)) == "log"
    assert opened(folder, str(path)) == "log"
    project = Project(folder / "log")
    assert len(project.lines) == 3
    assert project.mdp.names is not None


def test_a_run_is_copied_and_shown(tmp_path: Path) -> None:
    demos = Demonstrations.from_episodes([Episode([0, 1, 2], [0, 0])])
    run = tmp_path / "my-run"
    whence.infer(HOUSE, demos, states=1, expert=Expert(5, 0.9), folder=run, progress=False)
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    folder = studio_folder(str(run), str(tmp_path / "studio"))
    assert opened(folder, str(run)) == "my-run"
    project = Project(folder / "my-run")
    assert project.state.run == 1
    assert project.state.digest == project.digest
    assert whence.load(project.run_folder(1)).answer == whence.load(run).answer
    assert before == {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    with pytest.raises(FileError, match="a run; name another folder"):
        studio_folder(None, str(run))


def test_a_run_of_too_many_levels_is_refused_with_a_cure(tmp_path: Path) -> None:
    demos = Demonstrations.from_episodes([Episode([0, 1, 2], [0, 0])])
    run, folder = tmp_path / "run", studio_folder(None, str(tmp_path / "studio"))
    whence.infer(
        HOUSE, demos, states=1, rewards=tuple(range(9)), expert=Expert(5, 0.9), folder=run,
        progress=False,
    )  # fmt: skip
    with pytest.raises(ArgumentError, match=r"a run of 9 reward levels; .*whence report and"):
        opened(folder, str(run))
    assert places.project_names(folder) == []


def test_the_folder_of_a_studio_is_itself(tmp_path: Path) -> None:
    folder = studio_folder(None, str(tmp_path / "here"))
    places.create(folder, "house", HOUSE)
    assert studio_folder(str(folder), "elsewhere") == folder
    assert opened(folder, str(folder)) == "house"
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="a file, not a folder"):
        studio_folder(None, str(tmp_path / "file"))


@pytest.mark.parametrize(
    ("what", "message"),
    [("nowhere.map", "cannot be read"), ("nowhere", "cannot be read"), ("demos.jsonl", "a world")],
)
def test_what_is_no_world_is_refused_with_one_message(
    tmp_path: Path, what: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / what
    if what == "demos.jsonl":
        path.write_text('{"states": [0], "actions": [0]}\n')
    arguments = ["studio", str(path), "-o", str(tmp_path / "studio"), "--no-browser"]
    assert cli.run(arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_without_the_packages_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'whence\[studio\]'"):
        need_studio("whence studio", "starlette", "uvicorn")
    assert isinstance(HOUSE, LabeledMDP)
