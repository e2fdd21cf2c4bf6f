from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
import pytest

import whence
from whence import RewardMachine, cli
from whence.likelihood import reference

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Return a function that runs a command line and gives its exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def call(line: str) -> tuple[int, str, str]:
        code = cli.run(line.split())
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def _documented_keys(verb: str) -> set[str]:
    _, heading, rest = DOCS.read_text(encoding="utf-8").partition(f"\n## {verb}\n")
    assert heading, f"docs/cli.md: the verb {verb} has no section; add '## {verb}' with its keys"
    section = rest.split("\n## ")[0]
    first_cells = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    return {key for cell in first_cells for key in re.findall(r"`(\w+)`", cell)}


FIGURE_1 = ["y0 -l-> y1", "y0 -r/1-> y2"]


@pytest.mark.parametrize(
    "line",
    [
        "worlds",
        "world recharge -o w.json",
        "check coffee demos.jsonl",
        "simulate coffee -o d.npz --episodes 3 --length 5",
        "score coffee demos.jsonl coffee",
        "infer coffee demos.jsonl -o run --steps 2",
        "infer coffee demos.jsonl -o r --method exhaustive --states 1-2 --alpha 8 --discount .9",
        "evaluate coffee coffee --length 10",
        "show coffee",
        "compare coffee coffee --world coffee",
        "export coffee --to dot,json -o task",
        "bench --machines 3",
        "bench --part growth --machines 3 --largest 1000 -o measured",
        "reproduce recharge --triples 1 --steps 2",
        "doctor",
    ],
)
def test_json_documents_have_the_documented_keys(
    run: Any, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whence.cli.benchmarks.timing.ENOUGH", 0.0)
    whence.Demonstrations.from_episodes([([46], [0])]).save("demos.jsonl")
    code, out, err = run(f"{line} --json")
    assert code == 0, err
    assert set(msgspec.json.decode(out)) == _documented_keys(line.split()[0])


@pytest.mark.parametrize("verb", ["resume", "status"])
def test_verbs_of_a_run_have_the_documented_keys(run: Any, verb: str) -> None:
    whence.Demonstrations.from_episodes([([46], [0])]).save("demos.jsonl")
    assert run("infer coffee demos.jsonl -o run --steps 2 -q")[0] == 0
    code, out, err = run(f"{verb} run --json")
    assert code == 0, err
    assert set(msgspec.json.decode(out)) == _documented_keys(verb)


@pytest.mark.parametrize("verb", cli.verbs())
def test_every_verb_has_help_and_documentation(run: Any, verb: str) -> None:
    code, out, _ = run(f"{verb} --help")
    assert code == 0
    assert "--json" in out
    assert _documented_keys(verb)


def test_a_doctor_of_sources_that_are_not_installed_lists_no_extras(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = metadata.version

    def of_others(name: str) -> str:
        if name == "whence":
            raise metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr("importlib.metadata.version", of_others)
    code, out, err = run("doctor --json")
    assert code == 0, err
    assert msgspec.json.decode(out)["extras"] == {}


HELLO = """
import click

from whence.cli._console import Output, output_options


@click.command("say-hello")
@output_options
def command(out: Output) -> None:
    '''Greet.'''
    out.document({"greeting": "hello"})
    out.show("hello")
"""


def test_a_module_in_the_folder_is_a_verb_at_once(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cli.verbs()
    (tmp_path / "say_hello.py").write_text(HELLO)
    (tmp_path / "_helper.py").write_text("raise SystemExit")
    monkeypatch.setattr(cli, "__path__", [*cli.__path__, str(tmp_path)])
    assert set(cli.verbs()) - set(before) == {"say-hello"}
    assert "say-hello  Greet." in run("--help")[1]
    assert run("say-hello") == (0, "hello\n", "")
    assert msgspec.json.decode(run("say-hello --json")[1]) == {"greeting": "hello"}


def test_the_help_tells_of_every_verb_in_the_order_of_the_story(run: Any) -> None:
    assert tuple(cli.verbs()[: len(cli.STORY)]) == cli.STORY
    code, out, _ = run("--help")
    assert code == 0
    listed = out.split("Commands:\n")[1].splitlines()
    assert [line.split()[0] for line in listed] == cli.verbs()


def test_quiet_prints_nothing(run: Any) -> None:
    for line in ("worlds -q", "evaluate recharge recharge -q", "show coffee -q"):
        assert run(line) == (0, "", "")


def test_a_story_from_world_to_evaluation(run: Any, tmp_path: Path) -> None:
    assert run("world coffee -o office.map")[0] == 0
    assert run("export coffee --to json -o task.json")[0] == 0
    code, _, err = run(
        "simulate office.map -o d.jsonl --machine task.json --episodes 20 --length 50 --seed 1"
        " --discount 0.92"
    )
    assert (code, err) == (0, "")
    assert run("check office.map d.jsonl")[1].startswith("ok: 20 episodes, 1000 steps")
    code, out, _ = run("evaluate office.map task.json --truth coffee --discount 0.92 --json")
    assert round(msgspec.json.decode(out)["return"], 3) == 0.710


def test_simulation_from_the_command_line_equals_the_library(run: Any, tmp_path: Path) -> None:
    run("simulate recharge -o d.npz --episodes 7 --seed 5 --alpha inf --lapse 0.1")
    world = whence.worlds.recharge()
    expert = whence.Expert(float("inf"), 0.92, 0.1)
    expected = whence.simulate(world.mdp, world.task, expert, episodes=7, length=25, seed=5)
    assert whence.Demonstrations.load("d.npz") == expected


def test_evaluate_prints_the_papers_figures(run: Any) -> None:
    figures = {"recharge": (1.0, 1.0), "coffee": (0.71, 0.525), "multi-coffee": (2.0, 1.429)}
    for world, (agent, expert) in figures.items():
        out = run(f"evaluate {world} {world} --json")[1]
        assert round(msgspec.json.decode(out)["return"], 3) == agent
        out = run(f"evaluate {world} {world} --alpha 30 --json")[1]
        assert round(msgspec.json.decode(out)["return"], 3) == expert
    assert "0.8423" in run("evaluate coffee coffee --start 2,1")[1]


def test_score_orders_machines_as_the_likelihood_does(run: Any) -> None:
    run("simulate recharge -o d.jsonl --seed 1")
    RewardMachine.from_arrows(FIGURE_1, alphabet=("t", "w", "l", "r")).save("figure1.json")
    code, out, _ = run("score recharge d.jsonl recharge figure1.json --json")
    assert code == 0
    truth, figure = msgspec.json.decode(out)["scores"]
    assert truth["log_likelihood"] > figure["log_likelihood"]
    assert truth["score"] == pytest.approx(truth["log_likelihood"] + truth["log_prior"])
    world = whence.worlds.recharge()
    exact = reference.log_likelihood(
        world.mdp,
        whence.Demonstrations.load("d.jsonl"),
        world.task.transitions,
        world.task.rewards,
        whence.Expert(50, 0.92),
    )
    assert truth["log_likelihood"] == pytest.approx(exact, abs=1e-6)
    assert "figure1.json" in run("score recharge d.jsonl recharge figure1.json")[1]


def test_compare_prints_the_shortest_difference(run: Any) -> None:
    RewardMachine.from_arrows(FIGURE_1, alphabet=("t", "w", "l", "r")).save("figure1.json")
    code, out, _ = run("compare figure1.json recharge --world recharge")
    assert code == 0
    assert out.splitlines()[0] == "different: w r"
    assert "in this world: different: w r" in out
    assert run("compare recharge recharge --world recharge")[1] == (
        "the same\nin this world: the same\n"
    )


def test_export_writes_to_stdout_or_to_several_files(run: Any, tmp_path: Path) -> None:
    code, out, _ = run("export coffee --to json")
    assert code == 0
    assert msgspec.json.decode(out)["format"] == "whence/machine/1"
    assert run("export coffee --to json,dot,mermaid,tikz,svg,png,icarte -o m")[0] == 0
    endings = {".json", ".dot", ".mmd", ".tex", ".svg", ".png", ".txt"}
    assert {p.suffix for p in tmp_path.iterdir()} == endings
    task = whence.worlds.coffee().task
    for ending in endings - {".svg", ".png"}:
        assert RewardMachine.load(f"m{ending}") == task


def test_export_keeps_to_the_endings(run: Any, tmp_path: Path) -> None:
    assert run("export coffee --to svg -o v1.2")[0] == 0
    assert run("export coffee --to svg,tikz -o both")[0] == 0
    assert {p.name for p in tmp_path.iterdir()} == {"v1.2.svg", "both.svg", "both.tex"}


def test_json_of_one_episode_has_no_error_bar(run: Any) -> None:
    out = run("evaluate coffee coffee --episodes 1 --json")[1]
    assert msgspec.json.decode(out)["simulated"]["standard_error"] is None
    assert "nan" not in run("evaluate coffee coffee --episodes 1")[1]


def test_output_that_cannot_be_written_is_a_message(tmp_path: Path) -> None:
    program = [sys.executable, "-c", "from whence.cli import main; main()"]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [*program, "worlds", "--json"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert result.returncode == 1
    assert "the output cannot be written" in result.stderr
    assert "Traceback" not in result.stderr
    narrow = os.environ | {"PYTHONIOENCODING": "ascii"}
    for verb in ("show", "evaluate coffee"):
        result = subprocess.run(
            [*program, *verb.split(), "coffee"], capture_output=True, text=True, env=narrow
        )
        assert result.returncode == 0, result.stderr


def test_check_counts_problems_and_fails(run: Any) -> None:
    whence.Demonstrations.from_episodes([([46, 0], [0])] * 30).save("d.jsonl")
    code, out, err = run("check coffee d.jsonl")
    assert code == 1
    assert out == ""
    lines = err.splitlines()
    assert "d.jsonl, line 1, step 0" in lines[0]
    assert "(and 29 more problems)" in lines[0]
    assert "d.jsonl, line 2, step 0" in lines[1]
    assert lines[-1] == "... and 10 more"
    code, out, _ = run("check coffee d.jsonl --json")
    assert code == 1
    assert msgspec.json.decode(out)["problems"] == 30


def test_world_draws_itself_and_warnings_go_to_stderr(run: Any) -> None:
    assert "108 states" in run("world coffee")[1]
    Path("silent.map").write_text("labels: x\nstarts: S\nmap:\nS.\n")
    code, _, err = run("world silent.map")
    assert code == 0
    assert err.startswith("warning: silent.map: no state")
    assert run("world silent.map -q")[2] == ""


def test_usage_errors_exit_with_two(run: Any) -> None:
    assert run("simulate coffee")[0] == 2
    assert run("nonsense")[0] == 2
    assert run("evaluate coffee coffee --length many")[0] == 2


def test_the_demo_tells_the_whole_story(run: Any, tmp_path: Path) -> None:
    (tmp_path / "whence-demo").mkdir()
    code, out, err = run("demo")
    assert code == 0, err
    assert "No reward was seen. What did it want?" in out
    assert "the same as the task that the expert had" in out
    assert out.splitlines()[-1] == "The report on all of this: whence-demo-2/report.html"
    page = (tmp_path / "whence-demo-2" / "report.html").read_text(encoding="utf-8")
    assert "whence demo coffee --seed 0" in page
    assert run("status whence-demo-2")[1].startswith("whence-demo-2: finished")
    assert list((tmp_path / "whence-demo").iterdir()) == []
    code, out, err = run("demo --seed 3 -o run --json")
    assert code == 0, err
    assert set(msgspec.json.decode(out)) == _documented_keys("demo")


def test_tables_stand_for_demonstrations_and_for_worlds(run: Any) -> None:
    assert run("simulate coffee -o log.csv --episodes 30 --seed 1")[0] == 0
    head = Path("log.csv").read_text(encoding="utf-8").splitlines()[:2]
    assert head[0] == "episode,step,state,action,label"
    assert head[1].startswith('0,0,"(10, 3)",')
    code, out, _ = run("check coffee log.csv")
    assert (code, out.split(",")[0]) == (0, "ok: 30 episodes")
    code, out, _ = run("world log.csv -o world.json --json")
    document = msgspec.json.decode(out)
    assert document["coverage"]["steps"] == 3000
    assert document["coverage"]["seen"] + document["coverage"]["unseen"] == 4 * document["states"]
    assert "(10, 3)" in (whence.LabeledMDP.load("world.json").names or ())
    for world in ("world.json", "log.csv"):
        code, out, err = run(f"score {world} log.csv coffee --json")
        assert code == 0
        assert msgspec.json.decode(out)["steps"] == 3000
        assert ("estimated from this log" in err) == (world == "log.csv")


def test_a_cell_that_is_wrong_is_named_with_file_line_and_column(run: Any) -> None:
    Path("log.csv").write_text('episode,state,action\n1,"(10, 3)",left\n1,attic,left\n')
    code, _, err = run("check coffee log.csv")
    assert code == 1
    assert "log.csv, line 3, column 'state': the world has no state 'attic'" in err
