"""Projects: what is kept of them, whoever is killed and whoever else works on them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from support.house import HOUSE
from whence import Demonstrations, Episode, LabeledMDP
from whence.errors import ArgumentError, DemonstrationsError, FileError, WhenceError
from whence.studio import downloads, drawn, uploads, walking
from whence.studio import files as places
from whence.studio.desk import Desk
from whence.studio.project import ConflictError, Project, Settings
from whence.studio.scenery import Scenery

ANN, BEN = "ann00000", "ben00000"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / places.create(tmp_path, "house", HOUSE))


def step(project: Project, who: str, action: int = 0) -> None:
    walk = project.walk(who)
    project.change(who, walk.revision, walking.stepped(HOUSE, walk, action))


def again(project: Project) -> Project:
    return Project(project.folder)


def test_walks_survive_and_belong_to_one(project: Project) -> None:
    step(project, ANN)
    step(project, BEN)
    step(project, BEN)
    assert again(project).walk(ANN).states == (0, 1)
    assert again(project).walk(BEN).states == (0, 1, 2)


def test_a_walk_that_was_changed_elsewhere_is_not_changed_again(project: Project) -> None:
    seen = project.walk(ANN)
    step(project, ANN)
    with pytest.raises(ConflictError, match="another tab"):
        project.change(ANN, seen.revision, walking.stepped(HOUSE, seen, 0))
    with pytest.raises(ConflictError, match="another tab"):
        project.record(ANN, seen.revision, None, None)
    assert project.walk(ANN).states == (0, 1)
    assert project.lines == []


def test_what_is_recorded_is_a_file_that_whence_reads(project: Project) -> None:
    step(project, ANN)
    following = project.record(ANN, project.walk(ANN).revision, True, "ann")
    assert following.actions == ()
    demos = Demonstrations.load(project.demos_path, LabeledMDP.load(project.world_path))
    assert list(demos) == [Episode([0, 1], [0], None, (), True, "ann")]
    assert again(project).walk(ANN).actions == ()


@pytest.mark.parametrize("written", [False, True])
def test_a_kill_while_recording_neither_loses_nor_doubles(
    project: Project, written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    step(project, ANN)
    usual = project._write

    def killed(lines: list[bytes]) -> None:
        if written:
            usual(lines)
        raise KeyboardInterrupt

    monkeypatch.setattr(project, "_write", killed)
    with pytest.raises(KeyboardInterrupt):
        project.record(ANN, project.walk(ANN).revision, None, None)
    found = again(project)
    assert len(found.lines) == written
    assert len(found.walk(ANN).actions) == (not written)


def test_withdrawn_demonstrations_come_back(project: Project) -> None:
    for _ in range(2):
        step(project, ANN)
        project.record(ANN, project.walk(ANN).revision, None, None)
    first = project.demos_document()["listed"][0]
    project.withdraw(0, first["digest"])
    assert len(again(project).lines) == 1
    with pytest.raises(ConflictError, match="changed meanwhile"):
        project.withdraw(5, first["digest"])
    project.restore()
    assert len(again(project).lines) == 2
    with pytest.raises(ArgumentError, match="nothing was withdrawn"):
        project.restore()


def test_what_is_held_is_bounded(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence.studio.project.MOST_WALKS", 3)
    monkeypatch.setattr("whence.studio.project.MOST_WITHDRAWN", 2)
    step(project, ANN)
    for number in range(20):
        project.walk(f"who{number:05d}")
    assert len(project._walks) <= 6
    assert project.walk(ANN).states == (0, 1)
    for _ in range(4):
        step(project, ANN)
        project.record(ANN, project.walk(ANN).revision, None, None)
        project.withdraw(0, project.demos_document()["listed"][0]["digest"])
    assert project.demos_document()["withdrawn"] == 2


def test_old_runs_make_room(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whence.studio.desk.KEPT_RUNS", 2)
    monkeypatch.setattr("whence.studio.desk.results.complete", lambda path: path.name != "5")
    runs = project.folder / places.RUNS
    for number in range(1, 9):
        (runs / str(number)).mkdir()
    (runs / "2" / "answers.jsonl").touch()
    (runs / "notes").mkdir()
    project.keep(run=8)
    Desk(project)._tidy()
    kept = {path.name for path in runs.iterdir()}
    assert kept == {"2", "6", "7", "8", "notes"}  # 5 was not finished, and 2 was given answers


def test_a_walk_that_nobody_looks_at_is_found_again(project: Project) -> None:
    assert project.orphan(set()) is None
    step(project, ANN)
    project.walk(BEN)
    assert project.orphan(set()) == ANN
    assert project.orphan({ANN}) is None


def test_a_damaged_walk_or_state_is_left_out(project: Project) -> None:
    step(project, ANN)
    for path in (project.folder / places.WALKS / f"{ANN}.json", project.folder / "studio.json"):
        path.write_bytes(b'{"states": [0, 99], "act')
    assert again(project).walk(ANN).actions == ()
    assert again(project).state.settings == Settings()


def test_demonstrations_that_do_not_fit_are_refused_whole(project: Project) -> None:
    with pytest.raises(WhenceError, match="state 7"):
        project.add(Demonstrations.from_episodes([Episode([0, 1], [0]), Episode([7], [0])]))
    assert project.lines == []
    assert project.add(Demonstrations.from_episodes([Episode([0, 1], [0])])) == 1


@pytest.mark.parametrize(
    "name", ["..", ".", "../x", "a/b", "", "x" * 61, "a\x00b", ".studio.json"]
)
def test_names_that_lead_elsewhere_are_no_projects(tmp_path: Path, name: str) -> None:
    places.create(tmp_path, "house", HOUSE)
    with pytest.raises((FileError, ValueError)):
        places.project_folder(tmp_path, name)


def test_links_are_no_projects(tmp_path: Path) -> None:
    studio, elsewhere = tmp_path / "studio", tmp_path / "elsewhere"
    for folder in (studio, elsewhere):
        folder.mkdir()
    name = places.create(elsewhere, "house", HOUSE)
    (studio / "house").symlink_to(elsewhere / name)
    assert places.project_names(studio) == []
    with pytest.raises(FileError):
        places.project_folder(studio, "house")


def test_names_of_projects_are_plain_and_free(tmp_path: Path) -> None:
    assert places.create(tmp_path, "<b>&nbsp;", HOUSE) == "b-nbsp"
    assert places.create(tmp_path, "../../etc", HOUSE) == "etc"
    assert places.create(tmp_path, "etc", HOUSE) == "etc-2"
    assert places.create(tmp_path, "…", HOUSE) == "world"


def test_a_drawing_is_the_world_of_its_map() -> None:
    asked = drawn.Drawn(
        "rooms", 3, 2, solid=[5], walls=[(0, 0, "right")], labels=[(4, "tea")], starts=[0],
        slip=0.2,
    )  # fmt: skip
    same = LabeledMDP.from_map(
        "slip: 0.2\nlabels: t=tea\nstarts: 0,0\nmap:\n+----+\n|. t#|\n|.|..|\n+----+\n"
    )
    assert drawn.world_of(asked) == same


def test_the_drawing_of_a_map_is_that_map_again() -> None:
    header = "actions: up right down left{}\n{}labels: t=tea\nstarts: 0,0\nslip: 0.2\n"
    for more, blocked in (("", ""), (" stay", ""), (" stay", "blocked: unavailable\n")):
        text = header.format(more, blocked) + "map:\n+----+\n|. t#|\n|.|..|\n+----+\n"
        world = LabeledMDP.from_map(text)
        drawing = Scenery(world).document["drawn"]
        assert drawn.world_of(msgspec.convert(drawing | {"name": "m"}, drawn.Drawn)) == world


@pytest.mark.parametrize(
    ("episode", "table"),
    [
        (Episode([1, 2], [0]), True),
        (Episode([1, 2], [0], ["history", "tea"]), True),
        (Episode([1, 2], [0], [None, None]), False),
        (Episode([1, 2], [0], None, ("tea",)), False),
        (Episode([], []), False),
    ],
)
def test_a_table_is_offered_where_it_can_be_had(
    tmp_path: Path, episode: Episode, table: bool
) -> None:
    mdp = LabeledMDP.from_dense(
        [[[0, 1, 0]], [[0, 0, 1]], [[0, 0, 1]]], labels=[None, "tea", "history"]
    )
    project = Project(tmp_path / places.create(tmp_path, "line", mdp))
    project.add(Demonstrations.from_episodes([episode]))
    assert ("demos.csv" in downloads.kinds(project)) is table
    if table:
        with downloads.content(project, "demos.csv") as file:
            assert file.read().startswith(b"episode,")
        return
    with pytest.raises(DemonstrationsError):
        Demonstrations.from_episodes([episode]).to_table(mdp)
    with pytest.raises(FileError, match="no such file"):
        downloads.content(project, "demos.csv")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"starts": []}, "no start"),
        ({"labels": []}, "no label"),
        ({"labels": [(0, "x" * 41)]}, "40 characters"),
        ({"slip": 1.0}, "slip"),
        ({"width": 201}, "201 by 2"),
        ({"solid": [0, 1, 2, 3]}, "every cell is solid"),
        ({"walls": [(9, 9, "up")]}, "wall"),
    ],
)
def test_a_drawing_that_is_no_world_is_refused(change: dict[str, object], message: str) -> None:
    good = drawn.Drawn("m", 2, 2, labels=[(3, "a")], starts=[0])
    with pytest.raises(WhenceError, match=message):
        drawn.world_of(msgspec.structs.replace(good, **change))


def test_files_are_told_apart_by_their_names() -> None:
    rows = b"episode,state,action,label\n1,hall,on,\n1,kitchen,on,tea\n1,den,,bed\n"
    log = uploads.read(rows, "C:\\logs\\mon.csv", None)
    assert log.mdp is not None
    assert log.demos is not None
    assert uploads.stem("C:\\logs\\mon.csv") == "mon"
    same = uploads.read(rows, "mon.csv", HOUSE)
    assert same.mdp is None
    assert same.demos is not None
    with pytest.raises(FileError, match=r"demonstrations need a world"):
        uploads.read(b"{}", "d.jsonl", None)
    with pytest.raises(FileError, match=r"run\.exe: the studio reads"):
        uploads.read(b"MZ", "run.exe", HOUSE)
