"""Who watches a run is told within a second, and of nothing that is not so."""

from __future__ import annotations

import io
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

import whence
from runs import small
from whence.runs import times, watching
from whence.runs.display import Pace, line, picture
from whence.search.agreeing import due, next_look


def _told(step: int, seconds: float, **more: Any) -> dict[str, Any]:
    return {
        "event": "progress", "step": step, "steps": 1000, "seconds": seconds, "score": -1.0,
        "evaluations": 10 * step,
    } | more  # fmt: skip


def test_rates_and_times_leave_compiling_out() -> None:
    pace = Pace()
    pace.see(_told(0, 20.0, compiling=19.0))
    pace.see(_told(100, 32.0, compiling=29.0))
    assert pace.rate == pytest.approx(1000 / 2)
    assert pace.left == pytest.approx(900 * 2 / 100)
    assert "500 machines/s" in line(_told(100, 32.0), pace)


def test_the_time_is_that_to_the_next_look_and_never_beyond_the_limit() -> None:
    pace = Pace()
    pace.see(_told(0, 0.0, look=400))
    pace.see(_told(200, 2.0, look=400))
    assert pace.text() == "looks in 0:02 whether the ladders agree"
    pace.see(_told(300, 3.0, look=400, most_seconds=3.5))
    assert pace.left == pytest.approx(0.5)
    assert "at most" in pace.text()


def test_the_clock_goes_on_between_events_and_what_should_be_over_is_not_told() -> None:
    pace = Pace()
    pace.see(_told(0, 0.0))
    pace.see(_told(900, 9.0))
    told = _told(900, 9.0)
    assert line(told, pace).endswith("0:09 so far, at most 0:01 left")
    assert line(told, pace, 31.0).endswith("0:40 so far")
    assert "0:40" in _shown(told, 31.0)
    over = _told(1000, 60.0, event="analysing")
    assert line(over, pace, 25.0) == "working out what is known, 1:25 so far"


