from __future__ import annotations

import math

import numpy as np
import pytest

import whence
from support.problems import random_machine, random_world
from whence.errors import ArgumentError
from whence.planning import simulation
from whence.planning.simulation import simulate_policy


def test_the_same_seed_gives_the_same_demonstrations() -> None:
    world = whence.worlds.coffee()
    runs = [
        whence.simulate(world.mdp, world.task, world.expert, episodes=5, length=30, seed=seed)
        for seed in (3, 3, 4)
    ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


@pytest.mark.parametrize("seed", range(10))
def test_simulated_episodes_fit_their_world(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=10, actions=3, symbols=2, successors=4)
    machine = random_machine(rng, mdp.alphabet, 3)
    demos = whence.simulate(
        mdp, machine, whence.Expert(3, 0.9, 0.2), episodes=20, length=15, seed=seed
    )
    assert demos.check(mdp).ok
    assert demos.lengths.tolist() == [15] * 20
    assert set(demos.states[demos.state_offsets[:-1]]) <= set(mdp.initial_states)


def test_action_and_successor_frequencies_match_their_probabilities() -> None:
    rng = np.random.default_rng(0)
    mdp = random_world(rng, states=4, actions=3, symbols=2, successors=3)
    policy = whence.expert_policy(mdp, random_machine(rng, mdp.alphabet, 2), whence.Expert(1, 0.8))
    states, actions = simulate_policy(mdp, policy, 40_000, 1, np.random.default_rng(1))
    for state in mdp.initial_states.tolist():
        here = states[:, 0] == state
        for action in range(3):
            p = float(policy.probabilities[0, state, action])
            error = math.sqrt(p * (1 - p) / here.sum())
            assert abs((actions[here, 0] == action).mean() - p) < 4.5 * error
            taken = here & (actions[:, 0] == action)
            for following, q in zip(*mdp.row(state, action), strict=True):
                error = math.sqrt(q * (1 - q) / taken.sum())
                assert abs((states[taken, 1] == following).mean() - q) <= 4.5 * error


def test_an_optimal_expert_takes_only_best_actions() -> None:
    world = whence.worlds.recharge()
    expert = whence.Expert(math.inf, 0.92)
    policy = whence.plan(world.mdp, world.task, 0.92)
    demos = whence.simulate(world.mdp, world.task, expert, episodes=50, length=25, seed=0)
    for episode in demos:
        memory = 0
        for i, action in enumerate(episode.actions):
            assert policy.probabilities[memory, episode.states[i], action] > 0
            memory, _ = world.task.step(memory, world.mdp.label(episode.states[i + 1]))


@pytest.mark.parametrize("seed", range(8))
def test_few_long_episodes_make_the_same_choices(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=10, actions=3, symbols=2, successors=1 + 4 * (seed % 2))
    policy = whence.expert_policy(
        mdp, random_machine(rng, mdp.alphabet, 3), whence.Expert(2, 0.9, 0.1)
    )
    together = simulate_policy(mdp, policy, 3, 200, np.random.default_rng(seed))
    monkeypatch.setattr(simulation, "LONG", 0)
    monkeypatch.setattr(simulation, "BLOCK", 50)
    each = simulate_policy(mdp, policy, 3, 200, np.random.default_rng(seed))
    assert np.array_equal(together[0], each[0])
    assert np.array_equal(together[1], each[1])


def test_no_episodes_and_no_steps_are_allowed() -> None:
    world = whence.worlds.coffee()
    assert (
        len(whence.simulate(world.mdp, world.task, world.expert, episodes=0, length=5, seed=0))
        == 0
    )
    empty = whence.simulate(world.mdp, world.task, world.expert, episodes=2, length=0, seed=0)
    assert empty.n_steps == 0
    assert empty[1].states == [46]


@pytest.mark.parametrize(
    ("change", "message"),
    [({"episodes": -1}, "episodes is -1"), ({"length": 2.5}, "length"), ({"seed": -3}, "seed")],
)
def test_bad_sizes_are_refused(change: dict[str, int], message: str) -> None:
    world = whence.worlds.coffee()
    with pytest.raises(ArgumentError, match=message):
        whence.simulate(
            world.mdp,
            world.task,
            world.expert,
            **({"episodes": 1, "length": 1, "seed": 0} | change),
        )
