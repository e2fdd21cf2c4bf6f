"""Levels of rewards that were too few are noticed, and only those."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import whence
from whence import Expert, Posterior, RewardMachine
from whence.analysis.levels import _changes, _splits, notes_of_levels, other_levels
from whence.runs import outcome


@pytest.fixture(scope="module")
def paid_twice() -> tuple[Posterior, RewardMachine]:
    """Multi coffee under levels that cannot say that one coffee pays twice."""
    world = whence.worlds.multi_coffee()
    expert = Expert(50, world.expert.discount)
    posterior = Posterior(world.mdp, world.demonstrations(0), expert=expert, rewards=(0.0, 1.0))
    either = RewardMachine.from_arrows(
        ["a -c-> b", "a -k-> b", "a -*-> z", "b -o/1-> z", "b -*-> z"],
        alphabet=world.mdp.alphabet,
    )
    return posterior, either


def test_a_reward_of_two_is_missed_where_it_is(
    paid_twice: tuple[Posterior, RewardMachine],
) -> None:
    found = other_levels(*paid_twice)
    assert found is not None
    assert found[0] == (0.0, 1.0, 2.0)
    assert found[1] > 100
    (note,) = notes_of_levels(*paid_twice)
    assert "--rewards=0,1,2" in note


def test_nothing_is_missed_where_the_task_pays_one() -> None:
    world = whence.worlds.coffee()
    for seed in range(3):
        posterior = Posterior(
            world.mdp, world.demonstrations(seed), expert=world.expert, rewards=(0.0, 1.0)
        )
        assert notes_of_levels(posterior, world.task) == []


def test_other_levels_are_asked_for_only_beside_the_usual_ones() -> None:
    world = whence.worlds.multi_coffee()
    demos = world.demonstrations(0)
    named = Posterior(world.mdp, demos, expert=world.expert, rewards=world.rewards)
    assert other_levels(named, world.task) is None


def test_changes_are_every_arrow_and_splits_copy_a_target() -> None:
    transitions = np.array([[1, 0], [1, 1], [2, 2]])
    rewards = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    many, paid = _changes(transitions, rewards, (0.0, 1.0))
    assert len(many) == 3 * 2 * 3 * 2
    apart = (many != transitions).sum(axis=(1, 2)) + (paid != rewards).sum(axis=(1, 2))
    assert apart.max() <= 2
    split, costs = _splits(transitions, rewards, (0.0, 2.0))
    # the first arrow leads to a copy of state 1 whose first arrow pays 2
    wanted = (split[:, 0, 0] == 2) & (costs[:, 2, 0] == 2.0) & (split[:, 2, 0] == 1)
    assert wanted.any()


def test_a_folder_keeps_what_was_said_of_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is read again does not look for other levels again, unless it must."""
    world = whence.worlds.coffee()
    demos = world.demonstrations(0)
    looked: list[RewardMachine] = []

    def noted(_: Posterior, machine: RewardMachine) -> list[str]:
        looked.append(machine)
        return ["other levels"]

    monkeypatch.setattr(outcome, "notes_of_levels", noted)
    folder = tmp_path / "run"
    run = whence.infer(world.mdp, demos, states=2, expert=world.expert, steps=5, folder=folder)
    assert len(looked) == 1
    assert whence.load(folder).level_notes == run.level_notes == ("other levels",)
    assert len(looked) == 1
    (folder / "result.json").write_text("{}")
    assert whence.load(folder).level_notes == run.level_notes
    assert len(looked) == 2
