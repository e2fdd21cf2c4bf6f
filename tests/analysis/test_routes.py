"""What an optimal agent heads for, against simulation and against cases known by hand."""

from __future__ import annotations

import numpy as np
import pytest

import whence
from support import wanted
from support.problems import random_machine, random_world
from whence import LabeledMDP, RewardMachine
from whence.analysis import heading
from whence.analysis.plans import Plans
from whence.analysis.routes import ANYTHING, Course, beginning, cycle, longest, minimal
from whence.analysis.wording import phrase, shown

LEVELS = np.array([0.5, 1.0, 2.0])


def route(
    worlds: LabeledMDP | list[LabeledMDP], machine: RewardMachine, discount: float = 0.9
) -> Course:
    every = [worlds] if isinstance(worlds, LabeledMDP) else worlds
    return Plans.of(every, machine.alphabet, [machine], [discount]).courses[0]


def said(worlds: LabeledMDP | list[LabeledMDP], machine: RewardMachine) -> str:
    found = route(worlds, machine)
    return phrase(found.moves, shown(machine.alphabet), by_start=found.by_start)


def corridor(text: str, **lines: str) -> LabeledMDP:
    head = "".join(f"{name}: {value}\n" for name, value in lines.items())
    return LabeledMDP.from_map(f"{head}starts: S\nmap:\n{text}\n", source="map")


def machine(*arrows: str, alphabet: tuple[str, ...]) -> RewardMachine:
    return RewardMachine.from_arrows(list(arrows), alphabet=alphabet)


def test_label_words_are_those_of_simulated_agents() -> None:
    compared = 0
    for seed in range(12):
        rng = np.random.default_rng((31, seed))
        mdp = random_world(
            rng, states=int(rng.integers(4, 14)), actions=2, symbols=3,
            successors=int(rng.integers(1, 4)), blank=0.5,
        )  # fmt: skip
        goal = random_machine(rng, mdp.alphabet, int(rng.integers(1, 9)), LEVELS)
        found = route(mdp, goal, 0.8)
        words = wanted.words(
            mdp, goal, 0.8, episodes=400, length=60, most=4, rng=np.random.default_rng(seed)
        )
        assert wanted.disagreement(found, mdp.alphabet, words, 4, 100) is None, seed
        compared += sum(len(word) > 1 for word in words) > 100
    assert compared >= 8


