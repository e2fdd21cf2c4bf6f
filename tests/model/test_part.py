"""Parts of worlds."""

from __future__ import annotations

import numpy as np

from support.problems import random_machine, random_world
from whence import LabeledMDP
from whence.model.part import nearest, part_of
from whence.planning.evaluation import horizon_optimum


def _line(states: int, labels: dict[int, str], initial: int) -> LabeledMDP:
    here = np.arange(states)
    rows = [
        np.stack([here, np.full(states, a), np.clip(here + by, 0, states - 1), np.ones(states)], 1)
        for a, by in enumerate((-1, 1))
    ]
    named = [labels.get(state) for state in range(states)]
    return LabeledMDP.from_triples(
        np.concatenate(rows), states=states, actions=2, labels=named, initial=initial
    )


def test_the_nearest_states_lie_around_labels_and_starts() -> None:
    mdp = _line(1000, {500: "a", 700: "b"}, 300)
    assert nearest(mdp, 9).tolist() == [299, 300, 301, 499, 500, 501, 699, 700, 701]
    assert nearest(mdp, 2).tolist() == [300, 301] or nearest(mdp, 2).tolist() == [299, 300]
    assert len(nearest(mdp, 5000)) == 1000


def test_one_way_streets_count_both_ways() -> None:
    rows = [[s, 0, min(s + 1, 9), 1.0] for s in range(10)]
    labels = [None] * 5 + ["a"] + [None] * 4
    mdp = LabeledMDP.from_triples(rows, states=10, actions=1, labels=labels, initial=4)
    assert nearest(mdp, 4).tolist() == [3, 4, 5, 6]


def test_a_part_is_the_world_until_it_is_left() -> None:
    rng = np.random.default_rng(0)
    mdp = random_world(rng, states=30, actions=3, symbols=2, successors=2, blank=0.5)
    kept = np.flatnonzero(rng.random(30) < 0.6)
    part = part_of(mdp, kept)
    assert part.n_states == len(kept) + 1
    assert part.labels.tolist() == [*mdp.labels[kept].tolist(), -1]
    for new, old in enumerate(kept.tolist()):
        for action in range(3):
            after, chance = mdp.row(old, action)
            own = dict(zip(*(each.tolist() for each in mdp.row(old, action)), strict=True))
            found: dict[int, float] = {}
            for state, p in zip(*(each.tolist() for each in part.row(new, action)), strict=True):
                where = int(kept[state]) if state < len(kept) else -1
                found[where] = found.get(where, 0.0) + p
            gone = sum(p for state, p in own.items() if state not in kept)
            assert abs(found.pop(-1, 0.0) - gone) < 1e-12
            assert found == {state: p for state, p in own.items() if state in kept}
            assert len(after) == len(chance)
    stays = part.row(len(kept), 1)
    assert stays[0].tolist() == [len(kept)]
    assert stays[1].tolist() == [1.0]


def test_what_can_be_earned_in_a_few_steps_needs_no_more_than_what_is_in_reach() -> None:
    mdp = _line(2001, {1003: "a", 990: "b"}, 1000)
    machine = random_machine(np.random.default_rng(1), mdp.alphabet, 2, np.array([1.0, 2.0]))
    whole = part_of(mdp, np.arange(2001))
    assert horizon_optimum(mdp, machine, 40) == horizon_optimum(whole, machine, 40) > 0
