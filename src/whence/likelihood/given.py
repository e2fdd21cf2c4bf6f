"""What a posterior is given, checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from whence._arrays import Floats, Ints
from whence.errors import ArgumentError, MachineError
from whence.model.demos import Demonstrations
from whence.model.expert import INFINITE, Expert
from whence.model.mdp import LabeledMDP
from whence.model.product import checked_rewards

Worlds = Sequence[tuple[LabeledMDP, Demonstrations]]


def checked_tables(
    transitions: npt.ArrayLike, rewards: npt.ArrayLike, alphabet: tuple[str, ...], discount: float
) -> tuple[Ints, Floats]:
    """Return machines as int64[B, n, m] and float64[B, n, m], one column a symbol."""
    targets = np.asarray(transitions)
    paid = np.asarray(rewards, dtype=np.float64)
    m = len(alphabet)
    if targets.ndim != 3 or targets.shape[2] != m or targets.shape != paid.shape:
        raise MachineError(
            f"transitions {targets.shape} and rewards {paid.shape}: both must be "
            f"[machines, states, {m}], one column for each of ({', '.join(alphabet)})"
        )
    if targets.size and targets.dtype.kind not in "iu":
        raise MachineError("transitions: the targets must be whole numbers, counted from 0")
    n = targets.shape[1]
    if n == 0:
        raise MachineError("transitions: a machine has at least one state")
    bad = (targets < 0) | (targets >= n) | ~np.isfinite(paid)
    if bad.any():
        machine, state, column = np.argwhere(bad)[0].tolist()
        raise MachineError(
            f"machine {machine}, state {state}, symbol {alphabet[column]!r}: target "
            f"{targets[machine, state, column]}, reward {paid[machine, state, column]}; "
            f"targets run from 0 to {n - 1} and rewards are finite"
        )
    return targets.astype(np.int64), checked_rewards(paid, discount) + 0.0


def positive(value: float, what: str) -> float:
    """Return a finite number above 0."""
    if not 0 < value < np.inf:
        raise ArgumentError(f"{what} is {value}; give a finite number above 0")
    return float(value)


def spread(value: npt.ArrayLike, size: int, what: str) -> Floats:
    """Return float64[size], from one number or as many."""
    array = np.asarray(value, dtype=np.float64)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != size):
        raise ArgumentError(f"{what} has shape {array.shape}; give one number, or {size} of them")
    return np.ascontiguousarray(np.broadcast_to(array, (size,)))


def world_pairs(mdp: LabeledMDP | Worlds, demos: Demonstrations | None) -> Worlds:
    """Return worlds with their demonstrations, from one of each or from a list of pairs."""
    if isinstance(mdp, LabeledMDP):
        if demos is None:
            raise ArgumentError("no demonstrations; give them after the world")
        return [(mdp, demos)]
    if demos is not None or not mdp:
        raise ArgumentError("give one world and its demonstrations, or a list of such pairs")
    return list(mdp)


def checked_experts(
    expert: Expert, alpha: npt.ArrayLike | None, lapse: npt.ArrayLike | None, size: int
) -> tuple[Floats, Floats]:
    """Return alphas and lapses, float64[B] each: the expert's where none are given."""
    alphas = spread(expert.alpha if alpha is None else alpha, size, "alpha")
    lapses = spread(expert.lapse if lapse is None else lapse, size, "lapse")
    if not (alphas >= 0).all():
        raise ArgumentError("alpha: every value must be at least 0, or inf")
    if expert.is_soft and np.isinf(alphas).any():
        raise ArgumentError(INFINITE)
    if not ((lapses >= 0) & (lapses <= 1)).all():
        raise ArgumentError("lapse: every value must be from 0 to 1")
    return alphas, lapses
