from __future__ import annotations

import numpy as np
import pytest

import whence
from support.problems import random_world
from whence import LabeledMDP
from whence.analysis.language import Language, language


def _possible(mdp: LabeledMDP, length: int) -> set[tuple[int, ...]]:
    """All label sequences up to a length, by plain search over (state, sequence)."""
    found: set[tuple[int, ...]] = set()
    seen: set[tuple[int, tuple[int, ...]]] = set()
    stack: list[tuple[int, tuple[int, ...]]] = [(int(s), ()) for s in mdp.initial_states]
    while stack:
        state, word = stack.pop()
        if (state, word) in seen:
            continue
        seen.add((state, word))
        found.add(word)
        for action in range(mdp.n_actions):
            for following in mdp.row(state, action)[0].tolist():
                label = int(mdp.labels[following])
                longer = word if label < 0 else (*word, label)
                if len(longer) <= length:
                    stack.append((following, longer))
    return found


def _read(automaton: Language, length: int) -> set[tuple[int, ...]]:
    found: set[tuple[int, ...]] = set()
    stack: list[tuple[tuple[int, ...], int]] = [((), automaton.start)]
    while stack:
        word, nodes = stack.pop()
        found.add(word)
        if len(word) < length:
            stack += [((*word, s), n) for s, n in automaton.after(nodes).items()]
    return found


@pytest.mark.parametrize("seed", range(40))
def test_the_automaton_reads_what_the_world_can_produce(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=7, actions=1, symbols=3, successors=2, blank=0.5)
    automaton = language([mdp], mdp.alphabet)
    assert _read(automaton, 4) == _possible(mdp, 4)
    for word in automaton.words(rng, 20, 4):
        assert tuple(word[word >= 0].tolist()) in _possible(mdp, 4)


def test_the_office_produces_every_sequence() -> None:
    mdp = whence.worlds.coffee().mdp
    automaton = language([mdp], mdp.alphabet)
    assert automaton.n_nodes == 1
    assert automaton.after(automaton.start) == {0: 1, 1: 1, 2: 1}


def test_a_silent_world_produces_nothing() -> None:
    mdp = LabeledMDP.from_dense([[[0.5, 0.5]], [[1.0, 0.0]]], labels=[None, None])
    automaton = language([mdp], mdp.alphabet)
    assert automaton.after(automaton.start) == {}
    assert (automaton.words(np.random.default_rng(0), 3, 5) == -1).all()
