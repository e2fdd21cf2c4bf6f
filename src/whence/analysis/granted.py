"""What the demonstrations do not say.

Perhaps nothing else was considered, nobody had a choice, or all is as if by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from whence.analysis.facts import Answer
from whence.analysis.plans import Plans
from whence.analysis.untested import MOST_STEPS, Pairs
from whence.likelihood.steps import steps
from whence.model.checks import step_states
from whence.model.expert import Expert
from whence.model.machine import RewardMachine

CERTAIN = 0.9995  # what is less probable was not said by all machines
LARGEST = 100_000  # states of a product up to which other machines are asked
NO_CHOICE = (
    "nobody had a choice: every state that was acted in has one action, so the demonstrations "
    "tell nothing of what the expert wants; log what else could have been done there"
)
HARDLY_BETTER = 3.0  # nats
BY_CHANCE = (
    "no machine explains the demonstrations better than chance does (by {:.1f} nats, over {:,} "
    "steps): they show no wish that such machines can have; label what may matter to the expert, "
    "or allow for more states"
)


def granted(answer: Answer, sizes: Sequence[int], levels: Sequence[float]) -> bool:
    """Whether a sentence holds for the simplest machines of every kind, whatever they want.

    Then all that were considered probably say the same, and the demonstrations were not needed.

    Args:
        answer: the sentence.
        sizes: the numbers of states that were considered.
        levels: the rewards.
    """
    plans, most = answer.weighed.plans, max(sizes)
    size = sum(mdp.n_states for mdp in plans.worlds) * min(most, 2)
    if not answer.sure or answer.confidence[0] < CERTAIN or size > LARGEST:
        return False
    for machines in _simplest(plans.alphabet, min(sizes), most, levels):
        discounts = [plans.discounts[0]] * len(machines)
        other = Plans.of(plans.worlds, plans.alphabet, machines, discounts)
        if not all(each.claim.test(other).all() for each in answer.sure):
            return False
    return True


def _simplest(
    alphabet: tuple[str, ...], least: int, most: int, levels: Sequence[float]
) -> Iterator[list[RewardMachine]]:
    """Yield machines that want one label again and again, once, or two of them in turn."""
    m, best, worst = len(alphabet), max(levels), min(levels)
    paid = [level for level in (best, worst) if level != 0]
    still = np.zeros((1, m), dtype=np.int64)
    if least == 1:
        yield [
            RewardMachine(alphabet, still, level * np.eye(m)[[at]])
            for at in range(m)
            for level in paid
        ]
    if most > 1:
        yield [_two(alphabet, paid[0], at, None) for at in range(m)]
        yield [
            _two(alphabet, paid[0], at, then) for at in range(m) for then in range(m) if then != at
        ]


def _two(alphabet: tuple[str, ...], level: float, first: int, then: int | None) -> RewardMachine:
    """Return a machine that wants a label once, or another after it, over and over."""
    transitions = np.repeat(np.arange(2)[:, None], len(alphabet), axis=1)
    rewards = np.zeros(transitions.shape)
    transitions[0, first] = 1
    if then is None:
        rewards[0, first] = level
    else:
        transitions[1, then], rewards[1, then] = 0, level
    return RewardMachine(alphabet, transitions, rewards)


def doubts_of_choice(pairs: Pairs, machine: RewardMachine, expert: Expert) -> tuple[str, ...]:
    """Return a doubt where choices tell nothing: there were none, or they are as if by chance.

    Args:
        pairs: worlds, each with its demonstrations.
        machine: the best one.
        expert: its expert.
    """
    taken = sum(demos.n_steps for _, demos in pairs)
    if not taken or taken > MOST_STEPS:
        return ()
    chance = 0.0
    for mdp, demos in pairs:
        choices = mdp.available.sum(axis=1)[demos.states[step_states(demos)]]
        chance -= float(np.log(choices).sum())
    if chance == 0:
        return (NO_CHOICE,)
    gain = float(steps(pairs, machine, expert).log_likelihood.sum()) - chance
    return () if gain >= HARDLY_BETTER else (BY_CHANCE.format(round(gain, 1) + 0.0, taken),)
