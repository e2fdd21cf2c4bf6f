"""How a machine differs from the truth, in words."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from whence._arrays import Ints
from whence.model.machine import RewardMachine, number
from whence.paper.published import FIGURES
from whence.paper.worlds import World


def difference(machine: RewardMachine, world: World) -> list[str]:
    """Return sentences that say how a machine differs from a world's task."""
    truth = world.task
    everywhere = machine.difference(truth)
    if everywhere is None:
        return ["It is the true machine."]
    published = machine.same_as(FIGURES[world.name])
    inside = machine.difference(truth, world.mdp)
    told = "The shortest label sequence that tells it from the truth is "
    sentences = [told + _paid(machine, truth, everywhere)]
    if inside is None:
        sentences.append("No label sequence that this world can produce tells the two apart.")
    elif inside != everywhere:
        sentences.append(f"In this world, it is {_paid(machine, truth, inside)}")
    else:
        sentences.append("This world can produce that sequence.")
    drawn = ["It is the machine that the paper draws."] if published else []
    return drawn + sentences + _entries(machine, truth)


def _paid(machine: RewardMachine, truth: RewardMachine, labels: tuple[str, ...]) -> str:
    """Return a sequence and what both machines pay on it."""
    paid = [
        " ".join(number(r) for r in m.over(truth.alphabet).run(labels).rewards)
        for m in (machine, truth)
    ]
    return f"`{' '.join(labels)}`: it pays {paid[0]}, the truth {paid[1]}."


def _entries(machine: RewardMachine, truth: RewardMachine) -> list[str]:
    """Name the entries that differ, states matched so that as few as possible do."""
    if machine.n_states != truth.n_states:
        return [f"It has {machine.n_states} states where the truth has {truth.n_states}."]
    targets, rewards = aligned(machine.over(truth.alphabet), truth)
    names = truth.state_names
    phrases = []
    for state, name in enumerate(names):
        for column, symbol in enumerate(truth.alphabet):
            parts = []
            if targets[state, column] != truth.transitions[state, column]:
                wrong, right = targets[state, column], truth.transitions[state, column]
                parts.append(f"leads to *{names[wrong]}* instead of *{names[right]}*")
            if rewards[state, column] != truth.rewards[state, column]:
                paid, due = rewards[state, column], truth.rewards[state, column]
                parts.append(f"pays {number(paid)} instead of {number(due)}")
            if parts:
                phrases.append(f"in *{name}*, `{symbol}` {' and '.join(parts)}")
    return [f"Entry by entry, with the truth's names for its states: {'; '.join(phrases)}."]


def aligned(machine: RewardMachine, truth: RewardMachine) -> tuple[Ints, Ints]:
    """Return the machine's tables with its states renumbered to look most like the truth's."""
    best, least = None, np.inf
    for rest in permutations(range(1, truth.n_states)):
        new = np.array([0, *rest])  # new number of each state
        targets = np.empty_like(machine.transitions)
        rewards = np.empty_like(machine.rewards)
        targets[new], rewards[new] = new[machine.transitions], machine.rewards
        odd = (targets != truth.transitions).sum() + (rewards != truth.rewards).sum()
        if odd < least:
            best, least = (targets, rewards), odd
    assert best is not None
    return best
