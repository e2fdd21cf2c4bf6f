"""The ways in which one arrow can be drawn, and what each costs on its own.

A link between two states may bend to either side, more or less, evenly or not; a loop may sit
anywhere around its state. Each way offers some places for the label.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats
from whence.drawing import geometry
from whence.drawing.layout import Graph

START = (-1, 0)
"""The link that stands for the arrow into the initial state."""

POINTS = 28
TIMES = np.linspace(0.0, 1.0, POINTS)
HARD = 1000.0
"""The cost of what must not happen: a label on a label or on a state, an arrow through one."""

CLEAR = 5.0
"""How far arrows stay away from states that are not theirs."""

_FINE = np.linspace(0.0, 1.0, 90)
_GAP = 2.0
_EVEN = (0.0, 0.1, 0.2, 0.32, 0.48, 0.7, 1.0)
_UNEVEN = (0.35, 0.6, 0.95)
_ALONG = (0.5, 0.43, 0.57, 0.36, 0.64, 0.29, 0.71, 0.22, 0.78)
_ASIDE = (0.0, -14.0, 14.0, -28.0, 28.0)
_NO_LABEL = -1e6


@dataclass(frozen=True, eq=False)
class Options:
    """C ways to draw a link, each with T places for its label.

    Attributes:
        controls: float[C, 4, 2], cubic curves.
        points: float[C, POINTS, 2], points on them.
        costs: float[C].
        labels: float[C, T, 2], centres of the label.
        label_costs: float[C, T].
        size: float[2], half the size of the label; negative where there is none.
    """

    controls: Floats
    points: Floats
    costs: Floats
    labels: Floats
    label_costs: Floats
    size: Floats

    def best(self, count: int) -> Options:
        """Return the `count` ways that cost least on their own."""
        kept = np.argsort(self.costs + self.label_costs.min(axis=1), kind="stable")[:count]
        return Options(
            self.controls[kept],
            self.points[kept],
            self.costs[kept],
            self.labels[kept],
            self.label_costs[kept],
            self.size,
        )


def options(graph: Graph, places: Floats, link: tuple[int, int], label: Floats) -> Options:
    """Return the ways to draw a link whose label has the given width and height."""
    if link == START:
        return _start(graph, places)
    if link[0] == link[1]:
        return _loop(graph, places, link[0], label / 2)
    return _bent(graph, places, link, label / 2)


def _bent(graph: Graph, places: Floats, link: tuple[int, int], size: Floats) -> Options:
    source, target = link
    bends, costs = _bends((target, source) in graph.links)
    ends = places[source], places[target]
    controls = _clipped(_curves(*ends, bends), ends, graph.halves[[source, target]])
    points = geometry.bezier(controls, TIMES)
    stretch = _length(points) / np.linalg.norm(graph.unit)
    costs = costs + 3 * stretch + _near_states(graph, places, controls, (source, target))
    labels, far = _along(points)
    covered = _covers_ends(points, labels, size)
    label_costs = far + covered + _on_states(graph, places, labels, size)
    return Options(controls, points, costs + _outside(places, points), labels, label_costs, size)


def _bends(two_way: bool) -> tuple[Floats, Floats]:
    """Return float[C, 2], how far each end bends aside, in chord lengths; and the costs."""
    even = [(sign * bend, sign * bend) for bend in _EVEN for sign in (1, -1)]
    even = [bend for bend in dict.fromkeys(even) if bend != (0.0, 0.0) or not two_way]
    uneven = [(sign * bend, sign * bend / 5) for bend in _UNEVEN for sign in (1, -1)]
    bends = np.array(even + uneven + [(b, a) for a, b in uneven] + [(0.3, -0.3), (-0.3, 0.3)])
    costs = 14 * np.abs(bends).mean(axis=1) + 6 * np.abs(bends[:, 0] - bends[:, 1])
    return bends, costs + (2.0 * (bends.sum(axis=1) < 0) if two_way else 0.0)


def _curves(start: Floats, end: Floats, bends: Floats) -> Floats:
    """Return float[C, 4, 2]: curves from centre to centre with the given bends."""
    chord = end - start
    aside = np.array([chord[1], -chord[0]])
    first = start + chord * 0.3 + bends[:, :1] * aside * 4 / 3
    second = end - chord * 0.3 + bends[:, 1:] * aside * 4 / 3
    ends = np.broadcast_to(start, first.shape), np.broadcast_to(end, first.shape)
    return np.stack([ends[0], first, second, ends[1]], axis=1)


def _clipped(controls: Floats, ends: tuple[Floats, Floats], halves: Floats) -> Floats:
    """Cut curves off where they leave the first state and where they reach the second."""
    times = np.linspace(0.0, 1.0, 129)
    points = geometry.bezier(controls, times)
    inside = geometry.stadium_distance(points, ends[0], halves[0]) < 0
    reached = geometry.stadium_distance(points, ends[1], halves[1]) < _GAP
    middle = len(times) // 2
    start = times[np.argmin(inside[:, :middle], axis=1)]
    end = times[len(times) - 1 - np.argmin(reached[:, :middle:-1], axis=1)]
    return geometry.subcurve(controls, start, np.maximum(end, start + 0.02))


def _along(points: Floats) -> tuple[Floats, Floats]:
    """Return float[C, T, 2], places along the curves for a label's centre, and their costs."""
    at = np.array(_ALONG)
    exact = at * (POINTS - 1)
    low = exact.astype(np.int64)
    part = (exact - low)[:, None]
    labels = points[:, low] * (1 - part) + points[:, low + 1] * part
    return labels, np.broadcast_to(10 * np.abs(at - 0.5), labels.shape[:2])


