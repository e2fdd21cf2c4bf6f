"""Facts about the comparison on episodes set aside."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import whence
from runs import small
from support import studies
from whence import Demonstrations, Episode, Expert, Posterior, Tempering
from whence.analysis import memoryless
from whence.errors import ArgumentError
from whence.runs.held_out import HeldOut, held_out, split


def compared() -> HeldOut:
    found = studies.grid().comparison
    assert found is not None
    return found


def test_a_fifth_is_set_aside_by_lot_and_the_same_every_time() -> None:
    _, _, demos = studies.grid_run()
    many = demos.subset(np.arange(50) % len(demos))
    (first,), (again,), (other,) = split([many], 0), split([many], 0), split([many], 1)
    assert len(first) == 10
    assert len(set(first.tolist())) == 10
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_episodes_without_steps_are_not_drawn() -> None:
    episodes = [Episode([0], []) for _ in range(20)] + [Episode([0, 0], [2]) for _ in range(5)]
    (chosen,) = split([Demonstrations.from_episodes(episodes)], 0)
    assert len(chosen) == 1
    assert chosen[0] >= 20


def test_of_worlds_with_few_episodes_each_at_least_one_is_set_aside() -> None:
    few = Demonstrations.from_episodes([([0, 0], [2])] * 2)
    chosen = split([few, few, few], 0)
    assert sum(len(each) for each in chosen) == 1


def test_too_few_episodes_are_refused_with_the_reason() -> None:
    few = Demonstrations.from_episodes([([0, 0], [2])] * 4)
    with pytest.raises(ArgumentError, match="4 episodes with steps; at least 5"):
        split([few], 0)


def test_the_figures_are_those_of_the_episodes_set_aside() -> None:
    run, mdp, demos = studies.grid_run()
    found = compared()
    aside = found.chosen[0]
    test, training = demos.subset(aside), demos.subset(np.setdiff1d(np.arange(len(demos)), aside))
    by_name = {each.method: each for each in found.predictions}
    assert (found.episodes, found.steps) == (len(test), test.n_steps)
    assert by_name["uniform"].per_step == pytest.approx(-math.log(4))
    table = np.log(memoryless.cloned(mdp, training))
    states = np.concatenate([e.states[: len(e.actions)] for e in test])
    assert by_name["cloning"].per_step == pytest.approx(table[states, test.actions].mean())
    posterior = Posterior(mdp, test, expert=found.run.expert, rewards=run.rewards)
    assert by_name["machine"].per_step == pytest.approx(
        posterior.finest(found.run.best) / test.n_steps
    )
    for each in found.predictions:
        assert each.behind == pytest.approx(by_name["machine"].per_step - each.per_step)


def test_errors_are_those_of_a_mean_over_episodes() -> None:
    run, mdp, demos = studies.grid_run()
    found = compared()
    test = demos.subset(found.chosen[0])
    posterior = Posterior(mdp, test, expert=found.run.expert, rewards=run.rewards)
    means = posterior.log_likelihood_by_episode(found.run.best) / test.lengths
    assert set(test.lengths.tolist()) == {12}
    wanted = means.std(ddof=1) / math.sqrt(len(means))
    assert wanted > 0
    assert found.predictions[0].error == pytest.approx(wanted)
    assert found.predictions[-1].error == pytest.approx(0.0, abs=1e-12)


def test_what_is_set_aside_does_not_touch_what_is_fitted() -> None:
    run, mdp, demos = studies.grid_run()
    found = compared()
    aside = set(found.chosen[0].tolist())
    blind = whence.simulate(
        mdp, studies.TASK, Expert(0.0, 0.9), episodes=len(demos), length=12, seed=5
    )
    turned = [blind[at] if at in aside else demos[at] for at in range(len(demos))]
    other = held_out(run, [(mdp, Demonstrations.from_episodes(turned))])
    assert other.run.best == found.run.best
    assert other.run.score == found.run.score
    assert other.predictions[0].per_step < found.predictions[0].per_step


def test_the_old_result_does_not_matter() -> None:
    run, mdp, demos = studies.grid_run()
    changed = replace(run, best=studies.TASK, score=0.0, draws=None, posterior=None)
    again = held_out(changed, [(mdp, demos)])
    assert again.run.score == compared().run.score
    assert again.predictions == compared().predictions


def test_several_worlds_are_compared_together() -> None:
    study = studies.two_worlds()
    found = held_out(study.run, study.worlds)
    assert [len(each) for each in found.chosen] == [1, 1]
    assert found.training_episodes == 8
    assert all(math.isfinite(each.per_step) for each in found.predictions)


def test_what_was_thought_before_is_thought_of_fewer_episodes_too() -> None:
    said = {"alpha_prior": (5, 0.5), "lapse_prior": (2, 30), "sizes_prior": (0.2, 0.8)}
    settings = Tempering(rungs=2, warm_up=5, pace=5, steps=10, finder=False)
    run = small.infer("tempering", states=(1, 2), settings=settings, **said)
    found = held_out(run, run.job.pairs).run.job
    assert found.unknowns == run.job.unknowns
    assert (found.prior, found.sizes) == (run.job.prior, run.job.sizes)
