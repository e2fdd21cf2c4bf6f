"""What a posterior is given, checked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from whence._arrays import UNSAID, Floats, Ints
from whence.errors import ArgumentError, MachineError
from whence.model.asking import Answer, standing
from whence.model.demos import Demonstrations
from whence.model.episodes import UNKNOWN, Episode
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


def with_answers(pairs: Worlds, answers: Sequence[Answer]) -> Worlds:
    """Return worlds with their demonstrations, those among some answers included."""
    if not any(isinstance(each.value, Episode) for each in standing(answers)):
        return pairs
    more = demonstrated(answers, len(pairs))
    return [
        (mdp, demos if len(extra) == 0 else together(demos, extra))
        for (mdp, demos), extra in zip(pairs, more, strict=True)
    ]


def demonstrated(answers: Sequence[Answer], worlds: int) -> list[Demonstrations]:
    """Return what answers demonstrate in each of some worlds."""
    shown: list[list[Episode]] = [[] for _ in range(worlds)]
    for each in standing(answers):
        if isinstance(each.value, Episode):
            shown[each.question.world].append(each.value)
    return [Demonstrations.from_episodes(episodes, source="answers") for episodes in shown]


def together(one: Demonstrations, other: Demonstrations) -> Demonstrations:
    """Return the episodes of both; `other` takes its labels from the world."""
    alphabet = tuple(dict.fromkeys((*one.alphabet, *other.alphabet)))
    column = np.array([alphabet.index(symbol) for symbol in other.alphabet], dtype=np.int64)
    n = len(other)
    ended, subjects, labels = one.ended, one.subjects, one.labels
    return Demonstrations.from_flat(
        np.concatenate([one.states, other.states]),
        _longer(one.state_offsets, other.state_offsets),
        np.concatenate([one.actions, other.actions]),
        _longer(one.action_offsets, other.action_offsets),
        alphabet=alphabet,
        labels=None if labels is None else _filled(labels, len(other.states), UNSAID),
        history=np.concatenate([one.history, column[other.history]]),
        history_offsets=_longer(one.history_offsets, other.history_offsets),
        ended=None if ended is None else _filled(ended, n, UNKNOWN),
        subjects=None if subjects is None else [*subjects, *[None] * n],
        source=one.source,
    )


def _longer(one: Ints, other: Ints) -> Ints:
    return np.concatenate([one, one[-1] + other[1:]])


def _filled(column: Ints, more: int, value: int) -> Ints:
    return np.concatenate([column, np.full(more, value, dtype=column.dtype)])
