from __future__ import annotations

import numpy as np

import whence
from whence.model.canonical import valid
from whence.paper.nearby import changed, nearby
from whence.paper.triples import PAPER, Job


def test_every_valid_machine_with_so_many_changes_once() -> None:
    here = np.array([[0, 1], [0, 1]]), np.array([[0.0, 0.0], [0.0, 1.0]])
    flat = np.concatenate([table.ravel() for table in here])
    every = np.array(np.meshgrid(*[[0, 1]] * 8, indexing="ij")).reshape(8, -1).T
    kept = valid(every[:, :4].reshape(-1, 2, 2), every[:, 4:].reshape(-1, 2, 2).astype(float))
    for count in (1, 2):
        transitions, rewards = changed(here, (0.0, 1.0), count)
        rows = np.hstack([transitions.reshape(-1, 4), rewards.reshape(-1, 4)])
        expected = every[kept & ((every != flat).sum(axis=1) == count)]
        assert len(expected) > 3
        assert {tuple(row) for row in rows.astype(int).tolist()} == {
            tuple(row) for row in expected.tolist()
        }
        assert len(rows) == len(expected)


def test_the_surroundings_of_a_triple() -> None:
    seen = nearby(Job("coffee", 0, PAPER, steps=5))
    world = whence.worlds.coffee()
    run = whence.infer(
        world.mdp, world.demonstrations(0), states=3, expert=whence.Expert(50, 0.92), seed=0,
        method="annealing", settings=whence.Annealing.preset("coffee"), steps=5,
    )  # fmt: skip
    tables = run.best.transitions, run.best.rewards
    assert seen.ones == len(changed(tables, (0.0, 1.0), 1)[0])
    assert 0 < seen.better_ones < seen.ones < seen.twos
    assert 0 < seen.better_twos < seen.twos
    assert seen.changes == 18 / 12
    assert 1 <= seen.to_truth <= 18
