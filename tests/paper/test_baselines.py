from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import whence
from whence import Demonstrations, Expert, LabeledMDP, Posterior
from whence.analysis import memoryless
from whence.likelihood import reference
from whence.paper import baselines

MAP = "labels: c o *\nstarts: S\nmap:\nS.c\n*.o\n"


def _small() -> tuple[whence.worlds.World, Demonstrations]:
    world = replace(whence.worlds.coffee(), mdp=LabeledMDP.from_map(MAP, source="map"))
    expert = Expert(10, 0.92)
    return world, whence.simulate(world.mdp, world.task, expert, episodes=9, length=8, seed=0)


def test_cloning_counts_actions_and_adds_one() -> None:
    mdp = LabeledMDP.from_dense(
        [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]], labels=["a", "b"]
    )
    demos = Demonstrations.from_episodes([([0, 1, 1], [0, 1]), ([0, 0], [1]), ([0], [1])])
    expected = [[(1 + 1) / (3 + 2), (2 + 1) / (3 + 2)], [1 / 3, 2 / 3]]
    assert memoryless.cloned(mdp, demos) == pytest.approx(np.array(expected))


def test_the_best_reward_per_label_beats_every_other() -> None:
    world, demos = _small()
    best = baselines.markovian(world, demos)
    posterior = Posterior(world.mdp, demos, expert=Expert(50, 0.92))
    scores = {}
    for paid in product((0.0, 1.0), repeat=3):
        if any(paid):
            table = np.zeros((1, 1, 3), dtype=int), np.array(paid).reshape(1, 1, 3)
            likelihood = reference.log_likelihood(
                world.mdp, demos, table[0][0], table[1][0], Expert(50, 0.92)
            )
            scores[paid] = likelihood + posterior.log_prior(*table)[0]
    assert len(scores) == 7
    assert tuple(best.rewards[0]) == max(scores, key=lambda paid: scores[paid])


def test_a_reward_per_state_that_only_heeds_labels_is_a_reward_per_label() -> None:
    world, demos = _small()
    own, steps = memoryless.every_state_its_own(world.mdp, demos)
    expert = Expert(50, 0.92)
    by_label = np.array([1.0, 0.0, 1.0])
    alone = Posterior(own, steps, expert=expert)
    together = Posterior(world.mdp, demos, expert=expert)
    by_state = np.append(by_label, 0.0)[world.mdp.labels]
    values = [
        posterior.log_likelihood(
            np.zeros((1, 1, len(paid)), dtype=int), paid.reshape(1, 1, -1), tolerance=1e-8
        )[0]
        for posterior, paid in ((alone, by_state), (together, by_label))
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-6)
    assert alone.evidence[0].n_histories == 1


def test_no_single_change_improves_the_reward_per_state() -> None:
    world, demos = _small()
    best = baselines.per_state(world, demos)
    assert best.any()
    own, steps = memoryless.every_state_its_own(world.mdp, demos)
    posterior = Posterior(own, steps, expert=Expert(50, 0.92))

    def score(paid: np.ndarray) -> float:
        table = np.zeros((1, 1, len(paid)), dtype=int)
        return float(posterior.score(table, paid.reshape(1, 1, -1))[0])

    top = score(best)
    label = np.append(baselines.markovian(world, demos).rewards[0], 0.0)[world.mdp.labels]
    assert top >= score(label)
    for state in range(world.mdp.n_states):
        other = best.copy()
        other[state] = 1 - other[state]
        assert not other.any() or score(other) <= top
