"""The finder finds tasks that chains alone do not, and its parts do what they say."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import whence
from support.problems import random_machine, random_world
from whence import Expert, Posterior, RewardMachine
from whence._arrays import Ints
from whence.paper.growing import Growing, growing
from whence.paper.worlds import World
from whence.search.finding.climbing import Scorer
from whence.search.finding.finder import Finder
from whence.search.finding.goals import SHARPNESS, find_goals
from whence.search.finding.padding import padded
from whence.search.finding.reducing import reduced
from whence.search.finding.structures import anneal, worth_of
from whence.search.finding.words import WORDS, candidates
from whence.search.machines import Machines
from whence.search.problem import Problem
from whence.search.target import Target
from whence.search.unknowns import Experts, unknowns

SPARE = 5.0  # nats that arrows which hardly matter may cost; the chains see to those
SMALL = {
    "sequence": Growing("sequence", 5, 4, 10, 0.0, seed=1),
    "either, avoiding": Growing("either", 5, 5, 10, 0.1, avoid=True, seed=1),
    "chains": Growing("chains", 7, 5, 10, 0.0, seed=2),
    "patrol": Growing("patrol", 4, 4, 10, 0.1, seed=3),
    "choice": Growing("choice", 5, 4, 10, 0.0, seed=4),
}


@cache
def _world(asked: Growing) -> World:
    return growing(asked)


def _target(asked: Growing, states: range | None = None, known: bool = True) -> Target:
    world = _world(asked)
    demos = world.demonstrations(0)
    posterior = Posterior(world.mdp, demos, expert=world.expert, rewards=world.rewards)
    who = unknowns(world.expert if known else None, None, None, world.expert.discount)
    n = world.task.n_states
    return Problem((posterior,), who, states or range(n, n + 1), {}).target()


def _truth(asked: Growing, target: Target) -> Machines:
    task = _world(asked).task.over(target.posteriors[0].alphabet).canonical()
    paid = np.searchsorted(target.space.levels, task.rewards)
    return Machines(task.transitions[None].copy(), paid[None], np.array([task.n_states]))


@pytest.mark.parametrize(
    ("name", "known"),
    [*((name, True) for name in SMALL), ("sequence", False)],
)
def test_tasks_of_four_to_seven_states_are_found(name: str, known: bool) -> None:
    target = _target(SMALL[name], known=known)
    finder = Finder(target)
    rng = np.random.default_rng(0)
    found = finder.init()
    while not found.over:
        found = finder.step(rng, found)
    world = _world(SMALL[name])
    expert = Experts(np.array([world.expert.alpha]), np.zeros(1), np.zeros(1, dtype=np.int64))
    scorer = Scorer(finder.target)
    truth = scorer.climbed(scorer.at_one(_truth(SMALL[name], target), expert))
    best = scorer.climbed(scorer.at_one(found.beam.rows(np.array([0])).machines, expert))
    assert best.score[0] >= truth.score[0] - SPARE
    assert found.scored > 0
    assert (np.diff(found.beam.score) <= 0).all()


def test_the_same_randomness_finds_the_same() -> None:
    target = _target(SMALL["sequence"])
    scores = []
    for _ in range(2):
        finder, rng = Finder(target), np.random.default_rng(5)
        found = finder.init()
        for _ in range(8):
            found = finder.step(rng, found)
        scores.append(found.beam.score.tolist())
    assert scores[0] == scores[1]


def test_gains_are_log_likelihoods_of_heading_for_a_goal() -> None:
    """Where no label was read yet, a goal is a machine of two states that pays it once."""
    rng = np.random.default_rng(3)
    mdp = random_world(rng, states=12, actions=3, symbols=3, successors=2, blank=0.7)
    task = random_machine(rng, mdp.alphabet, 2)
    demos = whence.simulate(mdp, task, Expert(5.0, 0.9), episodes=30, length=6, seed=1)
    posterior = Posterior(mdp, demos, expert=Expert(1.0, 0.9))
    goals = find_goals(posterior, 0.9)
    first = posterior.evidence[0]
    steps = first.subtree_steps[0] - sum(
        first.subtree_steps[h] for h in range(1, first.n_histories) if first.parent[h] == 0
    )
    assert steps > 10
    rows = np.flatnonzero(goals.symbol < 0)
    for number, labels in enumerate(goals.sets[:-1]):
        transitions = np.tile(np.arange(2)[:, None], (1, 3))
        rewards = np.zeros((2, 3))
        transitions[0, list(labels)] = 1
        rewards[0, list(labels)] = 1.0
        machine = RewardMachine(mdp.alphabet, transitions, rewards)
        for place, sharpness in enumerate(SHARPNESS[:3]):
            expected = _at_root(mdp, demos, machine, Expert(sharpness, 0.9)) + steps * math.log(3)
            gain = goals.gain[rows, number * len(SHARPNESS) + place].sum()
            assert gain == pytest.approx(expected, abs=1e-2)
    assert (goals.gain[:, -1] == 0).all()


def _at_root(
    mdp: whence.LabeledMDP, demos: whence.Demonstrations, machine: RewardMachine, expert: Expert
) -> float:
    """Return the log likelihood of all steps before which no label was read."""
    posterior = Posterior(mdp, demos, expert=expert)
    values, offsets = posterior.log_likelihood_by_step(machine)
    total = 0.0
    for number, episode in enumerate(demos):
        for place in range(len(episode.actions)):
            if any(mdp.labels[s] >= 0 for s in episode.states[1 : place + 1]):
                break
            total += values[offsets[number] + place]
    return total


def test_annealing_knows_what_its_structures_are_worth() -> None:
    target = _target(SMALL["choice"])
    goals = find_goals(target.posteriors[0], target.posteriors[0].expert.discount)
    rng = np.random.default_rng(0)
    start = rng.integers(0, 4, (4, len(target.posteriors[0].alphabet)))
    before = worth_of(goals, start, 0.6)
    found = anneal(rng, goals, start, 6_000, 0.6)
    again = worth_of(goals, found.transitions, 0.6)
    assert found.worth == pytest.approx(again.worth, abs=1e-6)
    assert found.goals == again.goals
    assert found.worth > before.worth + 100


def _random_tables(rng: np.random.Generator, n: int, m: int, levels: int) -> tuple[Ints, Ints]:
    while True:
        paid = np.where(rng.random((n, m)) < 0.7, 0, rng.integers(0, levels, (n, m)))
        tables = rng.integers(0, n, (n, m)), paid
        if (paid != 0).any():
            return tables


def test_machines_are_reduced_as_one_by_one() -> None:
    rng = np.random.default_rng(1)
    made = [_random_tables(rng, int(rng.integers(1, 7)), 2, 2) for _ in range(400)]
    machines, origin = reduced(made, 0, 6)
    labels = ("a", "b")
    singly = [
        RewardMachine(labels, targets, paid.astype(float)).minimised() for targets, paid in made
    ]
    for row, source in enumerate(origin.tolist()):
        n = int(machines.n_states[row])
        assert singly[source].n_states == n
        assert (singly[source].transitions == machines.transitions[row, :n]).all()
        assert (singly[source].rewards == machines.paid[row, :n]).all()
    paying = {(m.transitions.tobytes(), m.rewards.tobytes()) for m in singly if m.rewards.any()}
    assert len(origin) == len(paying)


def _machine(*arrows: str) -> RewardMachine:
    return RewardMachine.from_arrows(list(arrows), alphabet=("a", "b", "c", "d"))


SAID = {
    "then b": (_machine("0 -a/1-> 2"), _machine("0 -a-> 1", "1 -b/1-> 2")),
    "both, in either order": (
        _machine("0 -a/1-> 3"),
        _machine("0 -a-> 1", "0 -b-> 2", "1 -b/1-> 3", "2 -a/1-> 3"),
    ),
    "never d": (_machine("0 -a/1-> 1"), _machine("0 -a/1-> 1", "0 -d-> 1")),
    "a or b": (_machine("0 -a/1-> 1"), _machine("0 -a/1-> 1", "0 -b/1-> 1")),
    "without b": (_machine("0 -a-> 1", "1 -b/1-> 2"), _machine("0 -b/1-> 2")),
    "again and again": (
        _machine("0 -a-> 1", "1 -b/1-> 2"),
        _machine("0 -a-> 1", "1 -b/1-> 0"),
    ),
    "only once": (_machine("0 -a-> 1", "1 -b/1-> 0"), _machine("0 -a-> 1", "1 -b/1-> 2")),
    "or c, then d": (
        _machine("0 -a/1-> 1"),
        _machine("0 -a/1-> 1", "0 -c-> 2", "2 -d/1-> 1"),
    ),
    "d undoes a": (
        _machine("0 -a-> 1", "1 -b/1-> 2"),
        _machine("0 -a-> 1", "1 -b/1-> 2", "1 -d-> 0"),
    ),
    "dry after c, until d": (
        _machine("0 -a/1-> 1"),
        _machine("0 -a/1-> 1", "0 -c-> 2", "2 -d-> 0", "2 -a-> 1"),
    ),
    "paid at the end": (
        _machine("0 -a/1-> 1", "1 -b-> 2"),
        _machine("0 -a-> 1", "1 -b/1-> 2"),
    ),
    "paid for neither a nor b": (
        _machine("0 -a/1-> 1", "0 -b/1-> 1", "1 -c/1-> 2"),
        _machine("0 -a-> 1", "0 -b-> 1", "1 -c/1-> 2"),
    ),
    "b as well": (
        _machine("0 -a/1-> 1"),
        _machine("0 -a/1-> 1", "0 -b/1-> 2", "1 -b/1-> 3", "2 -a/1-> 3"),
    ),
    "c and then d as well, each time": (
        _machine("0 -a/1-> 1"),
        _machine("0 -a/1-> 1", "0 -c-> 2", "2 -d/1-> 0", "2 -a/1-> 3", "1 -c-> 3", "3 -d/1-> 1"),
    ),
    "b as well, but never d": (
        _machine("0 -a/1-> 1", "0 -d-> 1"),
        _machine("0 -a/1-> 1", "0 -b/1-> 2", "1 -b/1-> 3", "2 -a/1-> 3", "0 -d-> 3", "2 -d-> 3"),
    ),
}


@pytest.mark.parametrize("said", SAID)
def test_one_word_makes_one_machine_of_another(said: str) -> None:
    given, wanted = SAID[said]
    tables = given.transitions, (given.rewards > 0).astype(np.int64)
    machines, _ = reduced(candidates(tables, 0, 2), 0, 8)
    labels = given.alphabet
    assert any(
        RewardMachine(
            labels, machines.transitions[row, :n], machines.paid[row, :n].astype(float)
        ).same_as(wanted)
        for row, n in enumerate(machines.n_states.tolist())
    )


def test_words_leave_the_states_of_a_machine_where_they_are() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        tables = _random_tables(rng, 4, 3, 3)
        for word in WORDS:
            for targets, paid in word(tables, 0, 3):
                assert targets.shape == paid.shape
                assert targets.min() >= 0
                assert targets.max() < len(targets)
        before = [table.copy() for table in tables]
        candidates(tables, 0, 3)
        assert all((old == new).all() for old, new in zip(before, tables, strict=True))


def test_a_padded_machine_pays_the_same() -> None:
    target = _target(SMALL["sequence"], range(7, 8))
    labels = target.posteriors[0].alphabet
    rng = np.random.default_rng(2)
    for _ in range(20):
        task = random_machine(rng, labels, 3)
        small = RewardMachine(labels, task.transitions, (task.rewards > 0.5).astype(float))
        small = small.minimised()
        if not small.rewards.any():
            continue
        n = small.n_states
        tables = np.tile(np.arange(7)[:, None], (1, len(labels))), np.zeros((7, len(labels)), int)
        tables[0][:n], tables[1][:n] = small.transitions, small.rewards
        found = padded(Machines(tables[0][None], tables[1][None], np.array([n])), target.space)
        assert found is not None
        assert found.n_states[0] == 7
        assert target.space.valid(found)[0]
        grown = RewardMachine(labels, found.transitions[0], found.paid[0].astype(float))
        assert grown.same_as(small)
