"""Points, cubic curves, boxes and stadiums: the arithmetic below a drawing.

A stadium is a circle of radius `RADIUS` swept along a level segment of half length `half`; with
`half` 0 it is the circle. A box is a centre and half a size. Shapes broadcast as in NumPy.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Bools, Floats

RADIUS = 24.0
"""The radius of a state's circle, in pixels."""


def bezier(controls: Floats, times: Floats) -> Floats:
    """Return float[..., P, 2]: the points of curves float[..., 4, 2] at times float[P]."""
    t = times[:, None]
    weights = np.concatenate([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3], 1)
    return np.asarray(weights @ controls)


def subcurve(controls: Floats, start: Floats, end: Floats) -> Floats:
    """Return float[..., 4, 2]: the part of each curve between two times float[...]."""
    return _head(_tail(controls, start), (end - start) / np.maximum(1 - start, 1e-9))


def _head(controls: Floats, time: Floats) -> Floats:
    """Return the part of each curve up to a time: de Casteljau's construction."""
    t = time[..., None]
    kept, level = [controls[..., 0, :]], controls
    while level.shape[-2] > 1:
        level = level[..., :-1, :] + t[..., None] * (level[..., 1:, :] - level[..., :-1, :])
        kept.append(level[..., 0, :])
    return np.stack(kept, axis=-2)


def _tail(controls: Floats, time: Floats) -> Floats:
    return _head(controls[..., ::-1, :], 1 - time)[..., ::-1, :]


def stadium_distance(points: Floats, centre: Floats, half: Floats | float) -> Floats:
    """Return how far points float[..., 2] lie outside of a stadium; negative inside."""
    offset = points - centre
    beyond = np.maximum(np.abs(offset[..., 0]) - half, 0.0)
    return np.asarray(np.hypot(beyond, offset[..., 1]) - RADIUS)


def stadium_border(centre: Floats, half: float, angles: Floats, shift: Floats) -> Floats:
    """Return float[C, 2]: where rays leave a stadium; `shift` float[C] moves their origin."""
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    origin = np.stack([shift, np.zeros(len(shift))], axis=-1)
    low, high = np.zeros(len(angles)), np.full(len(angles), 2 * half + RADIUS)
    for _ in range(24):
        middle = (low + high) / 2
        inside = stadium_distance(origin + middle[:, None] * rays, np.zeros(2), half) < 0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.asarray(centre + origin + high[:, None] * rays)


def crossings(first: Floats, second: Floats) -> Bools:
    """Return bool[C, F, P-1, P-1]: which pieces of polylines cross, [C, P, 2] and [F, P, 2]."""
    a, c = first[:, None, :-1, None], second[None, :, None, :-1]
    ab = (first[:, 1:] - first[:, :-1])[:, None, :, None]
    cd = (second[:, 1:] - second[:, :-1])[None, :, None, :]
    ac_x, ac_y = c[..., 0] - a[..., 0], c[..., 1] - a[..., 1]
    turn = ab[..., 0] * cd[..., 1] - ab[..., 1] * cd[..., 0]
    on_first = (ac_x * cd[..., 1] - ac_y * cd[..., 0]) * np.sign(turn)
    on_second = (ac_x * ab[..., 1] - ac_y * ab[..., 0]) * np.sign(turn)
    size = np.abs(turn)
    return np.asarray((on_first > 0) & (on_first < size) & (on_second > 0) & (on_second < size))


def pieces_meet_boxes(points: Floats, centre: Floats, size: Floats) -> Bools:
    """Return bool[..., P-1]: whether the pieces of polylines [..., P, 2] touch a box.

    Args:
        points: float[..., P, 2].
        centre: float[..., 2], the centres of the boxes.
        size: float[..., 2], half their sizes; a negative one is never touched.
    """
    middle = (points[..., 1:, :] + points[..., :-1, :]) / 2
    along = (points[..., 1:, :] - points[..., :-1, :]) / 2
    x, y = (middle[..., axis] - centre[..., axis, None] for axis in (0, 1))
    wide, high = size[..., 0, None], size[..., 1, None]
    along_x, along_y = along[..., 0], along[..., 1]
    reach_x, reach_y = np.abs(along_x), np.abs(along_y)
    near = (np.abs(x) <= wide + reach_x) & (np.abs(y) <= high + reach_y)
    crossed = np.abs(along_x * y - along_y * x) <= wide * reach_y + high * reach_x
    return np.asarray(near & crossed)


def boxes_overlap(centre: Floats, size: Floats, centres: Floats, sizes: Floats) -> Floats:
    """Return how much boxes overlap: the smaller of the two shared sides; 0 if apart."""
    x, y = (
        size[..., axis] + sizes[..., axis] - np.abs(centre[..., axis] - centres[..., axis])
        for axis in (0, 1)
    )
    return np.asarray(np.maximum(np.minimum(x, y), 0.0))


def box_in_stadium(centre: Floats, size: Floats, middle: Floats, half: Floats) -> Floats:
    """Return how deep boxes reach into stadiums; 0 if they are apart."""
    offset = np.abs(centre - middle)
    apart = np.maximum(offset - size, 0.0)
    apart_x = np.maximum(apart[..., 0] - half, 0.0)
    return np.asarray(np.maximum(RADIUS - np.hypot(apart_x, apart[..., 1]), 0.0))
