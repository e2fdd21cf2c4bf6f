from __future__ import annotations

import math

import numpy as np
import pytest

import whence
from support.problems import random_machine, random_world
from whence import Demonstrations, Expert, Posterior, RewardMachine
from whence._arrays import Floats, Ints
from whence.errors import ArgumentError, DemonstrationsError, MachineError
from whence.likelihood import reference

EXPERT = Expert(alpha=50, discount=0.92)


def _coffee(**settings: object) -> Posterior:
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=30, length=60, seed=0)
    return Posterior(world.mdp, demos, **({"expert": EXPERT} | settings))  # type: ignore[arg-type]


def _batch(seed: int, size: int, n: int = 3) -> tuple[Ints, Floats]:
    rng = np.random.default_rng(seed)
    machines = [random_machine(rng, ("c", "o", "*"), n, np.array([1.0])) for _ in range(size)]
    return np.array([m.transitions for m in machines]), np.array([m.rewards for m in machines])


def test_the_same_numbers_whatever_the_batch_the_order_and_the_threads() -> None:
    transitions, rewards = _batch(0, 60)
    together = _coffee(threads=2).log_likelihood(transitions, rewards)
    backward = _coffee(threads=1).log_likelihood(transitions[::-1], rewards[::-1])[::-1]
    alone = [
        _coffee(threads=1).log_likelihood(transitions[i : i + 1], rewards[i : i + 1])[0]
        for i in range(0, 60, 7)
    ]
    assert together.tobytes() == backward.tobytes()
    assert together[::7].tolist() == alone


def test_a_machine_is_solved_once_and_remembered_to_the_bit() -> None:
    posterior = _coffee()
    transitions, rewards = _batch(1, 20)
    first = posterior.log_likelihood(transitions, rewards)
    solves = posterior.stats.solves
    assert solves <= 20
    again = posterior.log_likelihood(transitions, rewards)
    assert again.tobytes() == first.tobytes()
    assert posterior.stats.solves == solves
    assert posterior.stats.hits >= 20
    assert posterior.stats.sweeps > 0
    assert posterior.stats.seconds > 0


def test_nothing_is_remembered_where_nothing_should_be_and_the_numbers_are_the_same() -> None:
    transitions, rewards = _batch(2, 60)
    alphas = np.tile([30.0, 50.0, math.inf], 20)
    kept, afresh = _coffee(), _coffee()
    usual = kept.log_likelihood(transitions, rewards, alpha=alphas)
    for _ in range(2):
        found = afresh.log_likelihood(transitions, rewards, alpha=alphas, remember=False)
        assert found.tobytes() == usual.tobytes()
    assert (afresh.stats.solves, afresh.stats.hits) == (120, 0)


def test_relabelled_copies_and_unreachable_states_are_the_same_machine() -> None:
    posterior = _coffee()
    task = whence.worlds.coffee().task
    turned = np.array([0, 2, 1])
    copy = turned[task.transitions[turned]], task.rewards[turned]
    transitions = np.array([task.transitions, copy[0]])
    rewards = np.array([task.rewards, copy[1]])
    values = posterior.log_likelihood(transitions, rewards)
    assert values[0] == values[1]
    assert posterior.stats.solves == 1
    assert posterior.stats.hits == 1


def test_many_alphas_and_lapses_in_one_batch() -> None:
    posterior = _coffee()
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=30, length=60, seed=0)
    alphas, lapses = np.array([0.0, 1.0, 30.0, 1000.0]), np.array([0.0, 0.3, 0.05, 1.0])
    tables = (
        np.repeat(world.task.transitions[None], 4, 0),
        np.repeat(world.task.rewards[None], 4, 0),
    )
    found = posterior.log_likelihood(*tables, alpha=alphas, lapse=lapses, tolerance=1e-6)
    for value, alpha, lapse in zip(found, alphas, lapses, strict=True):
        exact = reference.log_likelihood(
            world.mdp,
            demos,
            world.task.transitions,
            world.task.rewards,
            Expert(alpha, 0.92, lapse),
        )
        assert value == pytest.approx(exact, abs=1e-6)
    assert found[3] == pytest.approx(-demos.n_steps * math.log(4), rel=1e-12)


def test_a_machine_that_never_pays_makes_every_action_equally_likely() -> None:
    posterior = _coffee()
    nothing = posterior.log_likelihood(np.zeros((1, 2, 3), dtype=int), np.zeros((1, 2, 3)))
    assert nothing[0] == pytest.approx(-posterior.n_steps * math.log(4), rel=1e-12)
    assert posterior.stats.sweeps == 0


