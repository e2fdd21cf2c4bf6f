"""The command line leads with what is known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest

import whence
from runs import small
from whence import cli
from whence.cli.infer import GROUPS

INFER = (
    "infer world.json demos.jsonl -o run --states 2 --alpha 20 --lapse 0 --discount 0.9 "
    "--method exhaustive"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in it whose posterior is exact."""
    place = tmp_path_factory.mktemp("answer")
    mdp = small.world()
    mdp.save(place / "world.json")
    small.demonstrations(mdp).save(place / "demos.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert cli.run([*INFER.split(), "-q"]) == 0
    return place


@pytest.fixture
def call(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(folder)

    def run(line: str) -> tuple[int, str, str]:
        code = cli.run(line.split())
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_answer_comes_first(call: Any) -> None:
    run = whence.load("run")
    assert run.answer.startswith("The expert wants first `a`, then `b`, over and over")
    code, out, err = call("resume run")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == run.answer
    assert lines.index("no doubts; checked were") > 0
    assert run.exact is not None
    assert f"  the search: all {sum(run.exact.machines):,} machines were scored" in lines
    assert lines[-1] == "for the whole story: whence report run -o report.html"


def test_show_tells_the_answer_of_a_run_and_not_of_a_machine(call: Any) -> None:
    run = whence.load("run")
    code, out, _ = call("show run")
    assert code == 0
    assert out.splitlines()[0] == run.answer
    document = msgspec.json.decode(call("show run --json")[1])
    assert document["answer"] == run.answer
    told = [(fact["kind"], fact["text"], fact["probability"]) for fact in document["facts"]]
    assert told == [(fact.kind, fact.text, fact.probability) for fact in run.facts]
    assert any(fact["stated"] for fact in document["facts"])
    alone = msgspec.json.decode(call("show run/best.json --json")[1])
    assert (alone["answer"], alone["facts"]) == (None, None)
    assert not call("show run/best.json")[1].startswith("The expert wants")


@pytest.mark.parametrize(
    ("text", "code"),
    [('{"answer": 3, "facts": []}', 0), ('{"answer": "x", "facts": [1]}', 0), ("[]", 0), ("{", 1)],
)
def test_a_result_that_was_changed_is_not_believed(call: Any, text: str, code: int) -> None:
    path = Path("run/result.json")
    kept = path.read_bytes()
    path.write_text(text, encoding="utf-8")
    try:
        found, out, err = call("show run")
    finally:
        path.write_bytes(kept)
    assert found == code
    assert err.startswith("error: run/result.json: ") if code else out.startswith("→ y0")
    assert len(err.splitlines()) == code


def test_help_lists_every_option_once_under_a_heading(call: Any) -> None:
    code, out, _ = call("infer --help")
    assert code == 0
    headings = re.findall(r"^(\S.*):$", out, re.MULTILINE)
    assert headings == [*GROUPS, "What is printed"]
    printed = out.split("What is printed:")[1]
    assert re.findall(r"^  (?:-\w, )?(--[\w-]+)", printed, re.MULTILINE) == [
        "--json",
        "--quiet",
        "--help",
    ]
    command = cli.cli.get_command(click.Context(cli.cli), "infer")
    assert command is not None
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert len(re.findall(rf"^  .*{parameter.opts[-1]}\b(?!-)", out, re.MULTILINE)) >= 1
