"""The probabilities that a run reports, as numbers of each draw: how exact are they all?

A functional is a whole number of each draw, such as which machine it is or what a label sequence
pays; each of its values has a probability. Whoever reports another kind of probability adds its
functional here, and a run goes on until that one is exact enough, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from whence._arrays import Ints
from whence.search import diagnostics
from whence.search.machines import Machines

LONGEST = 2  # labels of a sequence
MOST_SEQUENCES = 60


def largest_error(codes: Ints, machines: Machines, ladders: int) -> float:
    """Return the largest Monte-Carlo error of a probability of at least 1%, and at most 99%.

    Args:
        codes: int64[L, N], which machine each draw of each ladder is.
        machines: the draws themselves, L N of them, ladder by ladder.
        ladders: L.
    """
    worst = 0.0
    for values in (codes, *functionals(machines, ladders)):
        worst = max(worst, _error(values))
    return worst


def functionals(machines: Machines, ladders: int) -> Iterator[Ints]:
    """Yield int64[L, N] of each functional: the number of states, and what sequences pay."""
    shape = ladders, -1
    if np.ptp(machines.n_states) > 0:
        yield machines.n_states.reshape(shape)
    for word in sequences(machines.transitions.shape[2]):
        yield paid(machines, word).reshape(shape)


def sequences(m: int) -> list[tuple[int, ...]]:
    """Return the shortest label sequences, as symbols, at most so many."""
    lengths = range(1, LONGEST + 1)
    every = itertools.chain.from_iterable(itertools.product(range(m), repeat=n) for n in lengths)
    return list(itertools.islice(every, MOST_SEQUENCES))


def paid(machines: Machines, word: tuple[int, ...]) -> Ints:
    """Return int64[B], the place of the level that the last label of a sequence is paid."""
    row = np.arange(machines.size)
    state = np.zeros(machines.size, dtype=np.int64)
    for symbol in word[:-1]:
        state = machines.transitions[row, state, symbol]
    return np.asarray(machines.paid[row, state, word[-1]])


def _error(chains: Ints) -> float:
    """Return the largest error of a value's frequency, over int64[L, N]."""
    values, counts = np.unique(chains, return_counts=True)
    share = counts / chains.size
    common = values[(share >= diagnostics.COMMON) & (share <= 1 - diagnostics.COMMON)]
    each = [chains == value for value in common.tolist()]
    errors = [max(diagnostics.mcse(hits), diagnostics.batch_error(hits)) for hits in each]
    return max(errors, default=0.0)