def test_histories_and_own_labels_reach_the_machine() -> None:
    rng = np.random.default_rng(3)
    mdp = random_world(rng, states=6, actions=2, symbols=2, successors=2)
    machine = random_machine(rng, mdp.alphabet, 3)
    steps = [(int(s), int(mdp.row(int(s), 0)[0][0])) for s in rng.integers(0, 6, size=8)]
    demos = Demonstrations.from_episodes(
        [
            whence.Episode([s, t], [0, 1], [None, "b"] if i % 2 else None, ("a", "b")[: i % 3])
            for i, (s, t) in enumerate(steps)
        ]
    )
    expert = Expert(5, 0.9)
    posterior = Posterior(mdp, demos, expert=expert, rewards=(-1, 0, 0.5, 1, 2))
    exact = reference.log_likelihood(mdp, demos, machine.transitions, machine.rewards, expert)
    assert posterior.finest(machine) == pytest.approx(exact, abs=1e-8)


def test_several_worlds_add_up_whatever_the_order_of_their_symbols() -> None:
    world = whence.worlds.coffee()
    other = whence.LabeledMDP.from_map("labels: o c\nstarts: S\nmap:\nS.c\n..o\n", source="small")
    small_task = RewardMachine.from_arrows(
        ["before -c-> holding", "holding -o/1-> over"], alphabet=("o", "c")
    )
    first = whence.simulate(world.mdp, world.task, world.expert, episodes=9, length=40, seed=0)
    second = whence.simulate(other, small_task, world.expert, episodes=9, length=9, seed=0)
    both = Posterior([(world.mdp, first), (other, second)], expert=EXPERT)
    assert both.alphabet == ("c", "o", "*")
    in_other = small_task.over(("o", "c"))
    expected = Posterior(world.mdp, first, expert=EXPERT).finest(world.task)
    expected += reference.log_likelihood(
        other, second, in_other.transitions, in_other.rewards, EXPERT
    )
    assert both.finest(world.task) == pytest.approx(expected, abs=1e-6)
    assert both.n_steps == first.n_steps + second.n_steps


def test_score_is_tempered_likelihood_plus_prior() -> None:
    posterior = _coffee(temperature=10.0)
    tables = _batch(4, 5)
    expected = posterior.log_likelihood(*tables) / 10 + posterior.log_prior(*tables)
    assert posterior.score(*tables).tolist() == expected.tolist()


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whence.likelihood.posterior, "REMEMBERED", 10)
    posterior = _coffee()
    transitions, rewards = _batch(5, 40)
    values = posterior.log_likelihood(transitions, rewards)
    assert len(posterior._remembered) <= 20
    assert posterior.log_likelihood(transitions, rewards).tobytes() == values.tobytes()


def test_a_world_without_labels_tells_nothing() -> None:
    mdp = whence.LabeledMDP.from_dense([[[0.5, 0.5]], [[1.0, 0.0]]], labels=[None, None])
    posterior = Posterior(mdp, Demonstrations.from_episodes([([0, 1], [0, 0])]), expert=EXPERT)
    assert posterior.log_likelihood(
        np.zeros((2, 1, 0), dtype=int), np.zeros((2, 1, 0))
    ).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.log_likelihood([[[0, 0, 0]]], [[0, 0, 0]]), r"one column for each of \(c, o"),
        (lambda p: p.log_likelihood([[[0, 0, 1]]], [[[0, 0, 0]]]), "machine 0, state 0, symbol"),
        (lambda p: p.log_likelihood([[[0, 0, 0]]], [[[0, math.nan, 0]]]), "symbol 'o'"),
        (lambda p: p.log_likelihood([[[0.5, 0, 0]]], [[[0, 0, 0]]]), "whole numbers"),
        (
            lambda p: p.log_likelihood(np.zeros((1, 0, 3), int), np.zeros((1, 0, 3))),
            "at least one",
        ),
    ],
)
def test_bad_tables_are_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(MachineError, match=message):
        call(_coffee())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.log_likelihood(*_batch(0, 3), alpha=[1, 2]), "give one number, or 3"),
        (lambda p: p.log_likelihood(*_batch(0, 2), alpha=-1), "alpha"),
        (lambda p: p.log_likelihood(*_batch(0, 2), lapse=2), "lapse"),
        (lambda p: p.log_likelihood(*_batch(0, 2), tolerance=0), "tolerance is 0"),
        (lambda p: _coffee(temperature=0), "temperature is 0"),
        (lambda p: _coffee(rewards=(1,)), "0 must be one"),
        (lambda p: Posterior(whence.worlds.coffee().mdp, expert=EXPERT), "no demonstrations"),
        (lambda p: Posterior([], expert=EXPERT), "list of such pairs"),
    ],
)
def test_bad_arguments_are_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ArgumentError, match=message):
        call(_coffee())


def test_demonstrations_must_fit_the_world() -> None:
    with pytest.raises(DemonstrationsError, match="900"):
        Posterior(
            whence.worlds.coffee().mdp, Demonstrations.from_episodes([([900], [0])]), expert=EXPERT
        )


def test_rewards_beyond_floating_point_are_refused() -> None:
    with pytest.raises(MachineError, match="too large at discount"):
        _coffee().log_likelihood([[[0, 0, 0]]], [[[1e308, -1e308, 0.0]]])
