"""Courses are remembered, and never those of another world, machine or discount."""

from __future__ import annotations

import numpy as np
import pytest

from whence import LabeledMDP, RewardMachine
from whence.analysis import remembering
from whence.analysis.heading import Goal, agent, values_of
from whence.analysis.remembering import Courses
from whence.analysis.routes import Course, course

WORLD = LabeledMDP.from_map("labels: a b\nstarts: 2,0\nmap:\na...b\n")
NEARER = WORLD.with_initial(3)
WANTS_A = RewardMachine.from_arrows(["x -a/1-> y"], alphabet=("a", "b"))
WANTS_B = RewardMachine.from_arrows(["x -b/1-> y"], alphabet=("a", "b"))
EITHER = RewardMachine.from_arrows(["x -a/3-> y", "x -b/1-> y"], alphabet=("a", "b"))


def asked(known: Courses, world: LabeledMDP, machine: RewardMachine, discount: float) -> Course:
    goal = Goal(machine.transitions, machine.rewards, discount)
    values = values_of([world], world.alphabet, [goal])
    (found,) = known.of([world], world.alphabet, [goal], values)
    assert found == course(agent([world], world.alphabet, goal, values[0]))
    return found


def test_what_differs_is_not_mixed_up() -> None:
    known = Courses()
    cases = [
        (world, machine, discount)
        for world in (WORLD, NEARER)
        for machine in (WANTS_A, WANTS_B, EITHER)
        for discount in (0.2, 0.9)
    ]
    first = [asked(known, *case) for case in cases]
    assert len(known) == len(cases)
    assert [asked(known, *case) for case in reversed(cases)] == first[::-1]
    assert len(set(first)) > 1
    assert first[cases.index((NEARER, EITHER, 0.2))] != first[cases.index((NEARER, EITHER, 0.9))]


def test_what_is_known_is_not_worked_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Courses()
    before = asked(known, WORLD, WANTS_A, 0.9)

    def never(*_: object) -> None:
        raise AssertionError("worked out again")

    monkeypatch.setattr(remembering, "agent", never)
    goal = Goal(WANTS_A.transitions.copy(), WANTS_A.rewards.copy(), 0.9)
    values = [[np.zeros((2, WORLD.n_states))]]
    assert known.of([WORLD], WORLD.alphabet, [goal], values) == (before,)
    with pytest.raises(AssertionError, match="again"):
        known.of([NEARER], WORLD.alphabet, [goal], values)


def test_the_oldest_are_forgotten() -> None:
    known = Courses(most=2)
    for discount in (0.5, 0.6, 0.7):
        asked(known, WORLD, WANTS_A, discount)
    assert len(known) == 2
