"""Neighbours of machines, as the paper proposes them.

A machine has 2 n m entries: a target and a reward for every state and symbol.

- `several`, the paper's: each entry is changed with probability p to a new value, uniform over
  the others, and at least one is: draws without a change do not count.
- `one`, which the paper tried first: exactly one entry, each equally likely, is changed.

Neighbours that are not valid are drawn again from the same machine. A machine of one state has
no other target: only its rewards change.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from whence._arrays import Bools, Ints
from whence.search.machines import Machines, of_one_size, until_valid

CURE = "this chance of a change: lower p0"


def several(
    rng: np.random.Generator, machines: Machines, levels: tuple[float, ...], p: float
) -> Machines:
    """Return a valid neighbour of each machine, with at least one changed entry.

    Args:
        rng: of every choice.
        machines: all of one size.
        levels: the G reward levels, ascending.
        p: the probability that an entry changes.
    """
    return _neighbours(rng, machines, levels, lambda shape: some_of(rng, shape, p))


def one(
    rng: np.random.Generator, machines: Machines, levels: tuple[float, ...], p: float
) -> Machines:
    """Return a valid neighbour of each machine with exactly one changed entry; p is not used."""
    return _neighbours(rng, machines, levels, lambda shape: one_of(rng, shape))


Neighbours = Callable[[np.random.Generator, Machines, tuple[float, ...], float], Machines]
KINDS: dict[str, Neighbours] = {"several": several, "one": one}


def some_of(rng: np.random.Generator, shape: tuple[int, int], p: float) -> Bools:
    """Return bool[B, L]: each entry with probability p, given that there is at least one.

    The first chosen entry F has P(F = i) = p (1 - p)^i / (1 - (1 - p)^L), drawn by inversion;
    those behind it are independent. No draw is wasted, however small p is.
    """
    size, length = shape
    stay = np.log1p(-p)
    any_at_all = -np.expm1(length * stay)
    first = np.floor(np.log1p(-rng.random((size, 1)) * any_at_all) / stay)
    first = np.minimum(first, length - 1)
    place = np.arange(length)
    return np.asarray((place == first) | ((place > first) & (rng.random(shape) < p)))


def one_of(rng: np.random.Generator, shape: tuple[int, int]) -> Bools:
    """Return bool[B, L]: one entry of each row, equally likely."""
    size, length = shape
    return np.asarray(np.arange(length) == rng.integers(0, length, size=(size, 1)))


def _neighbours(
    rng: np.random.Generator,
    machines: Machines,
    levels: tuple[float, ...],
    choose: Callable[[tuple[int, int]], Bools],
) -> Machines:
    """Change the chosen entries of each machine until the result is valid."""
    size, n, m = machines.transitions.shape
    entries = n * m if n == 1 else 2 * n * m

    def draw(rows: Ints) -> Machines:
        chosen = choose((len(rows), entries))
        pays = chosen[:, : n * m].reshape(-1, n, m)
        moves = chosen[:, n * m :].reshape(-1, n, m) if n > 1 else np.zeros_like(pays)
        transitions = another(rng, machines.transitions[rows], moves, n)
        return of_one_size(transitions, another(rng, machines.paid[rows], pays, len(levels)))

    return until_valid(draw, size, levels.index(0.0), CURE)


def another(rng: np.random.Generator, entries: Ints, chosen: Bools, among: int) -> Ints:
    """Return int64 like `entries`: the chosen ones changed to another of 0 .. among - 1."""
    if among < 2:
        return entries.copy()
    turned = entries + rng.integers(1, among, size=entries.shape)
    return np.where(chosen, turned % among, entries)


def single_changes(machine: Machines, levels: tuple[float, ...]) -> Machines:
    """Return every machine that differs in one target or in one pay."""
    n, m = int(machine.n_states[0]), machine.transitions.shape[2]
    targets, paid = machine.transitions[0], machine.paid[0]
    y, s, z = (a.reshape(-1) for a in np.meshgrid(range(n), range(m), range(n), indexing="ij"))
    kept = targets[y, s] != z
    y, s, z = y[kept], s[kept], z[kept]
    v, t, g = (
        a.reshape(-1) for a in np.meshgrid(range(n), range(m), range(len(levels)), indexing="ij")
    )
    kept = paid[v, t] != g
    v, t, g = v[kept], t[kept], g[kept]
    size = len(y) + len(v)
    transitions = np.repeat(targets[None], size, axis=0)
    pays = np.repeat(paid[None], size, axis=0)
    transitions[np.arange(len(y)), y, s] = z
    pays[len(y) + np.arange(len(v)), v, t] = g
    return Machines(transitions, pays, np.full(size, n))
