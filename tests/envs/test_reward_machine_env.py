from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import whence
from support.small_envs import TableEnv, corridor
from whence import RewardMachine
from whence.envs import GymWorld, LabeledMDPEnv, RewardMachineEnv
from whence.errors import ArgumentError, MachineError, WhenceError, WorldError
from whence.planning.evaluation import expected_return

LAKE = "FrozenLake-v1"
TASK = RewardMachine.from_arrows(
    ["before -corner-> seen", "seen -goal/2-> over", "before -goal-> over"],
    alphabet=("corner", "goal"),
)
WAYS = ("dict", "tuple", "one-hot")

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version"),
    pytest.mark.filterwarnings("ignore:.*A Box observation space m.* value is -?infinity"),
]


SPAWNED = partial(gymnasium.vector.AsyncVectorEnv, context="spawn")  # pytest has threads


def label(state: int) -> str | None:
    return {3: "corner", 15: "goal"}.get(int(state))


def paid(env: Any, way: str = "dict") -> Any:
    return RewardMachineEnv(env, TASK, label=label, observation=way, end_when_settled=True)


def lake(way: str = "dict", **settings: Any) -> Any:
    return paid(gymnasium.make(LAKE, is_slippery=False, **settings), way)


@pytest.mark.parametrize("way", WAYS)
def test_it_passes_the_checker(way: str) -> None:
    check_env(lake(way), skip_render_check=True)
    check_env(
        RewardMachineEnv(gymnasium.make("CartPole-v1"), TASK, label=_left, observation=way),
        skip_render_check=True,
    )
    world = whence.worlds.coffee()
    whole = RewardMachineEnv(LabeledMDPEnv(world.mdp), world.task, observation=way)
    check_env(whole, skip_render_check=True)


def _left(observation: Any) -> str | None:
    return "corner" if observation[0] < 0 else None


def test_worlds_pass_the_checker() -> None:
    check_env(LabeledMDPEnv(whence.worlds.coffee().mdp), skip_render_check=True)
    check_env(LabeledMDPEnv(whence.worlds.recharge().mdp, length=5), skip_render_check=True)


RIGHT, DOWN, LEFT = 2, 1, 0
TO_CORNER = [RIGHT] * 3
TO_GOAL = [LEFT, DOWN, DOWN, DOWN, RIGHT]


def test_the_machine_pays_and_the_environment_tells() -> None:
    env = lake("tuple")
    (state, memory), info = env.reset(seed=0)
    assert (state, memory, info["machine_state"]) == (0, 0, 0)
    rewards, own, read, memories = [], [], [], []
    for action in TO_CORNER + TO_GOAL:
        (state, memory), reward, terminated, _, info = env.step(action)
        rewards.append(reward)
        own.append(info["env_reward"])
        read.append(info["label"])
        memories.append(int(memory))
        assert info["machine_state"] == memory == env.machine_state
    assert state == 15
    assert terminated
    assert rewards == [0.0] * 7 + [2.0]
    assert own == [0] * 7 + [1]
    assert [symbol for symbol in read if symbol] == ["corner", "goal"]
    assert memories == [0, 0, 1, 1, 1, 1, 1, 2]
    env.reset()
    assert env.machine_state == 0


def test_the_first_observation_is_not_read() -> None:
    env = RewardMachineEnv(gymnasium.make(LAKE), TASK, label=lambda s: "corner")
    assert env.reset(seed=0)[1]["machine_state"] == 0
    assert env.step(0)[4]["machine_state"] == 1


def test_what_is_shown() -> None:
    shown = {way: lake(way).reset(seed=0)[0] for way in WAYS}
    assert shown["dict"] == {"observation": 0, "machine": 0}
    assert shown["tuple"] == (0, 0)
    assert shown["one-hot"].tolist() == [1.0] + [0.0] * 15 + [1.0, 0.0, 0.0]
    assert shown["one-hot"].dtype == np.float32


def test_episodes_end_early_only_where_asked_for() -> None:
    for settled, expected in ((True, True), (False, False)):
        env = RewardMachineEnv(
            TableEnv(corridor(4)),
            RewardMachine.from_arrows(["a -x/1-> b"]),
            label={1: "x"},
            end_when_settled=settled,
        )
        env.reset(seed=0)
        assert env.step(1)[1:3] == (1.0, expected)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [gymnasium.vector.SyncVectorEnv, SPAWNED])
