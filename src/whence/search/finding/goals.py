"""What the expert heads for after each label history, whatever is paid.

A machine's structure shows in where the expert goes. For every history and every goal, one or two
labels, the steps taken after that history are weighed as those of somebody who wants to reach the
nearest of the labels, more or less sharply. This needs a few solves of the world alone, once. It
is a guess, for finding machines; no posterior rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from whence._arrays import Bools, Floats, Ints
from whence.likelihood.evidence import Evidence
from whence.likelihood.posterior import Posterior
from whence.likelihood.values import batch_values
from whence.model.mdp import LabeledMDP

SHARPNESS = (2.0, 8.0, 32.0, 128.0, 512.0)  # pay that lies further ahead looks less sharp
MOST_PAIRS = 120  # of labels; with more labels, single ones alone are goals
EXACT = 1e-6  # of values, which are at most 1
MOST_HISTORIES = 4_000  # of each world; those after which least was done are left out


@dataclass(frozen=True, eq=False)
class Goals:
    """How well each goal explains what was done after each history, in all worlds.

    Attributes:
        sets: the labels of each goal; the last goal is none, acting at random.
        parent: int64[H], the history that each one extends; worlds one after the other.
        symbol: int64[H], by which label; -1 where a world's histories begin.
        gain: float32[H, G K + 1], nats more than at random, goal by goal and in each by sharpness.
        steps: int64[H], how many were taken at and after each history.
    """

    sets: tuple[tuple[int, ...], ...]
    parent: Ints
    symbol: Ints
    gain: npt.NDArray[np.float32]
    steps: Ints

    def fewer(self, most: int) -> Goals:
        """Return the goals after the histories at and after which most was done."""
        kept = _kept(self.steps, most)
        place = np.cumsum(kept) - 1
        return Goals(
            self.sets, place[self.parent[kept]], self.symbol[kept], self.gain[kept],
            self.steps[kept],
        )  # fmt: skip

    def of_column(self, column: int) -> tuple[int, ...]:
        """Return the labels of a column of `gain`."""
        return self.sets[column // len(SHARPNESS)]


def find_goals(posterior: Posterior, discount: float) -> Goals:
    """Weigh every goal after every history."""
    m = len(posterior.alphabet)
    pairs = list(combinations(range(m), 2))
    sets: list[tuple[int, ...]] = [(label,) for label in range(m)]
    sets += pairs if len(pairs) <= MOST_PAIRS else []
    parents, symbols, gains, steps = [], [], [], []
    first = 0
    for number, (mdp, _) in enumerate(posterior.worlds):
        evidence, columns = posterior.evidence[number], posterior.columns(number)
        kept = _kept(evidence.subtree_steps, MOST_HISTORIES)
        steps.append(np.asarray(evidence.subtree_steps)[kept])
        place = np.cumsum(kept) - 1
        parents.append(place[evidence.parent[kept]] + first)
        symbol = evidence.symbol[kept]
        symbols.append(np.where(symbol < 0, -1, columns[symbol]))
        gains.append(_gains(mdp, evidence, columns, sets, discount)[kept])
        first += int(kept.sum())
    return Goals(
        (*sets, ()),
        *(np.concatenate(each) for each in (parents, symbols, gains, steps)),
    )


def _kept(steps: Ints, most: int) -> Bools:
    """Return bool[H]: the histories at and after which most was done.

    No history is left out of which a longer one is kept.
    """
    if len(steps) <= most:
        return np.ones(len(steps), dtype=np.bool_)
    return np.asarray(steps > np.partition(steps, -most)[-most])


def _gains(
    mdp: LabeledMDP,
    evidence: Evidence,
    columns: Ints,
    sets: Sequence[tuple[int, ...]],
    discount: float,
) -> npt.NDArray[np.float32]:
    """Return float32[H, G K + 1] of one world."""
    result = np.zeros((evidence.n_histories, len(sets) * len(SHARPNESS) + 1), dtype=np.float32)
    if not evidence.n_cells:
        return result
    filled = np.flatnonzero(np.diff(evidence.first_cell))
    starts = evidence.first_cell[filled]
    values = _values(mdp, columns, sets, discount)
    blind = np.log(mdp.available[evidence.visited].sum(axis=1, keepdims=True))
    for number, goal in enumerate(sets):
        q = _q(mdp, evidence.visited, np.isin(columns[mdp.labels], goal), values[number], discount)
        for place, sharpness in enumerate(SHARPNESS):
            chances = _log_chances(sharpness * q) + blind
            cells = chances.reshape(-1)[evidence.cell_key] * evidence.cell_count
            column = number * len(SHARPNESS) + place
            result[filled, column] = np.add.reduceat(cells, starts)
    return result


def _values(
    mdp: LabeledMDP, columns: Ints, sets: Sequence[tuple[int, ...]], discount: float
) -> Floats:
    """Return float64[G, S]: the discounted chance of reaching each goal."""
    size, m = len(sets), len(mdp.alphabet)
    transitions = np.tile(np.arange(2)[:, None], (size, 1, m))
    paid = np.zeros((size, 2, m))
    for number, goal in enumerate(sets):
        reached = np.isin(columns, goal)
        transitions[number, 0, reached] = 1
        paid[number, 0, reached] = 1.0
    tables = transitions, paid, np.full(size, 2)
    return np.asarray(batch_values(mdp, tables, discount, EXACT)[:, 0])


def _q(mdp: LabeledMDP, visited: Ints, reached: Bools, values: Floats, discount: float) -> Floats:
    """Return float64[U, A] of the visited states, -inf for actions that they do not have."""
    worth = np.where(reached & (mdp.labels >= 0), 1.0, discount * values)
    pairs = (visited[:, None] * mdp.n_actions + np.arange(mdp.n_actions)).reshape(-1)
    counts = mdp.offsets[pairs + 1] - mdp.offsets[pairs]
    begins = np.cumsum(counts) - counts
    entry = np.repeat(mdp.offsets[pairs] - begins, counts) + np.arange(int(counts.sum()))
    each = mdp.probabilities[entry] * worth[mdp.successors[entry]]
    result = np.full(len(pairs), -np.inf)
    result[counts > 0] = np.add.reduceat(each, begins[counts > 0])
    return result.reshape(len(visited), mdp.n_actions)


def _log_chances(logits: Floats) -> Floats:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
