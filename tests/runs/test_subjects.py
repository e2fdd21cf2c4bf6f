"""Facts about several subjects: integrals, sums over groups, and what a run tells of them."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whence
from runs import small
from whence import AlphaPrior, Demonstrations, Expert, LapsePrior, Posterior, RewardMachine
from whence.analysis.mixture import belonging, filled, helpful, parted
from whence.analysis.subjects import BY_SUBJECT, SHARED, Weights, expert_of, weighed
from whence.cli import run as main
from whence.errors import ArgumentError
from whence.likelihood.integrating import Integrated
from whence.likelihood.subjects import FINE, log_alphas, profile, shown
from whence.report import render
from whence.report.study import Study
from whence.runs import searching
from whence.runs.events import Event
from whence.runs.inference import _settled
from whence.runs.posterior_document import groups_document
from whence.search.settings import Tempering

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


@pytest.mark.parametrize("spread", [1.0, 30.0])
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_who_belongs_together_is_that_of_all_ways_to_fill_the_groups(
    groups: int, spread: float
) -> None:
    scores = np.random.default_rng(groups).normal(size=(4, 3, groups)) * spread
    scores[:, 0, 0] += 10 * spread  # all would be in one group
    ways = np.array(
        [
            way
            for way in itertools.product(range(groups), repeat=4)
            if set(way) == set(range(groups))
        ]
    )
    belongs, together = belonging(scores)
    for n in range(3):
        log = scores[np.arange(4), n, ways].sum(axis=1)
        weight = np.exp(log - np.logaddexp.reduce(log))
        for s, t in itertools.product(range(4), repeat=2):
            if s != t:
                same = ways[:, s] == ways[:, t]
                assert together[s, t, n] == pytest.approx(weight @ same, abs=1e-12)
        exact = [[weight @ (ways[:, s] == k) for k in range(groups)] for s in range(4)]
        assert np.allclose(belongs[:, n], exact, atol=1e-12)


def test_two_subjects_in_two_groups_are_never_together() -> None:
    scores = np.log([[[0.9, 0.1], [0.9, 0.1]]])  # one machine suits both
    found = parted(scores, np.zeros(1), np.log([0.5, 0.5]), 2)
    assert found.together.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert found.groups.tolist() == [0, 1]


def test_the_sum_over_groups_takes_many_subjects_and_impossible_ones() -> None:
    scores = np.random.default_rng(0).normal(size=(900, 2, 4)) * 1e3 - 1e5
    exact = np.logaddexp.reduce(scores, axis=2).sum(axis=0)  # nobody is left out of so many
    assert np.allclose(filled(scores), exact)
    scores[5] = -np.inf
    assert np.isneginf(filled(scores)).all()


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


def test_where_machines_are_many_those_are_combined_that_help_most() -> None:
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(1, 6, 30)) - 40
    scores[0, :3, 7] += 30  # each of two machines explains half of the subjects
    scores[0, 3:, 19] += 30
    nothing, prior = np.zeros(1), np.full(30, -math.log(30))
    assert {7, 19} <= set(helpful(scores, nothing, prior, 2, 60).tolist())
    few, every = (parted(scores, nothing, prior, 2, most) for most in (60, 20_000))
    assert few.log_evidence == pytest.approx(every.log_evidence, abs=1e-3)
    assert few.groups.tolist() == every.groups.tolist() == [0, 0, 0, 1, 1, 1]
    assert few.machines.tolist() == [7, 19]


@pytest.mark.parametrize("kind", ["boltzmann", "soft"])
@pytest.mark.parametrize("lapse", [LapsePrior(1, 19), 0.1])
def test_integrals_over_a_subjects_expert_are_those_of_the_quadrature(
    lapse: LapsePrior | float, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mdp, prior = small.world(), AlphaPrior(5, 1)
    demos = watched([0, 1], [4.0, 9.0])
    who = np.repeat([0, 1], 6)
    soft = prior.bounds if kind == "soft" else None
    seen = shown([(mdp, demos)], TASKS[0], 0.9, [who], 2, soft)
    expert = Expert(1, 0.9, kind=kind)
    for s in range(2):
        posterior = Posterior(mdp, demos.subset(np.flatnonzero(who == s)), expert=expert)
        exact = Integrated([posterior], prior, lapse).log_likelihood(
            TASKS[0].transitions[None], TASKS[0].rewards[None], tolerance=1e-5
        )
        for nodes, error in ((FINE, 4e-3), (((30, 24), (40, 30), (80, 60)), 2e-4)):
            monkeypatch.setattr("whence.likelihood.subjects.FINE", nodes)
            found = profile(seen[s], prior, lapse)
            assert found.log_integrals([prior], [lapse])[0] == pytest.approx(exact, abs=error)
            sums = found.by_alpha(lapse) + log_alphas([prior], found.log_alpha)[0]
            total = np.logaddexp.reduce(sums)
            assert total == pytest.approx(exact[0], abs=error)
        at = seen[s].log_likelihood(np.array([7.0]), np.array([0.05]))[0, 0]
        known = posterior.of_expert(Expert(7.0, 0.9, 0.05, kind)).finest(TASKS[0])
        assert at == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize("experts", [SHARED, BY_SUBJECT])
def test_machines_that_were_weighed_before_weigh_the_same(experts: str) -> None:
    pairs, who = [(small.world(), watched([0, 1], [4.0, 9.0]))], [np.repeat([0, 1], 6)]

    def of(machines: list[RewardMachine], before: Weights | None) -> Weights:
        return weighed(
            pairs, machines, np.zeros(len(machines)), [0.8, 0.9], AlphaPrior(5, 1), 0.1, who,
            experts, before,
        )  # fmt: skip

    first = of(TASKS[:1], None)
    found, fresh = of(TASKS, first), of(TASKS, None)
    assert np.array_equal(found.scores, fresh.scores)
    assert found.contexts == fresh.contexts
    assert (found.scores[:, 1, 1].max() > found.scores[:, 1, 0].max()).all()


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


def test_a_group_is_a_run_of_its_own_that_can_be_asked(run: whence.Run) -> None:
    assert run.groups is not None
    alone = run.of_group(1)
    (_, demos), group = alone.job.pairs[0], run.groups.groups[1]
    assert set(demos.subjects or ()) == {"s1", "s3"}
    assert alone.groups is None
    assert alone.answer == group.answer
    assert [each.labels for each in alone.open_questions] == [("a",), ("b",)]
    assert alone.open_questions == group.open_questions
    assert alone.log_likelihood == pytest.approx(
        Posterior(small.world(), demos, expert=alone.expert).finest(alone.best)
    )
    question = next(
        each
        for each in whence.ask.questions(alone, kinds=("sequence",), most=20)
        if each.labels == (("b",),)
    )
    after = alone.answered(question, 0.0)
    before = alone.posterior, after.posterior
    paid = [sample.pays("b").get(1.0, 0.0) for sample in before if sample is not None]
    assert paid[1] < 0.2 * paid[0]
    again = after.withdrawn("1").posterior
    assert again is not None
    assert again.pays("b")[1.0] == pytest.approx(paid[0])


def test_what_is_asked_of_all_groups_at_once_is_refused(run: whence.Run) -> None:
    with pytest.raises(ArgumentError, match=r"2 group\(s\) of subjects.*run.of_group\(0\)"):
        whence.ask.questions(run)
    question = whence.ask.questions(run.of_group(0), kinds=("sequence",))[0]
    with pytest.raises(ArgumentError, match=r"ask it alone: run.of_group\(0\)"):
        run.answered(question, 0.0)
    with pytest.raises(ArgumentError, match="the run has 2: give 0 to 1"):
        run.of_group(2)
    with pytest.raises(ArgumentError, match="the run knows nothing of groups"):
        run.of_group(0).of_group(0)


def test_the_report_and_the_documents_speak_of_each_group(
    run: whence.Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = render(Study.of(run, run.job.pairs, compare=False))
    for said in ("Group 1: s0, s2", "Group 2: s1, s3", "Who acted"):
        assert said in page
    for number in ("", "-2"):
        for name in ("facts", "next", "worlds", "machine", "alternatives", "episodes"):
            assert page.count(f'id="{name}{number}"') == 1
    found = groups_document(run)
    assert found is not None
    assert [each["facts"][0]["kind"] for each in found["groups"]] == ["route", "route"]
    assert [len(each["telling"]) for each in found["groups"]] == [0, 2]
    assert main(["ask", str(folder), "--list"]) == 0
    assert main(["ask", str(folder)]) == 1
    assert "whence ask RUN --group 1" in capsys.readouterr().err
    task = str(folder.parent / "task.json")
    TASKS[0].save(task)
    line = ["ask", str(folder), "--group", "1", "--simulate", task, "--most", "1"]
    assert main([*line, "--kind", "sequence"]) == 0
    assert "1 answer; " in capsys.readouterr().out


def test_soft_subjects_have_groups_too() -> None:
    alphas, tasks = [12.0, 20.0, 40.0], [0, 1, 0]
    demos = []
    for s, (task, alpha) in enumerate(zip(tasks, alphas, strict=True)):
        expert = Expert(alpha, 0.9, 0.02, kind="soft")
        own = whence.simulate(small.world(), TASKS[task], expert, episodes=6, length=20, seed=s)
        demos += [each._replace(subject=f"s{s}") for each in own]
    run = whence.infer(
        small.world(), Demonstrations.from_episodes(demos), states=2, discount=0.9,
        experts="by-subject", tasks=(1, 2), expert_kind="soft", method="exhaustive", threads=1,
    )  # fmt: skip
    assert run.groups is not None
    assert run.groups.probability[2] > 0.9
    assert [each.group for each in run.groups.subjects] == tasks
    for each, alpha in zip(run.groups.subjects, alphas, strict=True):
        assert each.alpha.low < alpha < each.alpha.high
    assert run.of_group(1).expert.kind == "soft"


def test_a_run_that_is_read_again_has_the_same_groups_without_a_search(
    run: whence.Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whence.runs.subjects.fitted_to", None)
    assert run.groups is not None
    again = whence.load(folder).groups
    assert again is not None
    assert again.log_evidence == run.groups.log_evidence
    assert again.subjects == run.groups.subjects


def test_doubts_and_notes_are_those_of_each_group(
    run: whence.Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(posterior: Posterior, *_: Any) -> list[str]:
        return [f"{posterior.n_steps} steps"]

    for name in ("doubts_of_discount", "notes_of_levels", "notes_of_greed"):
        monkeypatch.setattr(f"whence.runs.outcome.{name}", told)
    again = whence.load(folder)
    for said in (again.doubts, again.notes):
        assert {"s0, s2: 240 steps", "s1, s3: 240 steps"} <= set(said)
    assert "480 steps" not in {*again.doubts, *again.notes}


def _broken(event: Event) -> None:
    if event.step >= 20:
        raise KeyboardInterrupt


def test_a_broken_run_has_the_groups_of_an_unbroken_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "EVENT_SECONDS", 0.0)
    demos = watched([0, 1, 1], [4.0, 9.0, 20.0])
    quick = Tempering(ladders=2, rungs=3, warm_up=10, steps=40, until_agreed=False, finder=False)
    asked: dict[str, Any] = {
        "states": 2, "settings": quick, "discount": 0.9, "experts": "by-subject", "tasks": (1, 2),
    }  # fmt: skip
    whole = whence.infer(small.world(), demos, threads=1, **asked).groups
    with pytest.raises(KeyboardInterrupt):
        whence.infer(
            small.world(), demos, threads=2, folder=tmp_path / "run", checkpoint=0.0,
            on_event=_broken, **asked,
        )  # fmt: skip
    resumed = whence.resume(tmp_path / "run", threads=2).groups
    assert whole is not None
    assert resumed is not None
    assert resumed.log_evidence == whole.log_evidence
    assert resumed.subjects == whole.subjects
    assert resumed.machines == whole.machines


def test_intervals_of_subjects_drawn_from_the_model_cover_as_often_as_they_say() -> None:
    rng, count = np.random.default_rng(11), 60
    alphas = np.exp(AlphaPrior(6, 0.5).sample(rng, count))
    lapses = LapsePrior(1, 19).sample(rng, count)
    episodes = []
    for s in range(count):
        expert = Expert(float(alphas[s]), 0.9, float(lapses[s]))
        own = whence.simulate(small.world(), TASKS[0], expert, episodes=4, length=20, seed=s)
        episodes += list(own)
    pairs = [(small.world(), Demonstrations.from_episodes(episodes))]
    who, every = [np.repeat(np.arange(count), 4)], np.arange(count)
    covered = {}
    for experts in (BY_SUBJECT, SHARED):
        found = weighed(
            pairs, TASKS[:1], np.zeros(1), [0.9], AlphaPrior(), LapsePrior(), who, experts
        )
        told = [expert_of(found, every, s) for s in range(count)]
        covered[experts] = (
            sum(a.low <= x <= a.high for (a, _), x in zip(told, alphas, strict=True)),
            sum(b.low <= x <= b.high for (_, b), x in zip(told, lapses, strict=True)),
        )
    assert min(covered[BY_SUBJECT]) >= 52  # of 60 at 95%: fewer with a chance of 1%
    assert covered[SHARED][0] < 30  # one alpha for all would be noticed


def test_subjects_that_share_an_expert_have_one_alpha() -> None:
    run = whence.infer(
        small.world(), watched([0, 1, 0], [8.0, 8.0, 8.0]), states=2, discount=0.9, lapse=0.05,
        tasks=(1, 2), method="exhaustive", threads=1,
    )  # fmt: skip
    assert run.groups is not None
    assert run.groups.probability[2] > 0.9
    assert [each.group for each in run.groups.subjects] == [0, 1, 0]
    first, other = (run.groups.subjects[s].alpha for s in (0, 1))
    assert first.low < 8 < first.high
    assert list(first) == pytest.approx(list(other), rel=0.01)  # what both groups show of it
    assert any("may seem to want something else" in note for note in run.notes)


def test_what_is_told_of_an_expert_is_the_sum_over_contexts_and_machines() -> None:
    demos, who = watched([0, 1, 0], [4.0, 9.0, 6.0]), np.repeat(np.arange(3), 6)
    found = weighed(
        [(small.world(), demos)], TASKS, np.log([0.4, 0.2]), [0.8, 0.9], AlphaPrior(5, 1),
        LapsePrior(1, 19), [who], BY_SUBJECT,
    )  # fmt: skip
    weight = found.of_group(np.array([0, 2]))
    total, log_mean, lapse_mean = 0.0, 0.0, 0.0
    for x, j in np.argwhere(weight >= weight.max() - 9).tolist():
        c, own = found.contexts[x], found.profiles[found.contexts[x].discount][j][2]
        joint = own.table + log_alphas([c.alpha], own.log_alpha).T
        joint = joint + own.of_lapses([c.lapse])
        share = np.exp(weight[x, j] - weight.max() + joint - found.scores[x, 2, j])
        total += share.sum()
        log_mean += share.sum(axis=1) @ own.log_alpha
        lapse_mean += share.sum(axis=0) @ own.lapse
    alpha, lapse = expert_of(found, np.array([0, 2]), 2)
    assert math.log(alpha.mean) == pytest.approx(log_mean / total)
    assert lapse.mean == pytest.approx(lapse_mean / total)


def test_a_search_of_everybody_is_brief_unless_something_is_said() -> None:
    how = Tempering, None, None, None, None
    assert _settled(*how, by_subject=True).steps < _settled(*how).steps == Tempering().steps
    assert _settled(Tempering, Tempering(), None, None, None, by_subject=True) == Tempering()
    assert _settled(Tempering, None, 7_000, None, None, by_subject=True) == Tempering(steps=7_000)
    assert _settled(Tempering, None, None, None, 0.02, by_subject=True).precision == 0.02


def test_dynamics_of_a_log_are_weighed_for_everybody_only_where_there_is_one_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    demos = watched([0, 1, 0], [8.0, 8.0, 8.0])
    log = replace(small.world(), unseen=np.zeros(0, dtype=np.int64))
    asked: list[int] = []

    def anew(*_: Any) -> None:
        asked.append(1)

    monkeypatch.setattr("whence.analysis.roughness.weighed_anew", anew)
    for tasks, times in ((2, 0), (1, 1)):
        run = whence.infer(
            log, demos, states=2, discount=0.9, alpha=8.0, lapse=0.05, tasks=tasks,
            experts="by-subject", method="exhaustive", threads=1,
        )  # fmt: skip
        assert run.groups is not None
        assert len(asked) == times
        told = any("takes into account how rough" in note for note in run.notes)
        assert told == (tasks == 1)


def test_who_acted_must_be_known() -> None:
    demos = small.demonstrations(small.world())
    with pytest.raises(ArgumentError, match=r"episode 0: nobody is named who acted"):
        whence.infer(small.world(), demos, states=2, experts="by-subject")
    with pytest.raises(ArgumentError, match="experts is 'each'; known are shared, by-subject"):
        whence.infer(small.world(), demos, states=2, experts="each")
    with pytest.raises(ArgumentError, match=r"tasks is \(2, 9\); give how many groups"):
        whence.infer(small.world(), demos, states=2, tasks=(2, 9))
    named = watched([0, 1], [8.0, 8.0])
    with pytest.raises(ArgumentError, match=r"asks for 3 groups.* name 2 who acted; ask for 2"):
        whence.infer(small.world(), named, states=2, tasks=3)
    with pytest.raises(ArgumentError, match="leave out endings"):
        whence.infer(small.world(), named, states=2, tasks=2, endings="task")
    with pytest.raises(ArgumentError, match="this is 2; leave out temperature"):
        whence.infer(small.world(), named, states=2, tasks=2, temperature=2.0)
    with pytest.raises(ArgumentError, match=r"temperature 1, .*; infer by tempering"):
        whence.infer(
            small.world(), named, states=2, tasks=2, method="annealing", expert=Expert(8.0, 0.9)
        )
    with pytest.raises(ArgumentError, match="one kind of expert at a time; infer with"):
        whence.infer(small.world(), named, states=2, tasks=2, expert_kind="infer")


def test_the_command_line_refuses_a_number_of_groups_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demos = str(tmp_path / "d.jsonl")
    watched([0], [8.0]).save(demos)
    line = ["infer", "coffee", demos, "-o", str(tmp_path / "run"), "--tasks", "few"]
    assert main(line) == 1
    assert "--tasks few: give how many groups" in capsys.readouterr().err
