"""Large worlds as arrays, `*.npz`: the fields of the JSON format.

format, states, actions[A], alphabet[m], labels int[S] (-1 is blank; strings, "" for blank, are
read too), initial (a state, or float[I, 2]), transitions float[N, 4] and, where there are any,
names[S], grid_size int[2], grid_cells int[S, 2], grid_walls int[W, 3] (x, y, 0 right or 1 up),
unseen int[.., 2] (state, action); in version 2 unavailable int[.., 2], too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from whence.errors import FormatError, WhenceError
from whence.io import arrays as npz
from whence.io.world_json import (
    MASKED_TAG,
    TAG,
    initial_of,
    pairs_of,
    placed,
    tag_of,
    unseen_in,
)
from whence.model.grid import SIDES, Grid
from whence.model.mdp import Initial, LabeledMDP

ENDINGS = (".npz",)
REQUIRED = ("format", "states", "actions", "alphabet", "initial", "labels", "transitions")
GRID = ("grid_size", "grid_cells", "grid_walls")
OPTIONAL = ("names", *GRID, "unseen")


def dumps(mdp: LabeledMDP) -> bytes:
    """Write a world."""
    table = np.empty((mdp.n_transitions, 4))
    table[:, 0], table[:, 1] = np.divmod(pairs_of(mdp), mdp.n_actions)
    table[:, 2], table[:, 3] = mdp.successors, mdp.probabilities
    fields: npz.Arrays = {
        "format": np.array(tag_of(mdp)),
        "states": np.array(mdp.n_states),
        "actions": npz.text_array(mdp.actions, "action"),
        "alphabet": npz.text_array(mdp.alphabet, "symbol"),
        "initial": np.array(initial_of(mdp)),
        "labels": mdp.labels,
        "transitions": table,
    }
    if mdp.names is not None:
        fields["names"] = npz.text_array(mdp.names, "state name")
    if mdp.grid is not None:
        fields |= _grid_out(mdp.grid)
    if mdp.unseen is not None:
        fields["unseen"] = np.stack(np.divmod(mdp.unseen, mdp.n_actions), axis=1)
    if mdp.is_masked:
        fields["unavailable"] = mdp.unavailable
    return npz.write(fields)


def loads(data: bytes, source: str) -> LabeledMDP:
    """Read a world."""
    fields = npz.read(data, source, REQUIRED, (*OPTIONAL, "unavailable"))
    npz.tagged(fields, (TAG, MASKED_TAG), source)
    _refuse_newer(fields, source)
    try:
        return LabeledMDP.from_triples(
            fields["transitions"],
            states=npz.integer(fields, "states", source),
            actions=npz.strings(fields, "actions", source),
            labels=_labels(fields["labels"], source),
            alphabet=npz.strings(fields, "alphabet", source),
            initial=_initial(fields["initial"], source),
            names=npz.strings(fields, "names", source) if "names" in fields else None,
            grid=_grid_in(fields, source) if any(f in fields for f in GRID) else None,
            unseen=_unseen(fields.get("unseen"), len(fields["actions"]), source),
            unavailable=fields.get("unavailable"),
            source=source,
        )
    except WhenceError as error:
        raise FormatError(placed(error, source)) from None


def _refuse_newer(fields: npz.Arrays, source: str) -> None:
    """Refuse what an earlier version of the format does not have."""
    if "unavailable" in fields and str(fields["format"]) == TAG:
        raise FormatError(f"{source}: unavailable needs format {MASKED_TAG!r}; say so")


def _unseen(value: npt.NDArray[Any] | None, n_actions: int, source: str) -> list[int] | None:
    if value is None:
        return None
    if value.ndim != 2 or value.shape[1] != 2 or value.dtype.kind not in "iu":
        raise FormatError(f"{source}: unseen must be int[.., 2], rows state, action")
    return unseen_in(value.tolist(), n_actions, source)


def _labels(value: npt.NDArray[Any], source: str) -> npt.NDArray[Any] | list[str | None]:
    if value.ndim != 1 or value.dtype.kind not in "iuU":
        raise FormatError(f"{source}: labels must be int[S], -1 for blank, or strings")
    if value.dtype.kind == "U":
        return [label or None for label in value.tolist()]
    return value


def _initial(value: npt.NDArray[Any], source: str) -> Initial:
    if value.ndim == 0 and value.dtype.kind in "iu":
        return int(value)
    if value.ndim == 2 and value.shape[1] == 2 and value.dtype.kind in "iuf":
        return [(state, weight) for state, weight in value.tolist()]
    raise FormatError(f"{source}: initial must be a state, or rows [state, probability]")


def _grid_out(grid: Grid) -> npz.Arrays:
    walls = [(x, y, SIDES.index(side)) for x, y, side in grid.walls]
    return {
        "grid_size": np.array([grid.width, grid.height]),
        "grid_cells": grid.cells,
        "grid_walls": np.array(walls, dtype=np.int64).reshape(-1, 3),
    }


def _grid_in(fields: npz.Arrays, source: str) -> Grid:
    shapes = {"grid_size": 1, "grid_cells": 2, "grid_walls": 2}
    for name, ndim in shapes.items():
        array = fields.get(name)
        if array is None or array.ndim != ndim or array.dtype.kind not in "iu":
            raise FormatError(f"{source}: {name} must be an array of whole numbers")
    size, cells, walls = (fields[name] for name in shapes)
    if size.shape != (2,) or cells.shape[1:] != (2,) or walls.shape[1:] != (3,):
        raise FormatError(f"{source}: grid arrays must be [2], [S, 2] and [W, 3]")
    if walls.size and not np.isin(walls[:, 2], (0, 1)).all():
        raise FormatError(f"{source}: grid_walls: the third column is 0 (right) or 1 (up)")
    sided = [(x, y, SIDES[side]) for x, y, side in walls.tolist()]
    return Grid(int(size[0]), int(size[1]), cells, sided)
