from __future__ import annotations

import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest

import whence
from support.small_envs import TableEnv, corridor, newest
from whence import RewardMachine
from whence.envs import GymWorld, Recorder, Recording
from whence.errors import ArgumentError, DemonstrationsError, MissingExtraError, WhenceError


def direction(state: int, action: int, following: int) -> str | None:
    return "forth" if following > state else None


def test_recordings_become_demonstrations_in_the_split_world() -> None:
    env = Recorder(TableEnv(corridor(4)))
    world = GymWorld.from_env(env, label=direction)
    env.reset(seed=0)
    for action in (1, 0, np.int64(1), 1, 1):
        env.step(action)
    env.reset()
    demos = world.demonstrations(env.recordings)
    assert len(demos) == 1
    assert demos.check(world.mdp).ok
    states = demos[0].states
    assert [world.observation(s) for s in states] == [0, 1, 0, 1, 2, 3]
    assert [world.mdp.label(s) for s in states[1:]] == ["forth", None, "forth", "forth", "forth"]
    assert [world.ended(s) for s in states] == [False] * 5 + [True]
    again = world.recordings(demos)
    assert again == [Recording((0, 1, 0, 1, 2, 3), (1, 0, 1, 1, 1), True)]


def test_simulated_demonstrations_go_there_and_back() -> None:
    env: Any = gymnasium.make(newest("Taxi"))

    def label(state: int, action: int, following: int) -> str | None:
        before, after = state // 4 % 5, following // 4 % 5
        return None if before == after else ("fetched" if after == 4 else "set down")

    world = GymWorld.from_env(env, label=label)
    task = RewardMachine.from_arrows(["a -fetched-> b", "b -set down/1-> c"])
    demos = whence.simulate(
        world.mdp, task, whence.Expert(alpha=50, discount=0.95), episodes=20, length=40, seed=0
    )
    recordings = world.recordings(demos)
    table = env.unwrapped.P
    for recording in recordings:
        steps = zip(
            recording.observations, recording.actions, recording.observations[1:], strict=False
        )
        assert all(any(o[1] == t for o in table[s][a]) for s, a, t in steps)
    back = world.demonstrations(recordings)
    for before, after in zip(demos, back, strict=True):
        n = len(after.states)
        assert list(after.states) == list(before.states)[:n]
        assert list(after.actions) == list(before.actions)[: len(after.actions)]
    assert any(recording.terminated for recording in recordings)


def test_playing_in_the_environment_follows_the_policy() -> None:
    env = TableEnv(corridor(5, start=2, action_start=1), start=2, action_start=1)
    world = GymWorld.from_env(env, label={6: "goal"})
    task = RewardMachine.from_arrows(["a -goal/1-> b"])
    policy = whence.plan(world.mdp, task, discount=0.9)
    played = world.play(env, policy, episodes=2, length=10, seed=0)
    assert played == [Recording((2, 3, 4, 5, 6), (2, 2, 2, 2), True)] * 2
    short = world.play(env, policy, episodes=1, length=3, seed=0)
    assert short == [Recording((2, 3, 4, 5), (2, 2, 2), False)]
    demos = world.demonstrations(short)
    assert demos[0].states == [0, 1, 2, 3]
    assert demos[0].actions == [1, 1, 1]


def test_playing_keeps_observations_that_the_environment_overwrites() -> None:
    class Counting(gymnasium.Env[Any, Any]):
        observation_space = gymnasium.spaces.MultiDiscrete([4])
        action_space = gymnasium.spaces.Discrete(1)
        seen = np.zeros(1, dtype=np.int64)

        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            self.seen[0] = 0
            return self.seen, {}

        def step(self, action: Any) -> Any:
            self.seen[0] = min(self.seen[0] + 1, 3)
            return self.seen, 0.0, False, False, {}

    env = Counting()
    rises = whence.envs.GymWorld.from_env(
        env, label=lambda s, a, t: "up" if t[0] > s[0] else None, steps=20
    )
    task = RewardMachine.from_arrows(["a -up/1-> b"])
    (played,) = rises.play(env, whence.plan(rises.mdp, task, 0.9), episodes=1, length=4, seed=0)
    assert [each.item() for each in played.observations] == [0, 1, 2, 3, 3]
    assert rises.demonstrations([played]).lengths.tolist() == [4]


def test_pairs_will_do_and_numpy_integers_too() -> None:
    world = GymWorld.from_env(TableEnv(corridor(4)), label=direction)
    demos = world.demonstrations([(np.array([0, 1, 2]), np.array([1, 1]))])
    assert demos.check(world.mdp).ok
    assert [world.mdp.label(s) for s in demos[0].states[1:]] == ["forth", "forth"]


