"""The parts of a world, each checked; messages name the first offending state and action."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from whence._arrays import BLANK, Bools, Floats, Ints, frozen_own, offsets_of
from whence.errors import WorldError

if TYPE_CHECKING:
    from whence.model.grid import Grid

ROUNDING = 1e-9  # a row's sum this close to 1 is left as it is
TOLERANCE = 1e-6  # a row's sum this close to 1 is rescaled

LIMIT = 2**31 - 1


def count(value: object, what: str, source: str) -> int:
    """Return `value` as a number of things, at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise WorldError(f"{source}: {what} is {value!r}; give a whole number")
    if not 1 <= value <= LIMIT:
        raise WorldError(f"{source}: {what} is {value}; give a number from 1 to {LIMIT}")
    return int(value)


def actions(value: int | Sequence[str], source: str) -> tuple[str, ...]:
    """Return the action names; a mere number names them 0, 1, ..."""
    if isinstance(value, int | np.integer):
        return tuple(str(a) for a in range(count(value, "actions", source)))
    result = _distinct(value, "actions", "action", source)
    if not result:
        raise WorldError(f"{source}: actions is empty; a world has at least one action")
    return result


def names(value: Iterable[str] | None, n_states: int, source: str) -> tuple[str, ...] | None:
    """Return the state names, one a state, all different."""
    if value is None:
        return None
    result = _distinct(value, "names", "state name", source)
    if len(result) != n_states:
        raise WorldError(f"{source}: {len(result)} names for {n_states} states; give one a state")
    return result


def labels(
    value: Sequence[str | None] | npt.NDArray[np.generic],
    alphabet: Iterable[str] | None,
    n_states: int,
    source: str,
) -> tuple[tuple[str, ...], Ints]:
    """Return the alphabet and int32[S], the symbol of each state or -1."""
    if len(value) != n_states:
        raise WorldError(
            f"{source}: {len(value)} labels for {n_states} states; give one a state "
            "(null for blank)"
        )
    if _are_indices(value):
        return _coded_labels(np.asarray(value), alphabet, source)
    given = [str(x) if isinstance(x, np.str_) else x for x in value]
    said = tuple(dict.fromkeys(x for x in given if x is not None))
    symbols = _distinct(said if alphabet is None else alphabet, "alphabet", "symbol", source)
    index: dict[str | None, int] = {symbol: i for i, symbol in enumerate(symbols)}
    index[None] = BLANK
    try:
        return symbols, np.array([index[x] for x in given], dtype=np.int32)
    except (KeyError, TypeError):
        state = next(s for s, x in enumerate(given) if not _known(x, index))
        raise WorldError(
            f"{source}: state {state}: label {given[state]!r} is not in the alphabet "
            f"({', '.join(symbols)}); add it there or correct the label"
        ) from None


def rows(
    transitions: npt.ArrayLike, n_states: int, action_names: tuple[str, ...], source: str
) -> tuple[Ints, Ints, Ints, Floats]:
    """Return state, action, successor and probability of every row, all in range."""
    table = _numbers(transitions)
    if table is None:
        raise WorldError(
            f"{source}: transitions are not numbers; give rows [state, action, successor, "
            "probability]"
        )
    if table.size == 0:
        table = table.reshape(0, 4)
    if table.ndim != 2 or table.shape[1] != 4:
        raise WorldError(
            f"{source}: transitions have shape {table.shape}; give rows "
            "[state, action, successor, probability]"
        )
    limits = (("state", n_states), ("action", len(action_names)), ("successor", n_states))
    columns = [_indices(table[:, i], *limits[i], source) for i in range(3)]
    return columns[0], columns[1], columns[2], table[:, 3].copy()


def compressed(
    state: Ints,
    action: Ints,
    successor: Ints,
    probability: Floats,
    closed: Ints,
    n_states: int,
    action_names: tuple[str, ...],
    source: str,
) -> tuple[Ints, Ints, Floats]:
    """Return offsets, successors and probabilities; every row sums to 1.

    The pairs of `closed`, s * A + a, are not available, and what is said about them is left out.
    """
    pair = state * len(action_names) + action
    if len(closed):
        said = ~np.isin(pair, closed)
        pair, successor, probability = pair[said], successor[said], probability[said]
    if len(pair) + len(closed) < n_states * len(action_names):
        known = np.concatenate([pair, closed])
        _raise_missing(known, n_states * len(action_names), action_names, source)
    bad = np.flatnonzero(~(probability >= 0) | ~np.isfinite(probability))
    if len(bad):
        first = bad[np.argmin(pair[bad])]
        raise WorldError(
            f"{_place(int(pair[first]), action_names, source)}: the probability of successor "
            f"{successor[first]} is {probability[first]}; give a number from 0 to 1"
        )
    pair, successor, probability = _merged(pair, successor, probability, n_states)
    lengths = np.bincount(pair, minlength=n_states * len(action_names))
    offsets = offsets_of(lengths)
    sums = np.bincount(pair, weights=probability, minlength=len(lengths))
    sums[closed] = 1.0
    wrong = np.flatnonzero(np.abs(sums - 1) > TOLERANCE)
    if len(wrong):
        _raise_sum(int(wrong[0]), float(sums[wrong[0]]), len(wrong), action_names, source)
    off = np.abs(sums - 1) > ROUNDING
    if off.any():
        probability = np.where(off[pair], probability / sums[pair], probability)
    return offsets, successor.astype(np.int32), probability


