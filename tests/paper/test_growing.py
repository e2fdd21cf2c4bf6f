"""Growing tasks: the sizes that they say, reachable, earned by their experts, told by data."""

from __future__ import annotations

import pytest

from whence import Posterior, Prior, evaluate, expert_policy
from whence.errors import ArgumentError
from whence.paper.growing import KINDS, Growing, growing, rivals, sizes, task_of


@pytest.mark.parametrize("avoid", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_task_has_as_many_states_as_asked_for_and_cannot_do_with_fewer(
    kind: str, avoid: bool
) -> None:
    every = sizes(kind, avoid)
    assert min(every) <= 7
    assert max(every) >= 13
    for states in every:
        task = task_of(Growing(kind, states, symbols=16, avoid=avoid))
        assert task.n_states == task.minimised().n_states == states
        assert task.is_valid


def test_the_kinds_pay_for_what_their_names_say() -> None:
    tasks = {kind: task_of(Growing(kind, 7)) for kind in KINDS}
    assert tasks["sequence"].run("abcdef").rewards[-1] == 1
    assert tasks["sequence"].run("abdcef").rewards[-1] == 0
    either = tasks["either"]
    assert either.run("bacde").rewards[-1] == either.run("abcde").rewards[-1] == 1
    assert either.run("acbde").rewards[-1] == 0
    chains = tasks["chains"]
    assert chains.run("cabd").rewards[-1] == chains.run("acbd").rewards[-1] == 1
    assert chains.run("bacd").rewards[-1] == 0
    patrol = tasks["patrol"]
    assert sum(patrol.run("abcdefg" * 3).rewards) == 3
    choice = tasks["choice"]
    assert choice.run("abcf").rewards[-1] == 2
    assert choice.run("def").rewards[-1] == 1


def test_what_is_to_be_avoided_ends_it_all() -> None:
    task = task_of(Growing("sequence", 4, avoid=True))
    assert task.run("abc").rewards[-1] == 1
    assert sum(task.run("adbc").rewards) == 0


@pytest.mark.parametrize("slip", [0.0, 0.1])
def test_experts_earn_four_fifths_and_starts_are_many(slip: float) -> None:
    world = growing(Growing("either", 5, symbols=6, side=10, slip=slip, seed=3))
    policy = expert_policy(world.mdp, world.task, world.expert)
    found = evaluate(world.mdp, policy, truth=world.task, length=world.length)
    assert found.expected_return >= 0.8 * found.reference > 0.4
    assert len(world.mdp.initial_states) == 10
    assert world.mdp.readable().all()
    assert world.mdp.is_deterministic == (slip == 0)


def test_the_same_seed_gives_the_same_world_and_another_one_another() -> None:
    asked = Growing("choice", 6, side=10, seed=5)
    assert growing(asked).mdp == growing(asked).mdp
    assert growing(asked).mdp != growing(Growing("choice", 6, side=10, seed=6)).mdp


def test_demonstrations_tell_a_task_from_what_is_one_change_away() -> None:
    world = growing(Growing("sequence", 3, symbols=4, side=10, slip=0.1, seed=2))
    demos = world.demonstrations(0)
    posterior = Posterior(world.mdp, demos, expert=world.expert, rewards=world.rewards)
    assert rivals(posterior, world.task) == []
    flat = Prior(p_self=1 / 3, p_zero=1 / 2)  # every machine of three states is as likely
    none = Posterior(
        world.mdp, demos.subset([]), expert=world.expert, rewards=world.rewards, prior=flat
    )
    found = rivals(none, world.task)
    assert found
    assert not any(world.task.same_in(machine, world.mdp) for machine in found)


def test_sizes_that_a_kind_cannot_have_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"states is 8; a task of kind 'chains' has one of 7"):
        growing(Growing("chains", 8))
    with pytest.raises(ArgumentError, match="symbols is 4; this task names 6"):
        growing(Growing("sequence", 7, symbols=4))
    with pytest.raises(ArgumentError, match="known are sequence, either"):
        sizes("dance", False)
