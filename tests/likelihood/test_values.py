"""Values everywhere in a world: by its labelled states alone, and by sweeps over all of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.problems import random_machine, random_world
from whence import Expert, LabeledMDP, RewardMachine
from whence.likelihood import compiled, hubs, reference, values
from whence.likelihood.hub_map import HubMap, map_hubs
from whence.model.product import product

LEVELS = np.array([-1.0, 0.5, 1.0, 2.0])


def _world(rng: np.random.Generator, states: int) -> LabeledMDP:
    return random_world(
        rng, states=states, actions=3, symbols=3, successors=1, blank=0.9,
    )  # fmt: skip


def _line(states: int) -> LabeledMDP:
    """Return a line of places with three labels in its middle."""
    here = np.arange(states)
    rows = [
        np.stack([here, np.full(states, a), np.clip(here + by, 0, states - 1), np.ones(states)], 1)
        for a, by in enumerate((-1, 1))
    ]
    labels: list[str | None] = [None] * states
    for symbol, at in {"a": 10, "b": -10, "c": 25}.items():
        labels[states // 2 + at] = symbol
    return LabeledMDP.from_triples(
        np.concatenate(rows), states=states, actions=["left", "right"], labels=labels,
        alphabet=["a", "b", "c"], initial=states // 2,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_labelled_states_alone_give_the_values_of_policy_iteration(seed: int) -> None:
    rng = np.random.default_rng((31, seed))
    mdp = _world(rng, int(rng.integers(3, 120)))
    machine = random_machine(rng, mdp.alphabet, int(rng.integers(1, 6)), LEVELS)
    discount = float(rng.choice([0.0, 0.5, 0.9, 0.99]))
    found = values.optimal_values(mdp, machine, discount)
    exact = reference.policy_iteration(product(mdp, machine), discount).max(axis=2)
    assert np.abs(found - exact).max() <= 1e-10 * max(1.0, float(np.abs(exact).max()))


def test_actions_that_are_not_there_count_for_nothing() -> None:
    rows = [[0, 0, 1, 1.0], [0, 1, 0, 1.0], [1, 0, 2, 1.0], [2, 0, 0, 1.0], [2, 1, 1, 1.0]]
    mdp = LabeledMDP.from_triples(
        rows, states=3, actions=2, labels=[None, "a", "b"], alphabet=["a", "b"],
        unavailable=[[1, 1]],
    )  # fmt: skip
    machine = RewardMachine.from_arrows(
        ["0 -a-> 1", "1 -b/1-> 0", "1 -a/-1-> 1"], alphabet=("a", "b")
    )
    found = values.compiled_q(mdp, machine, 0.9)
    exact = reference.policy_iteration(product(mdp, machine), 0.9)
    assert np.isneginf(found[:, 1, 1]).all()
    there = np.isfinite(exact)
    assert np.abs(found[there] - exact[there]).max() < 1e-12


def test_many_machines_at_once_are_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    mdp = _world(rng, 60)
    machines = [random_machine(rng, mdp.alphabet, 4, LEVELS) for _ in range(9)]
    tables = (
        np.array([m.transitions for m in machines], dtype=np.int64),
        np.array([m.rewards for m in machines]),
        np.full(9, 4),
    )
    found = values.batch_values(mdp, tables, 0.95, 1e-12)
    monkeypatch.setattr(values, "ROOM", 1)
    assert np.array_equal(found, values.batch_values(mdp, tables, 0.95, 1e-12))
    assert np.abs(found - compiled.swept_values(mdp, tables, 0.95, 1e-12)).max() < 1e-11


def test_a_large_world_with_few_labels_is_not_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    mdp = _line(30_000)
    machine = RewardMachine.from_arrows(["0 -a-> 1", "1 -b/1-> 0"], alphabet=("a", "b", "c"))
    swept = compiled.swept_values(
        mdp, (machine.transitions[None], machine.rewards[None], np.array([2])), 0.95, 1e-12
    )[0]

    def refused(*_: object) -> None:
        raise AssertionError("the whole world was swept")

    monkeypatch.setattr(values, "swept_values", refused)
    measured = []

    def counted(*given: Any) -> HubMap | None:
        measured.append(1)
        return map_hubs(*given)

    monkeypatch.setattr(values, "map_hubs", counted)
    for discount in (0.95, 0.9):
        found = values.expert_q(mdp, machine, Expert(10.0, discount)).max(axis=2)
        if discount == 0.95:
            assert np.abs(found - swept).max() < 1e-11
    assert values.sweeps(mdp, 0.95) == values.FEW_SWEEPS
    assert values.sweeps(mdp, 0.2) == 1.25
    assert len(measured) == 1, "ways are measured once a world"


def test_worlds_of_chance_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    mdp = random_world(rng, states=20, actions=2, symbols=2, successors=3, blank=0.5)
    machine = random_machine(rng, mdp.alphabet, 2, LEVELS)
    monkeypatch.setattr(hubs.HubEngine, "visited_q", None)
    found = values.optimal_values(mdp, machine, 0.9)
    exact = reference.policy_iteration(product(mdp, machine), 0.9).max(axis=2)
    assert np.abs(found - exact).max() < 1e-10
    assert values.sweeps(mdp, 0.95) == pytest.approx(20)