def test_it_works_under_vector_environments(kind: Any, way: str) -> None:
    envs = kind([lambda: lake(way)] * 2)
    try:
        envs.reset(seed=[0, 1])
        total = np.zeros(2)
        for action in TO_CORNER + TO_GOAL:
            _, rewards, terminated, _, info = envs.step(np.array([action, LEFT]))
            total += rewards
    finally:
        envs.close()
    assert total.tolist() == [2.0, 0.0]
    assert terminated.tolist() == [True, False]
    assert info["env_reward"].tolist() == [1, 0]
    assert info["machine_state"].tolist() == [2, 0]


@pytest.mark.parametrize(("mode", "settings"), [("sync", {}), ("async", {"context": "spawn"})])
def test_it_works_with_make_vec(mode: str, settings: dict[str, Any]) -> None:
    wrap = partial(RewardMachineEnv, machine=TASK, label=label, observation="one-hot")
    envs = gymnasium.make_vec(
        LAKE, num_envs=3, vectorization_mode=mode, vector_kwargs=settings, wrappers=[wrap]
    )
    try:
        shown, _ = envs.reset(seed=0)
        assert shown.shape == (3, 19)
        assert envs.step(envs.action_space.sample())[1].shape == (3,)
    finally:
        envs.close()


def test_the_same_seed_gives_the_same_episode() -> None:
    def episode() -> list[Any]:
        env = paid(gymnasium.make(LAKE), "tuple")
        seen: list[Any] = [env.reset(seed=3)[0]]
        env.action_space.seed(3)
        for _ in range(20):
            step = env.step(env.action_space.sample())
            seen.append(step[:4])
            if step[2] or step[3]:
                break
        return seen

    assert episode() == episode()


def test_it_can_be_made_again_from_its_spec() -> None:
    spec = lake("tuple").spec
    again = gymnasium.make(spec)
    assert isinstance(again, RewardMachineEnv)
    assert again.machine == TASK
    assert again.end_when_settled


def test_labels_of_steps_and_of_info() -> None:
    read: list[Any] = []

    def of_step(state: Any, action: Any, following: Any) -> str | None:
        read.append((int(state), int(action), int(following)))
        return None

    env = RewardMachineEnv(TableEnv(corridor(4)), TASK, label=of_step)
    env.reset(seed=0)
    for action in (1, 0, 1):
        env.step(action)
    assert read == [(0, 1, 1), (1, 0, 0), (0, 1, 1)]
    env = RewardMachineEnv(
        TableEnv(corridor(4)),
        TASK,
        label=lambda s, a, t, info: {"goal"} if info["seen"] == 1 else set(),
    )
    env.reset(seed=0)
    assert env.step(1)[4]["label"] == "goal"
    assert env.step(0)[4]["label"] is None


def test_an_observation_that_the_environment_overwrites_is_remembered() -> None:
    class Overwriting(gymnasium.Env[Any, Any]):
        observation_space = gymnasium.spaces.MultiBinary(1)
        action_space = gymnasium.spaces.Discrete(2)
        seen = np.zeros(1, dtype=np.int8)

        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            self.seen[0] = 0
            return self.seen, {}

        def step(self, action: Any) -> Any:
            self.seen[0] = action
            return self.seen, 0.0, False, False, {}

    rises = RewardMachineEnv(
        Overwriting(), TASK, label=lambda s, a, t: "goal" if t[0] > s[0] else None
    )
    rises.reset()
    assert [rises.step(a)[4]["label"] for a in (1, 1, 0, 1)] == ["goal", None, None, "goal"]


def test_counterfactuals_are_what_every_machine_state_would_have_seen() -> None:
    env = lake()
    env.reset(seed=0)
    with pytest.raises(ArgumentError, match="no last step"):
        _ = env.counterfactuals
    env.step(RIGHT)
    states, rewards, terminated = env.counterfactuals
    assert (states.tolist(), rewards.tolist()) == ([0, 1, 2], [0.0, 0.0, 0.0])
    assert terminated.tolist() == [False, False, True]
    for action in (LEFT, DOWN, DOWN, RIGHT, DOWN, RIGHT, RIGHT):
        env.step(action)
    states, rewards, terminated = env.counterfactuals
    assert (states.tolist(), rewards.tolist()) == ([2, 2, 2], [0.0, 2.0, 0.0])
    assert terminated.tolist() == [True, True, True]


