"""Episodes, and the flat arrays that demonstrations keep them in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from whence._arrays import BLANK, UNSAID, Ints, frozen_own, offsets_of
from whence.errors import DemonstrationsError

UNKNOWN = -1  # whether an episode ended because the task was over


class Episode(NamedTuple):
    """One episode of T steps.

    Attributes:
        states: T or T + 1 world states.
        actions: T actions.
        labels: a symbol or None (blank) per state, in place of the world's; entry 0 is not read.
        history: symbols read before the first state.
        ended: whether the episode ended because the task was over in its last state, which must
            be there; None where that is not known.
        subject: who acted; None where that is not known.
    """

    states: Sequence[int]
    actions: Sequence[int]
    labels: Sequence[str | None] | None = None
    history: Sequence[str] = ()
    ended: bool | None = None
    subject: str | None = None


class Gathered(NamedTuple):
    """Episodes one after the other; the fields are those of `Demonstrations`."""

    states: Ints
    state_offsets: Ints
    actions: Ints
    action_offsets: Ints
    alphabet: tuple[str, ...]
    labels: Ints | None
    history: Ints
    history_offsets: Ints
    ended: Ints | None
    subjects: tuple[str | None, ...] | None


def gathered(episodes: Sequence[Episode], place: Callable[[int], str]) -> Gathered:
    """Return episodes as flat arrays; `place` says how messages call each of them."""
    states, state_offsets = joined(
        [_column(e.states, "states", place(i)) for i, e in enumerate(episodes)]
    )
    actions, action_offsets = joined(
        [_column(e.actions, "actions", place(i)) for i, e in enumerate(episodes)]
    )
    index: dict[str, int] = {}
    labels = None
    if any(e.labels is not None for e in episodes):
        labels, _ = joined([_labels(e, index, place(i)) for i, e in enumerate(episodes)])
    history, history_offsets = joined(
        [_history(e, index, place(i)) for i, e in enumerate(episodes)]
    )
    return Gathered(
        states, state_offsets, actions, action_offsets, tuple(index), labels, history,
        history_offsets, endings([_ended(e.ended, place(i)) for i, e in enumerate(episodes)]),
        acted([_subject(e.subject, place(i)) for i, e in enumerate(episodes)]),
    )  # fmt: skip


def acted(subjects: Sequence[str | None] | None) -> tuple[str | None, ...] | None:
    """Return who acted in each episode; None where that is known of none."""
    if subjects is None or all(subject is None for subject in subjects):
        return None
    return tuple(subjects)


def _subject(value: object, place: str) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    raise DemonstrationsError(f"{place}: subject is {value!r}; give a name, or None")


def endings(values: Sequence[bool | None] | Ints | None) -> Ints | None:
    """Return int8[E]: 1 for an episode that ended, 0 for one that did not, -1 where unknown.

    None stands for episodes of which nothing is known.
    """
    if values is None:
        return None
    if not isinstance(values, np.ndarray):
        values = np.array([UNKNOWN if value is None else int(value) for value in values])
    return None if (values == UNKNOWN).all() else frozen_own(values.astype(np.int8))


def _ended(value: object, place: str) -> bool | None:
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else bool(value)
    raise DemonstrationsError(f"{place}: ended is {value!r}; say True, False or None")


def joined(parts: Sequence[Ints]) -> tuple[Ints, Ints]:
    """Return ragged rows as one flat int32 array, and their offsets."""
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    flat = np.concatenate(parts) if len(parts) else np.zeros(0)
    return flat.astype(np.int32), offsets_of(lengths)


def _column(values: Sequence[int], what: str, place: str) -> Ints:
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        array = np.zeros(1)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise DemonstrationsError(f"{place}: {what} must be a list of whole numbers")
    if array.min() < 0 or array.max() > 2**31 - 1:
        position = int(np.argmax((array < 0) | (array > 2**31 - 1)))
        raise DemonstrationsError(
            f"{place}, {what}, entry {position}: {array[position]} is out of range; count from 0"
        )
    return array


def _labels(episode: Episode, index: dict[str, int], place: str) -> Ints:
    if episode.labels is None:
        return np.full(len(episode.states), UNSAID)
    _refuse_text(episode.labels, "labels", place)
    if len(episode.labels) != len(episode.states):
        raise DemonstrationsError(
            f"{place}: {len(episode.labels)} labels for {len(episode.states)} states; "
            "give one a state (null for blank)"
        )
    return np.array(
        [
            BLANK if s is None else _code(s, index, "labels", i, place)
            for i, s in enumerate(episode.labels)
        ],
        dtype=np.int64,
    )


def _history(episode: Episode, index: dict[str, int], place: str) -> Ints:
    _refuse_text(episode.history, "history", place)
    codes = [_code(s, index, "history", i, place) for i, s in enumerate(episode.history)]
    return np.array(codes, dtype=np.int64)


def _refuse_text(value: object, what: str, place: str) -> None:
    """Refuse one string in the place of symbols: it would be read letter by letter."""
    if isinstance(value, str):
        raise DemonstrationsError(
            f"{place}: {what} is {value!r}, one string; give a list of symbols, as [{value!r}]"
        )


def _code(symbol: object, index: dict[str, int], what: str, position: int, place: str) -> int:
    if not isinstance(symbol, str) or not symbol:
        raise DemonstrationsError(
            f"{place}, {what}, entry {position}: {symbol!r} is not a symbol; "
            "use a non-empty string"
        )
    return index.setdefault(symbol, len(index))


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
