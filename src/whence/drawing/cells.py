"""Cells of a grid as one path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

Cell = tuple[int, int]


def blocks(cells: Iterable[Cell], height: int, unit: int) -> str:
    """Return a path that covers cells, with one rectangle for neighbours in a row.

    Args:
        cells: (x, y), y upward.
        height: rows of the grid.
        unit: the side of a cell, in pixels.
    """
    parts = []
    for y, row in groupby(sorted((y, x) for x, y in cells), key=lambda cell: cell[0]):
        for start, stop in runs(x for _, x in row):
            wide = (stop - start) * unit
            top = (height - 1 - y) * unit
            parts.append(f"M{start * unit},{top}h{wide}v{unit}h{-wide}z")
    return "".join(parts)


def runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield (first, one past the last) of each run of consecutive ascending numbers."""
    start = stop = None
    for value in numbers:
        if start is None or value != stop:
            if start is not None and stop is not None:
                yield start, stop
            start = value
        stop = value + 1
    if start is not None and stop is not None:
        yield start, stop
