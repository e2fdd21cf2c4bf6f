"""Nodes where a density over two numbers lies: boxes that are found by zooming in."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from whence._arrays import Floats

ROUGH = (20, 14)  # nodes of the two numbers, while zooming in
ROUNDS = 7
SHRUNK = 0.7  # of its area, below which a box is looked at again

Box = tuple[tuple[float, float], tuple[float, float]]


def zoomed(density: Callable[[tuple[Floats, Floats]], Floats], box: Box, cut: float) -> Box:
    """Return a box that holds all of a density but what is far below its largest value."""
    for _ in range(ROUNDS):
        nodes = nodes_in(box, ROUGH)
        values = density(nodes)
        inside = values >= values.max() - cut
        smaller = (
            _span(nodes[0], inside.any(axis=1)),
            _span(nodes[1], inside.any(axis=0)),
        )
        shrunk = math.prod(
            (new[1] - new[0]) / (old[1] - old[0]) if old[1] > old[0] else 1.0
            for new, old in zip(smaller, box, strict=True)
        )
        box = smaller
        if shrunk > SHRUNK:
            break
    return box


def _span(nodes: Floats, inside: Floats) -> tuple[float, float]:
    """Return the range of the nodes inside, and one more to either side."""
    places = np.flatnonzero(inside)
    last = len(nodes) - 1
    return float(nodes[max(places[0] - 1, 0)]), float(nodes[min(places[-1] + 1, last)])


def nodes_in(box: Box, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    """Return so many nodes of each number, evenly spaced; one where there is no room."""
    first, second = (
        np.linspace(low, high, size) if high > low else np.array([low])
        for (low, high), size in zip(box, sizes, strict=True)
    )
    return first, second


def merged(parts: list[Floats]) -> Floats:
    """Return the nodes of all boxes in order; one where there is one."""
    if all(len(part) == 1 for part in parts):
        return parts[0]
    return np.sort(np.concatenate(parts))


def log_widths(nodes: Floats) -> Floats:
    """Return the log of the width that each node stands for; a lone one stands for itself."""
    if len(nodes) < 2:
        return np.zeros(len(nodes))
    gaps = np.diff(nodes) / 2
    width = np.append(gaps, 0.0) + np.append(0.0, gaps)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(width))
