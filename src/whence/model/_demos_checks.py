"""Checks of the flat arrays that demonstrations are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from whence._arrays import UNSAID, Ints, frozen_own
from whence.errors import DemonstrationsError

if TYPE_CHECKING:
    from whence.model.demos import Demonstrations


def flat(values: npt.ArrayLike, what: str, source: str) -> Ints:
    """Return whole numbers as a flat int32 array."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.zeros(1)
    if array.size == 0:
        array = np.zeros(array.shape, dtype=np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise DemonstrationsError(f"{source}: {what} is not a flat array of whole numbers")
    if array.size and (int(array.min()) < UNSAID or int(array.max()) > 2**31 - 1):
        raise DemonstrationsError(f"{source}: {what} holds numbers outside of 0 to {2**31 - 1}")
    return frozen_own(array.astype(np.int32))


def said(labels: Ints | None) -> Ints | None:
    """Return the labels, or None where every one is left to the world."""
    return None if labels is None or (labels == UNSAID).all() else labels


def checked_offsets(values: npt.ArrayLike, what: str, source: str) -> Ints:
    """Return where rows begin, int64[E + 1]."""
    array = np.asarray(values)
    good = array.ndim == 1 and array.size >= 1 and array.dtype.kind in "iu"
    if not good or array[0] != 0 or (np.diff(array.astype(np.int64)) < 0).any():
        raise DemonstrationsError(
            f"{source}: {what} must start at 0 and never fall, one entry more than episodes"
        )
    return frozen_own(array.astype(np.int64))


def check_shape(demos: Demonstrations) -> None:
    """Refuse arrays that do not fit together."""
    for name, data in (("state", demos.states), ("action", demos.actions),
                       ("history", demos.history)):  # fmt: skip
        offsets = getattr(demos, f"{name}_offsets")
        if len(offsets) != len(demos) + 1 or offsets[-1] != len(data):
            raise DemonstrationsError(
                f"{demos.source}: {name}_offsets do not fit: {len(offsets)} entries up to "
                f"{offsets[-1]} for {len(demos)} episodes and {len(data)} entries"
            )
    surplus = np.diff(demos.state_offsets) - demos.lengths
    bad = np.flatnonzero((surplus < 0) | (surplus > 1))
    if len(bad):
        i = int(bad[0])
        raise DemonstrationsError(
            f"{demos.place(i)}: {surplus[i] + demos.lengths[i]} states for {demos.lengths[i]} "
            "actions; give as many states as actions, or one more"
        )
    if (demos.states < 0).any() or (demos.actions < 0).any():
        raise DemonstrationsError(f"{demos.source}: a negative state or action; both count from 0")
    _check_symbols(demos)


def _check_symbols(demos: Demonstrations) -> None:
    if len(set(demos.alphabet)) != len(demos.alphabet) or not all(demos.alphabet):
        raise DemonstrationsError(f"{demos.source}: alphabet: symbols must differ, none empty")
    m = len(demos.alphabet)
    if (demos.history < 0).any() or (demos.history >= m).any():
        raise DemonstrationsError(f"{demos.source}: history: a symbol outside of 0 to {m - 1}")
    if demos.labels is None:
        return
    if len(demos.labels) != len(demos.states):
        raise DemonstrationsError(
            f"{demos.source}: {len(demos.labels)} labels for {len(demos.states)} states; "
            "give one a state"
        )
    if (demos.labels >= m).any():
        raise DemonstrationsError(f"{demos.source}: labels: a symbol outside of -2 to {m - 1}")
    lengths = np.diff(demos.state_offsets)
    said = np.cumsum(np.concatenate([[0], demos.labels != UNSAID]))[demos.state_offsets]
    mixed = np.flatnonzero((np.diff(said) != 0) & (np.diff(said) != lengths))
    if len(mixed):
        raise DemonstrationsError(
            f"{demos.place(int(mixed[0]))}: some labels are said and others left to the world "
            "(-2); say all or none"
        )
