from __future__ import annotations

from collections import defaultdict
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import whence
from support.small_envs import TableEnv, corridor, newest
from whence import LabeledMDP, RewardMachine
from whence.envs import GymWorld
from whence.errors import (
    ArgumentError,
    DemonstrationsError,
    WhenceError,
    WhenceWarning,
    WorldError,
)
from whence.planning.evaluation import expected_return
from whence.planning.policies import Policy

CLIFF, TAXI = newest("CliffWalking"), newest("Taxi")
NAMES = ["FrozenLake-v1", "FrozenLake8x8-v1", CLIFF, TAXI]


def one_label(_: int) -> str:
    return "x"


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_the_tables_with_repeated_successors_added_up(name: str) -> None:
    env: Any = gymnasium.make(name)
    world = GymWorld.from_env(env, label=one_label, available="all")
    mdp, table = world.mdp, env.unwrapped.P
    assert mdp.n_actions == env.action_space.n
    for s in range(env.observation_space.n):
        if world.ended(s):
            continue
        for a in range(env.action_space.n):
            expected: dict[tuple[int, bool], float] = defaultdict(float)
            for p, s2, _, ended in table[s][a]:
                expected[int(s2), bool(ended)] += p
            found = {
                (world.observation(int(t)), world.ended(int(t))): p
                for t, p in zip(*mdp.row(s, a), strict=True)
            }
            assert found == pytest.approx(dict(expected))


@pytest.mark.parametrize("name", NAMES)
def test_episodes_start_where_the_environment_says(name: str) -> None:
    env: Any = gymnasium.make(name)
    mdp = LabeledMDP.from_gymnasium(env, label=one_label)
    expected = np.zeros(mdp.n_states)
    expected[: env.observation_space.n] = env.unwrapped.initial_state_distrib
    found = np.zeros(mdp.n_states)
    found[mdp.initial_states] = mdp.initial_probabilities
    np.testing.assert_allclose(found, expected)


def test_ended_episodes_read_their_last_label_once_and_then_nothing() -> None:
    env = gymnasium.make("FrozenLake-v1")
    mdp = LabeledMDP.from_gymnasium(env, label={15: "goal"})
    assert mdp.n_states == 17
    assert [mdp.label(s) for s in (14, 15, 16)] == [None, "goal", None]
    assert [mdp.row(15, a)[0].tolist() for a in range(4)] == [[16]] * 4
    assert [mdp.row(16, a)[0].tolist() for a in range(4)] == [[16]] * 4
    assert [mdp.row(5, a)[0].tolist() for a in range(4)] == [[5]] * 4  # a hole, blank
    assert mdp.state_name(16) == "end"


def test_without_labels_at_the_end_no_state_is_added() -> None:
    env = gymnasium.make("FrozenLake-v1")
    mdp = LabeledMDP.from_gymnasium(env, label={3: "corner"})
    assert mdp.n_states == 16
    assert mdp.names is None
    assert mdp.row(15, 0)[0].tolist() == [15]


def test_a_state_that_ends_some_episodes_and_not_others_is_split() -> None:
    through = [(0.5, 1, 0.0, True), (0.3, 1, 0.0, False), (0.2, 0, 0.0, False)]
    table = {0: {0: through}, 1: {0: [(1.0, 2, 0.0, False)]}, 2: {0: [(1.0, 2, 0.0, True)]}}
    world = GymWorld.from_env(TableEnv(table), label={1: "b", 2: "c"})
    mdp = world.mdp
    successors, chances = mdp.row(0, 0)
    alive, over = 1, 3
    assert successors.tolist() == [0, alive, over]
    assert chances.tolist() == pytest.approx([0.2, 0.3, 0.5])
    assert [mdp.label(s) for s in (alive, over)] == ["b", "b"]
    assert [world.ended(s) for s in (alive, over)] == [False, True]
    assert [world.observation(s) for s in (alive, over)] == [1, 1]
    assert mdp.row(alive, 0)[0].tolist() == [2]
    assert mdp.state_name(int(mdp.row(over, 0)[0][0])) == "end"


def test_a_terminal_row_that_forgets_its_flag_is_not_taken_for_a_way_on() -> None:
    table = {0: {0: [(1.0, 1, 0.0, True)]}, 1: {0: [(1.0, 1, 0.0, False)]}}
    world = GymWorld.from_env(TableEnv(table), label={1: "a"}, actions=["go"])
    assert world.ended(1)
    assert world.mdp.names == ("0", "1", "end")


