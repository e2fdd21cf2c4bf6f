"""Every kind of bad input gives one message with place, culprit and cure, and exit code 1."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import whence
from whence import cli

WORLD = (
    '{"format": "whence/mdp/1", "states": 2, "actions": ["go"], "alphabet": ["a"], "initial": 0,'
    ' "labels": [null, "a"], "transitions": [[0, 0, 1, 1.0], [1, 0, 0, 1.0]]}'
)
MACHINE = (
    '{"format": "whence/machine/1", "alphabet": ["a"], "transitions": [[0]], "rewards": [[1]]}'
)
EPISODE = '{"states": [0, 1], "actions": [0]}\n'
START = '{"states": [46], "actions": [0]}'
MAP = "labels: a\nstarts: S\nmap:\nSa\n"


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


# what, file name, content, command line, place, culprit, cure
TABLE = [
    ("world: syntax", "w.json", WORLD[:-1], "world {}", "w.json", "JSON", "cut off"),
    ("world: other document", "w.json", MACHINE, "world {}", "w.json", "'whence/machine/1'", "must say"),
    ("world: wrong type", "w.json", changed(WORLD, "2,", '"2",'), "world {}", "$.states", "Expected `int`, got `str`", "correct it there"),
    ("world: unknown field", "w.json", changed(WORLD, '"initial"', '"start"'), "world {}", "w.json", "initial|start", "required|known"),
    ("world: row sum", "w.json", changed(WORLD, "[0, 0, 1, 1.0]", "[0, 0, 1, 0.9]"), "world {}", "state 0, action 0", "0.9", "sum to 1"),
    ("world: missing row", "w.json", changed(WORLD, ", [1, 0, 0, 1.0]", ""), "world {}", "state 1, action 0", "sum to 0", "stays put"),
    ("world: negative", "w.json", changed(WORLD, "[0, 0, 1, 1.0]", "[0, 0, 1, 2], [0, 0, 0, -1]"), "world {}", "state 0, action 0", "-1", "from 0 to 1"),
    ("world: successor", "w.json", changed(WORLD, "[0, 0, 1, 1.0]", "[0, 0, 7, 1.0]"), "world {}", "row 0", "successor 7", "use 0 to 1"),
    ("world: label", "w.json", changed(WORLD, 'null, "a"', 'null, "b"'), "world {}", "state 1", "'b'", "add it"),
    ("world: initial", "w.json", changed(WORLD, '"initial": 0', '"initial": 5'), "world {}", "w.json", "initial state 5", "use 0 to 1"),
    ("world: not text", "w.map", b"labels: \xff\n", "world {}", "line 1", "0xff", "UTF-8"),
    ("world: not an archive", "w.npz", "zip?", "world {}", "w.npz", "not an npz file", "write it with np.savez"),
    ("world: ending", "w.yaml", WORLD, "world {}", "w.yaml", "world file", "rename"),
    ("world: no file", None, "", "world none.json", "none.json", "no such file", "check the path"),
    ("world: no name", None, "", "world cofee", "cofee", "no built-in", "coffee"),
    ("map: mark", "w.map", changed(MAP, "Sa", "Sx"), "world {}", "line 4, column 2", "'x'", "labels"),
    ("map: ragged", "w.map", MAP + ".\n", "world {}", "line 5, column 2", "missing", "draw '.'"),
    ("map: key", "w.map", "color: red\n" + MAP, "world {}", "line 1", "color", "known are"),
    ("map: slip", "w.map", "slip: 7\n" + MAP, "world {}", "line 1", "'7'", "from 0 to 1"),
    ("map: start", "w.map", changed(MAP, "starts: S", "starts: 9,9"), "world {}", "w.map", "9,9|'S'", "x runs|labels"),
    ("machine: syntax", "m.json", MACHINE[:-2], "show {}", "m.json", "JSON", "cut off"),
    ("machine: target", "m.json", changed(MACHINE, "[[0]]", "[[3]]"), "show {}", "state 0", "target 3", "0 to 0"),
    ("machine: row length", "m.json", changed(MACHINE, "[[1]]", "[[1, 2]]"), "show {}", "rewards, state 0", "2 entries", "one entry per symbol"),
    ("machine: alphabet twice", "m.json", changed(MACHINE, '["a"]', '["a", "a"]').replace("[[0]]", "[[0, 0]]").replace("[[1]]", "[[1, 1]]"), "show {}", "m.json", "'a' occurs twice", "once"),
    ("machine: reward", "m.json", changed(MACHINE, "[[1]]", "[[1e999]]"), "show {}", "$.rewards[0][0]", "out of range", "correct it there"),
    ("machine: ending", "m.xml", MACHINE, "show {}", "m.xml", "machine file", "rename"),
    ("machine: other alphabet", "m.json", MACHINE, "evaluate coffee {}", "(a)", "does not know 'c'", "same symbols"),
    ("machine: compare", "m.json", MACHINE, "compare {} coffee", "(a)", "(c, o, *)", "same symbols"),
    ("machine: dot", "m.dot", "digraph {", "show {}", "m.dot, line 1", "no comment holds a machine", "use .json"),
    ("machine: mermaid", "m.mmd", "pie", "show {}", "m.mmd, line 1", "no comment holds a machine", "use .json"),
    ("machine: tikz", "m.tex", "\\node", "show {}", "m.tex, line 1", "no comment holds a machine", "use .json"),
    ("machine: icarte", "m.txt", "0\n[1]\nopen('x')\n", "show {}", "m.txt, line 3", "open('x')", "write (0,1,"),
    ("demos: syntax", "d.jsonl", EPISODE + "{", "check coffee {}", "line 2", "JSON", "write"),
    ("demos: lengths", "d.jsonl", '{"states": [0], "actions": [0, 0, 0]}', "check coffee {}", "line 1", "1 states for 3 actions", "one more"),
    ("demos: state", "d.jsonl", '{"states": [900], "actions": [0]}', "check coffee {}", "line 1, state 0", "state 900", "0 to 107"),
    ("demos: action", "d.jsonl", '{"states": [4], "actions": [9]}', "check coffee {}", "line 1, step 0", "action 9 of state 4", "4 actions (0 to 3)"),
    ("demos: impossible", "d.jsonl", '{"states": [0, 90], "actions": [0]}', "check coffee {}", "line 1, step 0", "'up' never leads", "correct"),
    ("demos: label", "d.jsonl", '{"states": [0], "actions": [0], "labels": ["x"]}', "check coffee {}", "line 1, labels, entry 0", "'x'", "correct it"),
    ("demos: history", "d.jsonl", '{"states": [0], "actions": [0], "history": ["x"]}', "check coffee {}", "line 1, history, entry 0", "'x'", "correct it"),
    ("demos: empty", "d.jsonl", "", "check coffee {}", "d.jsonl", "no steps", "nothing to learn"),
    ("demos: unknown action name", "d.jsonl", '{"states": [0], "actions": ["hop"]}', "check coffee {}", "actions, entry 0", "'hop'", "up, right"),
    ("argument: alpha", None, "", "simulate coffee -o x.jsonl --alpha -1", "alpha", "-1", "at least 0"),
    ("argument: discount", None, "", "simulate coffee -o x.jsonl --discount 1", "discount", "1.0", "not including, 1"),
    ("argument: lapse", None, "", "evaluate coffee coffee --lapse 2", "lapse", "2.0", "from 0 to 1"),
    ("argument: episodes", None, "", "simulate coffee -o x.jsonl --episodes -2", "episodes", "-2", "at least 0"),
    ("argument: length", None, "", "evaluate coffee coffee --length -2", "length", "-2", "at least 0"),
    ("argument: seed", None, "", "simulate coffee -o x.jsonl --seed -2", "seed", "-2", "at least 0"),
    ("argument: start", None, "", "simulate coffee -o x.jsonl --start 40,1", "start", "40,1", "x runs from 0 to 11"),
    ("argument: start not a cell", None, "", "world coffee --start here", "--start", "here", "such as 2,1"),
    ("argument: machine missing", "w.map", MAP, "simulate {} -o x.jsonl", "--machine", "missing", "--machine FILE"),
    ("argument: format", None, "", "export coffee --to jpeg -o x", "--to", "jpeg", "known are"),
    ("argument: output folder", None, "", "world coffee -o none/x.json", "none/x.json", "cannot be written", "choose a folder"),
    ("argument: output ending", None, "", "simulate coffee -o x.ods", "x.ods", "demonstrations file", "rename"),
    ("argument: no output", None, "", "export coffee --to png", "-o", "missing", "name the file"),
    ("argument: levels", "d.jsonl", EPISODE, "score coffee {} coffee --rewards 0,x", "--rewards", "0,x", "such as 0,1"),
    ("argument: no zero", "d.jsonl", '{"states": [46], "actions": [0]}', "score coffee {} coffee --rewards 1,2", "rewards", "(1.0, 2.0)", "0 must be one"),
    ("argument: temperature", "d.jsonl", '{"states": [46], "actions": [0]}', "score coffee {} coffee --temperature 0", "temperature", "0.0", "above 0"),
    ("argument: evaluate seed", None, "", "evaluate coffee coffee --seed -1", "seed", "-1", "at least 0"),
    ("argument: too many episodes", None, "", "simulate coffee -o x.jsonl --episodes 1000000000000", "episodes", "1000000000000", "fewer at a time"),
    ("argument: long name", None, "", "show " + "a" * 300, "aaa", "no such file", "built in are"),
    ("argument: long start", None, "", "world coffee --start " + "9" * 5000, "--start", "99999", "such as 2,1"),
    ("argument: other ending", None, "", "export coffee --to svg -o task.json", "task.json", ".json is not the ending of svg", "leave the ending out"),
    ("argument: a folder", None, "", "world .", ".", "a folder", "name a world file"),
    ("argument: bench part", None, "", "bench --part engines", "--part", "engines", "known are engine"),
    ("argument: bench machines", None, "", "bench --machines 0", "--machines", "0", "at least 1"),
    ("argument: bench largest", None, "", "bench --part growth --largest 10", "--largest", "10", "from 1000 to 1000000"),
    ("argument: bench seed", None, "", "bench --seed -1", "seed", "-1", "at least 0"),
    ("argument: bench folder", "f", "", "bench -o f", "-o f", "file exists", "choose a place"),
    ("argument: bench below a file", "f", "", "bench -o f/below", "-o f/below", "not a directory", "choose a place"),
    ("argument: run folder taken", "d.jsonl", EPISODE, "infer coffee {} -o .", ".", "not empty", "name a new one"),
    ("argument: run is a file", "d.jsonl", EPISODE, "infer coffee {} -o d.jsonl", "d.jsonl", "a file", "name a new folder"),
    ("argument: run without parent", "d.jsonl", EPISODE, "infer coffee {} -o none/run", "none/run", "no folder none", "make it first"),
    ("argument: method", "d.jsonl", START, "infer coffee {} -o run --method magic", "method", "'magic'", "known are auto, tempering"),
    ("argument: preset", "d.jsonl", START, "infer coffee {} -o run --method annealing --preset tea", "preset", "'tea'", "known are recharge"),
    ("argument: states", "d.jsonl", START, "infer coffee {} -o run --states 0", "states", "0", "at least 1"),
    ("argument: states in words", "d.jsonl", START, "infer coffee {} -o run --states two", "--states", "two", "such as 2-5"),
    ("argument: open range", "d.jsonl", START, "infer coffee {} -o run --states 2-", "--states", "2-", "such as 2-5"),
    ("argument: range upside down", "d.jsonl", START, "infer coffee {} -o run --states 3-2 --method exhaustive", "states", "(3, 2)", "the least and the most"),
    ("argument: range in annealing", "d.jsonl", START, "infer coffee {} -o run --method annealing --states 2-3", "states", "2-3", "method 'exhaustive'"),
    ("argument: too many machines", "d.jsonl", START, "infer coffee {} -o run --method exhaustive --limit 9", "3 symbols", "4,070,115 machines", "--limit"),
    ("argument: steps of exhaustive", "d.jsonl", START, "infer coffee {} -o run --method exhaustive --steps 4", "steps", "4", "leave steps out"),
    ("argument: another method's", "d.jsonl", START, "infer coffee {} -o run --method exhaustive --beta-t 0.5", "--beta-t", "0.5", "leave it out"),
    ("argument: limit of annealing", "d.jsonl", START, "infer coffee {} -o run --method annealing --limit 5", "--limit", "5", "say --method exhaustive"),
    ("argument: alpha in words", "d.jsonl", START, "infer coffee {} -o run --alpha high", "--alpha", "high", "or infer"),
    ("argument: two alphas", "d.jsonl", START, "infer coffee {} -o run --alpha 1,2", "--alpha", "1,2", "one number"),
    ("argument: discounts", "d.jsonl", START, "infer coffee {} -o run --discount 0.9,2", "discount", "2.0", "up to"),
    ("argument: lapse inferred", "d.jsonl", START, "infer coffee {} -o run --lapse 3", "lapse", "3.0", "from 0 to 1"),
    ("argument: rungs", "d.jsonl", START, "infer coffee {} -o run --rungs 0", "rungs", "0", "at least 1"),
    ("argument: inferring by annealing", "d.jsonl", START, "infer coffee {} -o run --method annealing --alpha infer", "expert", "annealing", "use tempering"),
    ("argument: known arrows", "d.jsonl", START, "infer coffee {} -o run --fix none.txt", "none.txt", "cannot be read", "check the path"),
    ("argument: init pays more", "d.jsonl", START, "infer coffee {} -o run --init multi-coffee", "multi-coffee", "lacks", "the same symbols"),
    ("argument: no demonstrations", "w.map", MAP, "infer {} d.jsonl -o run", "d.jsonl", "cannot be read", "check the path"),
    ("argument: t0", "d.jsonl", START, "infer coffee {} -o run --method annealing --t0 5", "t0", "5.0", "at least t_min, 300"),
    ("argument: p0", "d.jsonl", START, "infer coffee {} -o run --method annealing --p0 1", "p0", "1.0", "up to, not including, 1"),
    ("argument: beta", "d.jsonl", START, "infer coffee {} -o run --method annealing --beta-t 2", "beta_t", "2.0", "at most 1"),
    ("argument: every", "d.jsonl", START, "infer coffee {} -o run --method annealing --every 0", "every", "0", "at least 1"),
    ("argument: rule", "d.jsonl", START, "infer coffee {} -o run --method annealing --rule cold", "rule", "'cold'", "modified, standard"),
    ("argument: neighbours", "d.jsonl", START, "infer coffee {} -o run --method annealing --neighbours two", "neighbours", "'two'", "several, one"),
    ("argument: two temperatures", "d.jsonl", START, "infer coffee {} -o run --method annealing --t-min 3 --temperature 4", "--temperature 4", "--t-min 3", "leave one of them out"),
    ("argument: minutes", "d.jsonl", START, "infer coffee {} -o run --minutes 0", "minutes", "0.0", "above 0"),
    ("argument: threads", "d.jsonl", START, "infer coffee {} -o run --threads 0", "threads", "0", "at least 1"),
    ("argument: prior", "d.jsonl", START, "infer coffee {} -o run --p-self 1", "p_self", "1.0", "between 0 and 1"),
    ("argument: alpha prior", "d.jsonl", START, "infer coffee {} -o run --alpha-prior 5", "alpha_prior", "(5.0,)", "such as (30, 2)"),
    ("argument: lapse prior", "d.jsonl", START, "infer coffee {} -o run --lapse-prior 1,x", "--lapse-prior", "1,x", "give numbers"),
    ("argument: sizes prior", "d.jsonl", START, "infer coffee {} -o run --states 1-2 --sizes-prior 1,2,3", "sizes_prior", "3 weights", "one for each"),
    ("argument: precision", "d.jsonl", START, "infer coffee {} -o run --precision 0", "precision", "0.0", "above 0"),
    ("argument: one level", "d.jsonl", START, "infer coffee {} -o run --rewards 0", "levels", "(0.0,)", "more levels"),
    ("argument: reproduce world", None, "", "reproduce tea", "tea", "no built-in world", "coffee"),
    ("argument: triples", None, "", "reproduce coffee --triples 0", "triples", "0", "at least 1"),
    ("argument: reproduce threads", None, "", "reproduce coffee --threads 0", "--threads", "0", "at least 1"),
    ("argument: reproduce seed", None, "", "reproduce coffee --seed -1", "seed", "-1", "at least 0"),
    ("argument: reproduce folder", "d.jsonl", EPISODE, "reproduce coffee -o {}", "d.jsonl", "cannot be made", "another folder"),
    ("argument: demo world", None, "", "demo tea", "tea", "no built-in world", "coffee"),
    ("argument: demo folder", "d.jsonl", EPISODE, "demo -o {}", "d.jsonl", "a file, not a folder", "name a new folder"),
    ("argument: checkpoint", "d.jsonl", START, "infer coffee {} -o run --checkpoint -1", "checkpoint", "-1.0", "at least 0"),
    ("run: none to resume", None, "", "resume none", "none", "there is no manifest.json", "whence infer"),
    ("run: none to watch", None, "", "status none --watch", "none", "there is no manifest.json", "whence infer"),
    ("run: none to report", None, "", "report none -o r.html", "none", "there is no manifest.json", "whence infer"),
    ("run: a file", "d.jsonl", EPISODE, "resume {}", "d.jsonl", "no run", "whence infer"),
    ("run: no page", "d.jsonl", EPISODE, "report run -o {}", "d.jsonl", "one HTML file", "FILE.html"),
]  # fmt: skip


def test_the_table_has_all_parts() -> None:
    kinds = {row[0].split(":")[0] for row in TABLE}
    assert kinds == {"world", "map", "machine", "demos", "argument", "run"}
    assert len({row[0] for row in TABLE}) == len(TABLE) >= 25


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_bad_input_gives_one_message(
    row: tuple[str, str | None, str | bytes, str, str, str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, name, content, line, *parts = row
    monkeypatch.chdir(tmp_path)
    if name is not None:
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    code = cli.run(line.format(name).split())
    captured = capsys.readouterr()
    assert code == 1, captured.err
    assert captured.out == ""
    message = captured.err
    assert message.startswith("error: ")
    assert message.count("\n") == 1
    assert "Traceback" not in message
    for part in parts:
        assert part, "every row names place, culprit and cure"
        assert any(option in message for option in part.split("|")), (part, message)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_the_installed_program_prints_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text("{")
    result = subprocess.run(
        [sys.executable, "-c", "from whence.cli import main; main()", "world", "w.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )
    assert result.returncode == 1
    assert result.stderr.startswith("error: w.json: not valid JSON")
    assert "Traceback" not in result.stderr


def test_a_folder_in_the_place_of_the_output_is_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.json").mkdir()
    assert cli.run(["world", "coffee", "-o", "w.json"]) == 1
    assert "w.json: cannot be written: is a directory" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["w.json"]


def test_control_characters_never_reach_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    machine = whence.RewardMachine(("\x1b[31m",), [[0]], [[1]], ["\x1b]0;x\x07"])
    machine.save("m.json")
    for line in ("show m.json", "compare m.json coffee", "evaluate coffee m.json"):
        cli.run(line.split())
        captured = capsys.readouterr()
        assert "\x1b" not in captured.out
        assert "\x1b[31m" not in captured.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("check run --state place", "leave them out"),
        ("world coffee --repair", "--repair and --as-is are for a table"),
    ],
)
def test_options_that_would_be_ignored_are_refused(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(line.split()) == 2
    assert message in capsys.readouterr().err
