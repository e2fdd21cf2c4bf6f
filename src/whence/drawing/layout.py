"""Where the states of a machine go.

Several arrangements are tried (columns by depth, columns by longest path, an ellipse, staggered
rows, springs). In each, states swap places while that lowers a cheap cost of straight arrows:
crossings, arrows through states, length. Nothing is random.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from whence._arrays import Floats, Ints
from whence.drawing.geometry import RADIUS, crossings

_COST_CROSSING, _COST_THROUGH, _COST_LENGTH, _COST_BACKWARD = 3.0, 9.0, 1.0, 0.7
_MANY = 24


@dataclass(frozen=True, eq=False)
class Graph:
    """What is to be arranged.

    Attributes:
        halves: float[n], how much each state is longer than a circle, on either side.
        links: the (source, target) pairs; loops included.
        sizes: float[L, 2], the width and height of each link's label.
    """

    halves: Floats
    links: tuple[tuple[int, int], ...]
    sizes: Floats

    @cached_property
    def pairs(self) -> Ints:
        """int[., 2]: the pairs of different states that at least one link joins."""
        pairs = sorted({(min(link), max(link)) for link in self.links if link[0] != link[1]})
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def forward(self) -> Ints:
        """int[., 2]: the links that lead away from the initial state, which should go right."""
        ranks = _longest(self, _depths(self))
        links = [link for link in self.links if ranks[link[0]] < ranks[link[1]]]
        return np.array(links, dtype=np.int64).reshape(-1, 2)

    def backward(self, places: Floats) -> int:
        """Return how many of the links that should go right do not."""
        start, end = places[self.forward, 0].T
        return int((end - start < RADIUS).sum())

    @cached_property
    def unit(self) -> Floats:
        """float[2]: the distance of neighbours that leaves room for labels, along x and y."""
        straight = [size for link, size in zip(self.links, self.sizes, strict=True) if _on(link)]
        loops = [size for link, size in zip(self.links, self.sizes, strict=True) if not _on(link)]
        label = np.quantile(straight, 0.8, axis=0) if straight else np.zeros(2)
        above = max((size[1] for size in loops), default=-34.0) + 34
        width = 2 * RADIUS + 2 * float(self.halves.max()) + label[0] + 64
        height = 2 * RADIUS + max(label[1] + 54, above + 16)
        crowd = max(1.0, len(straight) / (2.2 * len(self.halves))) ** 0.5
        return np.array([width * crowd, height * crowd])


def _on(link: tuple[int, int]) -> bool:
    return link[0] != link[1]


def arrangements(graph: Graph) -> list[Floats]:
    """Return positions float[n, 2] of the states in several arrangements, the best first."""
    n = len(graph.halves)
    if n == 1:
        return [np.zeros((1, 2))]
    if n > _MANY:
        return [_springs(graph)]
    depths = _depths(graph)
    found = [_columns(graph, depths), _columns(graph, _longest(graph, depths)), _ellipse(graph)]
    if n > 3:
        found += [_rows(graph), _springs(graph)]
    settled = [_swapped(graph, places) for places in found]
    return sorted(settled, key=lambda places: _cost(graph, places))


def _depths(graph: Graph) -> list[int]:
    """Return the breadth-first depth of each state; what cannot be reached comes last."""
    n = len(graph.halves)
    depths, queue = {0: 0}, [0]
    for state in queue:
        for source, target in graph.links:
            if source == state and target not in depths:
                depths[target] = depths[state] + 1
                queue.append(target)
    last = max(depths.values()) + 1
    return [depths.get(state, last) for state in range(n)]


def _longest(graph: Graph, depths: list[int]) -> list[int]:
    """Return the longest way to each state along links that lead forward.

    Forward is by depth, then towards states with fewer ways out: sinks end up last.
    """
    n = len(depths)
    ways = [len({t for s, t in graph.links if s == state and t != s}) for state in range(n)]
    order = sorted(range(n), key=lambda state: (ways[state] == 0, depths[state], -ways[state]))
    rank = {state: at for at, state in enumerate(order)}
    result = [0] * n
    for state in order:
        for source, target in graph.links:
            if source == state and rank[target] > rank[source]:
                result[target] = max(result[target], result[state] + 1)
    return result


def _columns(graph: Graph, depths: list[int]) -> Floats:
    """Place each depth in a column, each column ordered by where its neighbours are."""
    columns = [[s for s, d in enumerate(depths) if d == depth] for depth in sorted(set(depths))]
    places = np.zeros((len(depths), 2))
    x = 0.0
    for at, column in enumerate(columns):
        x += _gap(graph, columns[at - 1], column) if at else 0.0
        column.sort(key=lambda state: _mean_y(graph, places, state, depths))
        for row, state in enumerate(column):
            places[state] = x, (row - (len(column) - 1) / 2) * graph.unit[1]
    return places


def _gap(graph: Graph, left: list[int], right: list[int]) -> float:
    """Return the distance of two columns that leaves room for what is written between."""
    between = [
        size[0]
        for link, size in zip(graph.links, graph.sizes, strict=True)
        if (link[0] in left and link[1] in right) or (link[0] in right and link[1] in left)
    ]
    widths = graph.halves[left].max() + graph.halves[right].max() + 2 * RADIUS
    return float(max(widths + max(between, default=20.0) + 64, 0.75 * graph.unit[0]))


def _mean_y(graph: Graph, places: Floats, state: int, depths: list[int]) -> float:
    before = [
        places[a if b == state else b, 1]
        for a, b in graph.pairs.tolist()
        if state in (a, b) and depths[a if b == state else b] < depths[state]
    ]
    return float(np.mean(before)) if before else 0.0


def _ellipse(graph: Graph) -> Floats:
    """Place the states on an ellipse, the initial one at the left."""
    n = len(graph.halves)
    angles = math.pi + 2 * math.pi * np.arange(n) / n
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.asarray(ring * graph.unit / (2 * math.sin(math.pi / max(n, 2))))


def _rows(graph: Graph) -> Floats:
    """Place the states in rows, every other row shifted by half a place."""
    n = len(graph.halves)
    wide = math.ceil(math.sqrt(1.2 * n))
    at = np.arange(n)
    row = at // wide
    return np.stack([at % wide + 0.5 * (row % 2), row * 1.1], axis=1) * graph.unit


def _springs(graph: Graph) -> Floats:
    """Place the states so that distances follow the number of links between (stress)."""
    target = _hops(graph) ** 0.9
    np.fill_diagonal(target, 1.0)
    weight = target**-2.0
    np.fill_diagonal(weight, 0.0)
    places = _ellipse(graph) / graph.unit
    for _ in range(80):
        offset = places[:, None] - places[None]
        length = np.maximum(np.hypot(offset[..., 0], offset[..., 1]), 1e-6)
        pull = places[None] + offset * (target / length)[..., None]
        places = (weight[..., None] * pull).sum(axis=1) / weight.sum(axis=1)[:, None]
    return _apart(_turned(places)) * graph.unit


def _hops(graph: Graph) -> Floats:
    n = len(graph.halves)
    hops = np.full((n, n), float(n))
    np.fill_diagonal(hops, 0.0)
    hops[graph.pairs[:, 0], graph.pairs[:, 1]] = hops[graph.pairs[:, 1], graph.pairs[:, 0]] = 1
    for middle in range(n):
        hops = np.minimum(hops, hops[:, middle, None] + hops[middle])
    return hops


def _turned(places: Floats) -> Floats:
    """Turn the arrangement so that it is wide, with the initial state in the left half."""
    centred = places - places.mean(axis=0)
    x, y = centred.T
    angle = 0.5 * math.atan2(2 * float(x @ y), float(x @ x - y @ y))
    cos, sin = math.cos(angle), math.sin(angle)
    turned = centred @ np.array([[cos, -sin], [sin, cos]])
    return np.asarray(-turned if turned[0, 0] > 0 else turned)


def _apart(places: Floats) -> Floats:
    """Push states apart that are closer than 0.9 of a unit."""
    for _ in range(60):
        offset = places[:, None] - places[None]
        length = np.hypot(offset[..., 0], offset[..., 1])
        np.fill_diagonal(length, 9.0)
        push = np.maximum(0.9 - length, 0.0) / 2 / np.maximum(length, 1e-6)
        if not push.any():
            break
        places = places + (push[..., None] * offset).sum(axis=1)
    return places


def _swapped(graph: Graph, places: Floats) -> Floats:
    """Swap the places of two states as long as that lowers the cost."""
    n = len(places)
    best, improved = _cost(graph, places), True
    while improved:
        improved = False
        for a in range(n):
            for b in range(a + 1, n):
                trial = places.copy()
                trial[[a, b]] = places[[b, a]]
                cost = _cost(graph, trial)
                if cost < best - 1e-9:
                    places, best, improved = trial, cost, True
    return places


def _cost(graph: Graph, places: Floats) -> float:
    """Return the cost of an arrangement with straight arrows."""
    ends = places[graph.pairs]
    crossed = crossings(ends, ends).sum() / 2
    length = np.hypot(*((ends[:, 1] - ends[:, 0]) / graph.unit).T).sum()
    width, height = np.ptp(places, axis=0).tolist()
    shape = width * height / graph.unit.prod() / 4
    shape += max(0.0, width - 1100) / 100 + max(0.0, height - 700) / 60
    late = 4 * (places[0, 0] - places[:, 0].min()) / graph.unit[0]
    late += _COST_BACKWARD * graph.backward(places)
    straight = _COST_CROSSING * crossed + _COST_LENGTH * length
    return float(straight + _COST_THROUGH * _through(graph, places) + shape + late)


def _through(graph: Graph, places: Floats) -> int:
    """Return how often a straight arrow runs through, or close by, a state not its own."""
    start, end = places[graph.pairs].transpose(1, 0, 2)
    chord = end - start
    length = np.maximum(np.hypot(chord[:, 0], chord[:, 1]), 1e-9)[:, None]
    along, aside = chord / length, np.stack([-chord[:, 1], chord[:, 0]], axis=1) / length
    offset = places[None] - start[:, None]
    at = (offset * along[:, None]).sum(axis=-1)
    off = np.abs((offset * aside[:, None]).sum(axis=-1))
    reach = RADIUS + 8 + graph.halves * np.abs(aside[:, :1])
    near = (at > 0) & (at < length) & (off < reach)
    rows = np.arange(len(near))
    near[rows, graph.pairs[:, 0]] = near[rows, graph.pairs[:, 1]] = False
    return int(near.sum())
