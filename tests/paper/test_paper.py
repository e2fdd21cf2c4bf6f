from __future__ import annotations

import math
from dataclasses import replace

import pytest

import whence
from whence.paper import published as paper
from whence.paper.nearby import difference
from whence.planning.evaluation import monte_carlo


def test_references_are_the_known_facts() -> None:
    facts = {"recharge": (1.0, 1.0), "coffee": (0.525, 0.710), "multi-coffee": (1.429, 2.0)}
    for name, (expert, agent) in facts.items():
        seen = paper.reference(whence.worlds.BUILT_IN[name](None))
        assert (round(seen.expert, 3), round(seen.agent, 3)) == (expert, agent)
        assert seen.threshold == pytest.approx(paper.TABLE_1[name].agent - 2 * seen.error - 0.005)
        assert seen.agent >= seen.threshold


def test_the_error_of_an_average_is_that_of_simulated_episodes() -> None:
    world = whence.worlds.coffee()
    deviation = paper.episode_deviation(world)
    chance = paper.reference(world).agent  # the task pays 1 or nothing
    assert deviation == pytest.approx(math.sqrt(chance * (1 - chance)), rel=1e-9)
    policy = whence.plan(world.mdp, world.task, 0.92)
    seen = monte_carlo(world.mdp, policy, world.task, 4_000, 100, 0)
    assert seen.standard_error * math.sqrt(4_000) == pytest.approx(deviation, rel=0.03)
    assert paper.episode_deviation(whence.worlds.multi_coffee()) == pytest.approx(0, abs=1e-6)


def test_the_papers_machines_differ_from_the_truth_as_it_says() -> None:
    worlds = {name: make(None) for name, make in whence.worlds.BUILT_IN.items()}
    told = {name: difference(paper.FIGURES[name], w) for name, w in worlds.items()}
    assert told["coffee"] == ["It is the true machine."]
    assert "`w r`: it pays 0 1, the truth 0 0" in told["recharge"][1]
    assert told["multi-coffee"][0] == "It is the machine that the paper draws."
    assert told["multi-coffee"][-1] == (
        "Entry by entry, with the truth's names for its states: "
        "in *strong*, `*` leads to *weak* instead of *over*."
    )


def test_words_name_rewards_numbers_of_states_and_what_the_world_cannot_show() -> None:
    world = whence.worlds.coffee()
    double = whence.RewardMachine(
        world.task.alphabet, world.task.transitions, 2 * world.task.rewards
    )
    assert "in *holding*, `o` pays 2 instead of 1" in difference(double, world)[-1]
    small = whence.RewardMachine.from_arrows(["a -o/1-> b"], alphabet=("c", "o", "*"))
    assert difference(small, world)[-1] == "It has 2 states where the truth has 3."
    blind = whence.LabeledMDP.from_map("labels: c o *\nstarts: S\nmap:\nS*.oc\n", source="map")
    told = difference(double, replace(world, mdp=blind))
    assert "No label sequence that this world can produce tells the two apart." in told
