"""Runs beside the studio: given up for later ones, and gone on with after a kill."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import whence
from support.house import HOUSE
from support.studio import Served, served
from whence.ask import Question
from whence.runs import lock
from whence.studio import asking
from whence.studio.worker import Infer, Worker

ROOMS = """slip: 0.1
labels: c o *
starts: S

map:
+---+---+
|S..|..o|
|... .*.|
|..c|...|
+---+---+
"""
DEMO = {"states": [12, 13, 14, 8, 2, 8, 9, 15, 16, 17], "actions": [1, 1, 2, 2, 0, 1, 0, 1, 1]}
LINE = json.dumps(DEMO).encode()
PATIENCE = 150.0


def until(true: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def events(run: Path) -> list[str]:
    path = run / "journal.jsonl"
    lines = path.read_bytes().splitlines() if path.is_file() else []
    return [json.loads(line)["event"] for line in lines]


@pytest.fixture
def world(tmp_path: Path) -> Path:
    path = tmp_path / "rooms.map"
    path.write_text(ROOMS)
    return path


def bring(studio: Served) -> None:
    status, told = studio.ask("api/upload?name=d.jsonl&project=rooms", LINE + b"\n")
    assert status == 200, told


def test_a_run_is_given_up_for_a_later_one_and_goes_on_after_a_kill(world: Path) -> None:
    folder = world.parent / "studio"
    runs = folder / "rooms" / "runs"
    with served(folder, str(world)) as studio:
        bring(studio)
        until(lambda: "progress" in events(runs / "1"), "a first run")
        bring(studio)
        until(lambda: "progress" in events(runs / "2"), "a second run")
        assert not (runs / "1").exists()
        studio.kill()
    until(lambda: lock.holder(runs / "2") is None, "the worker ends, too")
    assert "finished" not in events(runs / "2")
    with served(folder, str(world)) as studio:
        assert studio.ask("api/project/rooms")[0] == 200
        until(lambda: "resumed" in events(runs / "2"), "the run goes on")
        studio.ask("api/project/rooms/infer", {"do": "stop"})
        until(lambda: studio.ask("api/project/rooms")[1]["progress"] is None, "it stops")
        assert events(runs / "2")[-1] == "stopped"
        told = studio.ask("api/project/rooms/ask", {"do": "withdraw", "id": "1"})
        assert told[0] == 409
        bad = {
            "do": "start",
            "settings": {"most": 99, "rewards": [0, 1], "minutes": 1, "auto": True},
        }
        assert studio.ask("api/project/rooms/infer", bad)[0] == 422


@pytest.mark.parametrize("ended", [False, True])
def test_a_walk_that_was_over_says_what_is_not_wanted(world: Path, ended: bool) -> None:
    demos = world.parent / "demos.jsonl"
    demos.write_text(json.dumps(DEMO | ({"ended": True} if ended else {})) + "\n")
    heard = io.BytesIO()
    worker = Worker(heard)
    worker.do(
        Infer(world=str(world), demos=str(demos), run=str(world.parent / "run"), least=1, most=1,
              rewards=(0.0, 1.0), minutes=1)
    )  # fmt: skip
    said = [json.loads(line) for line in heard.getvalue().splitlines()]
    assert said[-1]["said"] == "idle"
    assert worker.run is not None
    assert worker.run.job.endings == ("task" if ended else "ignore")


def test_all_answers_that_stand_are_kept_when_inference_starts_anew(tmp_path: Path) -> None:
    demos = whence.Demonstrations.from_episodes([([0, 1, 2], [0, 0])])
    before, after = (
        whence.infer(
            HOUSE, demos, states=1, expert=whence.Expert(5, 0.9), folder=tmp_path / name,
            progress=False,
        )
        for name in ("1", "2")
    )  # fmt: skip
    show = Question("demonstration", "?", 0.1, 45.0, labels=(("tea",),), state=1, length=9)
    value = Question("sequence", "?", 0.1, 6.0, answers=(0.0, 1.0), labels=(("bed",),))
    shown = [{"states": [1, 2], "actions": [0]}, {"states": [1, 0, 1], "actions": [1, 0]}]
    for question, answer in ((show, shown[0]), (value, 1.0), (show, shown[1]), (show, shown[0])):
        before = before.answered(question, answer, refresh=False)
    before.withdrawn("4", refresh=False)
    kept = asking.carried(after, str(tmp_path / "1"))
    assert [(each.question, each.value) for each in kept.answers] == [
        (each.question, each.value) for each in before.answers[:3]
    ]
    assert whence.load(tmp_path / "2").answers == kept.answers
    assert asking.carried(kept, str(tmp_path / "1")).answers == kept.answers
