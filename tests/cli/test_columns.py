"""Tables with columns of their own names, and all that is wrong with one at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import whence
from whence.cli import run as main

COLUMNS = ["--state", "place", "--action", "choice", "--episode", "trial", "--label", "cue",
           "--order", "t", "--ended", "done"]  # fmt: skip


def _log(folder: Path, seed: int = 0) -> Path:
    """Write demonstrations of the coffee world as somebody else's log, out of order."""
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=20, length=40, seed=seed)
    table = demos.to_table(world.mdp)
    names = {"trial": "episode", "t": "step", "place": "state", "choice": "action", "cue": "label"}
    rows = list(zip(*(table[name] for name in names.values()), strict=True))
    lines = [
        ";".join("" if x is None else str(x) for x in (*row, "false" if row[3] is None else ""))
        for row in reversed(rows)
    ]
    path = folder / "rats.csv"
    path.write_text("\n".join([";".join([*names, "done"]), *lines, ""]), encoding="utf-8")
    return path


def test_a_table_with_its_own_names_goes_all_the_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, world = str(_log(tmp_path)), str(tmp_path / "world.json")
    assert main(["world", log, *COLUMNS, "-o", world, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["coverage"]["episodes"] == 20
    assert main(["check", world, log, *COLUMNS, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 800
    assert main(["score", world, log, "coffee", *COLUMNS, "--json"]) == 0
    own = json.loads(capsys.readouterr().out)["scores"][0]["log_likelihood"]
    demos = whence.Demonstrations.from_table(
        log, mdp=whence.LabeledMDP.load(world), state="place", action="choice", episode="trial",
        label="cue", step="t", ended="done",
    )  # fmt: skip
    assert [episode.ended for episode in demos] == [False] * 20
    task = whence.worlds.coffee().task
    posterior = whence.Posterior(
        whence.LabeledMDP.load(world), demos, expert=whence.Expert(50, 0.95)
    )
    assert own == posterior.finest(task)


FAULTS = """trial,t,place,choice,cue
a,0,hall,on,
a,one,kitchen,on,tea
b,0,,on,
c,0,hall,on,
c,0,den,on,bed
d,0,hall,,
d,1,kitchen,on,tea
e,0,hall,on,
e,2,den,on,bed
"""


def test_all_that_is_wrong_is_said_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.csv"
    log.write_text(FAULTS, encoding="utf-8")
    assert main(["world", str(log), *COLUMNS[:-2]]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("log.csv, ")[2] for line in lines[:-1]] == [
        "line 3, column 't': `one` is not a step. Repair: leave the row out, and cut its episode "
        "there.",
        "line 4, column 'place': empty; every row names its state. Repair: cut its episode there.",
        "lines 5 and 6, column 'place': `hall` and `den` in the same step of an episode. Repair: "
        "keep the first.",
        "line 7, column 'choice': empty, but its episode goes on; only its last row may have no "
        "action. Repair: cut its episode there.",
        "line 10: step 1 of episode `e` is missing. Repair: keep what is before it.",
    ]
    assert lines[-1].startswith("5 problems; to make the repairs: whence world ")
    with pytest.raises(whence.errors.DemonstrationsError) as caught:
        whence.Demonstrations.from_table(log, state="place", action="choice", episode="trial",
                                         label="cue", step="t")  # fmt: skip
    assert len(caught.value.problems) == 5
    assert 'with gaps="cut"' in caught.value.problems[-1]


def test_messages_speak_of_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    log.write_text(FAULTS, encoding="utf-8")
    assert main(["check", "coffee", str(log)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.rpartition("name the right one with ")[2] for line in lines] == [
        "--episode COLUMN", "--state COLUMN", "--action COLUMN"
    ]  # fmt: skip
    assert main(["check", "coffee", "demos.jsonl", "--state", "place"]) == 1
    assert "--state place: coffee and demos.jsonl have no columns" in capsys.readouterr().err


def test_a_log_may_show_which_actions_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = _log(tmp_path)
    assert main(["world", str(log), *COLUMNS, "--available", "seen", "--json", "-q"]) == 0
    assert json.loads(capsys.readouterr().out)["unavailable"] > 0
    assert main(["world", "coffee", "--available", "seen"]) == 1
    assert "--available seen: coffee is no log" in capsys.readouterr().err
