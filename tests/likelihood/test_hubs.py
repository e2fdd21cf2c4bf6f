"""The ways between labels, and when they are taken."""

from __future__ import annotations

import numpy as np
import pytest

import whence
from support.conformance import deterministic_world, table_world, walks
from support.problems import random_world
from whence import Expert, Posterior
from whence.likelihood import engines
from whence.likelihood.compiled import CompiledEngine
from whence.likelihood.engines import engine_for
from whence.likelihood.evidence import compile_evidence
from whence.likelihood.hub_map import Limits, map_hubs
from whence.likelihood.hubs import HubEngine


def _ways(after: list[list[int]], labels: list[int]) -> dict[tuple[int, int], list[int]]:
    """Return the lengths of the edges from each row's state to each hub's."""
    mdp = table_world(np.array(after), np.array(labels), symbols=2)
    found = map_hubs(mdp, np.arange(mdp.n_states))
    assert found is not None
    result: dict[tuple[int, int], list[int]] = {}
    for row, state in enumerate(found.states.tolist()):
        for e in range(found.first[row], found.first[row + 1]):
            pair = state, int(found.states[found.hubs[e]])
            result.setdefault(pair, []).append(int(found.lengths[e]))
    return result


def test_ways_lead_through_blank_states_only() -> None:
    # 0 - 1 - 2 - 3 in a line, labels at 1 and 3; one moves right or left, and stays at the ends;
    # from 3 a label is inevitable, after one step or two
    after = [[1, 0], [2, 0], [3, 1], [3, 2]]
    ways = _ways(after, [-1, 0, -1, 1])
    assert ways == {
        (0, 1): [1], (1, 1): [2], (1, 3): [2], (2, 1): [1], (2, 3): [1], (3, 1): [2],
        (3, 3): [1, 2],
    }  # fmt: skip


def test_where_a_label_is_inevitable_the_longest_way_counts_too() -> None:
    # from 0 to the label at 3 straight, or by 1 and 2; no way stays among blanks
    ways = _ways([[3, 1], [2, 2], [3, 3], [3, 3]], [-1, -1, -1, 0])
    assert ways == {(3, 3): [1], (1, 3): [2], (2, 3): [1]}
    ways = _ways([[3, 1], [2, 2], [3, 3], [0, 0]], [-1, -1, -1, 0])
    assert ways[(0, 3)] == [1, 3]
    assert ways[(3, 3)] == [2, 4]


def test_one_can_walk_among_blanks_for_ever_only_where_they_have_a_cycle() -> None:
    mdp = table_world(np.array([[1, 1], [2, 1], [2, 2], [2, 2]]), np.array([-1, -1, 0, -1]), 1)
    found = map_hubs(mdp, np.arange(4))
    assert found is not None
    assert dict(zip(found.states.tolist(), found.forever.tolist(), strict=True)) == {
        2: False,
        1: True,
    }


def test_the_least_counted_work_chooses_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    world = whence.worlds.recharge().mdp
    evidence = compile_evidence(world, walks(np.random.default_rng(0), world))
    assert isinstance(engine_for(world, evidence, 0.9), HubEngine)
    monkeypatch.setattr(engines, "HUB_SWEEPS", 1000)
    assert isinstance(engine_for(world, evidence, 0.9), CompiledEngine)


def test_chance_is_left_to_sweeps() -> None:
    rng = np.random.default_rng(0)
    mdp = random_world(rng, states=20, actions=2, symbols=2, successors=3)
    evidence = compile_evidence(mdp, walks(rng, mdp))
    assert isinstance(engine_for(mdp, evidence, 0.9), CompiledEngine)


@pytest.mark.parametrize("limit", ["work", "edges", "steps"])
def test_a_map_beyond_a_limit_is_given_up(limit: str) -> None:
    world = whence.worlds.recharge().mdp
    every = {"work": 10**9, "hub_sweeps": 16, "edges": 10**9, "steps": 10**9}
    visited = np.arange(world.n_states)
    assert map_hubs(world, visited, Limits(**every)) is not None
    assert map_hubs(world, visited, Limits(**every | {limit: 1000})) is None


def test_another_discount_keeps_the_map() -> None:
    rng = np.random.default_rng(3)
    mdp = deterministic_world(rng)
    demos = walks(rng, mdp)
    posterior = Posterior(mdp, demos, expert=Expert(5.0, 0.5), threads=1)
    other = posterior.of_expert(Expert(5.0, 0.9))
    afresh = Posterior(mdp, demos, expert=Expert(5.0, 0.9), threads=1)
    m = len(mdp.alphabet)
    tables = np.zeros((1, 1, m), dtype=np.int64), np.ones((1, 1, m))
    assert other.log_likelihood(*tables)[0] == afresh.log_likelihood(*tables)[0]


@pytest.mark.parametrize("n", [1, 2, 4, 8, 16, 17, 33])
def test_machines_walked_as_one_count_what_each_counts_alone(n: int) -> None:
    mdp = whence.worlds.recharge().mdp
    rng = np.random.default_rng(n)
    evidence = compile_evidence(mdp, walks(rng, mdp))
    m = len(mdp.alphabet)
    transitions = rng.integers(n, size=(11, n, m))
    rewards = (rng.random((11, n, m)) < 0.2) * rng.choice([-1.0, 1.0], size=(11, n, m))
    transitions[::2, n // 2] = n // 2  # a state that is never left ...
    rewards[::2, n // 2] = 0.0  # ... and pays nothing
    hubs = map_hubs(mdp, evidence.visited)
    assert hubs is not None
    experts = np.arange(12), np.full(11, 20.0), np.full(11, 0.05), np.full(11, 1e-13)
    one_by_one = CompiledEngine(mdp, evidence, 0.9, 1)
    together = HubEngine(mdp, evidence, 0.9, 1, hubs)
    tables = one_by_one.canonical(transitions, rewards)
    expected = one_by_one.log_likelihood(tables, *experts)[0]
    found = together.log_likelihood(tables, *experts)[0]
    assert np.abs(found - expected).max() < 1e-10
    assert len(np.unique(expected)) > 5 or n == 1
