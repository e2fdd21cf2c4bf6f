"""Worlds of four directions: how they are told, and that their values are those of any world."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import whence
from whence.likelihood import reference
from whence.likelihood.compass import compass
from whence.likelihood.compiled import CompiledEngine, swept_values
from whence.likelihood.evidence import compile_evidence
from whence.likelihood.layouts import layout
from whence.model.mdp import LabeledMDP
from whence.model.prior import Prior


def _changed(mdp: LabeledMDP, actions: list[int]) -> LabeledMDP:
    """Return the world with its actions in another order."""
    dense = np.zeros((mdp.n_states, mdp.n_actions, mdp.n_states))
    pairs = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offsets))
    dense.reshape(-1, mdp.n_states)[pairs, mdp.successors] = mdp.probabilities
    return LabeledMDP.from_dense(dense[:, actions], labels=mdp.labels, alphabet=mdp.alphabet)


def _world() -> LabeledMDP:
    return whence.worlds.coffee().mdp


@pytest.mark.parametrize("actions", [[0, 1, 2, 3], [2, 0, 1, 3], [3, 1, 0, 2]])
def test_directions_are_found_in_any_order(actions: list[int]) -> None:
    mdp = _changed(_world(), actions)
    found = compass(mdp)
    assert found is not None
    assert found.ahead + 2 * found.aside == pytest.approx(1, abs=1e-15)
    for place, action in enumerate(found.actions):
        for state in range(mdp.n_states):
            begin, end = mdp.offsets[4 * state + action : 4 * state + action + 2]
            share = mdp.probabilities[begin:end][
                mdp.successors[begin:end] == found.places[state, place]
            ]
            assert share.sum() >= found.ahead


def test_other_worlds_are_not_taken_for_them() -> None:
    mdp = _world()
    assert compass(mdp) is not None
    shares = mdp.probabilities.copy()
    entry = int(np.flatnonzero(np.diff(mdp.offsets) == 3)[5])
    first = int(mdp.offsets[entry])
    shares[first : first + 3] += [1e-9, -1e-9, 0]
    assert compass(dataclasses.replace(mdp, probabilities=shares)) is None
    assert compass(_changed(mdp, [0, 1, 2, 2])) is None
    assert compass(_changed(mdp, [0, 1, 2])) is None
    assert compass(whence.worlds.recharge().mdp) is None


@pytest.mark.parametrize("discount", [0.0, 0.92, 0.999])
@pytest.mark.parametrize("actions", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_values_are_those_of_the_general_sweep(discount: float, actions: list[int]) -> None:
    mdp = _changed(_world(), actions)
    rng = np.random.default_rng(3)
    tables = Prior().sample(rng, 4, len(mdp.alphabet), (-1.0, 0.0, 1.0), 30)
    given = tables[0].astype(np.int64), tables[1], np.full(30, 4)
    nothing = compile_evidence(mdp, whence.Demonstrations.from_episodes([]))
    world = layout(mdp)
    assert len(world.places) == 4 * mdp.n_states
    general = dataclasses.replace(world, places=world.places[:0])
    found = swept_values(mdp, given, discount, 1e-12)
    plain = CompiledEngine(mdp, nothing, discount, 1, general).values(given, 1e-12)
    rounding = 2 * 64 * 2.2e-16 / (1 - discount) ** 2  # both stop where changes are 64 units
    assert np.abs(found - plain).max() < 1e-11 + rounding
    assert np.abs(found).max() > 0


def test_log_likelihoods_are_those_of_the_readable_engine() -> None:
    world = whence.worlds.coffee()
    actions = [2, 0, 1, 3]
    mdp = _changed(world.mdp, actions)
    seen = world.demonstrations(seed=1)
    demos = dataclasses.replace(seen, actions=np.argsort(actions)[seen.actions].astype(np.int32))
    rng = np.random.default_rng(4)
    tables = Prior().sample(rng, 3, len(mdp.alphabet), (0.0, 1.0), 12)
    for expert in (whence.Expert(50, 0.92), whence.Expert(np.inf, 0.9, 0.1)):
        posterior = whence.Posterior(mdp, demos, expert=expert)
        found = posterior.log_likelihood(*tables, tolerance=1e-7)
        for i in range(12):
            exact = reference.log_likelihood(mdp, demos, tables[0][i], tables[1][i], expert)
            assert found[i] == pytest.approx(exact, abs=1e-6)