def initial(
    value: int | Sequence[tuple[int, float]], n_states: int, source: str
) -> tuple[Ints, Floats]:
    """Return the initial states, ascending, and their probabilities."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        value = [(int(value), 1.0)]
    pairs = _numbers(value)
    if pairs is not None and pairs.size == 0:
        raise WorldError(f"{source}: initial is empty; name at least one state")
    if pairs is None or pairs.ndim != 2 or pairs.shape[1] != 2:
        raise WorldError(
            f"{source}: initial is {value!r}; give a state or a list of [state, probability]"
        )
    states = _indices(pairs[:, 0], "initial state", n_states, source)
    weights = pairs[:, 1]
    bad = np.flatnonzero(~(weights >= 0) | ~np.isfinite(weights))
    if len(bad):
        raise WorldError(
            f"{source}: the probability of initial state {states[bad[0]]} is "
            f"{weights[bad[0]]}; give a number from 0 to 1"
        )
    total = weights.sum()
    if abs(total - 1) > TOLERANCE:
        raise WorldError(
            f"{source}: the initial probabilities sum to {total:.9g}; make them sum to 1"
        )
    if abs(total - 1) > ROUNDING:
        weights = weights / total
    kept, inverse = np.unique(states, return_inverse=True)
    summed: Floats = np.bincount(inverse.reshape(-1), weights=weights).astype(np.float64)
    return kept[summed > 0].astype(np.int32), summed[summed > 0]


def grid(value: Grid | None, n_states: int, source: str) -> Grid | None:
    """Return the grid if it places every state."""
    if value is not None and len(value.cells) != n_states:
        raise WorldError(
            f"{source}: the grid places {len(value.cells)} states of {n_states}; give each a cell"
        )
    return value


def unavailable(
    value: npt.ArrayLike | None, n_states: int, action_names: tuple[str, ...], source: str
) -> Ints:
    """Return the pairs s * A + a that are not available, ascending, from pairs (state, action)."""
    n_actions = len(action_names)
    pairs = np.zeros((0, 2)) if value is None else _numbers(value)
    if pairs is not None and pairs.size == 0:
        return np.zeros(0, dtype=np.int64)
    if pairs is None or pairs.ndim != 2 or pairs.shape[1] != 2:
        raise WorldError(f"{source}: unavailable must be pairs [state, action]")
    for column, (what, limit) in enumerate((("state", n_states), ("action", n_actions))):
        bad = ~((pairs[:, column] >= 0) & (pairs[:, column] < limit))
        bad |= pairs[:, column] != np.floor(pairs[:, column])
        if bad.any():
            raise WorldError(
                f"{source}: unavailable: {what} {pairs[np.argmax(bad), column]:.15g} does not "
                f"exist; use 0 to {limit - 1}"
            )
    whole = pairs.astype(np.int64)
    closed = np.unique(whole[:, 0] * n_actions + whole[:, 1])
    states, counts = np.unique(closed // n_actions, return_counts=True)
    if (counts == n_actions).any():
        state = states[np.argmax(counts == n_actions)]
        raise WorldError(
            f"{source}: state {state} has no available action; leave every state at least one"
        )
    return closed


def unseen(value: npt.ArrayLike | None, closed: Ints, n_pairs: int, source: str) -> Ints | None:
    """Return the pairs that nobody saw, ascending, or None where the world is no estimate.

    The pairs of `closed` are not available: there is nothing to see.
    """
    if value is None:
        return None
    pairs = _numbers(value)
    if pairs is None or pairs.ndim != 1:
        raise WorldError(f"{source}: unseen is not a list of whole numbers; give pairs s * A + a")
    bad = ~((pairs >= 0) & (pairs < n_pairs) & (pairs == np.floor(pairs)))
    if bad.any():
        raise WorldError(
            f"{source}: unseen: pair {pairs[np.argmax(bad)]:.15g} does not exist; use 0 to "
            f"{n_pairs - 1}"
        )
    return frozen_own(np.setdiff1d(pairs.astype(np.int64), closed))


def _numbers(value: npt.ArrayLike) -> Floats | None:
    """Return real numbers as an array, or None for anything else."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    if array.size == 0:
        return np.zeros(array.shape)
    return array.astype(np.float64) if array.dtype.kind in "iuf" else None


