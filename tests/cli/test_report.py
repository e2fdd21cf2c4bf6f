"""The verb that writes a page about a run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support import studies
from support.pages import parsed
from whence import LabeledMDP, cli
from whence.report.study import Ladders

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
WORLD, DEMOS = "my <b> world's.map", "demos & 100%.jsonl"
INFER = [
    *("infer", WORLD, DEMOS, "-o", "a run", "--states", "2", "--alpha", "6", "--lapse", "0"),
    *("--discount", "0.9", "--ladders", "2", "--rungs", "4", "--steps", "300", "-q"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a run was made."""
    place = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        Path(WORLD).write_text(studies.MAP, encoding="utf-8")
        mdp = LabeledMDP.load(WORLD)
        studies.demonstrations(mdp).save(DEMOS)
        assert cli.run(INFER) == 0
    return place


@pytest.fixture
def call(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(folder)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = cli.run(["report", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_report_is_written_and_described(call: Any) -> None:
    code, out, err = call("a run", "-o", "r.html", "--json")
    assert code == 0, err
    document = msgspec.json.decode(out)
    section = DOCS.read_text(encoding="utf-8").split("\n## report\n")[1].split("\n## ")[0]
    rows = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    assert set(document) == {key for cell in rows for key in re.findall(r"`(\w+)`", cell)}
    assert document["bytes"] == Path("r.html").stat().st_size
    held = document["held_out"]
    assert held["episodes"] + held["training_episodes"] == 20
    assert set(held["errors"]) == {"machine", "markovian", "per_state", "cloning", "uniform"}


def test_the_command_on_the_page_makes_the_run_again(call: Any) -> None:
    assert call("a run", "-o", "r.html", "--no-held-out", "-q") == (0, "", "")
    root = parsed(Path("r.html").read_text(encoding="utf-8"))
    (shown,) = [pre.text for pre in root.all("pre")]
    typed = shlex.split(shown)
    assert typed == ["whence", *INFER]
    typed[typed.index("a run")] = "again"
    assert cli.run(typed[1:]) == 0
    assert Path("again/best.json").read_bytes() == Path("a run/best.json").read_bytes()
    assert Path("again/draws.npz").read_bytes() == Path("a run/draws.npz").read_bytes()


def test_files_are_named_without_their_folders(call: Any, folder: Path) -> None:
    assert call("a run", "-o", "r.html", "--no-held-out", "-q")[0] == 0
    shown = parsed(Path("r.html").read_text(encoding="utf-8")).text
    assert WORLD in shown
    assert DEMOS in shown
    assert str(folder) not in shown


def test_swap_rates_are_shown(call: Any) -> None:
    assert call("a run", "-o", "r.html", "--no-held-out", "-q")[0] == 0
    shown = Path("r.html").read_text(encoding="utf-8")
    assert "Round trips from the hottest rung" in shown
    assert "how often neighbours were exchanged" in shown


def test_a_run_that_was_extended_says_so(call: Any) -> None:
    longer = [*INFER[:4], "longer", *INFER[5:]]
    assert cli.run(longer) == 0
    assert cli.run(["resume", "longer", "--steps", "400", "-q"]) == 0
    assert call("longer", "-o", "r.html", "--no-held-out", "-q")[0] == 0
    (shown,) = [pre.text for pre in parsed(Path("r.html").read_text(encoding="utf-8")).all("pre")]
    assert shown.splitlines() == [
        shlex.join(["whence", *longer]), "whence resume longer --steps 400",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a run", "-o", "r.pdf"], "r.pdf: a report is one HTML file; name it FILE.html"),
        (["a run", "-o", "no/r.html"], "no/r.html: there is no folder no; make it first"),
        (["a run", "-o", "r.html", "--minutes", "0"], "--minutes 0.0: give a finite number"),
        (["nothing", "-o", "r.html"], "nothing"),
        ([".", "-o", "r.html"], "manifest.json"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, arguments: list[str], message: str) -> None:
    code, out, err = call(*arguments)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "event",
    [
        None,
        {},
        {"temperatures": [1.0], "swap_rates": "x", "round_trips": [1]},
        {"temperatures": [1.0], "swap_rates": [0.5], "round_trips": [1]},
        {"temperatures": [1.0, float("nan")], "swap_rates": [0.5], "round_trips": [1]},
        {"temperatures": [1.0, "<b>"], "swap_rates": [0.5], "round_trips": [1]},
    ],
)
def test_a_journal_that_was_changed_is_not_believed(event: dict[str, Any] | None) -> None:
    assert Ladders.told(event) is None
    sound = {"temperatures": [1.0, 2.0], "swap_rates": [0.5], "round_trips": [3]}
    assert Ladders.told(sound) == Ladders((1.0, 2.0), (0.5,), (3,))
