from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

import whence
from runs import small
from whence.errors import ArgumentError, FileError, FormatError
from whence.runs import checkpoint, journal, lock, searching
from whence.runs.events import Event, OnEvent
from whence.runs.signals import Stopped
from whence.search import tape

HOLDING = (lock.NAME, lock.HOLDER)  # the files that change when a finished run is opened


class _KillError(Exception):
    """Stands for a kill: raised in the middle of a run, past every handler of whence."""


def _broken_at(step: int) -> OnEvent:
    def broken(event: Event) -> None:
        if event.step >= step:
            raise _KillError

    return broken


@pytest.fixture(autouse=True)
def _an_event_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "EVENT_SECONDS", 0.0)


@pytest.mark.parametrize("method", small.METHODS)
@pytest.mark.parametrize("every", [0.0, 1e9])
def test_a_broken_run_ends_as_an_unbroken_one(method: str, every: float, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run = small.infer(method, folder=whole, checkpoint=1e9)
    alone = small.infer(method)
    last = 3 if method == "exhaustive" else 41
    with pytest.raises(_KillError):
        small.infer(method, folder=broken, checkpoint=every, on_event=_broken_at(2))
    with pytest.raises(_KillError):
        whence.resume(broken, checkpoint=every, on_event=_broken_at(last))
    again = whence.resume(broken)
    assert small.contents(broken) == small.contents(whole)
    assert set(small.contents(whole)) >= {"best.json", "trace.npz"}
    for other in (again, alone):
        assert (other.score, other.steps, other.stopped) == (run.score, run.steps, run.stopped)
        assert other.trace.score.tobytes() == run.trace.score.tobytes()
        assert other.doubts == run.doubts
    if run.posterior is not None:
        assert again.posterior is not None
        assert again.posterior.weights.tobytes() == run.posterior.weights.tobytes()


def test_steps_are_written_once(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(_KillError):
        small.infer("tempering", folder=folder, checkpoint=0.0, on_event=_broken_at(30))
    found = checkpoint.read(folder)
    assert found is not None
    assert [part.rows for part in found.header.parts] == [1] * len(found.header.parts)
    assert len(found.header.parts) >= 28
    before = {path.name: path.stat().st_mtime_ns for path in (folder / "steps").iterdir()}
    whence.resume(folder, checkpoint=1e9)
    for part in found.header.parts:
        assert (folder / "steps" / part.file).stat().st_mtime_ns == before[part.file]


@pytest.mark.parametrize("method", ["tempering", "annealing"])
@pytest.mark.parametrize("every", [0.0, 1e9])
def test_a_long_run_keeps_evenly_spaced_steps_and_resumes_to_the_same(
    method: str, every: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tape, "MOST", 11)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run = small.infer(method, folder=whole, checkpoint=1e9)
    with pytest.raises(_KillError):
        small.infer(method, folder=broken, checkpoint=every, on_event=_broken_at(9))
    for last in (14, 31, 52):
        with pytest.raises(_KillError):
            whence.resume(broken, checkpoint=every, on_event=_broken_at(last))
    whence.resume(broken, checkpoint=every)
    assert small.contents(broken) == small.contents(whole)
    assert run.steps == 60
    assert run.trace.step.tolist() == list(range(1, 61, 8))
    assert len(run.trace.score) == 8
    found = checkpoint.read(broken)
    assert found is not None
    named = {part.file for part in found.header.parts}
    assert {path.name for path in (broken / "steps").iterdir()} == named
    assert whence.load(broken).steps == 60
    with pytest.raises(ArgumentError, match="steps is 60; the run has made 60 steps"):
        whence.resume(broken, steps=60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_between_steps_and_keeps_the_last_one(number: int, tmp_path: Path) -> None:
    folder, whole = tmp_path / "run", tmp_path / "whole"
    usual = signal.getsignal(number)

    def ask(event: Event) -> None:
        if event.step == 17 and event.kind == "progress":
            os.kill(os.getpid(), number)

    with pytest.raises(Stopped, match=r"after 1[78] steps.*whence resume"):
        small.infer("tempering", folder=folder, checkpoint=1e9, on_event=ask)
    assert signal.getsignal(number) == usual
    assert journal.read(folder)[-1]["event"] == "stopped"
    found = checkpoint.read(folder)
    assert found is not None
    assert sum(part.rows for part in found.header.parts) in (17, 18)
    whence.resume(folder)
    small.infer("tempering", folder=whole)
    assert small.contents(folder) == small.contents(whole)


def test_a_run_of_annealing_can_be_extended_to_what_a_longer_one_finds(tmp_path: Path) -> None:
    short, long = tmp_path / "short", tmp_path / "long"
    small.infer("annealing", folder=short)
    small.infer("annealing", steps=90, folder=long)
    assert whence.resume(short).steps == 60
    with pytest.raises(ArgumentError, match=r"steps is 60; the run has made 60 steps"):
        whence.resume(short, steps=60)
    with pytest.raises(_KillError):
        whence.resume(short, steps=90, on_event=_broken_at(70))
    assert whence.resume(short).steps == 90
    assert small.contents(short) == small.contents(long)


def test_a_run_that_agreed_goes_on_to_the_last_step_when_extended(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    settings = whence.Tempering(rungs=3, warm_up=10, pace=10, steps=20_000, every=20, trips=1,
                                precision=0.2)  # fmt: skip
    run = small.infer("tempering", settings=settings, folder=folder)
    assert run.stopped == "agreed"
    more = whence.resume(folder, steps=run.steps + 50)
    assert (more.stopped, more.steps) == ("steps", run.steps + 50)
    assert np.array_equal(more.trace.score[: run.steps], run.trace.score)


def test_minutes_are_counted_over_all_sittings(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = small.infer("tempering", minutes=1e-9, folder=folder)
    assert run.stopped == "minutes"
    assert whence.resume(folder).stopped == "minutes"
    with pytest.raises(ArgumentError, match=r"minutes is 1e-09; the run has taken"):
        whence.resume(folder, minutes=1e-9)
    assert whence.resume(folder, minutes=60).stopped == "steps"
    whole = tmp_path / "whole"
    small.infer("tempering", folder=whole)
    assert small.contents(folder) == small.contents(whole)


def test_a_finished_run_is_left_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run = small.infer("tempering", folder=folder)
    before = {
        path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.name not in HOLDING
    }
    again = whence.resume(folder)
    assert again.score == run.score
    kept = whence.load(folder)
    assert kept.score == run.score
    assert kept.job.pairs[0][0] == small.world()
    assert kept.job.pairs[0][1] == small.demonstrations(small.world())
    assert before == {
        path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.name not in HOLDING
    }


def test_an_unfinished_run_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(_KillError):
        small.infer("tempering", folder=folder, checkpoint=0.0, on_event=_broken_at(40))
    run = whence.load(folder)
    assert run.stopped == "unfinished"
    assert 38 <= run.steps <= 41
    assert run.posterior is not None


def test_a_change_is_refused_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    small.infer("tempering", folder=folder)
    for name, old, new in (
        ("manifest.json", b'"seed": 5', b'"seed": 6'),
        ("manifest.json", b'"rungs": 4', b'"rungs": 5'),
        ("manifest.json", b'"lapse": "infer"', b'"lapse": 0.1'),
    ):
        path = folder / name
        content = path.read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new))
        word = old.split(b'"')[1].decode()
        with pytest.raises(FormatError, match=word if word != "rungs" else "settings"):
            whence.resume(folder)
        path.write_bytes(content)
    for name, what in (("world-1.npz", "world"), ("demos-1.npz", "demonstrations")):
        path = folder / "inputs" / name
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        with pytest.raises(FormatError, match=f"{name}: the {what} changed"):
            whence.resume(folder)
        path.write_bytes(content)
    whence.resume(folder)


def test_the_files_that_a_run_was_made_from_may_go_but_not_change(tmp_path: Path) -> None:
    folder, shown = tmp_path / "run", tmp_path / "d.jsonl"
    small.demonstrations(small.world()).save(shown)
    small.infer("tempering", folder=folder, names=[("corridor", str(shown))])
    content = shown.read_bytes()
    shown.write_bytes(content + content)
    with pytest.raises(FormatError, match=r"d.jsonl: changed since the run began; .*--copies"):
        whence.resume(folder)
    assert whence.resume(folder, copies=True).steps == 60
    shown.unlink()
    assert whence.resume(folder).steps == 60


def test_a_second_process_is_refused_by_number(tmp_path: Path) -> None:
    folder = tmp_path / "run"

    def look(event: Event) -> None:
        with pytest.raises(FileError, match=f"process {os.getpid()} is working on this run"):
            whence.resume(folder)

    small.infer("tempering", folder=folder, on_event=look)
    (folder / "process").write_text("99999999\n")  # who held it is gone
    assert whence.resume(folder).steps == 60


def test_a_taken_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    small.infer("annealing", folder=folder)
    before = small.contents(folder)
    with pytest.raises(FileError, match=r"there is a run already; go on with it: whence resume"):
        small.infer("annealing", seed=6, folder=folder)
    assert small.contents(folder) == before
    with pytest.raises(FormatError, match=r"no run: there is no manifest.json"):
        whence.resume(tmp_path)
