from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import whence
from support.problems import random_world
from whence import Demonstrations, Episode, LabeledMDP
from whence.errors import DemonstrationsError
from whence.likelihood.evidence import Evidence, compile_evidence


def _by_hand(mdp: LabeledMDP, demos: Demonstrations) -> Counter[tuple[tuple[str, ...], int, int]]:
    """Count (history, state, action) by stepping through every episode."""
    counts: Counter[tuple[tuple[str, ...], int, int]] = Counter()
    for episode in demos:
        history = tuple(episode.history)
        for i, action in enumerate(episode.actions):
            if i > 0:
                own = episode.labels
                label = mdp.label(episode.states[i]) if own is None else own[i]
                history += () if label is None else (label,)
            counts[history, episode.states[i], action] += 1
    return counts


def _of(evidence: Evidence, mdp: LabeledMDP) -> Counter[tuple[tuple[str, ...], int, int]]:
    histories: list[tuple[str, ...]] = []
    counts: Counter[tuple[tuple[str, ...], int, int]] = Counter()
    for node in range(evidence.n_histories):
        above = histories[evidence.parent[node]] if node else ()
        histories.append(above + ((mdp.alphabet[evidence.symbol[node]],) if node else ()))
        for cell in range(evidence.first_cell[node], evidence.first_cell[node + 1]):
            place, action = divmod(int(evidence.cell_key[cell]), mdp.n_actions)
            state = int(evidence.visited[place])
            counts[histories[node], state, action] += int(evidence.cell_count[cell])
    assert len(set(histories)) == len(histories)
    return counts


def _random_demos(rng: np.random.Generator, mdp: LabeledMDP) -> Demonstrations:
    """Return ragged episodes that the world allows, some with labels and histories."""
    episodes = []
    symbols = [*mdp.alphabet, None]
    for _ in range(int(rng.integers(0, 12))):
        length = int(rng.integers(0, 9))
        states = [int(rng.integers(mdp.n_states))]
        actions = []
        for _ in range(length):
            actions.append(int(rng.integers(mdp.n_actions)))
            states.append(int(rng.choice(mdp.row(states[-1], actions[-1])[0])))
        kept = states if rng.random() < 0.5 else states[:length]
        own = [symbols[i] for i in rng.integers(len(symbols), size=len(kept))]
        before = [mdp.alphabet[i] for i in rng.integers(len(mdp.alphabet), size=rng.integers(3))]
        episodes.append(Episode(kept, actions, own if rng.random() < 0.3 else None, tuple(before)))
    return Demonstrations.from_episodes(episodes)


@pytest.mark.parametrize("seed", range(60))
def test_cells_are_what_stepping_through_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=7, actions=2, symbols=3, successors=3)
    demos = _random_demos(rng, mdp)
    evidence = compile_evidence(mdp, demos)
    expected = _by_hand(mdp, demos)
    assert _of(evidence, mdp) == expected
    assert evidence.n_cells == len(expected)
    assert evidence.n_steps == sum(expected.values()) == demos.n_steps


@pytest.mark.parametrize("seed", range(20))
def test_subtrees_hold_all_that_extend_a_history(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=7, actions=2, symbols=3, successors=3)
    evidence = compile_evidence(mdp, _random_demos(rng, mdp))
    own = [
        evidence.cell_count[evidence.first_cell[i] : evidence.first_cell[i + 1]].sum()
        for i in range(evidence.n_histories)
    ]
    for node in range(evidence.n_histories):
        below = {node}
        for other in range(node + 1, evidence.n_histories):
            if int(evidence.parent[other]) in below:
                below.add(other)
        assert below == set(range(node, int(evidence.subtree_end[node])))
        assert evidence.subtree_steps[node] == sum(own[other] for other in below)


def test_the_label_of_the_first_state_is_not_read() -> None:
    mdp = whence.worlds.coffee().mdp
    assert mdp.grid is not None
    on_coffee = mdp.grid.state(8, 2)
    evidence = compile_evidence(mdp, Demonstrations.from_episodes([([on_coffee], [0])]))
    assert evidence.n_histories == 1


def test_no_demonstrations_are_one_empty_history() -> None:
    mdp = whence.worlds.coffee().mdp
    evidence = compile_evidence(mdp, Demonstrations.from_episodes([]))
    assert (evidence.n_steps, evidence.n_histories, evidence.n_cells) == (0, 1, 0)
    assert "0 steps" in repr(evidence)


def test_repeated_episodes_cost_nothing_more() -> None:
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=20, length=50, seed=0)
    once = compile_evidence(world.mdp, demos)
    twice = compile_evidence(world.mdp, Demonstrations.from_episodes([*demos, *demos]))
    assert twice.n_cells == once.n_cells
    assert (twice.cell_count == 2 * once.cell_count).all()


def test_many_distinct_histories_grow_the_table() -> None:
    rng = np.random.default_rng(0)
    ring = LabeledMDP.from_dense(
        np.full((2, 1, 2), 0.5), labels=["a", "b"], alphabet=["a", "b"], actions=["go"]
    )
    states = rng.integers(0, 2, size=(40, 400))
    demos = Demonstrations.from_episodes([(row.tolist(), [0] * 399) for row in states])
    evidence = compile_evidence(ring, demos)
    assert evidence.n_histories > 10_000
    assert _of(evidence, ring) == _by_hand(ring, demos)


def test_demonstrations_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DemonstrationsError, match="state 900"):
        compile_evidence(whence.worlds.coffee().mdp, Demonstrations.from_episodes([([900], [0])]))


def test_one_state_and_one_action_are_one_cell_a_history() -> None:
    world = whence.LabeledMDP.from_dense([[[1.0]]], labels=["a"])
    demos = whence.Demonstrations.from_episodes([([0, 0, 0], [0, 0]), ([0, 0], [0])])
    found = compile_evidence(world, demos)
    assert found.n_steps == 3
    assert found.visited.tolist() == [0]
    assert found.first_cell.tolist() == [0, 1, 2]
    assert found.cell_key.tolist() == [0, 0]
    assert found.cell_count.tolist() == [2.0, 1.0]
    assert found.subtree_steps.tolist() == [3.0, 1.0]
    assert found.subtree_end.tolist() == [2, 2]


def test_no_steps_are_no_cells() -> None:
    world = whence.LabeledMDP.from_dense([[[1.0]]], labels=["a"])
    found = compile_evidence(world, whence.Demonstrations.from_episodes([([0], [])]))
    assert (found.n_steps, found.n_cells, found.n_histories) == (0, 0, 1)
    assert found.first_cell.tolist() == [0, 0]
    assert found.subtree_steps.tolist() == [0.0]
