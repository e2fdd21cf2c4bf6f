"""What words and ways look at in a machine, and the room that they make in it."""

from __future__ import annotations

import numpy as np

from whence._arrays import Bools, Ints
from whence.model.canonical import can_pay
from whence.search.finding.reducing import Tables


def arrows_of(machine: Tables, zero: int) -> list[tuple[int, int]]:
    """Return the arrows that lead elsewhere or pay."""
    targets, paid = machine
    doing = (targets != np.arange(len(targets))[:, None]) | (paid != zero)
    return [(int(y), int(s)) for y, s in np.argwhere(doing)]


def grown(machine: Tables, zero: int) -> tuple[Ints, Ints]:
    """Return copies with one more state, which stays put."""
    targets, paid = machine
    n, m = targets.shape
    return (
        np.concatenate([targets, np.full((1, m), n)]),
        np.concatenate([paid, np.full((1, m), zero)]),
    )


def dead_states(machine: Tables, zero: int) -> Bools:
    """Return bool[n]: the states from which nothing is paid any more."""
    return np.asarray(~can_pay(machine[0], (machine[1] != zero).astype(np.float64)))
