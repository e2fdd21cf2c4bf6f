from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import whence
from support.conformance import deterministic_world, table_world
from support.problems import masked, random_world
from whence import LabeledMDP
from whence.analysis import language as language_module
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
@pytest.mark.parametrize("large", [False, True])
def test_the_automaton_reads_what_the_world_can_produce(
    seed: int, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_module, "STEP_BY_STEP", 0 if large else math.inf)
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=7, actions=1, symbols=3, successors=2, blank=0.5)
    automaton = language([mdp], mdp.alphabet)
    assert _read(automaton, 4) == _possible(mdp, 4)
    for word in automaton.words(rng, 20, 4):
        assert tuple(word[word >= 0].tolist()) in _possible(mdp, 4)


@pytest.mark.parametrize("seed", range(20))
def test_large_worlds_are_read_as_small_ones_are(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More labelled states than fit a word, one-way streets, actions that are not there."""
    rng = np.random.default_rng(seed)
    states = int(rng.integers(2, 400))
    lacking = masked(
        rng, random_world(rng, states=states, actions=3, symbols=3, successors=2, blank=0.7)
    )
    for mdp in (lacking, deterministic_world(rng), _line(300, 90, rng)):
        found = []
        for most in (math.inf, 0):
            monkeypatch.setattr(language_module, "STEP_BY_STEP", most)
            found.append(language([mdp], mdp.alphabet))
        for name in ("starts", "offsets", "symbols", "targets"):
            assert np.array_equal(*(getattr(each, name) for each in found))


def _line(states: int, labelled: int, rng: np.random.Generator) -> LabeledMDP:
    """Return a line on which one goes on, or back in some places."""
    here = np.arange(states)
    back = np.where(rng.random(states) < 0.9, np.maximum(here - 1, 0), here)
    after = np.column_stack([np.minimum(here + 1, states - 1), back])
    labels = np.full(states, -1)
    labels[rng.choice(states, labelled, replace=False)] = rng.integers(0, 2, labelled)
    return table_world(after, labels, 2)


def test_a_long_line_is_read_at_once() -> None:
    """Step by step, this would take 10^5 rounds over all transitions."""
    states = 10**5
    here = np.arange(states)
    after = np.column_stack([np.minimum(here + 1, states - 1), np.maximum(here - 1, 0)])
    rows = np.column_stack(
        [np.repeat(here, 2), np.tile([0, 1], states), after.reshape(-1), np.ones(2 * states)]
    )
    labels = np.full(states, -1)
    labels[[1_000, 50_000, 99_000]] = [0, 1, 0]
    mdp = LabeledMDP.from_triples(
        rows, states=states, actions=2, labels=labels, alphabet=["a", "b"]
    )
    automaton = language([mdp], mdp.alphabet)
    longer = {word for k in range(4) for word in itertools.product((0, 1), repeat=k)}
    assert _read(automaton, 4) == {()} | {(0, *word) for word in longer}


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