def test_an_episode_can_start_in_a_state_that_ends_it() -> None:
    world = GymWorld.from_env(TableEnv(corridor(3), [0.5, 0.0, 0.5]), label={2: "goal"})
    assert not world.ended(2)
    again = world.mdp.row(2, 1)[0].tolist()
    assert [world.ended(s) for s in again] == [True]
    assert world.mdp.label(again[0]) == "goal"
    assert world.mdp.row(2, 0)[0].tolist() == [1]


def test_labels_of_steps_split_states_and_keep_their_dynamics() -> None:
    def label(state: int, action: int, following: int) -> str | None:
        return "forth" if following > state else None

    world = GymWorld.from_env(TableEnv(corridor(4)), label=label)
    mdp = world.mdp
    forth = int(mdp.row(0, 1)[0][0])
    back = int(mdp.row(int(mdp.row(forth, 1)[0][0]), 0)[0][0])
    assert (mdp.label(forth), mdp.label(back)) == ("forth", None)
    assert world.observation(forth) == world.observation(back) == 1
    assert back == 1
    for action in range(2):
        assert mdp.row(forth, action)[0].tolist() == mdp.row(back, action)[0].tolist()
    assert mdp.state_name(forth) == "1, forth read"


def test_sets_of_propositions_are_symbols() -> None:
    labels: dict[int, Any] = {0: set(), 1: {"b"}, 2: frozenset({"b", "a"}), 3: None}
    mdp = LabeledMDP.from_gymnasium(TableEnv(corridor(4)), label=lambda s: labels[s])
    assert mdp.alphabet == ("b", "a&b")
    assert [mdp.label(s) for s in range(4)] == [None, "b", "a&b", None]


def test_spaces_that_do_not_start_at_zero() -> None:
    env = TableEnv(corridor(4, start=7, action_start=3), start=7, action_start=3)
    world = GymWorld.from_env(env, label=lambda s: "goal" if s == 10 else None)
    assert world.mdp.actions == ("3", "4")
    assert world.mdp.names == ("7", "8", "9", "10", "end")
    assert world.state(np.int64(9)) == 2
    assert world.observation(2) == 9
    by_number = GymWorld.from_env(_numbered(corridor(4)), label={10: "goal"})
    assert by_number.mdp.labels.tolist() == world.mdp.labels.tolist()
    assert by_number.mdp.successors.tolist() == world.mdp.successors.tolist()


def _numbered(table: dict[int, Any]) -> TableEnv:
    """An environment whose observations start at 7 and whose table counts from 0."""
    env = TableEnv(table)
    env.observation_space = gymnasium.spaces.Discrete(4, start=7)
    return env


def test_one_action_and_states_never_reached() -> None:
    table = {s: {0: [(1.0, min(s + 1, 2), 0.0, False)]} for s in range(3)}
    table[3] = {0: [(1.0, 0, 0.0, False)]}
    mdp = LabeledMDP.from_gymnasium(TableEnv(table), label={2: "b"})
    assert (mdp.n_states, mdp.n_actions) == (4, 1)
    assert mdp.reachable().tolist() == [True, True, True, False]


@pytest.mark.filterwarnings("ignore:.*machines never read it there")
@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_returns_are_those_of_the_environment(seed: int) -> None:
    """The world's exact return equals one computed on the table itself, step by step."""
    n, a, steps = 4, 2, 4
    rng = np.random.default_rng(seed)
    table: dict[int, Any] = {}
    for s in range(n):
        table[s] = {}
        for act in range(a):
            p = rng.dirichlet(np.ones(3))
            table[s][act] = [
                (float(p[i]), int(rng.integers(n)), 0.0, bool(rng.random() < 0.3))
                for i in range(3)
            ]
    symbols = rng.integers(-1, 2, size=(n, a, n))

    def label(state: int, action: int, following: int) -> str | None:
        choices = None, "a", "b"
        return choices[int(symbols[state, action, following]) + 1]

    machine = RewardMachine(["a", "b"], rng.integers(3, size=(3, 2)), rng.normal(size=(3, 2)))
    env = TableEnv(table, rng.dirichlet(np.ones(n)))
    world = GymWorld.from_env(env, label=label, alphabet=("a", "b"))
    chances = rng.dirichlet(np.ones(a), size=(3, n))

    def value(state: int, memory: int, left: int) -> float:
        total = 0.0
        for act in range(a) if left else ():
            for p, following, _, ended in table[state][act]:
                after, paid = machine.step(memory, label(state, act, following))
                rest = 0.0 if ended else value(following, after, left - 1)
                total += chances[memory, state, act] * p * (paid + rest)
        return total

    expected = sum(p * value(s, 0, steps) for s, p in enumerate(env.initial_state_distrib))
    spread = np.full((3, world.mdp.n_states, a), 1 / a)
    for state in range(world.mdp.n_states):
        if not world.ended(state):
            spread[:, state] = chances[:, world.observation(state)]
    policy = Policy(machine, spread, 0.9)
    assert expected_return(world.mdp, policy, machine, steps) == pytest.approx(expected)