def _distinct(values: Iterable[Any], field: str, what: str, source: str) -> tuple[str, ...]:
    if isinstance(values, str):
        raise WorldError(f"{source}: {field} is the string {values!r}; give a list of strings")
    result = tuple(str(v) if isinstance(v, np.str_) else v for v in values)
    seen: set[str] = set()
    for position, value in enumerate(result):
        if not isinstance(value, str) or not value:
            raise WorldError(
                f"{source}: {field}, entry {position}: {value!r} is not a {what}; "
                "use a non-empty string"
            )
        if value in seen:
            raise WorldError(f"{source}: {field}: {value!r} occurs twice; keep one")
        seen.add(value)
    return result


def _are_indices(value: Sequence[Any] | npt.NDArray[Any]) -> bool:
    """Whether labels are given as numbers."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iu"
    return all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in value)


def _known(label: object, index: dict[str | None, int]) -> bool:
    return (label is None or isinstance(label, str)) and label in index


def _coded_labels(
    value: npt.NDArray[Any], alphabet: Iterable[str] | None, source: str
) -> tuple[tuple[str, ...], Ints]:
    if alphabet is None:
        raise WorldError(f"{source}: labels are numbers; give the alphabet that they point into")
    symbols = _distinct(alphabet, "alphabet", "symbol", source)
    bad: Bools = (value < BLANK) | (value >= len(symbols))
    if bad.any():
        state = int(np.argmax(bad))
        raise WorldError(
            f"{source}: state {state}: label {value[state]} is not an index into the alphabet "
            f"({', '.join(symbols)}); count from 0, and use -1 for blank"
        )
    return symbols, value.astype(np.int32)


def _indices(column: Floats, what: str, limit: int, source: str) -> Ints:
    bad = ~(column >= 0) | ~(column < limit)
    bad[~bad] = column[~bad] != np.floor(column[~bad])
    if bad.any():
        row = int(np.argmax(bad))
        raise WorldError(
            f"{source}: transition row {row}: {what} {column[row]:.15g} does not exist; "
            f"use 0 to {limit - 1}"
            if what != "initial state"
            else f"{source}: initial state {column[row]:.15g} does not exist; use 0 to {limit - 1}"
        )
    return column.astype(np.int64)


def _merged(
    pair: Ints, successor: Ints, probability: Floats, n_states: int
) -> tuple[Ints, Ints, Floats]:
    """Sort by pair and successor, add up repeats, leave out zeros."""
    key = pair * n_states + successor
    if not (key[1:] > key[:-1]).all():
        order = np.argsort(key, kind="stable")
        key = key[order]
        starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        pair, successor = pair[order][starts], successor[order][starts]
        probability = np.add.reduceat(probability[order], starts)
    kept = probability > 0
    if kept.all():
        return pair, successor, probability
    return pair[kept], successor[kept], probability[kept]


def _place(pair: int, action_names: tuple[str, ...], source: str) -> str:
    state, action = divmod(pair, len(action_names))
    return f"{source}: state {state}, action {action} ({action_names[action]})"


def _raise_missing(pair: Ints, n_pairs: int, action_names: tuple[str, ...], source: str) -> None:
    """Name the first pair without a row; memory follows the rows, not the pairs."""
    said = np.unique(pair)
    first = int(np.argmax(np.append(said, n_pairs) != np.arange(len(said) + 1)))
    _raise_sum(first, 0.0, n_pairs - len(said), action_names, source)


def _raise_sum(
    pair: int, total: float, n_wrong: int, action_names: tuple[str, ...], source: str
) -> None:
    plural = "pairs are" if n_wrong > 2 else "pair is"
    others = f" ({n_wrong - 1} more {plural} wrong)" if n_wrong > 1 else ""
    cure = (
        "say where the action leads (a blocked move stays put), or that it is unavailable"
        if total == 0
        else "make them sum to 1"
    )
    raise WorldError(
        f"{_place(pair, action_names, source)}: the probabilities sum to {total:.9g}, not 1; "
        f"{cure}{others}"
    )
