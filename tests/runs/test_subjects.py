"""Facts about several subjects: integrals, sums over groups, and what a run tells of them."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

import whence
from runs import small
from whence import AlphaPrior, Demonstrations, Expert, LapsePrior, Posterior, RewardMachine
from whence.analysis.mixture import filled, parted
from whence.cli import run as main
from whence.errors import ArgumentError
from whence.likelihood.integrating import Integrated
from whence.likelihood.subjects import FINE, log_prior_of, profile, shown

TASKS = [
    RewardMachine.from_arrows(arrows, alphabet=("a", "b"))
    for arrows in (["x -a-> y", "y -b/1-> x"], ["x -a/1-> x"])
]


def watched(tasks: list[int], alphas: list[float], episodes: int = 6) -> Demonstrations:
    """Return what subjects show in a corridor, each with a task and an alpha of its own."""
    found = []
    for s, (task, alpha) in enumerate(zip(tasks, alphas, strict=True)):
        own = whence.simulate(
            small.world(),
            TASKS[task],
            Expert(alpha, 0.9, 0.05),
            episodes=episodes,
            length=20,
            seed=s,
        )
        found += [each._replace(subject=f"s{s}") for each in own]
    return Demonstrations.from_episodes(found)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_the_sum_over_groups_is_that_over_all_ways_to_fill_them(groups: int) -> None:
    scores = np.random.default_rng(groups).normal(size=(5, 4, groups)) * 3
    for n in range(4):
        ways = [
            sum(scores[s, n, k] for s, k in enumerate(way))
            for way in itertools.product(range(groups), repeat=5)
            if set(way) == set(range(groups))
        ]
        assert filled(scores)[n] == pytest.approx(np.logaddexp.reduce(ways))


def test_the_evidence_of_groups_is_a_mean_over_machines_contexts_and_ways() -> None:
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(2, 4, 3)) * 2
    context, prior = np.log([0.3, 0.7]), np.log([0.5, 0.2, 0.1])
    ways = [way for way in itertools.product(range(2), repeat=4) if len(set(way)) == 2]
    terms = [
        context[c] + prior[list(pair)].sum() - math.log(len(ways))
        + sum(scores[c, s, pair[k]] for s, k in enumerate(way))
        for c in range(2)
        for pair in itertools.product(range(3), repeat=2)
        for way in ways
    ]  # fmt: skip
    found = parted(scores, context, prior, 2)
    assert found.log_evidence == pytest.approx(np.logaddexp.reduce(terms))
    assert found.groups[0] == 0
    assert np.allclose(found.together, found.together.T)


@pytest.mark.parametrize("lapse", [LapsePrior(1, 19), 0.1])
def test_integrals_over_a_subjects_expert_are_those_of_the_quadrature(
    lapse: LapsePrior | float, monkeypatch: pytest.MonkeyPatch
) -> None:
    mdp, prior = small.world(), AlphaPrior(5, 1)
    demos = watched([0, 1], [4.0, 9.0])
    who = np.repeat([0, 1], 6)
    seen = shown([(mdp, demos)], TASKS[0], 0.9, [who], 2)
    for s in range(2):
        posterior = Posterior(mdp, demos.subset(np.flatnonzero(who == s)), expert=Expert(1, 0.9))
        exact = Integrated([posterior], prior, lapse).log_likelihood(
            TASKS[0].transitions[None], TASKS[0].rewards[None], tolerance=1e-5
        )
        for nodes, error in ((FINE, 4e-3), (((30, 24), (40, 30), (80, 60)), 2e-4)):
            monkeypatch.setattr("whence.likelihood.subjects.FINE", nodes)
            found = profile(seen[s], prior, lapse)
            total = np.logaddexp.reduce(found.by_alpha + log_prior_of(prior, found.log_alpha))
            assert total == pytest.approx(exact[0], abs=error)
        at = seen[s].log_likelihood(np.array([7.0]), np.array([0.05]))[0, 0]
        known = posterior.of_expert(Expert(7.0, 0.9, 0.05)).finest(TASKS[0])
        assert at == pytest.approx(known, abs=1e-6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("subjects") / "run"


@pytest.fixture(scope="module")
def run(folder: Path) -> whence.Run:
    return whence.infer(
        small.world(), watched([0, 1, 0, 1], [4.0, 6.0, 40.0, 12.0]), states=2, discount=0.9,
        experts="by-subject", tasks=(1, 2), method="exhaustive", threads=1,
        folder=folder,
    )  # fmt: skip


def test_groups_of_subjects_are_found_with_their_tasks_and_experts(run: whence.Run) -> None:
    found = run.groups
    assert found is not None
    assert found.probability[2] > 0.9
    assert sum(found.probability.values()) == pytest.approx(1)
    assert [each.group for each in found.subjects] == [0, 1, 0, 1]
    for group, task in zip(found.groups, TASKS, strict=True):
        assert group.best.same_in(task, small.world())
    assert found.subjects[0].alpha.high < found.subjects[2].alpha.mean  # 4 and 40
    for each in found.subjects:
        assert each.alpha.low < each.alpha.mean < each.alpha.high
        assert (each.episodes, each.steps) == (6, 120)
    assert run.answer.startswith("2 groups of subjects")
    assert "s0, s2: " in run.answer
    assert any("s1, s3: " in fact.text for fact in run.facts)
    assert any("by evidence: 1: " in note for note in run.notes)


def test_a_run_that_is_read_again_has_the_same_groups_without_a_search(
    run: whence.Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whence.runs.subjects.fitted_to", None)
    assert run.groups is not None
    again = whence.load(folder).groups
    assert again is not None
    assert again.log_evidence == run.groups.log_evidence
    assert again.subjects == run.groups.subjects


def test_subjects_that_share_an_expert_have_one_alpha() -> None:
    run = whence.infer(
        small.world(), watched([0, 1, 0], [8.0, 8.0, 8.0]), states=2, discount=0.9, lapse=0.05,
        tasks=(1, 2), method="exhaustive", threads=1,
    )  # fmt: skip
    assert run.groups is not None
    assert run.groups.probability[2] > 0.9
    assert [each.group for each in run.groups.subjects] == [0, 1, 0]
    first = run.groups.subjects[0].alpha
    assert first.low < 8 < first.high


def test_who_acted_must_be_known() -> None:
    demos = small.demonstrations(small.world())
    with pytest.raises(ArgumentError, match=r"episode 0: nobody is named who acted"):
        whence.infer(small.world(), demos, states=2, experts="by-subject")
    with pytest.raises(ArgumentError, match="experts is 'each'; known are shared, by-subject"):
        whence.infer(small.world(), demos, states=2, experts="each")
    with pytest.raises(ArgumentError, match=r"tasks is \(2, 9\); give how many groups"):
        whence.infer(small.world(), demos, states=2, tasks=(2, 9))
    named = watched([0], [8.0])
    with pytest.raises(ArgumentError, match="leave out endings"):
        whence.infer(small.world(), named, states=2, tasks=2, endings="task")


def test_the_command_line_refuses_a_number_of_groups_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demos = str(tmp_path / "d.jsonl")
    watched([0], [8.0]).save(demos)
    line = ["infer", "coffee", demos, "-o", str(tmp_path / "run"), "--tasks", "few"]
    assert main(line) == 1
    assert "--tasks few: give how many groups" in capsys.readouterr().err