def test_simulation_notices_a_wrong_route() -> None:
    world = whence.worlds.coffee()
    words = wanted.words(
        world.mdp, world.task, 0.92, episodes=60, length=60, most=3,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    right = route(world.mdp, world.task, 0.92)
    assert wanted.disagreement(right, world.mdp.alphabet, words, 3, 30) is None
    for moves in (((),), (((1, 1),), ()), (((0, 1),), ((0, 2),), ()), (((0, 0),),)):
        wrong = Course(moves, (), by_start=False)
        assert wanted.disagreement(wrong, world.mdp.alphabet, words, 3, 30) is not None


def test_walking_gives_what_solving_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    world = whence.worlds.coffee()
    solved = route(world.mdp, world.task)
    monkeypatch.setattr(heading, "DENSE", 0)
    assert route(world.mdp, world.task) == solved
    assert solved.moves == (((0, 1),), ((1, 2),), ())


def test_steps_are_those_of_best_actions_worked_out_one_by_one() -> None:
    accidents = 0
    for seed in range(30):
        rng = np.random.default_rng((32, seed))
        mdp = random_world(rng, states=12, actions=3, symbols=3, successors=3, blank=0.5)
        goal = random_machine(rng, mdp.alphabet, 4, np.array([-0.5, 0.5, 1.0]))
        tables = heading.Goal(goal.transitions, goal.rewards, 0.9)
        ((values,),) = heading.values_of([mdp], mdp.alphabet, [tables])
        places, source, target, chance, symbol = heading._followed(mdp, tables, values)
        assert (np.diff(source) >= 0).all()
        assert places[: len(mdp.initial_states)].tolist() == mdp.initial_states.tolist()
        found = zip(places[source], places[target], chance, symbol, strict=True)
        expected, left_out = wanted.best_steps(mdp, tables, values)
        assert sorted(found) == expected, seed
        accidents += left_out
    assert accidents > 20


def test_a_belief_that_spreads_far_keeps_its_mass(monkeypatch: pytest.MonkeyPatch) -> None:
    world = whence.worlds.coffee()
    tables = heading.Goal(world.task.transitions, world.task.rewards, 0.92)
    values = heading.values_of([world.mdp], world.mdp.alphabet, [tables])[0]
    agent = heading.agent([world.mdp], world.mdp.alphabet, tables, values)
    solved = {s: float(mass.sum()) for s, mass in agent.following(agent.start).items()}
    monkeypatch.setattr(heading, "DENSE", 0)
    for most in (4096, 20):
        monkeypatch.setattr(heading, "MOST_ACTIVE", most)
        walked = {s: float(mass.sum()) for s, mass in agent.following(agent.start).items()}
        assert walked == pytest.approx(solved, abs=1e-3 if most == 4096 else 0.1)


def test_a_loop_is_said_as_a_loop_wherever_it_is_paid() -> None:
    maze = corridor("l..S..w", labels="l=light w=water")
    for arrows in (
        ("a -light/1-> b", "b -water-> a"),
        ("a -light-> b", "b -water/1-> a"),
        ("a -light/1-> b", "b -water/1-> a"),
    ):
        rat = machine(*arrows, alphabet=("light", "water"))
        assert said(maze, rat) == "first light, then water, over and over"


def test_what_comes_before_a_loop_is_said_first() -> None:
    maze = corridor("k.S.l.w", labels="k=key l=light w=water")
    goal = machine(
        "a -key-> b", "b -light-> c", "c -water/1-> b", alphabet=("key", "light", "water")
    )
    assert said(maze, goal) == "first key, and from then on light, then water, over and over"


def test_slips_onto_what_ends_everything_are_no_part_of_the_route() -> None:
    world = whence.worlds.coffee()
    assert said(world.mdp, world.task) == "first `c`, then `o`"
    assert whence.evaluate(
        world.mdp, whence.plan(world.mdp, world.task, 0.92), world.task, 100
    ).expected_return < 0.75  # fmt: skip


def test_a_label_on_the_way_that_gains_nothing_is_not_wanted() -> None:
    usual = whence.worlds.coffee(start=(2, 1))
    office = machine("a -o/1-> b", "a -*-> b", alphabet=("c", "o", "*"))
    assert said(usual.mdp, office) == "`o`"
    assert said(usual.mdp, usual.task) == "first `c`, then `o`"


def test_ties_are_alternatives_and_either_order_is_said() -> None:
    alphabet = ("a", "f", "e")
    cross = corridor("..e..\n.....\na.S.f\n", labels="a f e")
    both = machine("0 -a-> 1", "0 -f-> 2", "1 -f-> 3", "2 -a-> 3", "3 -e/1-> 4", alphabet=alphabet)
    assert said(cross, both) == "first `a` and `f` in either order, then `e`"
    one = machine("0 -a,f-> 1", "1 -e/1-> 2", alphabet=alphabet)
    assert said(cross, one) == "first `a` or `f`, then `e`"


def test_what_is_first_may_depend_on_the_start() -> None:
    line = LabeledMDP.from_map("labels: a b\nstarts: S\nmap:\naS...Sb\n", source="map")
    either = machine("0 -a,b/1-> 1", alphabet=("a", "b"))
    assert said(line, either) == "`a` or `b`, depending on the start"
    alone = corridor("a..S..b", labels="a b")
    assert said(alone, either) == "`a` or `b`"


def test_a_machine_reads_only_what_its_world_shows() -> None:
    goal = machine("0 -a/1-> 1", "0 -b/1-> 1", alphabet=("a", "b"))
    left, right = corridor("aS.", labels="a"), corridor(".Sb", labels="b")
    assert said(left, goal) == "`a`"
    assert said([left, right], goal) == "`a` or `b`, depending on the start"


def test_nothing_is_wanted_where_nothing_can_be_had() -> None:
    mdp = corridor("aS.", labels="a")
    assert said(mdp, machine("0 -a/-1-> 0", alphabet=("a",))) == "nothing"
    assert said(mdp, machine("0 -a-> 0", alphabet=("a",))) == "nothing"
    assert said(mdp, machine("0 -a/1-> 0", alphabet=("a",))) == "`a`, over and over"


def test_the_discount_decides_what_is_worth_a_detour() -> None:
    mdp = corridor("a.S......b", labels="a b")
    goal = machine("0 -a/1-> 1", "0 -b/2-> 1", alphabet=("a", "b"))
    assert phrase(route(mdp, goal, 0.5).moves, ("a", "b")) == "a"
    assert phrase(route(mdp, goal, 0.99).moves, ("a", "b")) == "b"


def test_a_large_world_is_walked() -> None:
    side = 300
    rows = [["."] * side for _ in range(side)]
    rows[0][0], rows[side - 1][side - 1], rows[side // 2][side // 2] = "a", "b", "S"
    mdp = corridor("\n".join("".join(row) for row in rows), labels="a b")
    goal = machine("0 -a-> 1", "1 -b/1-> 2", alphabet=("a", "b"))
    assert phrase(route(mdp, goal, 0.995).moves, ("a", "b")) == "first a, then b"


def test_equal_routes_are_equal_values() -> None:
    unrolled = (((0, 1),), ((1, 2),), ((0, 3),), ((1, 0),))
    assert minimal(unrolled) == (((0, 1),), ((1, 0),))
    assert longest(minimal(unrolled)) is None
    once = (((0, 1),), ((1, 2),), ())
    assert beginning(unrolled, 2) == once == beginning(once, 5)
    assert beginning(unrolled, 3) != beginning(once, 3)
    assert longest(once) == 2


@pytest.mark.parametrize(
    ("moves", "text"),
    [
        (((),), "nothing"),
        ((((0, 1),), ()), "a"),
        ((((0, 0),),), "a, over and over"),
        ((((0, 1), (1, 2)), ((2, 3),), ((3, 3),), ()), "either a, then c, or b, then d"),
        ((((0, 1), (1, 2)), ((2, 0),), ((3, 0),)),
         "either a, then c, or b, then d, over and over"),
        ((((0, 1), (1, 2)), ((2, 1),), ((3, 2),)),
         "either a, then c, over and over, or b, then d, over and over"),
        ((((0, 1),), ((1, 2),), ((2, 1),)), "first a, and from then on b, then c, over and over"),
        ((((0, 1), (1, 2)), ((1, 2),), ((0, 1),)),
         "a and b in turn, over and over, beginning with either"),
        ((((0, 1), (1, 2)), ((1, 2),), ((2, 3),), ((0, 1),)),
         "a, then b, then c, over and over, beginning with a or b"),
        ((((3, 1),), ((0, 2), (1, 3)), ((1, 3),), ((0, 2),)),
         "first d, then a and b in turn, over and over, beginning with either"),
        ((((0, 1), (1, 1)), ((1, 2),), ((0, 1),)),
         "first a or b, and from then on b, then a, over and over"),
        ((((0, 1),), ((ANYTHING, 1),)), "first a, then more, in ways too many to say"),
    ],
)  # fmt: skip
def test_routes_in_words(moves: tuple[tuple[tuple[int, int], ...], ...], text: str) -> None:
    assert phrase(moves, ("a", "b", "c", "d")) == text


def test_a_loop_is_one_wherever_it_begins() -> None:
    assert cycle((((0, 1),), ((1, 0),))) == cycle((((1, 1),), ((0, 0),))) == (0, 1)
    assert cycle((((0, 1), (1, 2)), ((1, 2),), ((0, 1),))) == (0, 1)
    assert cycle((((0, 0),),)) == (0,)
    for other in (
        ((),),
        (((0, 1),), ((1, 2),), ()),
        (((0, 1), (1, 1)), ((1, 2),), ((0, 1),)),
        (((2, 1),), ((0, 2),), ((1, 1),)),
        (((0, 1),), ((ANYTHING, 1),)),
    ):
        assert cycle(other) is None


def junction(lefts: int, rights: int) -> LabeledMDP:
    """Return a maze with two arms as a log shows it that went there so often."""
    ways = ["left"] * lefts + ["right"] * rights
    table: dict[str, list[str]] = {"episode": [], "state": [], "action": [], "label": []}
    for trial, way in enumerate(ways):
        for state, action, label in (("home", way, ""), (way, "back", way), ("home", "", "")):
            row = (str(trial), state, action, label)
            for name, cell in zip(table, row, strict=True):
                table[name].append(cell)
    log = whence.Demonstrations.from_table(table)
    return LabeledMDP.from_demonstrations(log, available="seen")


def test_how_often_a_log_shows_a_way_does_not_decide_between_equal_ones() -> None:
    goal = machine("0 -left-> 1", "0 -right-> 2", "1 -right/1-> 2", "2 -left/1-> 1",
                   alphabet=("left", "right"))  # fmt: skip
    for lefts, rights in ((30, 34), (34, 30), (10, 60)):
        assert said(junction(lefts, rights), goal) == (
            "left and right in turn, over and over, beginning with either"
        )
    left = machine("0 -left/1-> 0", alphabet=("left", "right"))
    assert said(junction(30, 34), left) == "left, over and over"


@pytest.mark.parametrize(
    ("labels", "texts"),
    [
        (("light", "water"), ("light", "water")),
        (("light", "w"), ("`light`", "`w`")),
        (("then", "water"), ("`then`", "`water`")),
        (("größe", "Blaue Tür"), ("größe", "Blaue Tür")),
        (("a`b", "*"), ("`a'b`", "`*`")),
    ],
)
def test_labels_that_could_be_misread_are_quoted(
    labels: tuple[str, ...], texts: tuple[str, ...]
) -> None:
    assert shown(labels) == texts


def test_a_gain_of_just_half_a_steps_delay_is_not_gone_for() -> None:
    goal = heading.Goal(np.zeros((1, 1), dtype=np.int64), np.ones((1, 1)), 0.8)
    reading = np.array([4.0, 4.0, 4.0])
    gain = np.array([0.4, 0.4 * (1 + 1e-13), 0.4 * (1 + 1e-6)])
    wanted, harmful = heading.judged(goal, gain, reading, np.ones(3, dtype=np.bool_))
    assert wanted.tolist() == [False, False, True]
    assert not harmful.any()
