from __future__ import annotations

import numpy as np
import pytest

import whence
from support.draws import draws_of
from support.problems import random_machine, random_world
from whence import Expert, Posterior, RewardMachine
from whence.analysis.certainty import arrow_certainty
from whence.analysis.sample import PosteriorSample
from whence.errors import MachineError

USUAL = whence.worlds.coffee(start=(2, 1))
OFFICE = RewardMachine.from_arrows(
    ["before -o/1-> over", "before -*-> over"], alphabet=("c", "o", "*")
)


def test_every_change_is_scored_one_by_one_the_same() -> None:
    rng = np.random.default_rng(5)
    mdp = random_world(rng, states=6, actions=3, symbols=2, successors=2)
    levels = (0.0, 1.0, 2.0)
    machine = next(
        m for _ in range(99) if (m := random_machine(rng, mdp.alphabet, 2, np.array(levels[1:]))
                                 ).is_valid
    )  # fmt: skip
    expert = Expert(3, 0.8)
    demos = whence.simulate(mdp, machine, expert, episodes=30, length=20, seed=0)
    posterior = Posterior(mdp, demos, expert=expert, rewards=levels, tolerance=1e-6)

    def score(changed: RewardMachine) -> tuple[float, float]:
        tables = changed.transitions[None], changed.rewards[None]
        return float(posterior.score(*tables)[0]), float(posterior.log_likelihood(*tables)[0])

    own = score(machine)
    found = arrow_certainty(posterior, machine)
    assert len(found) == 4
    for arrow in found:
        column = machine.index(arrow.symbol)
        losses: dict[tuple[int, float], float] = {}
        likely = []
        for target in range(2):
            for level in levels:
                if (target, level) == (arrow.target, arrow.reward):
                    continue
                transitions, rewards = machine.transitions.copy(), machine.rewards.copy()
                transitions[arrow.state, column] = target
                rewards[arrow.state, column] = level
                changed = RewardMachine(machine.alphabet, transitions, rewards)
                after = score(changed)
                likely.append(own[1] - after[1])
                if changed.is_valid:
                    losses[target, level] = own[0] - after[0]
        assert arrow.likelihood_loss == pytest.approx(min(likely), abs=1e-5)
        assert arrow.loss == pytest.approx(min(losses.values()), abs=1e-5)
        assert arrow.other_target is not None
        assert arrow.other_reward is not None
        chosen = losses[arrow.other_target, arrow.other_reward]
        assert chosen == pytest.approx(arrow.loss, abs=1e-5)


def test_the_office_arrow_before_coffee_is_open_from_the_usual_start() -> None:
    posterior = Posterior(USUAL.mdp, USUAL.demonstrations(0), expert=USUAL.expert)
    found = {(a.state, a.symbol): a for a in arrow_certainty(posterior, USUAL.task)}
    assert not found[0, "o"].determined
    assert found[0, "o"].loss < 3
    assert found[0, "c"].determined
    assert found[1, "o"].determined


def test_an_arrow_that_an_open_sequence_ends_on_is_not_determined() -> None:
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=100, length=100, seed=0)
    posterior = Posterior(world.mdp, demos, expert=world.expert)
    alone = {(a.state, a.symbol): a for a in arrow_certainty(posterior, world.task)}
    draws = draws_of([world.task, OFFICE], exact=True)
    sample = PosteriorSample.from_draws(world.mdp, draws, world.task.alphabet)
    asked = {(a.state, a.symbol): a for a in arrow_certainty(posterior, world.task, sample)}
    assert alone[0, "c"].determined
    assert asked[0, "c"].determined
    assert not asked[0, "o"].determined
    assert {key for key in asked if asked[key].determined != alone[key].determined} <= {(0, "o")}


def test_what_an_open_arrow_leads_to_is_not_blamed_for_it() -> None:
    """Whether `o`, then coffee pays is open, because of what `o` does before: not what it pays."""
    world = whence.worlds.coffee()
    over = RewardMachine.from_arrows(
        ["before -c-> holding", "before -*-> over", "before -o-> over", "holding -o/1-> over",
         "holding -*-> over"],
        alphabet=world.task.alphabet,
    )  # fmt: skip
    posterior = Posterior(world.mdp, world.demonstrations(0), expert=world.expert)
    sample = PosteriorSample.from_draws(
        world.mdp, draws_of([world.task, over], exact=True), world.task.alphabet
    )
    asked = {(a.state, a.symbol): a for a in arrow_certainty(posterior, world.task, sample)}
    assert {key for key in asked if not asked[key].determined} == {(0, "o")}


def test_an_arrow_whose_every_change_is_invalid_loses_infinitely_much() -> None:
    """The only reward of a machine of one state and one symbol cannot go."""
    mdp = whence.LabeledMDP.from_dense([[[0, 1]], [[0, 1]]], labels=[None, "c"])
    demos = whence.Demonstrations.from_episodes([([0, 1], [0, 0])])
    posterior = Posterior(mdp, demos, expert=Expert(1, 0.5))
    (arrow,) = arrow_certainty(posterior, RewardMachine(("c",), [[0]], [[1]]))
    assert arrow.loss == np.inf
    assert (arrow.other_target, arrow.other_reward) == (None, None)
    assert arrow.likelihood_loss == 0
    assert arrow.determined


def test_a_reward_that_the_posterior_does_not_know_is_refused() -> None:
    posterior = Posterior(USUAL.mdp, USUAL.demonstrations(0), expert=USUAL.expert)
    odd = RewardMachine(("c", "o", "*"), [[0, 0, 0]], [[0, 0.5, 0]])
    with pytest.raises(MachineError, match=r"pays 0.5.*levels 0, 1"):
        arrow_certainty(posterior, odd)
