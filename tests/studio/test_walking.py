"""Walks: steps, slips, ways."""

from __future__ import annotations

import numpy as np
import pytest

from support.house import HOUSE
from whence import LabeledMDP
from whence.errors import ArgumentError
from whence.studio import walking

SLIPPERY = LabeledMDP.from_map("slip: 0.4\nlabels: a\nstarts: 1,1\nmap:\n...\n...\n..a\n")
AROUND = LabeledMDP.from_map("labels: a b\nstarts: 0,0\nmap:\n...\n.a.\n..b\n")
CORRIDOR = LabeledMDP.from_map("labels: a b\nstarts: 0,0\nmap:\n.ab\n")


def test_a_walk_starts_where_the_world_does_and_reads_what_it_enters() -> None:
    walk = walking.begun(HOUSE, 0)
    assert walk.states == (0,)
    walk = walking.stepped(HOUSE, walking.stepped(HOUSE, walk, 0), 0)
    assert walk.states == (0, 1, 2)
    assert walking.symbols_read(HOUSE, walk) == ["tea", "bed"]
    episode = walking.as_episode(walk, ended=True, subject="ann")
    assert (episode.states, episode.actions, episode.ended) == ([0, 1, 2], [0, 0], True)


def test_steps_follow_the_world_s_probabilities() -> None:
    ends = [
        walking.stepped(SLIPPERY, walking.begun(SLIPPERY, s), 0).states[1] for s in range(4000)
    ]
    successors, chances = SLIPPERY.row(4, 0)
    for state, chance in zip(successors.tolist(), chances.tolist(), strict=True):
        error = np.sqrt(chance * (1 - chance) / len(ends))
        assert abs(ends.count(state) / len(ends) - chance) < 4 * error
    assert set(ends) == set(successors.tolist())


def test_who_takes_a_step_back_and_tries_again_slips_in_the_same_way() -> None:
    for seed in range(50):
        walk = walking.stepped(SLIPPERY, walking.begun(SLIPPERY, seed), 1)
        back = walking.undone(walk)
        assert back.states == walk.states[:1]
        assert back.revision == walk.revision + 1
        assert walking.stepped(SLIPPERY, back, 1).states == walk.states


def test_a_walk_without_steps_stays_and_is_no_demonstration() -> None:
    walk = walking.begun(HOUSE, 0, start=2, history=("tea",))
    assert walking.undone(walk) is walk
    assert walking.symbols_read(HOUSE, walk) == ["tea"]
    with pytest.raises(ArgumentError, match="no step to record"):
        walking.as_episode(walk)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda walk: walking.stepped(HOUSE, walk, 7), "action 7"),
        (lambda walk: walking.begun(HOUSE, 0, start=9), "state 9"),
        (lambda walk: walking.begun(HOUSE, 0, history=("rum",)), "'rum'"),
    ],
)
def test_what_the_world_does_not_have_is_refused(change: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        change(walking.begun(HOUSE, 0))  # type: ignore[operator]


def test_an_action_that_a_state_lacks_is_refused() -> None:
    closed = LabeledMDP.from_map("labels: a\nstarts: 0,0\nblocked: unavailable\nmap:\n.a\n")
    with pytest.raises(ArgumentError, match=r"\(0, 0\) does not have the action 'up'"):
        walking.stepped(closed, walking.begun(closed, 0), 0)


def way(mdp: LabeledMDP, start: int, target: int) -> list[int]:
    usual = walking.usual_successors(mdp)
    states = [start]
    while states[-1] != target and len(states) < 20:
        states.append(int(usual[states[-1], walking.toward(mdp, usual, states[-1], target)]))
    return states


def test_ways_are_shortest_and_lead_around_labels_where_they_can() -> None:
    assert len(way(AROUND, 0, 8)) == 5  # up and right; (1, 1) has a label, (2, 0) too
    assert not {4, 2} & set(way(AROUND, 0, 8))
    assert way(CORRIDOR, 0, 2) == [0, 1, 2]  # through a label where there is no other way
    with pytest.raises(ArgumentError, match="no way"):
        walking.toward(CORRIDOR, walking.usual_successors(CORRIDOR), 0, 0)


def test_the_usual_successor_is_the_likeliest() -> None:
    usual = walking.usual_successors(SLIPPERY)
    for state in range(SLIPPERY.n_states):
        for action in range(SLIPPERY.n_actions):
            successors, chances = SLIPPERY.row(state, action)
            assert chances[successors.tolist().index(usual[state, action])] == chances.max()
