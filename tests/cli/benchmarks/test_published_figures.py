from __future__ import annotations

from pathlib import Path

from whence.cli.benchmarks import folder, report

DOCS = Path(__file__).parents[3] / "docs" / "benchmarks"


def test_the_published_page_and_picture_are_those_of_the_published_figures() -> None:
    measured = report.read((DOCS / "bench.json").read_bytes())
    assert measured.cases is not None
    assert measured.growth is not None
    for name, content in folder.files(measured).items():
        assert (DOCS / name).read_bytes() == content, f"{name}: write it by whence bench -o"