def refused(table: Any, match: str, **settings: Any) -> None:
    env = settings.pop("env", None) or TableEnv(table)
    with pytest.raises(WhenceError, match=match):
        LabeledMDP.from_gymnasium(env, **{"label": {0: "a"}, **settings})


def with_outcome(*outcome: Any) -> dict[int, Any]:
    table = corridor(3)
    table[1][0] = [outcome]
    return table


def test_tables_that_make_no_sense_are_refused_by_name() -> None:
    place = r"TableEnv: state 1, action 0: "
    refused(with_outcome(0.9, 0, 0, False), place + r"the probabilities sum to 0.9, not 1")
    refused(with_outcome(np.nan, 0, 0, False), place + r"the probability of next state 0 is nan")
    refused(with_outcome(-1.0, 0, 0, False), place + r"the probability of next state 0 is -1")
    refused(with_outcome(1.0, 3, 0, False), place + r"next state 3 is not in the observation")
    refused(with_outcome(1.0, 0), place + r"the outcomes are .*list \(probability, next state")
    short = corridor(3)
    del short[1][1]
    refused(short, r"TableEnv: state 1, action 1: env.unwrapped.P has no entry")
    gone = corridor(3)
    del gone[2]
    refused(gone, r"TableEnv: state 2: env.unwrapped.P has no entry", env=TableEnv(gone, n=3))


def test_starts_that_make_no_sense_are_refused() -> None:
    refused(corridor(3), "sum to 0.5", env=TableEnv(corridor(3), [0.5, 0, 0]))
    refused(corridor(3), r"shape \(2,\)", env=TableEnv(corridor(3), [0.5, 0.5]))
    env = TableEnv(corridor(3))
    del env.initial_state_distrib
    refused(None, "no initial_state_distrib; say where episodes start", env=env)
    mdp = LabeledMDP.from_gymnasium(env, label={1: "a"}, initial=[(1, 0.25), (0, 0.75)])
    assert mdp.initial_probabilities.tolist() == [0.75, 0.25]
    assert LabeledMDP.from_gymnasium(env, label={2: "a"}, initial=1).initial_states.tolist() == [1]
    with pytest.raises(WorldError, match=r"initial is \[0, 1\]; give an observation, or a list"):
        LabeledMDP.from_gymnasium(env, label={2: "a"}, initial=[0, 1])


