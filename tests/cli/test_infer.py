from __future__ import annotations

import re
from pathlib import Path

import msgspec
import numpy as np
import pytest

import whence
from whence import RewardMachine, cli

SETTINGS = (
    "--method annealing --steps 40 --t0 3000 --t-min 30 --beta-t 0.8 --every 2 --runs 2 --seed 5"
)


@pytest.fixture
def demos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    world = whence.worlds.coffee()
    made = whence.simulate(world.mdp, world.task, world.expert, episodes=10, length=40, seed=0)
    made.save("d.jsonl")
    return "d.jsonl"


def _call(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = cli.run(line.split())
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_line_equals_the_library(
    demos: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = _call(f"infer coffee {demos} -o run {SETTINGS} --json", capsys)
    assert code == 0
    document = msgspec.json.decode(out)
    run = whence.infer(
        whence.worlds.coffee().mdp,
        whence.Demonstrations.load(demos),
        states=3,
        expert=whence.Expert(50, 0.92),
        method="annealing",
        settings=whence.Annealing(steps=40, t0=3000, t_min=30, beta_t=0.8, every=2, runs=2),
        seed=5,
    )
    assert document["score"] == run.score
    assert document["evaluations"] == run.evaluations == 2 * 41
    assert document["settings"]["t_min"] == 30
    assert RewardMachine.load("run/best.json") == run.best
    with np.load("run/trace.npz") as trace:
        assert trace["score"].tobytes() == run.trace.score.tobytes()
        assert trace["accepted"].shape == (40, 2)
    manifest = msgspec.json.decode(Path("run/manifest.json").read_bytes())
    assert manifest["format"] == "whence/run/1"
    named = manifest["inputs"][0]
    assert named["world"]["name"] == "coffee"
    assert named["demos"]["name"] == str(Path(demos).absolute())
    assert manifest["command"][:3] == ["whence", "infer", "coffee"]
    assert manifest["versions"]["whence"] == whence.__version__
    result = msgspec.json.decode(Path("run/result.json").read_bytes())
    assert result["log_likelihood"] == run.log_likelihood


def test_a_run_folder_stands_for_its_machine(
    demos: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _call(f"infer coffee {demos} -o run {SETTINGS} -q", capsys) == (0, "", "")
    best = RewardMachine.load("run/best.json")
    code, out, _ = _call("show run --json", capsys)
    assert code == 0
    assert msgspec.json.decode(out)["states"] == best.n_states
    assert _call("export run --to dot -o best.dot", capsys)[0] == 0
    assert RewardMachine.load("best.dot") == best
    assert _call("compare run run/best.json", capsys)[1] == "the same\n"
    returned = [
        msgspec.json.decode(_call(f"evaluate coffee {name} --json", capsys)[1])["return"]
        for name in ("run", "run/best.json")
    ]
    assert returned[0] == returned[1]
    document = msgspec.json.decode(Path("run/result.json").read_bytes())
    out = _call(f"score coffee {demos} run --rewards 0,1 --temperature 30 --json", capsys)[1]
    assert msgspec.json.decode(out)["scores"][0]["score"] == document["score"]


def test_the_machine_is_drawn_and_progress_goes_to_stderr(
    demos: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = _call(f"infer coffee {demos} -o run {SETTINGS} --minutes 5", capsys)
    assert code == 0
    assert "82 machines scored" in out
    assert "y0" in out
    assert "inferring" in err
    assert "inferring" not in out


def test_a_world_from_a_file_needs_its_number_of_states(
    demos: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whence.worlds.coffee().mdp.save("w.json")
    code, _, err = _call(f"infer w.json {demos} -o run", capsys)
    assert code == 1
    assert "--states is missing" in err
    line = f"infer w.json {demos} -o run --states 2 --rewards 0,1,5 --method annealing"
    line += " --preset recharge --steps 3"
    code, out, _ = _call(f"{line} --json", capsys)
    assert code == 0
    document = msgspec.json.decode(out)
    assert (document["states"], document["rewards"]) == (2, [0, 1, 5])
    assert (document["settings"]["t_min"], document["discount"]) == (200, 0.95)


def test_a_run_without_a_finite_likelihood_is_still_json(
    demos: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = _call(
        f"infer coffee {demos} -o run --method annealing --alpha inf --steps 2 --runs 1 --json",
        capsys,
    )
    assert code == 0
    document = msgspec.json.decode(out)
    assert document["alpha"] is None
    assert document["score"] is None


def test_the_exact_posterior_on_the_command_line(
    demos: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"infer coffee {demos} -o run --method exhaustive --states 1-2 --temperature 20"
    line += " --alpha 50 --discount 0.92 --lapse 0"
    code, out, _ = _call(f"{line} --json", capsys)
    assert code == 0
    document = msgspec.json.decode(out)
    world = whence.worlds.coffee()
    run = whence.infer(
        world.mdp, whence.Demonstrations.load(demos), states=(1, 2), temperature=20,
        expert=whence.Expert(50, 0.92), method="exhaustive",
    )  # fmt: skip
    assert run.draws is not None
    assert run.exact is not None
    assert (document["states"], document["evaluations"]) == ([1, 2], 7 + 3_528)
    assert document["acceptance"] is None
    assert document["settings"]["limit"] == 20_000_000
    exact = document["exact"]
    assert exact == msgspec.json.decode(Path("run/result.json").read_bytes())["exact"]
    assert set(exact) == _documented_keys_of_exact()
    assert [row["machines"] for row in exact["evidence"]] == [7, 3_528]
    assert [row["log_evidence"] for row in exact["evidence"]] == run.exact.log_evidence.tolist()
    assert sum(row["probability"] for row in exact["evidence"]) == pytest.approx(1)
    assert sum(exact["minimal_states"]) == pytest.approx(1)
    assert (exact["kept"], exact["dropped"]) == (run.draws.size, run.exact.dropped)
    assert [row["weight"] for row in exact["top"]] == run.draws.weight[:10].tolist()
    first = RewardMachine(world.mdp.alphabet, *(exact["top"][0][k] for k in TABLES))
    assert RewardMachine.load("run/best.json") == run.best == first


TABLES = ("transitions", "rewards")


def _documented_keys_of_exact() -> set[str]:
    """Return the keys that the list below `The keys of `exact`` names at its points."""
    text = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    points = text.split("The keys of `exact`:")[1].split("\n## ")[0].split("\n- ")[1:]
    return {key for point in points for key in re.findall(r"`(\w+)`: ", point)}


def test_the_exact_posterior_is_told_in_words(
    demos: str, capsys: pytest.CaptureFixture[str]
) -> None:
    line = f"infer coffee {demos} -o run --method exhaustive --states 2 --limit 3528"
    code, out, err = _call(line, capsys)
    assert code == 0
    assert "of 3,528 machines" in out
    assert "of the weight dropped" in out
    assert "inferring" in err
