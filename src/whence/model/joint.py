"""Machines that run side by side as one machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from whence._arrays import Floats, Ints
from whence.errors import ArgumentError
from whence.model.machine import RewardMachine

SHARE = 0.95
MOST_STATES = 5000
DIGITS = 12  # weighted sums that agree so far are equal


class Weighted(Protocol):
    """Machines with weights, such as a `PosteriorSample`."""

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The symbols of all machines."""
        ...

    @property
    def weights(self) -> Floats:
        """float64[K], of each machine."""
        ...

    def heaviest(self, share: float) -> Weighted:
        """Return the fewest machines that hold a share of the mass, the heaviest first."""
        ...

    def __iter__(self) -> Iterator[tuple[RewardMachine, float]]: ...


def joint_machine(
    sample: Weighted,
    share: float = SHARE,
    *,
    alphabet: Sequence[str] | None = None,
    most: int = MOST_STATES,
) -> RewardMachine:
    """Return the machine that pays what a sample expects: the weighted mean of its machines.

    Its states are the joint states of the heaviest machines that hold `share` of the mass, as
    far as they can be reached; its rewards are weighted by their renormalised weights. It is
    minimised. The policy that is optimal for it has the best expected return over these machines.

    Args:
        sample: the machines and their weights.
        share: of the mass, above 0 and up to 1.
        alphabet: those of the sample's symbols to read; all by default.
        most: refuse to make more joint states.

    Raises:
        ArgumentError: if there are more joint states, or a symbol is not the sample's.
    """
    heavy = sample.heaviest(share)
    symbols = tuple(sample.alphabet if alphabet is None else alphabet)
    columns = [_column(sample.alphabet, symbol) for symbol in symbols]
    chosen = [machine for machine, _ in heavy]
    targets, rewards = side_by_side(
        [m.transitions[:, columns] for m in chosen],
        [m.rewards[:, columns] for m in chosen],
        most,
    )
    weights = heavy.weights / heavy.weights.sum()
    paid = np.round(np.tensordot(weights, rewards, axes=1), DIGITS)
    return RewardMachine(symbols, targets, paid).minimised()


def side_by_side(
    transitions: Sequence[Ints], rewards: Sequence[Floats], most: int = MOST_STATES
) -> tuple[Ints, Floats]:
    """Return how k machines move together, int64[J, m], and what each pays, float64[k, J, m].

    The J joint states are those that can be reached from all initial states together, which
    are joint state 0.

    Args:
        transitions: k tables int64[n, m]; n may differ.
        rewards: k tables float64[n, m].
        most: refuse to make more joint states.
    """
    places, targets = walked(transitions, most)
    paid = np.array([rewards[i][places[:, i]] for i in range(len(rewards))])
    return targets, paid


def walked(transitions: Sequence[Ints], most: int = MOST_STATES) -> tuple[Ints, Ints]:
    """Return the joint states, int64[J, k], breadth-first, and where they lead, int64[J, m]."""
    k, m = len(transitions), transitions[0].shape[1]
    number: dict[bytes, int] = {}
    found: list[npt.NDArray[np.int64]] = []
    targets: list[list[int]] = []

    def place(row: npt.NDArray[np.int64]) -> int:
        key = row.tobytes()
        if key not in number:
            number[key] = len(found)
            found.append(row)
        return number[key]

    place(np.zeros(k, dtype=np.int64))
    while len(targets) < len(found):
        if len(found) > most:
            raise ArgumentError(
                f"{k} machines have more than {most} joint states; take fewer of them: lower "
                "`share`, or use the sample's `top(k)`"
            )
        here = found[len(targets)]
        rows = np.array([table[y] for table, y in zip(transitions, here.tolist(), strict=True)])
        columns = np.ascontiguousarray(rows.T.astype(np.int64))
        targets.append([place(columns[symbol]) for symbol in range(m)])
    return np.array(found), np.array(targets, dtype=np.int64).reshape(len(found), m)


def _column(alphabet: tuple[str, ...], symbol: str) -> int:
    if symbol not in alphabet:
        raise ArgumentError(
            f"the sample's machines do not know {symbol!r}; they read ({', '.join(alphabet)})"
        )
    return alphabet.index(symbol)