def test_labels_that_make_no_sense_name_their_state() -> None:
    def raises(state: int) -> str:
        return "ab"[1 // (2 - state)]

    refused(corridor(4), r"label of state 2: the label function raised ZeroDivisionError",
            label=raises)  # fmt: skip
    refused(corridor(4), r"label of state 3: the label is 3\.5; give a symbol",
            label=lambda s: 3.5 if s == 3 else None)  # fmt: skip
    refused(corridor(4), r"label of state 0: the label is ''", label=lambda s: "")
    refused(corridor(4), r"label of state 0: the label is \{1\}", label=lambda s: {1})
    refused(corridor(4), r"label of state 2, action 1, next state 3: the label is 7",
            label=lambda s, a, t: 7 if t == 3 else None)  # fmt: skip
    refused(corridor(4), r"label of state 1: 'b' is not in the alphabet \(a\)",
            label={0: "a", 1: "b"}, alphabet=["a"])  # fmt: skip
    refused(corridor(4), "takes 2 arguments", label=lambda s, a: None)
    refused(corridor(4), "label is 5; give a function", label=5)
    refused(corridor(4), "wants `info`", label=lambda s, a, t, info: None)


def test_what_is_no_discrete_environment_is_refused() -> None:
    refused(None, "int is not a Gymnasium environment", env=3)
    refused(None, r"CartPole-v1: the state space is Box", env=gymnasium.make("CartPole-v1"),
            steps=10)  # fmt: skip
    refused(None, "CartPole-v1 has no transition table", env=gymnasium.make("CartPole-v1"))
    wrapped: Any = gymnasium.wrappers.TransformObservation(
        gymnasium.make("FrozenLake-v1"), lambda o: o + 1, gymnasium.spaces.Discrete(16, start=1)
    )
    refused(None, "a wrapper changed the observation_space", env=wrapped)
    refused(corridor(3), "2 actions; give one per action", actions=["only"])


def test_exploration_estimates_the_table() -> None:
    table = corridor(4)
    table[1][0] = [(0.7, 0, 0.0, False), (0.3, 3, 0.0, True)]
    exact = GymWorld.from_env(TableEnv(table, [0.5, 0.5, 0, 0]), label={3: "goal"})
    hidden = TableEnv(table, [0.5, 0.5, 0, 0], hide=True)
    world = GymWorld.from_env(hidden, label={3: "goal"}, steps=20_000, seed=5)
    assert world.coverage is not None
    assert world.coverage.complete
    assert world.mdp.successors.tolist() == exact.mdp.successors.tolist()
    np.testing.assert_allclose(world.mdp.probabilities, exact.mdp.probabilities, atol=0.03)
    np.testing.assert_allclose(
        world.mdp.initial_probabilities, exact.mdp.initial_probabilities, atol=0.03
    )
    again = GymWorld.from_env(hidden, label={3: "goal"}, steps=20_000, seed=5)
    assert again.mdp == world.mdp


def test_what_exploration_never_saw_is_refused_with_how_to_see_more() -> None:
    table = corridor(4)
    table[1][0] = [(1 - 1e-12, 0, 0.0, False), (1e-12, 1, 0.0, False)]
    hidden = TableEnv(table, [0.5, 0.5, 0, 0], hide=True)
    world = GymWorld.from_env(hidden, label={3: "goal"}, steps=2_000, seed=5)
    assert len(world.demonstrations([((1, 0), (0,))])) == 1
    with pytest.raises(DemonstrationsError) as caught:
        world.demonstrations([((1, 0), (0,)), ((1, 1, 1), (0, 0))])
    assert str(caught.value) == (
        "demonstrations, episode 1, step 0: action '0' never leads from state '1' to state '1', "
        "as far as 2,000 steps of exploring saw (1 more like this); explore with more, such as "
        "steps=20_000"
    )


def test_exploration_says_what_it_never_tried() -> None:
    hidden = TableEnv(corridor(8), hide=True)
    with pytest.warns(WhenceWarning, match=r"never tried: 1: \(3, 1\)"):
        world = GymWorld.from_env(hidden, label={1: "a"}, steps=9, seed=0)
    found = world.coverage
    assert found is not None
    assert not found.complete
    assert found.counts.sum() == 9
    state, action = found.never[0].tolist()
    lost = world.mdp.row(state, action)[0].tolist()
    assert [world.mdp.state_name(s) for s in lost] == ["unknown"]
    assert world.mdp.row(lost[0], 0)[0].tolist() == lost
    assert world.observation(lost[0]) is None


def test_exploration_needs_a_budget() -> None:
    hidden = TableEnv(corridor(4), hide=True)
    with pytest.raises(WorldError, match="steps=100_000, seed=0"):
        LabeledMDP.from_gymnasium(hidden, label={3: "goal"})
    with pytest.raises(ArgumentError, match="steps is 0"):
        LabeledMDP.from_gymnasium(hidden, label={3: "goal"}, steps=0)
    with pytest.raises(ArgumentError, match="seed is -1"):
        LabeledMDP.from_gymnasium(hidden, label={3: "goal"}, steps=5, seed=-1)


def test_exploration_of_observations_that_are_tuples() -> None:
    env = gymnasium.make("Blackjack-v1")
    world = GymWorld.from_env(
        env, label=lambda s, a, t: "bust" if t[0] > 21 else None, steps=30_000, seed=1
    )
    assert world.observation(world.state((20, 5, 1))) == (20, 5, 1)
    burst = [s for s in range(world.mdp.n_states) if world.mdp.label(s) == "bust"]
    assert burst
    assert all(world.ended(s) for s in burst)


@pytest.mark.filterwarnings("ignore::whence.WhenceWarning")
@pytest.mark.parametrize(
    "space",
    [
        gymnasium.spaces.MultiDiscrete([2, 3], start=[1, -1]),
        gymnasium.spaces.MultiBinary(3),
        gymnasium.spaces.Tuple(
            (gymnasium.spaces.Discrete(2, start=5), gymnasium.spaces.Discrete(3))
        ),
        gymnasium.spaces.Discrete(4, start=-2),
    ],
)
def test_numbers_of_members(space: Any) -> None:
    from whence.envs.outcomes import codes

    found = codes(space, "state", "env")
    members = [found.member(number) for number in range(found.n)]
    assert all(space.contains(np.asarray(m, space.dtype) if space.dtype else m) for m in members)
    assert [found.number(member) for member in members] == list(range(found.n))
    for junk in ("nonsense", None, 0.5, ((1, 2), 3), True if found.kind == "number" else 1):
        with pytest.raises(WorldError, match="is not in"):
            found.number(junk)


def test_worlds_can_be_used_like_any_other(tmp_path: Any) -> None:
    mdp = LabeledMDP.from_gymnasium(gymnasium.make(CLIFF), label={47: "g"})
    path = tmp_path / "world.json"
    mdp.save(path)
    assert LabeledMDP.load(path) == mdp
    reach = whence.RewardMachine.from_arrows(["a -g/1-> b"])
    result = whence.evaluate(mdp, whence.plan(mdp, reach, 0.9), truth=reach, length=13)
    assert result.expected_return == 1.0


def test_taxi_lacks_the_actions_that_its_masks_leave_out() -> None:
    env: Any = gymnasium.make(TAXI)
    world = GymWorld.from_env(env, label={475: "there"})
    for s in range(env.observation_space.n):
        if not world.ended(s):
            mask = env.unwrapped.action_mask(s).astype(bool).tolist()
            assert world.mdp.available[s].tolist() == mask
    assert world.mdp.is_masked
    assert world.mdp.available[[world.ended(s) for s in range(world.mdp.n_states)]].all()
    assert not LabeledMDP.from_gymnasium(env, label={475: "there"}, available="all").is_masked
    with pytest.raises(ArgumentError, match="available is 'some'; known are mask, all"):
        LabeledMDP.from_gymnasium(env, label={475: "there"}, available="some")


class MaskedEnv(TableEnv):
    """The corridor, which says in `info` that one cannot go left of its first cell."""

    mask: Any = None

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        state, _ = super().reset(seed=seed, options=options)
        return state, self._told()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert self.s > 0 or action == 1
        return *super().step(action)[:4], self._told()

    def _told(self) -> dict[str, Any]:
        own = np.array([int(self.s) > 0, 1], dtype=np.int8)
        return {"action_mask": own if self.mask is None else self.mask}


def test_exploration_takes_what_the_masks_allow() -> None:
    env = MaskedEnv(corridor(4), hide=True)
    world = GymWorld.from_env(env, label={3: "goal"}, steps=200, seed=0)
    assert world.mdp.available[:3].tolist() == [[False, True], [True, True], [True, True]]
    assert world.coverage is not None
    assert world.coverage.complete
    assert world.coverage.counts[0, 0] == 0
    assert "unknown" not in (world.mdp.names or ())


@pytest.mark.parametrize(
    ("mask", "message"), [([0, 0], "leaves no action"), ([1], "give 2 numbers")]
)
def test_a_mask_that_makes_no_sense_is_refused(mask: Any, message: str) -> None:
    env = MaskedEnv(corridor(4), hide=True)
    env.mask = mask
    with pytest.raises(WorldError, match=message):
        GymWorld.from_env(env, label={3: "goal"}, steps=20)


def test_a_mask_that_answers_for_no_state_is_refused() -> None:
    env = TableEnv(corridor(3))
    env.action_mask = lambda: np.ones(2, dtype=np.int8)  # type: ignore[attr-defined]
    with pytest.raises(WorldError, match=r"state 0: env.unwrapped.action_mask raised TypeError"):
        LabeledMDP.from_gymnasium(env, label={2: "a"})
    assert not LabeledMDP.from_gymnasium(env, label={2: "a"}, available="all").is_masked
