"""A small world with names: a hall, a kitchen with tea, and a den with a bed."""

from __future__ import annotations

from whence import LabeledMDP

HOUSE = LabeledMDP.from_dense(
    [[[0, 1, 0], [1, 0, 0]], [[0, 0, 1], [1, 0, 0]], [[0, 0, 1], [0, 1, 0]]],
    labels=[None, "tea", "bed"],
    names=["hall", "kitchen", "den"],
    actions=["on", "back"],
)