def test_recordings_that_do_not_fit_are_refused_by_name() -> None:
    world = GymWorld.from_env(TableEnv(corridor(4)), label=direction)
    good = ([0, 1], [1])
    cases: list[tuple[Any, str]] = [
        (([0, 9], [1]), "recording 1, observation 1: state 9 is not in 0 to 3"),
        (([0, 1], [2]), "recording 1, step 0: action 2 is not in 0 to 1"),
        (([0, 1.0], [1]), "recording 1, observation 1: state 1.0 is not in"),
        (([0, 1, 2, 3], [1]), "recording 1: 4 observations for 1 actions"),
        (([2, 3, 2], [1, 0]), "recording 1, step 0: action 1 of state 2 leads to state 3, where"),
        (([3, 2], [0]), "recording 1: it begins in state 3, where episodes are over"),
    ]
    for bad, message in cases:
        with pytest.raises(DemonstrationsError, match=message):
            world.demonstrations([good, bad])
    jump = world.demonstrations([([0, 2], [1])])
    assert not jump.check(world.mdp).ok
    with pytest.raises(DemonstrationsError, match="which it never does with that label"):
        world.demonstrations([([2, 2], [0])])


def test_a_machine_is_inferred_from_what_was_recorded() -> None:
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    world = GymWorld.from_env(env, label={3: "corner", 15: "goal"})
    task = RewardMachine.from_arrows(["a -corner-> b", "b -goal/1-> c", "a -goal-> c"])
    expert = whence.Expert(alpha=50, discount=0.95)
    played = world.play(
        env, whence.expert_policy(world.mdp, task, expert), episodes=40, length=40, seed=0
    )
    demos = world.demonstrations(played)
    run = whence.infer(world.mdp, demos, states=2, expert=expert, method="exhaustive")
    assert run.best.same_in(task, world.mdp)


BLOCKED = """
import sys
sys.modules["gymnasium"] = None
import whence
from whence import LabeledMDP
for ask in (
    lambda: whence.envs.RewardMachineEnv,
    lambda: whence.envs.LabeledMDPEnv,
    lambda: whence.envs.GymWorld,
    lambda: LabeledMDP.from_gymnasium(None, label={}),
):
    try:
        ask()
    except whence.WhenceError as error:
        print(type(error).__name__, error)
try:
    from whence.envs import Recorder
except whence.WhenceError as error:
    print(type(error).__name__, error)
"""


def test_without_gymnasium_the_line_that_installs_it_is_printed() -> None:
    result = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == 5
    for line, what in zip(
        lines,
        ["RewardMachineEnv", "LabeledMDPEnv", "GymWorld", "from_gymnasium", "Recorder"],
        strict=True,
    ):
        assert line.startswith(MissingExtraError.__name__)
        assert what in line
        assert line.endswith("install it with: pip install 'whence[gym]'")
    assert issubclass(MissingExtraError, WhenceError)


def test_every_name_of_envs_is_there() -> None:
    for name in whence.envs.__all__:
        assert getattr(whence.envs, name).__name__ == name
    assert dir(whence.envs) == sorted(whence.envs.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = whence.envs.nonsense


class KeyEnv(gymnasium.Env[Any, Any]):
    """A corridor 0 to 4 with a key in 1; the goal, 4, ends the episode of who has the key."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Discrete(5)
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.s, self.key = 2, False
        return self.s, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.s = min(max(self.s + (1 if action else -1), 0), 4)
        self.key |= self.s == 1
        return self.s, 0.0, self.s == 4 and self.key, False, {}


def test_an_environment_whose_task_ends_episodes_fits_its_world() -> None:
    label = {1: "key", 4: "goal"}
    ways = [[1, 1, 0, 0, 0, 1, 1, 1], [0, 1, 1, 1]]
    recorder = whence.envs.Recorder(KeyEnv())
    for actions in ways:
        recorder.reset(seed=0)
        for action in actions:
            recorder.step(action)
    world = whence.envs.GymWorld.from_env(KeyEnv(), label=label, steps=400, seed=0, endings="task")
    assert world.mdp.n_states == 5
    demos = world.demonstrations(recorder.recordings)
    assert [e.ended for e in demos] == [True, True]
    assert demos[0].states == [2, 3, 4, 3, 2, 1, 2, 3, 4]
    assert demos.check(world.mdp).ok
    raw = [(r.observations, r.actions) for r in recorder.recordings]
    assert whence.Demonstrations.from_episodes(raw).check(world.mdp).ok
    assert world.demonstrations(raw).ended is None
    back = world.recordings(demos.subset([0])), world.recordings(world.demonstrations(raw))
    assert [r.terminated for rs in back for r in rs] == [True, None, None]
    assert world.demonstrations(world.recordings(demos)) == demos
    ending = whence.envs.GymWorld.from_env(KeyEnv(), label=label, steps=400, seed=0)
    assert ending.mdp.n_states == 7
    with pytest.raises(ArgumentError, match="endings is 'env'; known are world, task"):
        whence.envs.GymWorld.from_env(KeyEnv(), label=label, steps=9, endings="env")


def test_a_goal_that_always_ends_episodes_leads_on_to_nothing() -> None:
    world = whence.envs.GymWorld.from_env(
        TableEnv(corridor(3), hide=True), label={2: "goal"}, steps=100, endings="task"
    )
    assert world.mdp.state_name(3) == "end"
    assert world.mdp.row(2, 0)[0].tolist() == [3]
    assert world.mdp.label(3) is None
