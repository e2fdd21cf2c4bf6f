"""Facts of samples that are known exactly."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import whence
from support.draws import draws_of
from whence import Demonstrations, Episode, Expert, LabeledMDP, RewardMachine
from whence.analysis import untested
from whence.analysis.facts import percent
from whence.analysis.granted import doubts_of_choice, granted
from whence.analysis.plans import Plans
from whence.analysis.questions import open_questions
from whence.analysis.rivals import gate, not_shown
from whence.analysis.sample import PosteriorSample
from whence.likelihood.ended import endings_shown

COFFEE = whence.worlds.coffee()
USUAL = whence.worlds.coffee(start=(2, 1))
OFFICE = RewardMachine.from_arrows(
    ["before -o/1-> over", "before -*-> over"], alphabet=("c", "o", "*")
)
MAZE = LabeledMDP.from_map(
    "labels: l=light w=water\nstarts: S\nmap:\nl..S..w\n", source="map"
)  # fmt: skip


def rat(*arrows: str) -> RewardMachine:
    return RewardMachine.from_arrows(list(arrows), alphabet=("light", "water"))


AT_WATER = rat("a -light-> b", "b -water/1-> a")
AT_LIGHT = rat("a -light/1-> b", "b -water-> a")
AT_BOTH = rat("a -light/1-> b", "b -water/1-> a")
LIGHT = rat("a -light/1-> a")


def sample(
    worlds: LabeledMDP | list[LabeledMDP], machines: list[RewardMachine], weight: list[float]
) -> PosteriorSample:
    draws = draws_of(machines, weight=weight, exact=True)
    return PosteriorSample.from_draws(worlds, draws, machines[0].alphabet)


def stated(found: PosteriorSample) -> dict[str, float]:
    return {fact.text: fact.probability for fact in found.answer.facts}


def test_machines_that_act_alike_are_one_route() -> None:
    found = sample(MAZE, [AT_LIGHT, AT_WATER, AT_BOTH, LIGHT], [0.4, 0.3, 0.25, 0.05])
    first, second = found.routes
    assert first.text == "first light, then water, over and over"
    assert first.probability == pytest.approx(0.95)
    assert first.error == 0
    assert second.text == "light, over and over"
    assert sorted(first.classes + second.classes) == [0, 1, 2, 3]
    assert found.answer.sentence.startswith(
        "The expert wants first light, then water, over and over ("
    )


def test_the_machine_shown_is_the_simplest_that_weighs_something() -> None:
    heavy = sample(MAZE, [AT_BOTH, AT_WATER], [0.6, 0.4])
    assert heavy.routes[0].machine == AT_WATER
    faint = sample(MAZE, [AT_BOTH, AT_WATER], [0.98, 0.02])
    assert faint.routes[0].machine == AT_BOTH


def test_the_heaviest_machines_alone_have_their_own_routes() -> None:
    found = sample(MAZE, [AT_LIGHT, LIGHT], [0.7, 0.3]).top(1)
    (route,) = found.routes
    assert route.text == "first light, then water, over and over"
    assert route.probability == pytest.approx(0.7)


def test_a_task_is_told_whole() -> None:
    found = sample(COFFEE.mdp, [COFFEE.task], [1.0])
    assert found.answer.statement == (
        "The expert wants first `c`, then `o`, and after that nothing more; it avoids `*` all "
        "the way; it is `o` that pays"
    )
    assert all(fact.probability == 1 and fact.error == 0 for fact in found.answer.facts)
    assert {fact.kind for fact in found.answer.facts} == {"route", "ends", "avoids", "pays"}


def test_levels_are_compared_where_there_are_several() -> None:
    world = whence.worlds.multi_coffee()
    found = sample(world.mdp, [world.task], [1.0])
    texts = stated(found)
    assert texts["`o` pays 2"] == 1
    assert texts["`c`, then `o` pays twice what `k`, then `o` does"] == 1


def test_what_is_common_to_all_is_sure_where_the_order_is_not() -> None:
    found = sample(USUAL.mdp, [USUAL.task, OFFICE], [0.5, 0.5])
    texts = stated(found)
    assert texts["`o` sooner or later"] == 1
    assert texts["after `o` it wants nothing more"] == 1
    assert found.answer.statement.startswith(
        "The expert wants `o` sooner or later, and after that nothing more"
    )


def test_a_beginning_is_sure_where_what_follows_is_open() -> None:
    again = RewardMachine.from_arrows(
        ["0 -c-> 1", "1 -o/1-> 2", "2 -c/1-> 3"], alphabet=("c", "o", "*")
    )
    once = RewardMachine.from_arrows(["0 -c-> 1", "1 -o/1-> 2"], alphabet=("c", "o", "*"))
    found = sample(COFFEE.mdp, [again, once], [0.45, 0.55])
    texts = stated(found)
    assert texts["first `c`, then `o`"] == 1
    assert texts["after `o` it wants nothing more"] == pytest.approx(0.55)
    assert "nothing more" not in found.answer.statement
    assert "first `c`, then `o`, then `c`" not in texts


def test_a_loop_is_sure_where_its_beginning_is_open() -> None:
    other = rat("a -water-> b", "b -light/1-> a")
    found = sample(MAZE, [AT_WATER, other, LIGHT], [0.6, 0.37, 0.03])
    texts = stated(found)
    assert texts["light and water in turn, over and over"] == pytest.approx(0.97)
    assert texts["first light, then water, over and over"] == pytest.approx(0.6)
    assert found.answer.sentence.startswith(
        "The expert wants light and water in turn, over and over"
    )
    known = sample(MAZE, [AT_WATER, LIGHT], [0.97, 0.03])
    assert "light and water in turn, over and over" not in stated(known)


def test_what_every_machine_says_is_not_said_to_be_learned() -> None:
    alphabet = ("light",)
    one = LabeledMDP.from_map("labels: l=light\nstarts: S\nmap:\nl..S\n", source="map")
    again = RewardMachine.from_arrows(["a -light/1-> a"], alphabet=alphabet)
    once = RewardMachine.from_arrows(["a -light/1-> b"], alphabet=alphabet)
    sure = sample(one, [again], [1.0]).answer
    assert granted(sure, range(1, 2), (0.0, 1.0))
    assert not granted(sure, range(1, 3), (0.0, 1.0))
    assert not granted(sure, range(1, 2), (-1.0, 0.0, 1.0))
    assert not granted(sample(one, [once], [1.0]).answer, range(1, 3), (0.0, 1.0))
    assert granted(sample(one, [once, again], [0.5, 0.5]).answer, range(1, 3), (0.0, 1.0))
    assert not granted(sample(MAZE, [LIGHT], [1.0]).answer, range(1, 2), (0.0, 1.0))
    told = replace(sure, granted=True)
    assert told.sentence == (
        "The expert wants light, over and over (so says every machine considered, whatever was "
        "demonstrated)."
    )


def test_demonstrations_that_tell_nothing_are_doubted() -> None:
    expert = Expert(10, 0.9)
    rows = [(0, 0, 1, 1.0), (1, 0, 0, 1.0), (1, 1, 1, 1.0)]
    mdp = LabeledMDP.from_triples(
        rows, states=2, actions=("go", "stay"), labels=[None, "a"], alphabet=("a",),
        initial=[(0, 1.0)], unavailable=[(0, 1)],
    )  # fmt: skip
    wants = RewardMachine.from_arrows(["x -a/1-> x"], alphabet=("a",))
    forced = Demonstrations.from_episodes([whence.Episode([0, 1], [0])])
    assert "nobody had a choice" in doubts_of_choice([(mdp, forced)], wants, expert)[0]
    stays = Demonstrations.from_episodes([whence.Episode([0, 1, 1, 1, 1, 1, 1], [0, *[1] * 5])])
    assert doubts_of_choice([(mdp, stays)], wants, expert) == ()
    assert doubts_of_choice([(mdp, forced), (mdp, stays)], wants, expert) == ()
    either = Demonstrations.from_episodes([whence.Episode([0, 1, 1, 0, 1, 0, 1], [0, 1, 0] * 2)])
    (doubt,) = doubts_of_choice([(mdp, either)], wants, Expert(0.01, 0.9))
    assert "better than chance" in doubt


def test_nothing_below_one_half_is_stated_and_nothing_below_nine_tenths_is_sure() -> None:
    found = sample(MAZE, [AT_WATER, LIGHT, rat("a -water/1-> a")], [0.4, 0.35, 0.25])
    assert all(fact.probability >= 0.5 for fact in found.answer.facts)
    assert stated(found)["light first"] == pytest.approx(0.75)
    assert found.answer.sure == ()
    assert found.answer.sentence == (
        "Nothing is sure yet; probably the expert wants light first (75%)."
    )


def test_the_whole_sentence_is_as_probable_as_its_parts_together() -> None:
    once = rat("a -light/1-> b")
    found = sample(MAZE, [AT_LIGHT, AT_BOTH, once], [0.92, 0.04, 0.04])
    answer = found.answer
    texts = [each.claim.text for each in answer.sure]
    assert texts == ["first light, then water, over and over", "it is light that pays"]
    assert answer.confidence[0] == pytest.approx(0.92)
    assert answer.sentence.endswith("(92% sure).")


def test_facts_can_be_asked_of_a_known_task() -> None:
    answer = sample(MAZE, [AT_LIGHT, LIGHT], [0.6, 0.4]).answer
    texts = [each.claim.text for each in answer.told]
    others = Plans.of([MAZE], MAZE.alphabet, [AT_WATER, LIGHT], [0.92, 0.92])
    told = dict(zip(texts, answer.truth(others), strict=True))
    assert told["first light, then water, over and over"].tolist() == [True, False]
    assert told["light first"].tolist() == [True, True]


def test_a_machine_drawn_with_two_discounts_has_two_plans() -> None:
    line = LabeledMDP.from_map("labels: a b\nstarts: S\nmap:\na.S......b\n", source="map")
    goal = RewardMachine.from_arrows(["0 -a/1-> 1", "0 -b/2-> 1"], alphabet=("a", "b"))
    draws = replace(
        draws_of([goal, goal], weight=[0.3, 0.7], exact=True), discount=np.array([0.5, 0.99])
    )
    found = PosteriorSample.from_draws(line, draws, goal.alphabet)
    assert len(found) == 1
    assert {route.text: route.probability for route in found.routes} == {"`b`": 0.7, "`a`": 0.3}


def test_errors_are_those_of_the_draws() -> None:
    rng = np.random.default_rng(5)
    kinds = rng.random(4000) < 0.7
    draws = draws_of(
        [AT_WATER if kind else LIGHT for kind in kinds], ladder=np.repeat([0, 1], 2000)
    )
    found = PosteriorSample.from_draws(MAZE, draws, MAZE.alphabet)
    route = found.routes[0]
    assert route.probability == pytest.approx(kinds.mean())
    independent = math.sqrt(kinds.mean() * (1 - kinds.mean()) / 4000)
    assert 0.7 * independent < route.error < 1.5 * independent
    certain = PosteriorSample.from_draws(MAZE, draws_of([LIGHT] * 100), MAZE.alphabet)
    assert certain.routes[0].probability == pytest.approx(1)
    assert 0.001 < certain.routes[0].error < 0.05  # a hundred draws do not make it certain


def test_where_on_a_loop_it_is_paid_cannot_be_told() -> None:
    expert = Expert(alpha=math.inf, discount=0.9)
    found = sample(MAZE, [AT_LIGHT, AT_WATER], [0.5, 0.5])
    (fact,) = untested.untellable(found, expert)
    assert fact.kind == "untellable"
    assert fact.text.startswith("where on the loop it is paid, behaviour cannot say")
    other = sample(MAZE, [AT_LIGHT, LIGHT], [0.5, 0.5])
    assert untested.untellable(other, expert) == ()


def test_what_was_never_put_to_the_test_is_said() -> None:
    once = rat("a -light/1-> b")
    other = rat("a -light/1-> b", "b -water/1-> c")
    found = sample(MAZE, [once, other], [0.5, 0.5])
    expert = Expert(alpha=5, discount=0.9)
    questions = open_questions(found, expert=expert)
    assert [each.labels for each in questions] == [("light", "water")]
    assert MAZE.grid is not None
    far = MAZE.grid.state(6, 0)
    nothing = Demonstrations.from_episodes([])
    (fact,) = untested.indifferent(found, questions, [(MAZE, nothing)], expert)
    assert fact.text == "what light, then water alone pays was never put to the test"
    left = MAZE.actions.index("left")
    shown = Demonstrations.from_episodes([([far - k for k in range(7)], [left] * 6)])
    assert untested.indifferent(found, questions, [(MAZE, shown)], expert) == ()


def test_what_only_the_prior_prefers_is_not_said_to_be_sure() -> None:
    found = sample(USUAL.mdp, [OFFICE], [1.0])
    demos = whence.simulate(USUAL.mdp, USUAL.task, USUAL.expert, episodes=20, length=40, seed=1)
    pairs = [(USUAL.mdp, demos)]
    numbers, (untold,) = not_shown(found.answer, pairs, USUAL.expert, 3)
    fact = untold.fact
    assert untold.own.same_in(OFFICE, USUAL.mdp)
    assert untold.other.same_in(USUAL.task, USUAL.mdp)
    assert untold.wants == ("`o`", "first `c`, then `o`")
    assert {found.answer.every[at].claim.text for at in numbers} == {"`o` first"}
    assert fact.text.startswith("whether it wants `o` first, or rather first `c`, then `o`, was ")
    unsure = replace(found.answer, untested=numbers)
    assert unsure.statement.startswith("The expert wants `o` sooner or later")
    assert "`o` first" not in {fact.text for fact in unsure.facts}
    assert not_shown(found.answer, pairs, USUAL.expert, 2) == (frozenset(), ())
    told = sample(COFFEE.mdp, [COFFEE.task], [1.0])
    seen = whence.simulate(COFFEE.mdp, COFFEE.task, COFFEE.expert, episodes=5, length=60, seed=1)
    assert not_shown(told.answer, [(COFFEE.mdp, seen)], COFFEE.expert, 4) == (frozenset(), ())


def test_a_gate_asks_for_a_label_first() -> None:
    gated = gate(OFFICE, 0)
    assert gated.minimised().same_as(COFFEE.task)


def test_percentages_do_not_claim_more_than_is_known() -> None:
    assert [percent(p) for p in (1.0, 0.9996, 0.994, 0.94, 0.004)] == [
        "more than 99.9%", "more than 99.9%", "99.4%", "94%", "less than 1%",
    ]  # fmt: skip


def test_what_is_hardly_possible_is_no_rival() -> None:
    demos = whence.simulate(USUAL.mdp, USUAL.task, USUAL.expert, episodes=20, length=40, seed=1)
    pairs = [(USUAL.mdp, demos)]
    for weight, silent in ((0.05, True), (0.005, False)):
        found = sample(USUAL.mdp, [OFFICE, USUAL.task], [1 - weight, weight])
        numbers, untold = not_shown(found.answer, pairs, USUAL.expert, 2)  # no room for a gate
        assert bool(numbers) is silent
        assert len(untold) == silent, "beginnings of a route are not said one by one"


def test_endings_put_to_the_test_what_steps_do_not() -> None:
    once = rat("a -light/1-> b")
    other = rat("a -light/1-> b", "b -water/1-> c")
    found = sample(MAZE, [once, other], [0.9, 0.1])
    expert = Expert(alpha=5, discount=0.9)
    assert MAZE.grid is not None
    near, left = MAZE.grid.state(1, 0), MAZE.actions.index("left")
    shown = Demonstrations.from_episodes([Episode([near, near - 1], [left], ended=True)] * 20)
    pairs = [(MAZE, shown)]
    beside = [endings_shown(pairs, found.alphabet)]
    _, untold = not_shown(found.answer, pairs, expert, 2)
    after = "whether after light it wants nothing more was hardly put to the test"
    assert after in {each.fact.text for each in untold}
    assert not_shown(found.answer, pairs, expert, 2, beside) == (frozenset(), ())
    questions = open_questions(found, expert=expert)
    assert [each.labels for each in questions] == [("light", "water")]
    assert untested.indifferent(found, questions, pairs, expert, beside) == ()