def test_bad_labels_name_the_culprit() -> None:
    cases: list[tuple[Any, type[WhenceError], str]] = [
        (lambda s: 1 / 0, WorldError, r"label of state 1: the label function raised ZeroDivision"),
        (lambda s: 4, WorldError, r"label of state 1: the label is 4"),
        (lambda s: "x", MachineError, r"label of state 1: symbol 'x' is not in the machine's"),
        (lambda s, a, t: "x", MachineError, r"label of state 0, action 1, next state 1: symbol"),
        (None, WorldError, r"no info\['label'\] on entering state 1; give label="),
    ]
    for function, kind, message in cases:
        env = RewardMachineEnv(TableEnv(corridor(4)), TASK, label=function)
        env.reset(seed=0)
        with pytest.raises(kind, match=message) as caught:
            env.step(1)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_bad_arguments() -> None:
    env = gymnasium.make(LAKE)
    with pytest.raises(ArgumentError, match="give a RewardMachine"):
        RewardMachineEnv(env, "machine", label=label)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="observation is 'flat'; known are dict, tuple, one-h"):
        RewardMachineEnv(env, TASK, label=label, observation="flat")
    with pytest.raises(ArgumentError, match="not a Gymnasium environment"):
        RewardMachineEnv(None, TASK, label=label)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="give a LabeledMDP"):
        LabeledMDPEnv(TASK)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="length is 0"):
        LabeledMDPEnv(whence.worlds.coffee().mdp, length=0)
    world = LabeledMDPEnv(whence.worlds.coffee().mdp)
    with pytest.raises(ArgumentError, match="call reset first"):
        world.step(0)
    with pytest.raises(ArgumentError, match="state 108 does not exist; use 0 to 107"):
        world.reset(options={"state": 108})
    assert world.reset(options={"state": np.int64(107)})[0] == 107
    with pytest.raises(ArgumentError, match="action 4 does not exist"):
        world.step(4)
    with pytest.raises(ArgumentError, match=r"action 1\.5 does not exist"):
        world.step(1.5)


def test_a_world_moves_as_its_probabilities_say() -> None:
    mdp = whence.worlds.coffee().mdp
    env = LabeledMDPEnv(mdp, length=3)
    start = int(mdp.initial_states[0])
    env.reset(seed=0)
    seen = np.zeros(mdp.n_states)
    n = 4_000
    for _ in range(n):
        assert env.reset()[0] == start
        seen[env.step(0)[0]] += 1
    successors, chances = mdp.row(start, 0)
    assert seen.sum() == seen[successors].sum() == n
    error = 5 * np.sqrt(chances * (1 - chances) / n)
    assert (np.abs(seen[successors] / n - chances) <= error).all()
    env.reset()
    assert [env.step(0)[3] for _ in range(3)] == [False, False, True]


@pytest.mark.slow
def test_returns_agree_with_exact_evaluation() -> None:
    """A policy of the world, played in the environment, earns what evaluation says."""
    env = gymnasium.make(LAKE, is_slippery=True)
    world = GymWorld.from_env(env, label=label)
    policy = whence.plan(world.mdp, TASK, discount=0.99)
    exact = expected_return(world.mdp, policy, TASK, 100)
    returns = []
    played = world.play(env, policy, episodes=600, length=100, seed=1)
    for recording in played:
        returns.append(sum(TASK.run(map(label, recording.observations[1:])).rewards))
    error = np.std(returns) / np.sqrt(len(returns))
    assert abs(np.mean(returns) - exact) <= 5 * error
    assert 0 < exact < 2


def test_a_world_tells_which_actions_a_state_has() -> None:
    mdp = whence.LabeledMDP.from_triples(
        [(0, 0, 1, 1.0), (0, 1, 0, 1.0), (1, 1, 0, 1.0)],
        states=2,
        actions=["on", "back"],
        labels=[None, "a"],
        unavailable=[(1, 0)],
    )
    machine = whence.RewardMachine(("a",), [[0]], [[1.0]])
    env = whence.envs.RewardMachineEnv(whence.envs.LabeledMDPEnv(mdp), machine)
    _, info = env.reset(seed=0)
    assert info["action_mask"].tolist() == [1, 1]
    _, reward, _, _, info = env.step(0)
    assert reward == 1.0
    assert info["action_mask"].tolist() == [0, 1]
    assert env.action_space.sample(info["action_mask"]) == 1
    with pytest.raises(ArgumentError, match="action 'on' is not available in state 1"):
        env.step(0)
    _, info = whence.envs.LabeledMDPEnv(whence.worlds.coffee().mdp).reset(seed=0)
    assert "action_mask" not in info
