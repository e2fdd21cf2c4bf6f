"""What a run says before it has ended: marked as provisional, and gone at its end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import whence
from runs import small
from whence.analysis import roughness
from whence.cli import run as main
from whence.runs import outcome, searching, subjects
from whence.runs.events import Event
from whence.runs.signals import Stopped
from whence.runs.status import status_document
from whence.runs.trust import cure


class _KillError(Exception):
    """Stands for a kill."""


@pytest.fixture(autouse=True)
def _an_event_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "EVENT_SECONDS", 0.0)
    monkeypatch.setattr(searching, "SO_FAR_SHARE", 1e9)


def test_callbacks_have_a_provisional_run_from_the_first_steps() -> None:
    seen: list[whence.Run] = []

    def asked(event: Event) -> None:
        if event.kind == "progress" and event.step in (2, 50) and event.so_far is not None:
            seen.append(event.so_far())
            assert seen[-1].steps == event.step

    final = small.infer("tempering", on_event=asked)
    plain = small.infer("tempering")
    assert [run.steps for run in seen] == [2, 50]
    for run in seen:
        assert run.provisional
        assert run.answer.startswith("So far, after ")
        assert run.posterior is not None
        assert run.posterior.weights.sum() == pytest.approx(1)
        assert run.certainty
        assert all(0 <= fact.probability <= 1 for fact in run.facts)
    early, late = seen
    assert early.draws is None
    assert "the warm-up has not ended" in early.doubts[0]
    assert "among the machines that were met" in early.answer
    assert late.draws is not None
    assert cure(early.doubts[0], early, "here") == "whence resume here"
    assert not final.provisional
    assert not final.answer.startswith("So far")
    assert final.trace.score.tobytes() == plain.trace.score.tobytes()


def _killed_at(step: int, folder: Path) -> None:
    def broken(event: Event) -> None:
        if event.step >= step:
            raise _KillError

    with pytest.raises(_KillError):
        small.infer("tempering", folder=folder, checkpoint=0.0, on_event=broken)


@pytest.mark.parametrize("step", [3, 50])
def test_status_and_load_tell_what_is_known_so_far(
    step: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    _killed_at(step, folder)
    found = status_document(folder)["provisional"]
    assert found["provisional"] is True
    assert found["answer"].startswith("So far, after ")
    assert {"posterior", "facts", "arrows", "telling", "doubts"} <= set(found)
    assert found["posterior"] is not None
    assert main(["status", str(folder)]) == 0
    assert "So far, after" in capsys.readouterr().out
    run = whence.load(folder)
    assert run.provisional
    assert run.posterior is not None
    whence.resume(folder)
    assert not (folder / "provisional.json").exists()
    assert status_document(folder)["provisional"] is None


def test_a_damaged_provisional_file_is_left_aside(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    _killed_at(3, folder)
    for text in ("{", "[]", json.dumps({"answer": "So far"})):
        (folder / "provisional.json").write_text(text)
        assert status_document(folder)["provisional"] is None


def test_nobody_waits_for_dynamics_or_groups_while_the_search_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[whence.Run] = []

    def asked(event: Event) -> None:
        if event.kind == "progress" and event.step == 50 and event.so_far is not None:
            with monkeypatch.context() as patch:
                patch.setattr(roughness, "weighed_anew", _refused)
                patch.setattr(subjects, "grouped", _refused)
                seen.append(event.so_far())

    episodes = list(small.demonstrations(small.world()))
    log = whence.Demonstrations.from_episodes(
        [
            each._replace(subject=name, labels=_labels(each))
            for each, name in zip(episodes, "xyxyxyxy", strict=True)
        ]
    )
    whence.infer(
        whence.LabeledMDP.from_demonstrations(log), log, states=2, seed=5, experts="by-subject",
        on_event=asked, **small.METHODS["tempering"],
    )  # fmt: skip
    (run,) = seen
    assert run.groups is None
    assert run.answer.startswith("So far, after ")
    assert any("taken as estimated until" in doubt for doubt in run.doubts)
    assert any("one expert until" in doubt for doubt in run.doubts)
    assert all(cure(doubt, run, "here") == "whence resume here" for doubt in run.doubts)


def _refused(*_: object) -> None:
    raise AssertionError


def _labels(episode: whence.Episode) -> list[str | None]:
    return [{0: "a", 4: "b"}.get(state) for state in episode.states]


def test_who_stops_while_what_is_known_is_worked_out_can_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outcome, "arrow_certainty", _stopped)
        with pytest.raises(Stopped, match="nothing is lost: go on with whence resume"):
            small.infer("tempering", folder=folder)
    assert whence.resume(folder).stopped == "steps"


def _stopped(*_: object) -> None:
    raise Stopped
