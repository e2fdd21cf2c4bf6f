"""The same machine with more states: where a machine must have a given number of them."""

from __future__ import annotations

import numpy as np

from whence.search.machines import Machines
from whence.search.space import Space


def padded(machine: Machines, space: Space) -> Machines | None:
    """Return one machine with at least as many states as the space asks for, paying the same.

    A state is made twice: some arrow leads to the copy, and the copy may lead back. Of all ways
    the likeliest by the prior is taken; None where there is none.
    """
    while int(machine.n_states[0]) not in space.sizes:
        grown = _twice(machine, space)
        prior = np.where(space.valid(grown), space.log_entries(grown), -np.inf)
        if not grown.size or not np.isfinite(prior).any():
            return None
        machine = grown.rows(np.array([int(np.argmax(prior))]))
    return machine


def _twice(machine: Machines, space: Space) -> Machines:
    """Return all machines in which one state is made twice."""
    n, m = int(machine.n_states[0]), space.m
    targets, paid = machine.transitions[0], machine.paid[0]
    made = []
    for x in range(n) if n < space.largest else ():
        for r in range(m):
            z = int(targets[x, r])
            for back in (None, *np.flatnonzero(targets[z] == z).tolist()):
                new, pays = targets.copy(), paid.copy()
                new[n] = np.where(targets[z] == z, n, targets[z])
                pays[n] = paid[z]
                new[x, r] = n
                if back is not None:
                    new[n, back] = z
                made.append((new, pays))
    if not made:
        return machine.rows(np.zeros(0, dtype=np.int64))
    return Machines(
        np.array([new for new, _ in made]),
        np.array([pays for _, pays in made]),
        np.full(len(made), n + 1),
    )
