"""Questions to people: what is asked, in which order, and how answers are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import whence
from runs import small
from whence.ask import Enough, Manner, Person, Prompt, Question, converse, questions
from whence.ask.belief import belief
from whence.ask.demonstrating import expert_of
from whence.ask.prompting import told_way
from whence.ask.ways import execution
from whence.errors import ArgumentError
from whence.model.asking import KINDS, Execution

TASK = whence.RewardMachine.from_arrows(["x -a-> y", "y -b/1-> x"], alphabet=("a", "b"))


@cache
def run() -> whence.Run:
    """Return a run that leaves much open."""
    mdp = small.world()
    demos = small.demonstrations(mdp).subset([0])
    return whence.infer(mdp, demos, states=2, expert=whence.Expert(3, 0.9), method="exhaustive")


@pytest.mark.parametrize("about", ["route", "facts", "regret"])
def test_the_most_informative_second_comes_first(about: str) -> None:
    found = questions(run(), about=about, most=100)
    rates = [each.rate for each in found]
    assert rates == sorted(rates, reverse=True)
    assert len({each.id for each in found}) == len(found)
    for each in found:
        assert each.gain > 0
        assert each.text
        assert each.settles
        assert (each.error > 0) == (each.kind == "demonstration")
        assert len(each.chances) == len(each.answers)
        assert not each.answers or sum(each.chances) == pytest.approx(1)


def test_every_kind_is_asked_and_times_are_the_askers() -> None:
    for kind in KINDS:
        assert {each.kind for each in questions(run(), kinds=(kind,))} == {kind}
    quick = questions(run(), seconds={"demonstration": 1e-3, "label": 0.0})
    assert quick[0].kind == "demonstration"


def test_what_was_answered_is_not_asked_again() -> None:
    first = questions(run(), kinds=("sequence",))[0]
    after = run().answered(first, first.answers[0], refresh=False)
    assert first.id not in {each.id for each in questions(after, most=1000)}


def test_an_expert_who_never_errs_is_asked_on_after_showing_something() -> None:
    mdp = small.world()
    expert = whence.Expert(np.inf, 0.9)
    shown = whence.simulate(mdp, TASK, expert, episodes=1, length=2, seed=3)
    bold = whence.infer(mdp, shown, states=2, expert=expert, method="exhaustive")
    asked = questions(bold, kinds=("demonstration",))[0]
    after = bold.answered(asked, Person(TASK, expert)(bold, asked), refresh=False)
    assert after.draws is not None
    assert 0 < np.count_nonzero(after.draws.weight) < after.draws.size
    known = belief(after)
    assert 0 < known.size < belief(bold).size
    assert known.weight.min() > 0
    assert all(expert_of(known, k) == expert for k in range(known.size))
    assert all(each.gain > 0 for each in questions(after))


def test_executions_read_just_what_is_asked_about() -> None:
    mdp = small.world()
    for question in questions(run(), kinds=("sequence", "preference"), most=20):
        for word, way in zip(question.labels, question.executions, strict=True):
            assert tuple(label for label in way.labels[1:] if label is not None) == word
            pairs = zip(way.states, way.actions, way.states[1:], strict=False)
            for state, action, after in pairs:
                pair = state * mdp.n_actions + action
                assert after in mdp.successors[mdp.offsets[pair] : mdp.offsets[pair + 1]]
            assert way.states[0] in mdp.initial_states
    assert execution([mdp], ["q"]) is None


def test_a_simulated_person_leads_to_the_truth_and_is_found_to_err() -> None:
    person = Person(TASK, whence.Expert(20, 0.9))
    after = converse(run(), person, Manner(kinds=("sequence",), about="route", most=12))
    assert after.posterior is not None
    route = after.posterior.routes[0]
    assert (route.text, route.probability > 0.9) == ("first `a`, then `b`, over and over", True)
    often = Person(TASK, wrong=1.0)
    wrong = converse(run(), often, Manner(kinds=("sequence",), most=6))
    assert wrong.error_rate.mean > after.error_rate.mean


def test_a_person_answers_as_the_machine_pays_and_is_wrong_as_often_as_said() -> None:
    asked = Question("sequence", "?", 0, 1, answers=(0.0, 1.0), labels=(("a", "b"),))
    assert Person(TASK)(run(), asked) == 1.0
    assert Person(TASK, wrong=1.0)(run(), asked) == 0.0
    some = [Person(TASK, wrong=0.3, seed=seed)(run(), asked) for seed in range(400)]
    assert abs(np.mean(np.array(some) == 0.0) - 0.3) < 4 * np.sqrt(0.3 * 0.7 / 400)
    with pytest.raises(ArgumentError, match="wrong is 2"):
        Person(TASK, wrong=2)


def typed(*lines: str) -> Prompt:
    said: Iterator[str] = iter(lines)

    def read(prompt: str) -> str:
        try:
            return next(said)
        except StopIteration:
            raise EOFError from None

    return Prompt(lambda line: None, read)


def test_people_answer_skip_and_stop() -> None:
    level = questions(run(), kinds=("sequence",))[0]
    assert typed("what?", " 1 ")(run(), level) == 1.0
    assert typed("skip")(run(), level) is None
    either = questions(run(), kinds=("preference",))[0]
    assert typed("sec")(run(), either) == "second"
    for ending in (typed("stop"), typed()):
        with pytest.raises(Enough):
            ending(run(), level)
    skipped = converse(run(), typed("skip", "skip", "0"), Manner(kinds=("sequence",)))
    ranked = questions(run(), kinds=("sequence",))
    assert [each.question.id for each in skipped.answers] == [ranked[2].id]


def test_people_walk_a_demonstration_and_take_steps_back() -> None:
    show = questions(run(), kinds=("demonstration",))[0]
    found = typed("fly", "r l undo", "right", "done")(run(), show)
    assert isinstance(found, whence.Episode)
    assert found.actions == (1, 1)
    assert len(found.states) == 3
    assert found.states[0] == show.state
    assert found.history == show.labels[0]
    assert len(run().answered(show, found, refresh=False).answers) == 1


def _odd() -> whence.LabeledMDP:
    """Return a corridor whose names are several words."""
    steps = [(s, a, min(max(s + (-1, 1)[a], 0), 2), 1.0) for s in range(3) for a in (0, 1)]
    names = ["goal, maybe", None, "rusty `key`"]
    return whence.LabeledMDP.from_triples(
        steps, states=3, actions=("go left", "go right"), labels=names, initial=[(1, 1.0)]
    )


def test_actions_of_several_words_are_typed_by_their_numbers() -> None:
    asked: Any = SimpleNamespace(job=SimpleNamespace(pairs=[(_odd(), None)]), answers=())
    show = Question("demonstration", "?", 0.1, 45.0, labels=((),), state=1, length=9)
    found = typed("go", "3", "2 1", "done")(asked, show)
    assert isinstance(found, whence.Episode)
    assert found.states == (1, 2, 1)


def test_ways_name_labels_so_that_they_can_be_told_from_the_sentence() -> None:
    way = Execution(0, (1, 0, 1, 2), (0, 1, 1), (None, "goal, maybe", None, "rusty `key`"))
    told = told_way(_odd(), way)
    assert told == "from 1, `goal, maybe` at 0 after 1 step, `rusty 'key'` at 2 after 3 steps"


def test_arguments_are_checked() -> None:
    for said, message in (
        ({"kinds": ("guess",)}, "kind is 'guess'"),
        ({"about": "love"}, "about is 'love'"),
        ({"most": 0}, "most is 0"),
        ({"seconds": {"sequence": 0}}, "seconds of a sequence are 0"),
    ):
        with pytest.raises(ArgumentError, match=message):
            questions(run(), **said)
    with pytest.raises(ArgumentError, match="the method, annealing, gives no probabilities"):
        questions(small.infer("annealing"))
    with pytest.raises(ArgumentError, match="go on first: whence resume RUN --steps"):
        questions(replace(small.infer("tempering"), posterior=None))
    with pytest.raises(ArgumentError, match="not all machines were scored"):
        questions(replace(run(), posterior=None))


def test_nothing_is_asked_where_nothing_is_open() -> None:
    steps = [(0, 0, 1, 1.0), (1, 0, 0, 1.0)]
    mdp = whence.LabeledMDP.from_triples(
        steps, states=2, actions=("go",), labels=[None, "a"], alphabet=("a",), initial=0
    )
    demos = whence.Demonstrations.from_episodes([([0, 1], [0])])
    sure = whence.infer(mdp, demos, states=1, expert=whence.Expert(5, 0.9))
    assert len(sure.posterior or ()) == 1
    assert questions(sure) == ()
    person = Person(sure.best)
    assert converse(sure, person).answers == ()
