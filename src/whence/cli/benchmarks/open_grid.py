"""Worlds of any size that are alike: open square grids with slip and labels at random."""

from __future__ import annotations

import math

import numpy as np

from whence.model.grid import Grid
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP

ALPHABET = ("a", "b", "c")
ACTIONS = ("up", "right", "down", "left")
SLIP = 0.1
LABELLED = 0.01
TASK = RewardMachine.from_arrows(
    ["before -a-> holding", "before -c-> over", "holding -b/1-> over", "holding -c-> over"],
    alphabet=ALPHABET,
)
"""What the expert wants there: an a, then a b, and never a c."""


def open_grid(states: int, rng: np.random.Generator) -> LabeledMDP:
    """Return an open square grid of about as many states; episodes start anywhere.

    One cell in a hundred has a label, but at least one for each symbol.
    """
    side = math.isqrt(states - 1) + 1
    size = side * side
    grid = Grid(side, side, np.column_stack(np.divmod(np.arange(size), side)))
    labels = np.full(size, -1)
    count = max(len(ALPHABET), round(LABELLED * size))
    labels[rng.choice(size, count, replace=False)] = np.arange(count) % len(ALPHABET)
    return LabeledMDP.from_triples(
        grid.transitions(ACTIONS, SLIP),
        states=size,
        actions=ACTIONS,
        labels=labels,
        alphabet=ALPHABET,
        initial=[(state, 1 / size) for state in range(size)],
        grid=grid,
        source=f"open grid of {side} by {side}",
    )