def test_the_pace_of_workers_is_known_between_two_units() -> None:
    pace = Pace()
    for second in range(31):
        done = {"a:1": {"units": 1, "steps": 1, "steps_per_second": 1.0}}
        pace.see(_told(100 * (second // 10), float(second), workers=done))
        assert second < 10 or pace.rate is not None
    assert pace.left == pytest.approx(700 / 10, rel=0.1)


def test_each_worker_is_shown_with_its_rate() -> None:
    done = {
        f"node:{n}": {"units": n, "steps": 50 * n, "steps_per_second": 10.0 * n}
        for n in range(1, 4)
    }
    text = _shown(_told(100, 10.0, workers=done, bytes_sent=5000, bytes_received=1000))
    assert "3 workers, 10 to 30 steps/s each, 6 units done" in text
    assert "node:2: 20 steps/s, 2 units" in text
    assert "1.0 kB a unit" in text
    many = {f"node:{n}": {"units": 1, "steps": 1, "steps_per_second": 1.0 * n} for n in range(99)}
    text = _shown(_told(100, 10.0, workers=many, mended=["worker node:7 is gone"]))
    assert "node:98: 98 steps/s" in text
    assert "node:50" not in text
    assert "1, the last: worker node:7 is gone" in text


def _shown(document: dict[str, Any], waited: float = 0.0) -> str:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(picture(document, None, Pace(), waited))
    return console.export_text()


def test_nothing_is_left_once_the_search_is_over() -> None:
    pace = Pace()
    pace.see(_told(0, 0.0, look=400))
    pace.see(_told(400, 4.0, look=600))
    assert pace.left is not None
    pace.see(_told(400, 4.0, look=600, event="analysing"))
    assert pace.left is None
    assert pace.text() == ""


def test_a_slow_beginning_is_forgotten() -> None:
    pace = Pace()
    pace.see(_told(0, 0.0))
    pace.see(_told(10, 100.0))
    for second in range(101, 141):
        pace.see(_told(10 + 10 * (second - 100), float(second)))
    assert pace.rate == pytest.approx(100, rel=0.1)


def test_of_two_paces_the_faster_is_believed() -> None:
    pace = Pace()
    for tenth in range(61):  # a step a second, then ten a second
        second = tenth / 10
        done = int(second) if second < 4 else 4 + int(10 * (second - 4))
        pace.see(_told(done, second, steps=124))
    assert pace.left == pytest.approx(100 / 10, rel=0.1)
    for tenth in range(1, 31):  # something else has the machine
        pace.see(_told(24, 6 + tenth / 10, steps=124))
    assert pace.left is None or pace.left < 100 / 4


def _worst_claim(told_phases: bool) -> float:
    """Return the largest time said to be left, after ten seconds, beside what it then took.

    A finder looks at ten steps a second; then steps become faster, from 100 to 200 a second.
    """
    claims, step, second = [], 0.0, 0.0
    pace = Pace()
    while step < 2_000:
        finding = second < 12
        phase = {"finding": finding, "warm": not finding} if told_phases else {}
        pace.see(_told(int(step), second, steps=2_000, **phase))
        if second > 10 and pace.left is not None:
            claims.append((pace.left, second))
        second += 0.2
        step += 0.2 * (10 if finding else min(100 + 10 * (second - 12), 200))
    assert len(claims) > 40
    return max(left / max(second - then, 1.0) for left, then in claims)


def test_no_time_left_is_above_twice_what_it_then_takes() -> None:
    assert _worst_claim(told_phases=True) < 2
    assert _worst_claim(told_phases=False) > 5


@pytest.mark.parametrize("step", [0, 1, 199, 200, 799, 800, 801, 1500, 3200, 12_345])
def test_the_next_look_is_when_the_search_looks(step: int) -> None:
    settings = SimpleNamespace(until_agreed=True, every=200)
    looks = [at for at in range(step + 1, 60_000) if due(at, 10**9, 200)]
    assert next_look(settings, step) == looks[0]
    assert next_look(SimpleNamespace(until_agreed=False, every=200), step) is None


def test_a_silence_is_explained_and_timed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(watching, "SOON", 0.05)
    monkeypatch.setattr(times, "LEAST", 0.1)
    with watching.patience("thinking"):
        time.sleep(0.3)
    assert capsys.readouterr().err == "thinking ...\n"
    with watching.patience("thinking"):
        time.sleep(0.3)
    assert capsys.readouterr().err == "thinking ...; the last time it took 0.3 s\n"
    with watching.patience("thinking", quiet=True):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_times_that_cannot_be_read_are_not_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for text in ("", "[1]", '{"loading": "long"}', '{"loading": true}', '{"loading": -1}'):
        (tmp_path / times.NAME).write_text(text, encoding="utf-8")
        assert times.last("loading") is None
    times.remember("loading", 3.0)
    assert times.last("loading") == 3.0
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / times.NAME / "no"))
    times.remember("loading", 4.0)
    assert times.last("loading") is None


def test_python_is_silent_unless_asked_and_where_nobody_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mdp = small.world()
    demos = small.demonstrations(mdp)
    asked: dict[str, Any] = {"states": 1, "alpha": 10.0, "lapse": 0.0, "discount": 0.9}
    whence.infer(mdp, demos, **asked)
    assert "inferring" not in capsys.readouterr().err
    seen: list[str] = []
    run = whence.infer(
        mdp, demos, **asked, progress=True, on_event=lambda event: seen.append(event.kind)
    )
    assert "inferring: step" in capsys.readouterr().err
    assert seen[0] == "started"
    assert seen[-2:] == ["analysing", "finished"]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert watching.chosen(None, None) == "terminal"
    assert watching.chosen(None, print) == "nothing"
    assert watching.chosen(False, None) == "nothing"
    assert "<svg" in run._repr_html_()
    assert run.answer.replace("`", "") in run._repr_html_().replace("`", "")


def test_a_notebook_gets_one_output_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    handle = SimpleNamespace(update=shown.append)

    def show(html: str, display_id: bool) -> SimpleNamespace:
        shown.append(html)
        return handle

    display = SimpleNamespace(HTML=str, display=show)
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert watching.chosen(None, None) == "notebook"
    with watching.watched("notebook"):
        pass
    assert "getting ready" in shown[0]
    assert shown[-1] == ""