def _covers_ends(points: Floats, labels: Floats, size: Floats) -> Floats:
    """Return float[C, T]: the cost of a label that hides where its arrow starts or ends."""
    length = np.maximum(_length(points), 1.0)
    costs = np.zeros(labels.shape[:2])
    for pixels, backwards in ((22.0, True), (10.0, False)):
        part = np.clip(pixels / length, 0, 0.45) * (POINTS - 1)
        index = np.rint((POINTS - 1) - part if backwards else part).astype(np.int64)
        seen = points[np.arange(len(points)), index][:, None]
        hidden = (np.abs(seen - labels) < size + 2).all(axis=-1)
        costs += 120.0 * hidden
    return costs


def _loop(graph: Graph, places: Floats, state: int, size: Floats) -> Options:
    angles = np.repeat(2 * math.pi * np.arange(16) / 16 - math.pi / 2, 2)
    reach = np.tile([46.0, 62.0], 16)
    controls = _loop_curves(places[state], float(graph.halves[state]), angles, reach)
    points = geometry.bezier(controls, TIMES)
    costs = _near_states(graph, places, controls, (state, state)) + 0.2 * (reach - 46)
    labels = _beyond(points[:, POINTS // 2], angles, size)
    own = geometry.pieces_meet_boxes(points[:, None], labels, size).any(axis=-1)
    label_costs = 40.0 * own + _on_states(graph, places, labels, size)
    label_costs = label_costs + 0.08 * np.abs(_ASIDE)
    costs = costs + _turn_costs(places, state, angles) + _outside(places, points)
    return Options(controls, points, costs, labels, label_costs, size)


def _loop_curves(centre: Floats, half: float, angles: Floats, reach: Floats) -> Floats:
    """Return float[C, 4, 2]: loops around a state at the given angles."""
    level = np.cos(angles)
    shift = half * np.sign(level) * (np.abs(level) > 0.3)
    start = geometry.stadium_border(centre, half, angles - 0.4, shift)
    end = geometry.stadium_border(centre, half, angles + 0.4, shift) + _GAP * _ray(angles + 0.4)
    first = start + reach[:, None] * _ray(angles - 0.32)
    second = end + reach[:, None] * _ray(angles + 0.32)
    return np.stack([start, first, second, end], axis=1)


def _beyond(tips: Floats, angles: Floats, size: Floats) -> Floats:
    """Return float[C, T, 2]: centres of a label just beyond the tip of a loop."""
    ray = _ray(angles)
    reach = np.min((size + 3) / np.maximum(np.abs(ray), 1e-9), axis=1)
    shift = np.array(_ASIDE)[:, None]
    aside = np.stack([-ray[:, 1], ray[:, 0]], axis=1)
    return np.asarray((tips + reach[:, None] * ray)[:, None] + shift * aside[:, None])


def _start(graph: Graph, places: Floats) -> Options:
    angles = math.pi + 2 * math.pi * np.arange(16) / 16
    half = float(graph.halves[0])
    border = geometry.stadium_border(places[0], half, angles, np.zeros(len(angles)))
    end = border + _GAP * _ray(angles)
    away = end + 36 * _ray(angles)
    parts = np.array([1, 2 / 3, 1 / 3, 0])[:, None]
    controls = end[:, None] + parts * (away - end)[:, None]
    points = geometry.bezier(controls, TIMES)
    costs = 4 * (1 - np.cos(angles - math.pi)) + _near_states(graph, places, controls, (0, 0))
    none = np.zeros((len(angles), 1))
    size = np.full(2, _NO_LABEL)
    return Options(controls, points, costs, controls[:, :1], none, size)


def _turn_costs(places: Floats, state: int, angles: Floats) -> Floats:
    """Return float[C]: loops look best at the top or the bottom, away from the rest."""
    upright = 3.0 * np.abs(np.cos(angles)) + 1.0 * (np.sin(angles) > 0.1)
    outward = places[state] - places.mean(axis=0)
    length = float(np.hypot(*outward))
    if length < 1.0:
        return np.asarray(upright)
    return np.asarray(upright + 3.0 * (1 - _ray(angles) @ (outward / length)))


def _near_states(graph: Graph, places: Floats, controls: Floats, own: tuple[int, int]) -> Floats:
    """Return float[C]: the cost of curves that come close to states not their own."""
    others = np.setdiff1d(np.arange(len(places)), own)
    if not len(others):
        return np.zeros(len(controls))
    points = geometry.bezier(controls, _FINE)
    distance = geometry.stadium_distance(
        points[:, :, None], places[others], graph.halves[others]
    ).min(axis=1)
    soft = np.maximum(16.0 - distance, 0.0).sum(axis=1)
    return np.asarray(HARD * (distance < CLEAR).sum(axis=1) + soft)


def _on_states(graph: Graph, places: Floats, labels: Floats, size: Floats) -> Floats:
    """Return float[C, T]: the cost of labels that touch states."""
    depth = geometry.box_in_stadium(labels[:, :, None], size + 3, places, graph.halves)
    return np.asarray((HARD * (depth > 0) + 20 * depth).sum(axis=-1))


def _outside(places: Floats, points: Floats) -> Floats:
    """Return float[C]: the cost of curves that widen the drawing."""
    low, high = places.min(axis=0) - 70, places.max(axis=0) + 70
    beyond = np.maximum(np.maximum(low - points, points - high), 0.0)
    return np.asarray(0.12 * beyond.max(axis=1).sum(axis=-1))


def _length(points: Floats) -> Floats:
    steps = np.diff(points, axis=-2)
    return np.asarray(np.hypot(steps[..., 0], steps[..., 1]).sum(axis=-1))


def _ray(angles: Floats) -> Floats:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)
