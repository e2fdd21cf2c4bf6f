"""Experts that subjects share, and groups by evidence: exact sums, and calibration."""

from __future__ import annotations

import numpy as np
import pytest

import whence
from runs import small
from runs.test_subjects import TASKS, watched
from whence import AlphaPrior, Demonstrations, Expert, LapsePrior, Posterior, RewardMachine
from whence.analysis import mixture
from whence.analysis.subjects import SHARED, expert_of, weighed
from whence.likelihood.integrating import Integrated
from whence.likelihood.subjects import Acts, Pooled, Shown, log_alphas, log_lapses, profile, shown
from whence.runs.groups import named
from whence.runs.listed import padded


@pytest.mark.parametrize("kind", ["boltzmann", "soft"])
@pytest.mark.parametrize(("alpha", "lapse"), [
    (AlphaPrior(5, 1), LapsePrior(1, 19)), (AlphaPrior(5, 1), 0.1), (8.0, LapsePrior(1, 19)),
])  # fmt: skip
@pytest.mark.parametrize("tasks", [[0, 0, 0, 0], [0, 1, 0, 1]])
def test_an_expert_that_all_share_is_summed_over_where_it_matters(
    tasks: list[int], alpha: AlphaPrior | float, lapse: LapsePrior | float, kind: str
) -> None:
    mdp, demos = small.world(), watched(tasks, [8.0] * 4)
    who, prior = [np.repeat(np.arange(4), 6)], np.log([0.3, 0.1])
    tables = [np.stack(each) for each in zip(*(padded(m, 2) for m in TASKS), strict=True)]
    posterior = Posterior(mdp, demos, expert=Expert(1, 0.9, kind=kind))
    exact = Integrated([posterior], alpha, lapse).log_likelihood(*tables, tolerance=1e-5)
    found = weighed([(mdp, demos)], TASKS, prior, [0.9], alpha, lapse, who, SHARED, kind=kind)
    one_group = np.logaddexp.reduce(exact + prior)
    assert found.parted(1).log_evidence == pytest.approx(one_group, abs=0.02)


def test_intervals_of_an_expert_that_all_share_are_those_of_a_fine_grid() -> None:
    mdp, alphas = small.world(), AlphaPrior()
    demos, who = watched([0] * 4, [8.0] * 4), [np.repeat(np.arange(4), 6)]
    found = weighed([(mdp, demos)], TASKS, np.zeros(2), [0.9], alphas, LapsePrior(), who, SHARED)
    told = expert_of(found, np.arange(4), 0)
    assert told == expert_of(found, np.arange(4), 3)
    log_alpha, logit = np.linspace(0, 5, 300), np.linspace(-14, 2, 300)
    lapse = 1 / (1 + np.exp(-logit))
    density = Pooled(shown([(mdp, demos)], TASKS[0], 0.9, who, 4)).log_likelihood(
        np.exp(log_alpha), lapse
    )
    density += log_alphas([alphas], log_alpha).T + log_lapses([LapsePrior()], lapse)
    weight = np.exp(density - density.max())
    for summary, values, by in (
        (told[0], log_alpha, weight.sum(1)),
        (told[1], lapse, weight.sum(0)),
    ):
        exact = np.interp((0.025, 0.975), (np.cumsum(by) - by / 2) / by.sum(), values)
        ends = np.array([summary.low, summary.high])
        ends = np.log(ends) if values is log_alpha else ends
        assert np.abs(ends - exact).max() < 0.08 * (exact[1] - exact[0])


def test_whoever_never_lapses_may_do_what_hardly_anybody_does() -> None:
    seen = Shown(np.array([[1.0, 0.0]]), Acts(np.array([1]), np.array([1.0])))
    found = seen.log_likelihood(np.array([10.0, 2_000.0]), np.array([0.0]))
    assert found[:, 0] == pytest.approx([-10 - np.log1p(np.exp(-10)), -2_000])


def test_priors_of_lapses_that_most_have_none_lose_nothing() -> None:
    seen = Shown(np.array([[0.0, 0.0]]), Acts(np.array([0]), np.array([1.0])))  # tells nothing
    found = profile(seen, AlphaPrior(), LapsePrior())
    lapses = [LapsePrior(k * m, k * (1 - m)) for k in (5, 20, 80) for m in (1e-4, 0.003, 0.012)]
    assert np.abs(found.log_integrals([AlphaPrior()], lapses) - np.log(0.5)).max() < 0.01


