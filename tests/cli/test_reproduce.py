from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from whence import RewardMachine, cli

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_written_and_the_table_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = "reproduce recharge --triples 1 --seed 4 --steps 3 --ablation -o a/b"
    assert cli.run(line.split()) == 0
    captured = capsys.readouterr()
    assert "r_a, this method" in captured.out
    assert "triples and baselines" in captured.err
    page = Path("a/b/README.md").read_text()
    command = "whence reproduce recharge --triples 1 --seed 4 --steps 3 --ablation"
    assert f"Made by `{command}`" in page
    results = msgspec.json.decode(Path("a/b/results.json").read_bytes())
    assert len(results["found"]) == 6
    assert {f["seed"] for f in results["found"]} == {4}
    best = RewardMachine.load("a/b/recharge-best.tex")
    tables = results["machines"]["recharge"]["best"]
    assert best == RewardMachine(tables["alphabet"], tables["transitions"], tables["rewards"])
    assert Path("a/b/recharge-most-frequent.svg").read_text().startswith("<svg")
    assert len(results["ablation"]["claims"]) == 5


def test_the_committed_page_is_what_its_figures_say() -> None:
    folder = DOCS / "reproduction"
    results = msgspec.json.decode((folder / "results.json").read_bytes())
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert results["worlds"] == ["recharge", "coffee", "multi-coffee"]
    for row in results["table"]:
        assert f"| {row['world']} | {row['quantity']} |" in page
        assert f"{row['ours']:.3f} | {row['least']:.3f} to {row['most']:.3f}" in page
    for name in ("most-frequent", "best"):
        for world in results["worlds"]:
            assert (folder / f"{world}-{name}.svg").exists()
            machine = RewardMachine.load(folder / f"{world}-{name}.tex")
            tables = results["machines"][world][name.replace("-", "_")]
            assert machine.transitions.tolist() == tables["transitions"]
