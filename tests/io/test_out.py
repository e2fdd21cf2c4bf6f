"""What leaves for other tools: pyrewardmachines and PRISM."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg

import whence
from support.problems import random_machine, random_world
from whence import LabeledMDP, RewardMachine, cli
from whence import io as formats
from whence.io import machine_pyrewardmachines as pyrewardmachines
from whence.io import prism
from whence.planning.evaluation import horizon_optimum

COFFEE = whence.worlds.coffee()
# Of `bold`, 5 steps in 8 that leave the start are paid; of `shy`, 1 in 2.
TRAP = LabeledMDP.from_dense(
    [[[0.2, 0.3, 0.5], [0.8, 0.1, 0.1]], [[0.0, 1.0, 0.0]] * 2, [[0.0, 0.0, 1.0]] * 2],
    labels=[None, "x", "p"],
    actions=["bold", "shy"],
)
GAMBLE = RewardMachine.from_arrows(["a -x-> over", "a -p/1-> over"], alphabet=("x", "p"))


class StandIn:
    """The part of pycrm's base class that the source relies on."""

    def __init__(self, env_prop_enum: Any) -> None:
        self.env_prop_enum = env_prop_enum


def module_of(machine: RewardMachine, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    automaton = ModuleType("pycrm.automaton")
    automaton.RewardMachine = StandIn  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pycrm", ModuleType("pycrm"))
    monkeypatch.setitem(sys.modules, "pycrm.automaton", automaton)
    names: dict[str, Any] = {"__name__": "written"}
    exec(pyrewardmachines.dumps(machine), names)
    return names


def first_rule(rules: dict[str, Any], held: set[str]) -> str:
    """Return the first condition that holds: a member of the Enum, or none at all."""
    return next(rule for rule in rules if not rule or rule in held)


@pytest.mark.parametrize("seed", range(10))
def test_the_source_of_pyrewardmachines_says_what_the_machine_does(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    machine = random_machine(rng, ("c", "*", "a b", "'\"\n"), 4)
    names = module_of(machine, monkeypatch)
    written = names["Machine"]()
    by_label = {member.value: member.name for member in names["Symbol"]}
    targets = written._get_state_transition_function()
    rewards = written._get_reward_transition_function()
    state, labels, paid = written.u_0, [], []
    for _ in range(100):
        label = [None, *machine.alphabet][rng.integers(len(machine.alphabet) + 1)]
        rule = first_rule(targets[state], set() if label is None else {by_label[label]})
        labels.append(label)
        paid.append(rewards[state][rule])
        state = targets[state][rule]
    assert tuple(paid) == machine.run(labels).rewards


@pytest.mark.parametrize("seed", range(10))
def test_the_library_pyrewardmachines_pays_the_same(seed: int) -> None:
    automaton = pytest.importorskip("pycrm.automaton", reason="needs pyrewardmachines")
    rng = np.random.default_rng(seed)
    machine = random_machine(rng, ("c", "*", "a b"), 3)
    names: dict[str, Any] = {"__name__": "written"}
    exec(pyrewardmachines.dumps(machine), names)
    running = automaton.RmToCrmAdapter(names["Machine"]())
    symbols = {member.value: member for member in names["Symbol"]}
    state, counters, labels, paid = running.u_0, running.c_0, [], []
    for _ in range(200):
        label = [None, *machine.alphabet][rng.integers(len(machine.alphabet) + 1)]
        held = set() if label is None else {symbols[label]}
        state, counters, pays = running.transition(state, counters, held)
        labels.append(label)
        paid.append(pays(None, None, None))
    assert tuple(paid) == machine.run(labels).rewards


def parsed(texts: dict[str, str]) -> tuple[list[list[float]], dict[str, set[int]]]:
    """Read .tra and .lab independently: rows source, choice, target, probability; labels."""
    lines = texts["tra"].splitlines()
    rows = [[float(x) for x in line.split()[:4]] for line in lines[1:]]
    n, choices, count = map(int, lines[0].split())
    assert count == len(rows)
    assert choices == len({(i, a) for i, a, _, _ in rows})
    assert len(texts["sta"].splitlines()) == n + 1
    head, *rest = texts["lab"].splitlines()
    names = {int(k): v.strip('"') for k, v in (part.split("=") for part in head.split())}
    labels: dict[str, set[int]] = {name: set() for name in names.values()}
    for line in rest:
        state, held = line.split(":")
        for label in held.split():
            labels[names[int(label)]].add(int(state))
    return rows, labels


def chance_of_pay(rows: list[list[float]], labels: dict[str, set[int]]) -> float:
    """Return the largest probability of ever reaching `paid`, by policy iteration."""
    table = np.array(rows)
    n = int(table[:, 0].max()) + 1
    n_actions = int(table[:, 1].max()) + 1
    pair = (table[:, 0] * n_actions + table[:, 1]).astype(int)
    steps = scipy.sparse.csr_matrix(
        (table[:, 3], (pair, table[:, 2].astype(int))), shape=(n * n_actions, n)
    )
    paid = np.zeros(n)
    paid[list(labels["paid"])] = 1
    legal = np.bincount(pair, minlength=n * n_actions).reshape(n, n_actions) > 0
    values = paid.copy()
    for _ in range(20_000):
        best = np.where(legal, (steps @ values).reshape(n, n_actions), -1).max(axis=1)
        following = np.maximum(paid, best)
        if np.abs(following - values).max() < 1e-14:
            break
        values = following
    (start,) = labels["init"]
    return float(values[start])


def ours(mdp: LabeledMDP, machine: RewardMachine, length: int) -> float:
    """Return the same from whence: pay 1 for the first reward, and stop."""
    over = machine.n_states
    blank = np.full((1, len(machine.alphabet)), over)
    targets = np.vstack([np.where(machine.rewards != 0, over, machine.transitions), blank])
    rewards = np.vstack([machine.rewards != 0, np.zeros_like(blank)]).astype(float)
    once = RewardMachine(machine.alphabet, targets, rewards)
    return horizon_optimum(mdp, once, length)


def test_the_chance_of_pay_of_a_gamble_is_known() -> None:
    rows, labels = parsed(prism.dumps(TRAP, GAMBLE))
    assert chance_of_pay(rows, labels) == pytest.approx(5 / 8, abs=1e-12)
    assert ours(TRAP, GAMBLE, 200) == pytest.approx(5 / 8, abs=1e-12)


def test_the_chance_of_pay_in_the_prism_files_is_ours() -> None:
    rows, labels = parsed(prism.dumps(COFFEE.mdp, COFFEE.task))
    assert chance_of_pay(rows, labels) == pytest.approx(
        ours(COFFEE.mdp, COFFEE.task, 4000), abs=1e-9
    )
    assert len(labels["c"]) > 0


@pytest.mark.parametrize("seed", range(8))
def test_prism_files_of_random_products_have_our_chance_of_pay(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=6, actions=2, symbols=2, successors=2)
    machine = random_machine(rng, mdp.alphabet, 3)
    rows, labels = parsed(prism.dumps(mdp, machine))
    assert chance_of_pay(rows, labels) == pytest.approx(ours(mdp, machine, 3000), abs=1e-6)


def test_prism_rewards_sum_to_the_expected_return() -> None:
    """The reward files, solved over a horizon with no other help, give `horizon_optimum`."""
    texts = prism.dumps(COFFEE.mdp, COFFEE.task)
    rows, labels = parsed(texts)
    paid = {
        tuple(line.split()[:3]): float(line.split()[3]) for line in texts["trew"].splitlines()[1:]
    }
    table = np.array(rows)
    n = int(table[:, 0].max()) + 1
    pair = (table[:, 0] * 4 + table[:, 1]).astype(int)
    reward = np.array([paid.get((f"{i:.0f}", f"{a:.0f}", f"{j:.0f}"), 0.0) for i, a, j, _ in rows])
    values = np.zeros(n)
    for _ in range(60):
        each = table[:, 3] * (reward + values[table[:, 2].astype(int)])
        values = np.bincount(pair, weights=each, minlength=4 * n).reshape(n, 4).max(axis=1)
    (start,) = labels["init"]
    assert values[start] == pytest.approx(horizon_optimum(COFFEE.mdp, COFFEE.task, 60), abs=1e-12)


@pytest.mark.parametrize(("mdp", "task"), [(COFFEE.mdp, COFFEE.task), (TRAP, GAMBLE)])
def test_storm_finds_our_chance_of_pay(
    tmp_path: Path, mdp: LabeledMDP, task: RewardMachine
) -> None:
    stormpy = pytest.importorskip("stormpy", reason="needs stormpy")
    texts = prism.dumps(mdp, task)
    (tmp_path / "p.tra").write_text("mdp\n" + "".join(
        " ".join(line.split()[:4]) + "\n" for line in texts["tra"].splitlines()[1:]))  # fmt: skip
    head, *rest = texts["lab"].splitlines()
    names = dict(part.split("=") for part in head.split())
    lines = [line.replace(":", "") for line in rest]
    (tmp_path / "p.lab").write_text(
        "#DECLARATION\ninit deadlock paid\n#END\n"
        + "".join(_storm_line(line, names) for line in lines)
    )
    model = stormpy.build_model_from_explicit(str(tmp_path / "p.tra"), str(tmp_path / "p.lab"))
    formula = stormpy.parse_properties('Pmax=? [F "paid"]')[0]
    result = stormpy.model_checking(model, formula)
    value = result.get_value if hasattr(result, "get_value") else result.at  # 2.x, 1.x
    found = value(model.initial_states[0])
    assert found == pytest.approx(ours(mdp, task, 4000), abs=1e-5)


def _storm_line(line: str, names: dict[str, str]) -> str:
    state, *held = line.split()
    known = [names[i].strip('"') for i in held if names[i].strip('"') in ("init", "paid")]
    return f"{state} {' '.join(known)}\n" if known else ""


def test_several_starts_get_a_state_before_them() -> None:
    mdp = COFFEE.mdp.with_initial([(46, 0.25), (0, 0.75)])
    model = prism.explicit(mdp, COFFEE.task)
    assert model.states[0].tolist() == [-1, 0, 0]
    first = model.source == 0
    assert model.probability[first].tolist() == [0.75, 0.25]
    assert model.states[model.target[first], 0].tolist() == [0, 46]
    sums = np.bincount(model.source * 4 + model.choice, weights=model.probability)
    assert sums[sums > 0] == pytest.approx(1)


@pytest.mark.parametrize(
    ("alphabet", "names"),
    [
        (("symbol1", "paid"), ["symbol1", "symbol1_"]),
        (("+", "symbol0", "init"), ["symbol0_", "symbol0", "symbol2"]),
        (("c", "a b", "deadlock"), ["c", "symbol1", "symbol2"]),
    ],
)
def test_names_that_prism_cannot_read_become_different_ones(
    alphabet: tuple[str, ...], names: list[str]
) -> None:
    stay = np.eye(3)[:, None].repeat(3, axis=1)
    labels = [*alphabet, None, None][:3]
    mdp = LabeledMDP.from_dense(
        np.roll(stay, 1, axis=2), labels=labels, alphabet=alphabet, actions=["a1", "+", "go"]
    )
    task = RewardMachine(alphabet, [[0] * len(alphabet)], [[1.0] * len(alphabet)])
    texts = prism.dumps(mdp, task)
    declared = re.findall(r'"([^"]*)"', texts["lab"].splitlines()[0])
    assert declared == ["init", "deadlock", "paid", *names]
    assert {line.split()[-1] for line in texts["tra"].splitlines()[1:]} == {"a1", "a1_", "go"}


def test_the_command_line_writes_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.run(["export", "coffee", "--to", "pyrewardmachines", "-o", "task.py"]) == 0
    assert "class Machine(RewardMachine):" in Path("task.py").read_text()
    assert (
        cli.run(["export", "coffee", "--to", "prism", "--world", "coffee", "-o", "product"]) == 0
    )
    assert {p.name for p in tmp_path.iterdir()} >= {
        f"product.{e}" for e in ("tra", "sta", "lab", "trew")
    }
    capsys.readouterr()
    assert cli.run(["export", "coffee", "--to", "prism", "-o", "product"]) == 1
    assert "add --world WORLD" in capsys.readouterr().err
    with pytest.raises(whence.errors.FileError, match="ends in one of"):
        formats.load_machine("task.py")