def _drawn(
    rng: np.random.Generator, tasks: list[RewardMachine], expert: Expert, episodes: int
) -> tuple[Demonstrations, list[np.ndarray]]:
    """Return what subjects show, each with a task, and who acted."""
    found = [
        each
        for task in tasks
        for each in whence.simulate(
            small.world(), task, expert, episodes=episodes, length=8, seed=int(rng.integers(2**31))
        )
    ]
    who = np.repeat(np.arange(len(tasks)), episodes)
    return Demonstrations.from_episodes(found), [who]


@pytest.mark.parametrize("wrong", [False, True], ids=["as it is", "control"])
def test_as_many_groups_are_there_as_their_probabilities_say(
    wrong: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if wrong:  # the ways to deal subjects out left uncounted
        monkeypatch.setattr(mixture, "_log_ways", lambda subjects, groups: 0.0)
    rng, expert = np.random.default_rng(21), Expert(3.0, 0.9, 0.1)
    listed = [*TASKS, RewardMachine.from_arrows(["x -b/1-> x"], alphabet=("a", "b"))]
    prior = np.array([0.5, 0.3, 0.2])
    off, variance, between = 0.0, 0.0, 0
    for _ in range(150):
        count = int(rng.integers(1, 3))
        group = np.zeros(4, dtype=np.int64)
        while len(set(group.tolist())) < count:
            group = rng.integers(0, count, 4)
        wants = rng.choice(3, size=count, p=prior)
        demos, who = _drawn(rng, [listed[wants[g]] for g in group.tolist()], expert, 1)
        found = weighed(
            [(small.world(), demos)], listed, np.log(prior), [0.9], 3.0, 0.1, who, SHARED
        )
        one, two = (found.parted(k).log_evidence for k in (1, 2))
        chance = 1 / (1 + np.exp(one - two))
        off, variance = off + chance - (count == 2), variance + chance * (1 - chance)
        between += 0.1 < chance < 0.9
    assert between > 60  # there is something to be told
    assert (abs(off) < 3 * np.sqrt(variance)) != wrong


def test_intervals_of_an_expert_that_all_share_cover_as_often_as_they_say() -> None:
    rng, count = np.random.default_rng(22), 60
    alphas = np.exp(AlphaPrior(6, 0.5).sample(rng, count))
    lapses = LapsePrior(1, 9).sample(rng, count)
    covered = np.zeros(2, dtype=np.int64)
    for alpha, lapse in zip(alphas.tolist(), lapses.tolist(), strict=True):
        demos, who = _drawn(rng, [TASKS[0]] * 3, Expert(alpha, 0.9, lapse), 5)
        found = weighed(
            [(small.world(), demos)], TASKS[:1], np.zeros(1), [0.9], AlphaPrior(6, 0.5),
            LapsePrior(1, 9), who, SHARED,
        )  # fmt: skip
        told = expert_of(found, np.arange(3), 1)
        covered += [
            each.low <= x <= each.high for each, x in zip(told, (alpha, lapse), strict=True)
        ]
    assert covered.min() >= 52  # of 60 at 95%: fewer with a chance of 1%


def test_machines_that_explain_two_groups_half_well_do_not_crowd_out_those_of_each() -> None:
    rng, kind = np.random.default_rng(23), np.repeat([0, 1, 2], 3)
    of = np.repeat([0, 1, 2, 3], [1, 40, 40, 20])  # 3: half well for two kinds of subjects
    own = np.where(kind[:, None] == of, 0.0, -40.0) + np.where(of == 2, -2.0, 0.0)
    own = np.where((kind[:, None] > 0) & (of == 3), -10.0, own) + 0.01 * rng.random((9, 101))
    nothing, prior = np.zeros(1), np.full(101, -np.log(101))
    few, every = (mixture.parted(own[None], nothing, prior, 3, most) for most in (1_540, 200_000))
    assert few.groups.tolist() == every.groups.tolist() == kind.tolist()
    alike = np.log(40 * 40)  # combinations that explain as much, of which some are listed
    assert every.log_evidence - alike < few.log_evidence < every.log_evidence


def test_no_group_that_is_told_of_is_empty() -> None:
    own = np.zeros((1, 5, 2))  # the second machine is as good as the first
    found = mixture.parted(own, np.zeros(1), np.log([0.5, 0.5]), 2)
    assert set(found.groups.tolist()) == {0, 1}
    assert found.share.tolist() == [0.5] * 5


def test_names_of_subjects_are_told_apart_and_control_no_terminal() -> None:
    names = ("Smith, John", "mouse\n3", "\x1b[31mred", "plain", " x")
    shown = [named(name) for name in names]
    assert shown == ["'Smith, John'", "mouse\\n3", "\\x1b[31mred", "plain", "' x'"]
