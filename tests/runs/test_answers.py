"""Answers weigh a run, are kept in its folder, and can be taken back."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import whence
from runs import small
from support.draws import draws_of
from whence import Posterior
from whence.ask import Answer, Manner, Person, Question, converse
from whence.errors import ArgumentError, DemonstrationsError, FileError, FormatError
from whence.likelihood.answers import AnswerTerm
from whence.runs import inference, lock, reweighing
from whence.runs.weighing import likeliest_expert
from whence.search.census import Census, weigh
from whence.search.diagnostics import evenness

SEQUENCE = Question("sequence", "?", 0.1, 6.0, answers=(0.0, 1.0), labels=(("b",),))
PREFERENCE = Question(
    "preference", "?", 0.1, 8.0, answers=("first", "second"), labels=(("b",), ("a", "b")),
    rationality=3.0,
)  # fmt: skip
SHOW = Question("demonstration", "?", 0.1, 45.0, labels=(("a",),), state=2, length=9)
EPISODE = {"states": [2, 3, 4], "actions": [1, 1]}


@cache
def _exact() -> whence.Run:
    """Return a run that leaves much open: one episode, of an expert who is hardly rational."""
    mdp = small.world()
    demos = small.demonstrations(mdp).subset([0])
    return whence.infer(mdp, demos, states=2, expert=whence.Expert(3, 0.9), method="exhaustive")


@cache
def _drawn() -> whence.Run:
    """Return the same by tempering."""
    mdp, demos = _exact().job.pairs[0]
    return whence.infer(
        mdp, demos, states=2, expert=whence.Expert(3, 0.9), method="tempering", seed=3,
        progress=False,
    )  # fmt: skip


def _weights(run: whence.Run) -> dict[bytes, float]:
    """Return the weight of every machine of a run, by its tables."""
    assert run.draws is not None
    draws = run.draws
    tables = zip(draws.transitions, draws.rewards, draws.weight, strict=True)
    return {a.tobytes() + (b + 0.0).tobytes(): float(weight) for a, b, weight in tables}


@pytest.mark.parametrize(
    "given", [[(SEQUENCE, 1.0)], [(SEQUENCE, 0.0), (PREFERENCE, "first")], [(SHOW, EPISODE)]]
)
def test_weighing_by_answers_is_what_inferring_with_them_gives(
    given: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = Posterior.__init__.__kwdefaults__
    assert usual is not None
    monkeypatch.setitem(usual, "tolerance", 1e-7)
    weighed = _exact.__wrapped__()
    for question, answer in given:
        weighed = weighed.answered(question, answer, refresh=False)
    inferred = weighed.refreshed(progress=False)
    fresh, before = _weights(inferred), _weights(weighed)
    assert len(fresh) > 100
    for machine, weight in fresh.items():
        assert before[machine] == pytest.approx(weight, abs=2e-6)
    assert weighed.best == inferred.best
    assert weighed.log_likelihood == pytest.approx(inferred.log_likelihood, abs=1e-6)
    started = _weights(_exact())
    assert any(abs(started[machine] - weight) > 0.01 for machine, weight in fresh.items())


def test_an_answer_that_agrees_makes_errors_rarer_and_one_that_does_not_commoner() -> None:
    run = small.infer("exhaustive")
    assert run.error_rate.mean == pytest.approx(1 / 20)
    asked = replace(SEQUENCE, labels=(("a", "b"),))
    right = run.answered(asked, 1.0, refresh=False)
    wrong = run.answered(asked, 0.0, refresh=False)
    assert right.error_rate.mean < run.error_rate.mean < wrong.error_rate.mean


def test_answers_are_kept_listed_and_taken_back(tmp_path: Path) -> None:
    run = small.infer("tempering", folder=tmp_path / "run", progress=False)
    before = run.draws.weight.copy() if run.draws is not None else np.zeros(0)
    after = run.answered(SEQUENCE, 1.0, refresh=False).answered(SHOW, EPISODE, refresh=False)
    again = whence.load(tmp_path / "run")
    assert [each.id for each in again.answers] == ["1", "2"]
    assert again.answers == after.answers
    assert again.draws is not None
    assert after.draws is not None
    assert (again.draws.weight == after.draws.weight).all()
    assert not (again.draws.weight == before).all()
    told = msgspec.json.decode((tmp_path / "run" / "result.json").read_bytes())
    assert told["answer"] == after.answer
    back = again.withdrawn("1", refresh=False).withdrawn("2", refresh=False)
    assert [each.withdrawn for each in back.answers] == [True, True]
    assert back.draws is not None
    assert (back.draws.weight == before).all()
    assert whence.load(tmp_path / "run").answers == back.answers
    with pytest.raises(ArgumentError, match="answer '1' cannot be withdrawn; those that stand"):
        back.withdrawn("1")


def test_the_order_of_answers_does_not_matter_and_two_people_may_answer(tmp_path: Path) -> None:
    one = small.infer("tempering", folder=tmp_path / "run", progress=False)
    other = whence.load(tmp_path / "run")
    one.answered(SEQUENCE, 1.0, refresh=False)
    both = other.answered(PREFERENCE, "second", refresh=False)
    assert [each.question.kind for each in both.answers] == ["sequence", "preference"]
    turned = small.infer("tempering", progress=False).answered(PREFERENCE, "second", refresh=False)
    turned = turned.answered(SEQUENCE, 1.0, refresh=False)
    assert turned.draws is not None
    assert both.draws is not None
    assert np.allclose(turned.draws.weight, both.draws.weight, rtol=1e-12)
    with lock.held(tmp_path / "run"), pytest.raises(FileError, match="is working on this run"):
        both.answered(SEQUENCE, 1.0)


def test_chains_sample_anew_with_the_answers_in_their_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reweighing, "WORN", 1e9)
    monkeypatch.setattr(reweighing, "UNEVEN", 2.0)
    run = small.infer("tempering", folder=tmp_path / "run", progress=False)
    target = reweighing.again(reweighing.weighed(run, (Answer("1", SEQUENCE, 1.0),)))
    first = run.answered(SEQUENCE, 1.0)
    assert first.sampled is None
    assert [each.id for each in first.job.answers] == ["1"]
    monkeypatch.setattr(reweighing, "WORN", 0.0)
    second = first.answered(PREFERENCE, "second")
    assert second.sampled is not None
    assert not second.worn
    again = whence.load(tmp_path / "run")
    assert again.draws is not None
    assert second.draws is not None
    assert (again.draws.weight == second.draws.weight).all()
    assert (again.draws.transitions == second.draws.transitions).all()
    plain = inference.carried_out(target, None, None)
    assert plain.draws is not None
    assert first.draws is not None
    assert (plain.draws.transitions == first.draws.transitions).all()
    (kept,) = (tmp_path / "run" / "asked").iterdir()
    assert whence.load(kept).answers == first.answers


def test_chains_that_start_from_the_sample_draw_what_all_machines_weigh() -> None:
    exact, run = _exact().answered(SEQUENCE, 1.0, refresh=False), _drawn()
    fresh = run.answered(SEQUENCE, 1.0, refresh=False).refreshed(progress=False)
    assert fresh.job.init is not None
    assert fresh.job.settings.warm_up < run.job.settings.warm_up
    assert fresh.posterior is not None
    assert exact.posterior is not None
    for word in (("a",), ("b",), ("a", "b"), ("b", "a")):
        found, right = fresh.posterior.pays(*word), exact.posterior.pays(*word)
        for total, chance in right.items():
            assert found.get(total, 0.0) == pytest.approx(chance, abs=0.04)
    before = run.posterior.pays("b") if run.posterior is not None else {}
    assert abs(before[1.0] - fresh.posterior.pays("b")[1.0]) > 0.1  # the answer tells


def test_answers_bring_in_a_route_that_no_draw_had() -> None:
    task = whence.RewardMachine.from_arrows(["x -a-> y", "y -b/1-> x"], alphabet=("a", "b"))
    told = "first `a`, then `b`, over and over"
    run = _without(_drawn(), told)
    assert run.posterior is not None
    assert told not in [route.text for route in run.posterior.routes]
    manner = Manner(kinds=("sequence",), about="route", bound=0.0, most=12)
    after = converse(run, Person(task), manner)
    assert after.posterior is not None
    assert after.job.init is not None  # the chains were asked for new draws
    assert after.posterior.routes[0].text == told
    assert after.posterior.routes[0].probability > 0.5


def _without(run: whence.Run, told: str) -> whence.Run:
    """Return a run in which each draw of a route is exchanged for another draw."""
    sample, draws = reweighing.sample_of(run), reweighing.drawn_of(run)
    texts = np.array([route.text for route in sample.routes])
    has = texts[sample.plan_routes[sample.plans.draw]] == told
    assert 0 < has.sum() < len(has)
    rows = np.where(has, np.resize(np.flatnonzero(~has), len(has)), np.arange(len(has)))
    columns = ("transitions", "rewards", "log_likelihood", "log_prior")
    other = replace(draws, **{name: getattr(draws, name)[rows] for name in columns})
    fresh = whence.PosteriorSample.from_draws(list(run.job.pairs), other, sample.alphabet)
    return replace(run, draws=other, posterior=fresh)


def test_a_sample_is_worn_where_answers_have_made_it_uneven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = _drawn().answered(SEQUENCE, 0.0, refresh=False)
    assert run.draws is not None
    even = evenness(run.draws.weight)
    assert even < 1
    assert 0 < reweighing.worth(run) <= even * run.draws.size
    monkeypatch.setattr(reweighing, "WORN", 1e9)
    monkeypatch.setattr(reweighing, "UNEVEN", even * 1.01)
    assert run.worn
    monkeypatch.setattr(reweighing, "UNEVEN", even * 0.99)
    assert not run.worn


def test_exact_weights_are_worn_by_a_demonstration_of_an_expert_that_is_not_known() -> None:
    mdp, demos = _exact().job.pairs[0]
    run = whence.infer(mdp, demos, states=1, discount=0.9, lapse=0.0, method="exhaustive")
    assert not run.answered(SEQUENCE, 1.0, refresh=False).worn
    shown = run.answered(SHOW, EPISODE, refresh=False)
    assert shown.worn
    assert any("a few experts of each machine" in doubt for doubt in shown.doubts)
    anew = run.answered(SHOW, EPISODE)
    assert anew.sampled is None
    assert not anew.worn
    assert not _exact().answered(SHOW, EPISODE, refresh=False).worn  # one expert, who is known


def test_the_likeliest_expert_is_that_at_the_temperature_of_the_run() -> None:
    mdp, _ = _exact().job.pairs[0]
    draws = replace(
        draws_of([_exact().best] * 2, alpha=np.array([1.0, 2.0])),
        log_likelihood=np.array([0.0, 3.0]),
        log_prior=np.array([0.0, -2.0]),
    )
    sample = whence.PosteriorSample.from_draws(mdp, draws, mdp.alphabet)
    assert [likeliest_expert(sample, draws, t).alpha for t in (1.0, 3.0)] == [2.0, 1.0]


def test_a_run_without_a_folder_is_sampled_anew_in_memory() -> None:
    again = small.infer("tempering", progress=False).answered(SEQUENCE, 0.0).refreshed()
    assert again.folder is None
    assert len(again.answers) == 1
    assert again.sampled is None


@pytest.mark.parametrize(
    ("question", "answer", "message"),
    [
        (SEQUENCE, 2.0, "the answer 2.0 is not 0 or 1"),
        (PREFERENCE, "third", "the answer 'third' is not first or second"),
        (SHOW, {"states": [1, 2], "actions": [1]}, "starts in state 1, and was asked for from 2"),
        (SHOW, {"states": [2], "actions": []}, "give at least one action"),
        (SHOW, 1.0, "the answer is float, not an episode"),
        (replace(SEQUENCE, labels=(("q",),)), 1.0, "names the label 'q', which is none of a, b"),
        (replace(SHOW, state=7), {"states": [7], "actions": [0]}, "state 7 of world 0"),
    ],
)
def test_answers_that_do_not_fit_are_refused(question: Any, answer: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        _exact().answered(question, answer)


def test_an_impossible_episode_and_a_method_without_a_sample_are_refused() -> None:
    with pytest.raises(DemonstrationsError, match="the answer, episode 0"):
        _exact().answered(SHOW, {"states": [2, 0], "actions": [1]})
    with pytest.raises(ArgumentError, match="annealing, gives no probabilities"):
        small.infer("annealing").answered(SEQUENCE, 1.0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: not valid JSON"),
        ("{}", "line 2: each line must say format 'whence/answers/1'"),
        ('{"format": "whence/answers/1", "withdrawn": "9"}', "line 2: answer '9' cannot be"),
        ('{"format": "whence/answers/1", "sampled": ["9"]}', "line 2: sampled names answers"),
        ('{"format": "whence/answers/1", "id": "2"}', "line 2: no answer"),
    ],
)
def test_a_damaged_file_is_named_by_its_line(line: str, message: str, tmp_path: Path) -> None:
    small.infer("exhaustive", folder=tmp_path / "run").answered(SEQUENCE, 1.0, refresh=False)
    path = tmp_path / "run" / "answers.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + line.encode() + b"\n")
    with pytest.raises(FormatError, match=message):
        whence.load(tmp_path / "run")
    path.write_bytes(whole + line.encode())  # not written to its end
    assert len(whence.load(tmp_path / "run").answers) == 1


def test_questions_survive_json() -> None:
    for question in (SEQUENCE, PREFERENCE, SHOW):
        text = msgspec.json.encode(question.document())
        assert Question.of(msgspec.json.decode(text)) == question
    with pytest.raises(ArgumentError, match="no question: KeyError"):
        Question.of({"kind": "sequence"})


def test_every_way_to_score_a_machine_counts_the_answers() -> None:
    mdp = small.world()
    demos = small.demonstrations(mdp)
    run = whence.infer(mdp, demos, states=2, method="exhaustive", discount=(0.8, 0.9))
    told = (Answer("1", SEQUENCE, 1.0), Answer("2", PREFERENCE, "first"))
    plain, asked = run.job.problem(1), replace(run.job, answers=told).problem(1)
    rng = np.random.default_rng(0)
    machines = plain.target().space.sample(rng, 20)
    experts = plain.unknowns.sample(rng, 20)
    tables = machines.tables(plain.target().space.levels)
    expected = AnswerTerm(told, ("a", "b"))(*tables)
    assert np.ptp(expected) > 1
    for score in (
        lambda problem: problem.posteriors[0].log_likelihood(*tables),
        lambda problem: problem.of_machines("exhaustive").log_likelihood(*tables),
        lambda problem: problem.target().log_likelihood(machines, experts),
        lambda problem: (
            weigh(problem.target(), Census(machines, experts.discount), np.ones(20)).log_likelihood
        ),
    ):
        assert score(asked) - score(plain) == pytest.approx(expected, abs=1e-9)


def test_arviz_is_not_given_draws_of_several_weights() -> None:
    weighed = _exact().answered(SEQUENCE, 1.0, refresh=False)
    with pytest.raises(ArgumentError, match=r"refreshed\(\)\.to_arviz"):
        weighed.to_arviz()


@pytest.mark.parametrize("labels", ["a", ("ab",), ("a", "b")])
def test_a_label_sequence_of_a_question_is_not_one_string(labels: Any) -> None:
    kind = "preference" if len(labels) == 2 else "sequence"
    with pytest.raises(ArgumentError, match="give labels as a tuple of tuples"):
        Question(kind, "?", 0.1, 6.0, answers=(0.0, 1.0), labels=labels, rationality=1.0)
