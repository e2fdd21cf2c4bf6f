from __future__ import annotations

import numpy as np
import pytest

import whence
from support.problems import random_world
from whence import Demonstrations, Episode
from whence.errors import DemonstrationsError
from whence.model.checks import step_labels, step_states

COFFEE = whence.worlds.coffee().mdp


def test_each_kind_of_problem_is_named_with_its_place() -> None:
    demos = Demonstrations.from_episodes(
        [
            Episode([46, 46], [0]),
            Episode([500, 500], [0]),
            Episode([46], [9]),
            Episode([46, 0], [0]),
            Episode([46], [0], ["tea"]),
            Episode([46], [0], None, ("c", "tea")),
        ]
    )
    findings = demos.check(COFFEE)
    assert findings.total == 7
    assert not findings.ok
    texts = list(findings.problems)
    assert "episode 0, step 0: action 'up' never leads from state 46 to state 46" in texts[0]
    assert "episode 1, state 0: state 500 does not exist; the world has 108 states" in texts[1]
    assert "episode 1, state 1" in texts[2]
    assert "episode 2, step 0: action 9 of state 46: the world has 4 actions (0 to 3)" in texts[3]
    assert "episode 3, step 0: action 'up' never leads from state 46 to state 0" in texts[4]
    assert "episode 4, labels, entry 0: 'tea' is not in the world's alphabet" in texts[5]
    assert "episode 5, history, entry 1: 'tea'" in texts[6]
    with pytest.raises(DemonstrationsError, match=r"episode 0.*\(and 6 more problems\)"):
        findings.raise_any()


def test_many_problems_are_counted_and_the_first_ones_shown() -> None:
    demos = Demonstrations.from_episodes([Episode([500], [0])] * 100)
    findings = demos.check(COFFEE)
    assert findings.total == 100
    assert len(findings.problems) == 20


@pytest.mark.parametrize("seed", range(20))
def test_impossible_steps_are_found_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=6, actions=2, symbols=1, successors=3)
    episodes = []
    expected = 0
    for _ in range(10):
        length = int(rng.integers(0, 6))
        states = rng.integers(0, 6, size=length + int(rng.integers(0, 2))).tolist()
        actions = rng.integers(0, 2, size=length).tolist()
        episodes.append(Episode(states, actions))
        expected += sum(
            states[i + 1] not in mdp.row(states[i], actions[i])[0]
            for i in range(min(length, len(states) - 1))
        )
    assert Demonstrations.from_episodes(episodes).check(mdp).total == expected


def test_steps_find_their_states_in_ragged_episodes() -> None:
    demos = Demonstrations.from_episodes(
        [
            Episode([1, 2, 3], [0, 0]),
            Episode([4, 5], [0, 0]),
            Episode([], []),
            Episode([6, 7], [0]),
        ]
    )
    assert demos.states[step_states(demos)].tolist() == [1, 2, 4, 5, 6]


def test_symbols_that_no_episode_shows_may_be_strange_to_the_world() -> None:
    both = [Episode([46, 45], [3], [None, "c"]), Episode([46, 45], [3], [None, "tea"], ("tea",))]
    some = Demonstrations.from_episodes(both).subset([0])
    assert "tea" in some.alphabet
    assert some.check(COFFEE).ok
    assert step_labels(COFFEE, some).tolist() == [-1, COFFEE.alphabet.index("c")]
    assert some.to_table(COFFEE)["label"] == [None, "c"]


def test_nothing_is_wrong_with_nothing() -> None:
    assert Demonstrations.from_episodes([]).check(COFFEE).ok


def test_episodes_can_be_looked_at() -> None:
    demos = Demonstrations.from_episodes([([1, 2], [0]), ([3], [1])])
    assert demos[-1].states == [3]
    assert "2 episodes, 2 steps" in repr(demos)
    with pytest.raises(IndexError):
        demos[2]
    assert demos != "demos"
