"""Which way each arrow takes, and where its label goes.

Arrows choose one after the other, each the way and the label's place that cost least given
what has been drawn; then they choose again, in rounds, until nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats
from whence.drawing import geometry
from whence.drawing.layout import Graph, arrangements
from whence.drawing.options import HARD, POINTS, START, Options, options

_COST_CROSSING, _COST_HIDDEN, _COST_NEAR, _COST_HEADS = 8.0, 90.0, 2.5, 9.0
_COST_BACKWARD = 10.0
_COARSE = slice(None, None, 3)
_INNER = slice(4, POINTS - 4, 3)
_ROUNDS = 8
_GROWTH, _GROWTHS = 1.14, 5
_SMALL, _LARGE = 24, 130
_WORK = 1100


@dataclass(frozen=True, eq=False)
class Routing:
    """A drawing's geometry, in pixels.

    Attributes:
        places: float[n, 2], the centres of the states.
        controls: float[L + 1, 4, 2], a cubic curve per link; the last is the initial arrow.
        labels: float[L + 1, 2], the centres of the labels; the last is not used.
        cost: how ugly the arrows and labels are.
        overlaps: labels on labels or states, and arrows through states.
        hidden: labels on arrows that are not theirs.
        backward: arrows that lead on but do not go right.
        extent: float[2], width and height.
    """

    places: Floats
    controls: Floats
    labels: Floats
    cost: float
    overlaps: int
    hidden: int
    backward: int
    extent: Floats

    @property
    def ugliness(self) -> float:
        """What tells drawings of the same machine apart."""
        width, height = float(self.extent[0]), float(self.extent[1])
        size = width * height / 6000 + max(0.0, height - 0.9 * width) / 10
        late = float(self.places[0, 0] - self.places[:, 0].min()) / 10
        late += _COST_BACKWARD * self.backward
        return self.cost + size + HARD * self.overlaps + max(0.0, width - 1000) / 10 + late


def routed(graph: Graph) -> Routing:
    """Return the best drawing found: places, curves and label places."""
    size = len(graph.links)
    tried = 5 if size <= _SMALL else 3 if size <= _LARGE / 2 else 2
    found = sorted((route(graph, places) for places in arrangements(graph)[:tried]), key=_ugliness)
    if size > _LARGE:
        return found[0]
    kept = found[:2] if size <= _SMALL else found[:1]
    return min((_grown(graph, routing) for routing in kept), key=_ugliness)


def _ugliness(routing: Routing) -> float:
    return routing.ugliness


def _grown(graph: Graph, found: Routing) -> Routing:
    """While something is covered, route the arrows again on more space."""
    places = found.places
    for _ in range(_GROWTHS):
        if not found.overlaps and not found.hidden:
            break
        places = places * _GROWTH
        again = route(graph, places)
        if (again.overlaps, again.hidden) < (found.overlaps, found.hidden):
            found = again
    return found


def route(graph: Graph, places: Floats) -> Routing:
    """Choose a curve and a label place for every link, with the states where they are."""
    links = [*graph.links, START]
    sizes = np.concatenate([graph.sizes, np.zeros((1, 2))])
    count = int(np.clip(_WORK // len(links), 4, 16))
    ways = [
        options(graph, places, link, size).best(count)
        for link, size in zip(links, sizes, strict=True)
    ]
    desk = _Desk(ways)
    order = _order(places, links)
    for link in order:
        desk.choose(link)
    for _ in range(_ROUNDS):
        if not sum(desk.choose(link) for link in order):
            break
    return desk.routing(graph, places)


def _order(places: Floats, links: list[tuple[int, int]]) -> list[int]:
    """Return the links: the initial arrow, short ones, long ones, then loops."""
    length = [float(np.hypot(*(places[a] - places[b]))) for a, b in links]
    keys = [
        (link != START, link[0] == link[1], at) for link, at in zip(links, length, strict=True)
    ]
    return sorted(range(len(links)), key=lambda link: keys[link])


class _Desk:
    """The choices made so far, and what they cost every way of every link.

    With C ways and T label places a link, `burden` float[L, C, T] is what each would pay beside
    the others' present choices. A link that changes its mind moves its own share only.
    """

    def __init__(self, ways: list[Options]) -> None:
        self.ways = ways
        self.curves = np.stack([way.points for way in ways])
        self.spots = _padded([way.labels for way in ways], 0.0)
        label_costs = _padded([way.label_costs for way in ways], np.inf)
        self.own = np.stack([way.costs for way in ways])[..., None] + label_costs
        self.sizes = np.stack([way.size for way in ways])
        self.low, self.high = self.curves.min(axis=2), self.curves.max(axis=2)
        self.chosen: dict[int, tuple[int, int]] = {}
        self.burden = np.zeros(self.own.shape)

    def choose(self, link: int) -> bool:
        """Let one link choose anew; return whether it changed its mind."""
        total = self.own[link] + self.burden[link]
        best = np.unravel_index(int(np.argmin(total)), total.shape)
        choice = int(best[0]), int(best[1])
        if self.chosen.get(link) == choice:
            return False
        if link in self.chosen:
            self._shift(link, -1.0)
        self.chosen[link] = choice
        self._shift(link, 1.0)
        return True

    def _shift(self, link: int, sign: float) -> None:
        """Add what the present choice of a link costs the others, or take it away."""
        way, spot = self.chosen[link]
        curve, label = self.curves[link, way], self.spots[link, way, spot]
        size = self.sizes[link]
        low = np.minimum(curve.min(axis=0), label - size) - 15
        high = np.maximum(curve.max(axis=0), label + size) + 15
        near = ((self.low <= high) & (self.high >= low)).all(axis=-1)
        near[link] = False
        costs = _curve_costs(self.curves[near], curve, label, size)
        self.burden[near] += sign * costs[:, None]
        reach = self.sizes[:, None, None] + 3
        close = ((self.spots - reach <= high) & (self.spots + reach >= low)).all(axis=-1)
        close[link] = False
        sizes = self.sizes[np.nonzero(close)[0]]
        self.burden[close] += sign * _label_costs(self.spots[close], sizes, curve, label, size)

    def routing(self, graph: Graph, places: Floats) -> Routing:
        """Return the drawing as chosen."""
        count = len(self.ways)
        way, spot = np.array([self.chosen[link] for link in range(count)]).T
        at = np.arange(count)
        points, labels = self.curves[at, way], self.spots[at, way, spot]
        controls = np.array([self.ways[link].controls[way[link]] for link in range(count)])
        own = self.own[at, way, spot]
        overlaps, hidden = _flaws(points, labels, self.sizes)
        return Routing(
            places=places,
            controls=controls,
            labels=labels,
            cost=float((own + self.burden[at, way, spot]).sum()),
            overlaps=overlaps + int((own >= HARD).sum()),
            hidden=hidden,
            backward=graph.backward(places),
            extent=_extent(places, points, labels, self.sizes),
        )


def _padded(arrays: list[Floats], fill: float) -> Floats:
    """Stack arrays [C, T, ...] whose T differ; what is missing is filled."""
    most = max(array.shape[1] for array in arrays)
    shape = (len(arrays), arrays[0].shape[0], most, *arrays[0].shape[2:])
    result = np.full(shape, fill)
    for at, array in enumerate(arrays):
        result[at, :, : array.shape[1]] = array
    return result


def _curve_costs(curves: Floats, curve: Floats, label: Floats, size: Floats) -> Floats:
    """Return float[C]: what curves [C, P, 2] pay for a curve [P, 2] and its label.

    They pay for crossings, for running side by side, for ends that touch, and for being hidden.
    """
    other = curve[None]
    crossed = geometry.crossings(curves[:, _COARSE], other[:, _COARSE])
    costs = _COST_CROSSING * crossed.sum(axis=(1, 2, 3))
    costs = costs + _COST_NEAR * _closeness(curves[:, _INNER], other[:, 2:-2], 15.0)
    costs = costs + _COST_HEADS * _closeness(curves[:, [0, -1]], other[:, [0, -1]], 13.0)
    over = geometry.pieces_meet_boxes(curves, label, size + 3)
    return np.asarray(costs + _COST_HIDDEN * over.any(axis=-1))


def _label_costs(
    centres: Floats, sizes: Floats, curve: Floats, label: Floats, size: Floats
) -> Floats:
    """Return float[M]: what labels pay for touching another label, or hiding its curve."""
    overlap = geometry.boxes_overlap(centres, sizes + 2, label, size + 2)
    over = geometry.pieces_meet_boxes(curve, centres, sizes + 3).any(axis=-1)
    return np.asarray(HARD * (overlap > 0) + 20 * overlap + _COST_HIDDEN * over)


def _flaws(points: Floats, labels: Floats, sizes: Floats) -> tuple[int, int]:
    """Return the number of pairs of labels that touch, and of labels on foreign curves."""
    centres, halves = labels[:, None], sizes[:, None]
    meet = geometry.boxes_overlap(centres, halves + 1, labels, sizes + 1) > 0
    over = geometry.pieces_meet_boxes(points, centres, halves + 1).any(axis=-1)
    others = ~np.eye(len(labels), dtype=np.bool_)
    return int((meet & others).sum()) // 2, int((over & others).sum())


def _extent(places: Floats, points: Floats, labels: Floats, sizes: Floats) -> Floats:
    boxed = sizes[:, 0] > 0
    corners = [labels[boxed] - sizes[boxed], labels[boxed] + sizes[boxed]]
    around = [places - geometry.RADIUS, places + geometry.RADIUS]
    return np.asarray(np.ptp(np.concatenate([points.reshape(-1, 2), *corners, *around]), axis=0))


def _closeness(first: Floats, second: Floats, reach: float) -> Floats:
    """Return float[C]: how much points [C, P, 2] come closer than `reach` to [F, Q, 2]."""
    if not len(second):
        return np.zeros(len(first))
    x = first[:, None, :, None, 0] - second[None, :, None, :, 0]
    y = first[:, None, :, None, 1] - second[None, :, None, :, 1]
    distance = np.sqrt((x * x + y * y).min(axis=-1))
    return np.asarray(np.maximum(1 - distance / reach, 0.0).sum(axis=(1, 2)))
