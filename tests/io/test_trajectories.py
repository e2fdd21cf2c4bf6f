from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import whence
from support.house import HOUSE
from whence import Demonstrations, LabeledMDP
from whence.errors import (
    ArgumentError,
    DemonstrationsError,
    FileError,
    FormatError,
    MissingExtraError,
)

DATA = Path(__file__).parents[1] / "data"
WORLD = whence.worlds.coffee()


def trajectory(obs: Any, acts: Any, infos: Any = None) -> SimpleNamespace:
    return SimpleNamespace(obs=np.array(obs), acts=np.array(acts), infos=infos)


def test_objects_with_obs_and_acts_are_enough() -> None:
    demos = Demonstrations.from_trajectories(
        [trajectory([0, 1, 2], [0, 1]), {"obs": [2, 2], "acts": [1, 1]}]
    )
    assert [([*e.states], [*e.actions]) for e in demos] == [([0, 1, 2], [0, 1]), ([2, 2], [1, 1])]
    assert demos.labels is None


def test_functions_say_what_observations_stand_for() -> None:
    boxes = [trajectory([[0.2, 9.0], [1.7, 9.0]], [0.4])]
    demos = Demonstrations.from_trajectories(
        boxes,
        state=lambda obs: ("hall", "kitchen")[int(obs[0])],
        action=lambda act: "on" if act > 0 else "back",
        label=lambda obs: "tea" if obs[0] > 1 else None,
        mdp=HOUSE,
    )
    assert demos.check(HOUSE).ok
    assert demos[0] == whence.Episode([0, 1], [0], [None, "tea"])
    rooms = iter(["hall", "den", "hall", "attic"])
    with pytest.raises(DemonstrationsError, match="trajectory 1, observation 1, column 'state'"):
        Demonstrations.from_trajectories(
            boxes * 2, state=lambda _: next(rooms), action=lambda _: 0, mdp=HOUSE
        )
    with pytest.raises(DemonstrationsError, match="trajectory 0: an observation is 2 of float64"):
        Demonstrations.from_trajectories(boxes)


def test_infos_belong_to_the_observation_that_an_action_led_to() -> None:
    one = trajectory([0, 1], [0], infos=[{"sign": "tea"}])
    assert Demonstrations.from_trajectories([one], label="sign")[0].labels == [None, "tea"]


def test_the_folders_of_imitation_are_read() -> None:
    demos = Demonstrations.from_trajectories(DATA / "imitation-numbers")
    assert [([*e.states], [*e.actions]) for e in demos] == [([0, 1, 2], [0, 1]), ([2, 2], [1])]
    boxes = Demonstrations.from_trajectories(
        DATA / "imitation-boxes", state=lambda obs: round(obs[0]), label="label"
    )
    assert [[*e.states] for e in boxes] == [[0, 1, 2], [2, 2]]
    assert boxes[0].labels == [None, "a", None]


def test_what_is_no_trajectory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="entry 0: int has no obs and acts"):
        Demonstrations.from_trajectories([3])
    with pytest.raises(DemonstrationsError, match="trajectory 0: 3 observations for 1 actions"):
        Demonstrations.from_trajectories([trajectory([0, 1, 2], [0])])
    with pytest.raises(FileError, match=r"state\.json: cannot be read"):
        Demonstrations.from_trajectories(tmp_path)
    (tmp_path / "state.json").write_text("{}")
    with pytest.raises(FormatError, match="not a folder of trajectories"):
        Demonstrations.from_trajectories(tmp_path)


def test_a_missing_pyarrow_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'whence\[tables\]'"):
        Demonstrations.from_trajectories(DATA / "imitation-numbers")
    (tmp_path / "log.parquet").write_bytes(b"")
    with pytest.raises(MissingExtraError, match=r"pip install 'whence\[tables\]'"):
        Demonstrations.load(tmp_path / "log.parquet")


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty place for datasets of Minari."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("mdp", [WORLD.mdp, HOUSE], ids=["grid", "named"])
def test_datasets_of_minari_come_back(shelf: Path, mdp: LabeledMDP) -> None:
    task = whence.RewardMachine(mdp.alphabet, [[0] * len(mdp.alphabet)], [[1] * len(mdp.alphabet)])
    demos = whence.simulate(mdp, task, whence.Expert(3.0, 0.9), episodes=4, length=7, seed=1)
    full = Demonstrations.from_episodes([_completed(mdp, e) for e in demos])
    full.to_minari("whence/test-v0", mdp)
    again = Demonstrations.from_minari("whence/test-v0", mdp=mdp)
    assert np.array_equal(again.states, full.states)
    assert np.array_equal(again.actions, full.actions)
    assert [e.labels for e in again] == [[mdp.label(s) for s in e.states] for e in full]
    by_path = Demonstrations.from_minari(shelf / "whence" / "test-v0", mdp=mdp)
    assert by_path == again


def _completed(mdp: LabeledMDP, episode: whence.Episode) -> whence.Episode:
    """Return the episode with a state that its last action can lead to."""
    if len(episode.states) > len(episode.actions):
        return episode
    last = int(mdp.row(episode.states[-1], episode.actions[-1])[0][0])
    return whence.Episode([*episode.states, last], episode.actions)


def test_minari_keeps_names_and_labels_without_a_world(shelf: Path) -> None:
    table = {"episode": [0, 0, 0], "state": ["hall", "kitchen", "den"],
             "action": ["on", "back", None], "label": [None, "tea", "bed"]}  # fmt: skip
    demos = Demonstrations.from_table(table)
    demos.to_minari("log-v0")
    again = Demonstrations.from_minari("log-v0")
    assert again == demos
    assert (again.state_names, again.action_names) == (demos.state_names, demos.action_names)
    discrete = Demonstrations.from_minari(
        "log-v0", state=lambda obs: f"room {obs}", action=lambda act: int(act)
    )
    assert discrete.state_names == ("room 0", "room 1", "room 2")
    assert discrete[0].labels == [None, "tea", "bed"]


def test_minari_keeps_who_acted(shelf: Path) -> None:
    demos = Demonstrations.from_episodes(
        [whence.Episode([0, 1], [0], subject=who) for who in ("mouse 3", None, "7", "mouse 3")]
    )
    demos.to_minari("mice-v0")
    assert Demonstrations.from_minari("mice-v0") == demos
    assert [e.subject for e in Demonstrations.from_minari("mice-v0")] == list(demos.subjects or ())


def test_what_minari_cannot_hold_or_find_is_refused(shelf: Path) -> None:
    with pytest.raises(DemonstrationsError, match="demonstrations: no episodes; Minari"):
        Demonstrations.from_episodes([]).to_minari("empty-v0")
    with pytest.raises(DemonstrationsError, match="episode 0: Minari wants at least one action"):
        Demonstrations.from_episodes([([0], [0])]).to_minari("short-v0")
    with pytest.raises(FileError, match="nowhere-v0: not a Minari dataset"):
        Demonstrations.from_minari("nowhere-v0")


def test_a_missing_minari_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'whence\[minari\]'"):
        Demonstrations.from_minari("any-v0")
