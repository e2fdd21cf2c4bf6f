"""Samples for tests, made of machines that are listed one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from whence import RewardMachine
from whence._arrays import Floats
from whence.search.draws import Draws


def draws_of(
    machines: Sequence[RewardMachine],
    *,
    weight: npt.ArrayLike | None = None,
    ladder: npt.ArrayLike | None = None,
    alpha: npt.ArrayLike = 30.0,
    exact: bool = False,
) -> Draws:
    """Return one draw a machine, smaller ones filled up with states that nothing reaches."""
    size, n = len(machines), max(machine.n_states for machine in machines)
    m = len(machines[0].alphabet)
    transitions = np.zeros((size, n, m), dtype=np.int64)
    rewards = np.full((size, n, m), 7.0)  # of no consequence behind a machine's states
    for i, machine in enumerate(machines):
        transitions[i, : machine.n_states] = machine.transitions
        rewards[i, : machine.n_states] = machine.rewards
    return Draws(
        transitions,
        rewards,
        np.array([machine.n_states for machine in machines]),
        _spread(alpha, size),
        np.zeros(size),
        np.full(size, 0.92),
        np.zeros(size),
        np.zeros(size),
        np.full(size, 1 / size) if weight is None else _spread(weight, size),
        np.zeros(size, dtype=np.int64) if ladder is None else np.asarray(ladder),
        exact,
    )


def _spread(value: npt.ArrayLike, size: int) -> Floats:
    return np.broadcast_to(np.asarray(value, dtype=np.float64), (size,)).copy()
