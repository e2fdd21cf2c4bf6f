"""Worlds of four directions: actions that go one way and slip to both sides alike.

Every action goes ahead with one probability, the same everywhere, and to where each of the two
actions beside it would go with another. Twelve transitions of a state then lead to four places,
and its best action follows from four rows of values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats, Ints
from whence.model.mdp import LabeledMDP

OPPOSITE = ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2))  # each action beside the one that leads back
ROUNDING = 4e-16  # by which probabilities may differ


@dataclass(frozen=True, eq=False)
class Compass:
    """Where the four directions lead.

    Attributes:
        actions: the four, two that are opposite and then the others.
        places: int64[S, 4], the states ahead, in this order.
        ahead: the probability to get there.
        aside: the probability to get where each direction beside it leads.
    """

    actions: tuple[int, ...]
    places: Ints
    ahead: float
    aside: float


def compass(mdp: LabeledMDP) -> Compass | None:
    """Return the four directions of a world, or None where it is another kind of world."""
    lengths = np.diff(mdp.offsets)
    if mdp.n_actions != 4 or lengths.max() > 3 or lengths.max() == 1:
        return None
    columns = np.minimum(np.arange(3), lengths[:, None] - 1)
    entry = mdp.offsets[:-1, None] + columns
    real = np.arange(3) < lengths[:, None]
    successors = mdp.successors[entry]
    shares = np.where(real, mdp.probabilities[entry], 0.0)
    best = np.argmax(shares, axis=1)[:, None]
    ahead = float(np.take_along_axis(shares, best, axis=1).min())
    aside = float(shares[shares > 0].min())
    if ahead <= 2 * aside:
        return None
    places = np.take_along_axis(successors, best, axis=1).reshape(-1, 4).astype(np.int64)
    for order in OPPOSITE:
        if _fits(order, places, successors, shares, ahead, aside):
            return Compass(order, places[:, order], ahead, aside)
    return None


def _fits(
    order: tuple[int, ...],
    places: Ints,
    successors: Ints,
    shares: Floats,
    ahead: float,
    aside: float,
) -> bool:
    """Return whether all transitions are those of four directions in such an order."""
    for i, action in enumerate(order):
        beside = [order[j] for j in ((2, 3), (0, 1))[i // 2]]
        to, share = successors[action::4], shares[action::4]
        expected = ahead * (to == places[:, action, None])
        for other in beside:
            expected = expected + aside * (to == places[:, other, None])
        expected = np.where(share > 0, expected, 0.0)
        if np.abs(share - expected).max() > ROUNDING:
            return False
        if np.abs(expected.sum(axis=1) - 1).max() > ROUNDING:
            return False
    return True
