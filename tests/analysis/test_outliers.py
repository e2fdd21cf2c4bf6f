from __future__ import annotations

import numpy as np
import pytest

import whence
from support.problems import random_machine, random_world
from whence import Demonstrations, Episode, Expert, Posterior, RewardMachine
from whence.analysis.outliers import outliers
from whence.likelihood import reference
from whence.likelihood.steps import machine_states, steps

COFFEE = whence.worlds.coffee()


def _demonstrations(rng: np.random.Generator, mdp: whence.LabeledMDP) -> Demonstrations:
    """Random walks of odd lengths, some with histories, own labels or a last state."""
    episodes = []
    for i in range(40):
        states, actions = [int(rng.integers(mdp.n_states))], []
        for _ in range(int(rng.integers(0, 9))):
            actions.append(int(rng.integers(mdp.n_actions)))
            following, chance = mdp.row(states[-1], actions[-1])
            states.append(int(rng.choice(following, p=chance)))
        kept = states if i % 2 or not actions else states[:-1]
        symbols: list[str | None] = [*mdp.alphabet, None]
        labels = [symbols[rng.integers(len(symbols))] for _ in kept] if i % 3 == 0 else None
        history = [mdp.alphabet[j] for j in rng.integers(0, len(mdp.alphabet), size=i % 4)]
        episodes.append(Episode(kept, actions, labels, history))
    return Demonstrations.from_episodes(episodes)


@pytest.mark.parametrize("seed", range(15))
def test_steps_are_those_of_the_readable_engine(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=6, actions=3, symbols=2, successors=2)
    machine = random_machine(rng, mdp.alphabet, 3)
    demos, expert = _demonstrations(rng, mdp), Expert(2.0, 0.8, 0.1)
    posterior = Posterior(mdp, demos, expert=expert)
    found = posterior.log_likelihood_by_episode(machine)
    tables = machine.transitions, machine.rewards
    for i, episode in enumerate(demos):
        alone = Demonstrations.from_episodes([episode])
        expected = reference.log_likelihood(mdp, alone, *tables, expert)
        assert found[i] == pytest.approx(expected, abs=1e-9)
    values, offsets = posterior.log_likelihood_by_step(machine)
    assert len(values) == demos.n_steps
    assert (offsets == demos.action_offsets).all()
    assert values.sum() == pytest.approx(posterior.finest(machine), abs=1e-7)


def test_one_long_episode_is_followed_to_its_end() -> None:
    demos = whence.simulate(
        COFFEE.mdp, COFFEE.task, Expert(0, 0.92), episodes=1, length=5000, seed=0
    )
    loop = RewardMachine(("c", "o", "*"), [[1, 2, 0], [2, 0, 1], [0, 1, 2]], np.ones((3, 3)))
    memory, expected = machine_states(COFFEE.mdp, demos, loop), [0]
    for state in demos.states[1:-1].tolist():
        expected.append(loop.step(expected[-1], COFFEE.mdp.label(state))[0])
    assert memory.tolist() == expected
    assert len(set(expected)) == 3


def test_several_worlds_come_one_after_the_other() -> None:
    other = whence.LabeledMDP.from_map("labels: o c\nstarts: S\nmap:\nS.c\n..o\n", source="small")
    small = RewardMachine.from_arrows(
        ["before -c-> holding", "holding -o/1-> over"], alphabet=("o", "c")
    )
    first = whence.simulate(COFFEE.mdp, COFFEE.task, COFFEE.expert, episodes=9, length=40, seed=0)
    second = whence.simulate(other, small, COFFEE.expert, episodes=4, length=7, seed=0)
    posterior = Posterior([(COFFEE.mdp, first), (other, second)], expert=COFFEE.expert)
    found = steps(posterior.worlds, COFFEE.task, posterior.expert)
    assert found.world.tolist() == [0] * 9 + [1] * 4
    assert found.number.tolist() == [*range(9), *range(4)]
    whole = posterior.log_likelihood_by_episode(COFFEE.task)
    alone = Posterior(COFFEE.mdp, first, expert=COFFEE.expert)
    assert whole[:9].tolist() == alone.log_likelihood_by_episode(COFFEE.task).tolist()
    assert whole.sum() == pytest.approx(posterior.finest(COFFEE.task), abs=1e-7)


def test_the_experts_own_episodes_are_not_odd() -> None:
    """Over episodes of the expert itself, gaps have mean 0 and the variance that is summed."""
    demos = whence.simulate(
        COFFEE.mdp, COFFEE.task, COFFEE.expert, episodes=2000, length=100, seed=3
    )
    posterior = Posterior(COFFEE.mdp, demos, expert=COFFEE.expert)
    found = outliers(posterior, COFFEE.task)
    gap = np.array([episode.log_likelihood - episode.expected for episode in found])
    each = steps(posterior.worlds, COFFEE.task, posterior.expert)
    variance = each.by_episode(each.variance).mean()
    assert len(gap) == 2000
    assert abs(gap.mean()) < 4 * np.sqrt(variance / 2000)
    assert gap.var() == pytest.approx(variance, rel=0.15)
    z = np.array([episode.z for episode in found])
    assert (np.diff(z) >= 0).all()
    assert abs(np.median(z)) < 0.5
    surprise = np.array([episode.surprise for episode in found])
    for nats in (1, 2, 3, 4):
        assert (surprise >= nats).mean() <= np.exp(-nats)


def test_a_stranger_among_the_episodes_comes_first() -> None:
    expert = Expert(300, 0.92)
    own = whence.simulate(COFFEE.mdp, COFFEE.task, expert, episodes=50, length=60, seed=0)
    thirsty = RewardMachine.from_arrows(["y0 -c/1-> y0", "y0 -*-> y1"], alphabet=("c", "o", "*"))
    stranger = whence.simulate(COFFEE.mdp, thirsty, expert, episodes=1, length=60, seed=9)
    episodes = list(own)
    episodes.insert(17, stranger[0])
    posterior = Posterior(COFFEE.mdp, Demonstrations.from_episodes(episodes), expert=expert)
    odd = outliers(posterior, COFFEE.task)
    assert odd[0].episode == 17
    assert odd[0].surprise > 10 > max(episode.surprise for episode in odd[1:])
    assert odd[0].steps == 60
    values, offsets = posterior.log_likelihood_by_step(COFFEE.task)
    assert odd[0].log_likelihood == pytest.approx(values[offsets[17] : offsets[18]].sum())


def test_extremes_are_numbers_too() -> None:
    nothing = RewardMachine(("c", "o", "*"), [[0] * 3], [[0] * 3])
    demos = whence.simulate(COFFEE.mdp, nothing, COFFEE.expert, episodes=3, length=20, seed=0)
    posterior = Posterior(COFFEE.mdp, demos, expert=COFFEE.expert)
    assert [episode.z for episode in outliers(posterior, nothing)] == [0, 0, 0]
    perfect = outliers(posterior, COFFEE.task, Expert(float("inf"), 0.92))
    assert perfect[0].z == -np.inf
    empty = Posterior(COFFEE.mdp, Demonstrations.from_episodes([]), expert=COFFEE.expert)
    assert outliers(empty, COFFEE.task) == ()
