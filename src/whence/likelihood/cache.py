"""What a log likelihood is remembered by: all that it depends on, as bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats, Ints, offsets_of

EXPERT_BYTES = 16  # alpha and lapse, the last two numbers of a key


@dataclass(frozen=True)
class Stats:
    """What a posterior has done so far; a little less than that where several threads score.

    Attributes:
        solves: products that were solved, one a machine and world.
        hits: machines that were remembered.
        sweeps: sweeps of the solver.
        seconds: spent on scoring.
    """

    solves: int = 0
    hits: int = 0
    sweeps: int = 0
    seconds: float = 0.0


def bands(alpha: Floats) -> Floats:
    """Return float64[B]: the power of two next above each alpha.

    Values are solved as exactly as a band needs, so that a log likelihood does not depend on
    which other alphas were asked for with it.
    """
    finite = np.isfinite(alpha) & (alpha > 0)
    exponent = np.ceil(np.log2(alpha, out=np.zeros_like(alpha), where=finite))
    return np.where(finite, np.exp2(exponent), alpha)


def keys_of(
    number: int,
    canonical: tuple[Ints, Floats, Ints],
    band: Floats,
    experts: tuple[Floats, Floats],
    allowed: float,
) -> list[bytes]:
    """Return what each log likelihood is remembered by: all that it depends on.

    What the solve depends on comes first, the expert's alpha and lapse last.
    """
    transitions, rewards, counts = canonical
    size, n, _ = transitions.shape
    columns = [
        np.full((size, 1), number, dtype=np.float64),
        np.full((size, 1), n, dtype=np.float64),
        np.full((size, 1), allowed),
        band[:, None],
        counts[:, None].astype(np.float64),
        transitions.reshape(size, -1).astype(np.float64),
        rewards.reshape(size, -1),
        experts[0][:, None],
        experts[1][:, None],
    ]
    rows = np.hstack(columns)
    width = rows.shape[1] * rows.itemsize
    data = rows.tobytes()
    return [data[start : start + width] for start in range(0, len(data), width)]


def shared(
    keys: list[bytes], rows: Ints, experts: tuple[Floats, Floats]
) -> tuple[Ints, Ints, Ints]:
    """Group rows of a batch that share a solve; no two of them have the same key.

    Returns:
        int64[U], the first row of each group; int64[R], places in `rows`, group by group; and
        int64[U + 1], where the groups begin.
    """
    each = np.arange(len(rows) + 1)
    if all((of_each == of_each[:1]).all() for of_each in experts):
        return rows, each[:-1], each
    groups: dict[bytes, list[int]] = {}
    for place, row in enumerate(rows.tolist()):
        groups.setdefault(keys[row][:-EXPERT_BYTES], []).append(place)
    if len(groups) == len(rows):
        return rows, each[:-1], each
    order = np.array([place for places in groups.values() for place in places])
    firsts = rows[[places[0] for places in groups.values()]]
    return firsts, order, offsets_of(np.array([len(places) for places in groups.values()]))
