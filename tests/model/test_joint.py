from __future__ import annotations

import numpy as np
import pytest

import whence
from support.draws import draws_of
from support.problems import random_machine, random_world
from whence import LabeledMDP, RewardMachine
from whence.analysis.sample import PosteriorSample
from whence.errors import ArgumentError
from whence.model.joint import joint_machine
from whence.planning.evaluation import expected_return


def _sample(
    mdp: LabeledMDP, machines: list[RewardMachine], weight: list[float]
) -> PosteriorSample:
    return PosteriorSample.from_draws(
        mdp, draws_of(machines, weight=weight, exact=True), machines[0].alphabet
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_joint_machine_pays_the_weighted_mean(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=8, actions=2, symbols=2, successors=3)
    machines = [random_machine(rng, mdp.alphabet, 3) for _ in range(3)]
    sample = _sample(mdp, machines, [0.5, 0.3, 0.2])
    joint = joint_machine(sample, 1.0)
    for _ in range(10):
        word = [str(s) for s in rng.choice(mdp.alphabet, size=6)]
        expected = sum(weight * np.array(machine.run(word).rewards) for machine, weight in sample)
        np.testing.assert_allclose(joint.run(word).rewards, expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_no_policy_for_one_machine_beats_the_plan_over_all(seed: int) -> None:
    """Discounted values add up over machines, so the plan's is the largest weighted mean."""
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=6, actions=3, symbols=2, successors=2)
    machines = [random_machine(rng, mdp.alphabet, 2) for _ in range(3)]
    sample = _sample(mdp, machines, [0.4, 0.35, 0.25]).top(3)
    everything = whence.plan(mdp, joint_machine(sample, 1.0), 0.8)

    def worth(policy: whence.Policy) -> float:
        steps = range(1, 60)
        total = 0.0
        for machine, weight in sample:
            earned = [0.0, *(expected_return(mdp, policy, machine, t) for t in steps)]
            total += weight * float(np.diff(earned) @ 0.8 ** np.arange(59))
        return total

    best = worth(everything)
    for machine in sample.machines:
        assert worth(whence.plan(mdp, machine, 0.8)) <= best + 1e-4


def test_a_plan_over_the_coffee_posterior_fetches_coffee_first() -> None:
    """Whoever doubts whether coffee is asked for loses little by fetching one."""
    world = whence.worlds.coffee(start=(2, 1))
    office = RewardMachine.from_arrows(
        ["before -o/1-> over", "before -*-> over"], alphabet=("c", "o", "*")
    )
    sample = _sample(world.mdp, [world.task, office], [0.5, 0.5])
    policy = whence.plan(world.mdp, sample, discount=0.92)
    result = whence.evaluate(world.mdp, policy, truth=world.task, length=100)
    assert result.expected_return > 0.8
    assert abs(result.regret) < 0.05
    other = whence.evaluate(world.mdp, policy, truth=office, length=100)
    assert other.regret < 0.05


def test_one_machine_that_holds_the_mass_is_planned_for_alone() -> None:
    world = whence.worlds.coffee()
    other = RewardMachine(world.task.alphabet, [[0, 0, 0]], [[1, 0, 0]])
    sample = _sample(world.mdp, [world.task, other], [0.96, 0.04])
    assert joint_machine(sample) == world.task.minimised()
    alone = whence.plan(world.mdp, world.task.minimised(), 0.92)
    together = whence.plan(world.mdp, sample, 0.92)
    assert (alone.probabilities == together.probabilities).all()


def test_a_world_of_some_symbols_reads_these() -> None:
    small = LabeledMDP.from_dense([[[0, 1]], [[0, 1]]], labels=[None, "o"])
    task = whence.worlds.coffee().task
    sample = _sample(whence.worlds.coffee().mdp, [task], [1.0])
    assert whence.plan(small, sample, 0.9).machine.alphabet == ("o",)


def test_what_grows_too_large_or_is_not_known_is_refused() -> None:
    world = whence.worlds.coffee()
    rng = np.random.default_rng(0)
    machines = [random_machine(rng, world.task.alphabet, 3) for _ in range(8)]
    sample = _sample(world.mdp, machines, [1 / 8] * 8)
    with pytest.raises(ArgumentError, match=r"more than 50 joint states.*lower `share`"):
        joint_machine(sample, 1.0, most=50)
    with pytest.raises(ArgumentError, match="do not know 't'"):
        whence.plan(whence.worlds.recharge().mdp, sample, 0.9)
