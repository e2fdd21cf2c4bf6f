"""What was checked, and a command for every doubt."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import click
import pytest

from support import studies
from whence import Run, cli
from whence.runs import trust
from whence.runs.manifest import Input, Manifest, Source

TYPED = ["whence", "infer", "my world.map", "d.jsonl", "-o", "run", "--discount", "0.9"]


def run_of(command: list[str] | None, **changes: Any) -> Run:
    run, _, _ = studies.grid_run()
    source = Source("copy", "0" * 64, "my world.map")
    manifest = Manifest("whence/run/1", "now", {}, command, [Input(source, source)], {})
    return replace(run, manifest=manifest, **changes)


@pytest.mark.parametrize(
    ("doubt", "command"),
    [
        ("the ladders' best machines differ by 2 nats", "whence resume 'a run' --steps 800"),
        ("the warm-up did not end: give more steps", "whence resume 'a run' --steps 800"),
        ("the discount was taken to be 0.9, but with 0.99 this machine explains more",
         "whence infer 'my world.map' d.jsonl -o 'a run-2' --discount infer"),
        ("there is one ladder only, so nothing can be compared",
         "whence infer 'my world.map' d.jsonl -o 'a run-2' --discount 0.9 --ladders 2"),
        ("no machine met can have produced the demonstrations: give the expert a finite alpha",
         "whence infer 'my world.map' d.jsonl -o 'a run-2' --discount 0.9 --alpha infer"),
        ("the dynamics are known roughly: of 8 state-action pairs the log never shows 7",
         "whence world 'my world.map'"),
    ],
)  # fmt: skip
def test_every_doubt_has_a_command(doubt: str, command: str) -> None:
    shown = trust.cure(doubt, run_of(TYPED), "a run")
    assert shown == command
    verb, *words = shlex.split(shown)[1:]
    parameters = cli.cli.get_command(click.Context(cli.cli), verb).params  # type: ignore[union-attr]
    known = {option for parameter in parameters for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_a_run_made_in_python_has_commands_with_places_to_fill_in() -> None:
    run, _, _ = studies.grid_run()
    assert trust.cure("one ladder", run) == "whence infer WORLD DEMOS -o RUN-2 --ladders 2"
    assert trust.longer(run) == f"whence resume RUN --steps {2 * run.steps}"


def test_what_was_checked_is_said() -> None:
    run, _, _ = studies.grid_run()
    search, expert, dynamics = trust.checks(run)
    assert search == "the search: made twice, independently, with the same result"
    assert "alpha and lapse inferred; discount taken as given" in expert
    assert dynamics == "the dynamics: the world's own"
    exact = trust.checks(studies.chain().run)
    assert exact[0] == "the search: all 3,535 machines were scored"
    assert "taken as given" in exact[1]


def test_rough_figures_are_no_reason_to_distrust_a_sentence_that_is_fine() -> None:
    imprecise = "a probability that is reported has an error of 0.014, more than 0.01"
    apart = "the ladders' best machines differ by 2 nats"
    run = run_of(TYPED, doubts=(imprecise, apart))
    assert run.found is not None
    error = run.found.confidence[1]
    for precision, grave in ((2 * error + 1e-9, (apart,)), (0.5 * error, (imprecise, apart))):
        settings = replace(run.settings, precision=precision)
        asked = replace(run, job=replace(run.job, settings=settings))
        assert trust.grave(asked) == (grave if error else (apart,))


def test_how_a_table_is_read_is_part_of_the_command() -> None:
    typed = ["whence", "infer", "my world.map", "-o", "run", "--repair", "--state", "a place",
             "--label=cue", "--states", "2"]  # fmt: skip
    shown = trust.cure("the dynamics are known roughly", run_of(typed), "run")
    assert shown == "whence world 'my world.map' --repair --state 'a place' --label=cue"
