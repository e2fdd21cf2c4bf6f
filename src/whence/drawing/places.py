"""A world without a grid as a picture: its places, and the ways between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.drawing import text
from whence.drawing.grid import enlarged, ink_on, legend, starts_anywhere, symbol_colour
from whence.drawing.overlay import HEAT, SHADES, levels

if TYPE_CHECKING:
    from whence.model.mdp import LabeledMDP

MOST_PLACES = 200
RADIUS = 18.0
_ROUNDS = 150  # of smoothing the layout
_INK, _PAPER, _LINE, _QUIET = "#1f2328", "#ffffff", "#d8dee4", "#57606a"
_SIDE, _GAP = 640.0, 72.0


def place_centres(mdp: LabeledMDP) -> Floats:
    """Return float[S, 2]: where the places are drawn, such that near ones are near.

    Stress majorisation: distances on paper should be as those along the ways, the near ones first.
    It begins with a circle, so that it is the same every time.
    """
    n = mdp.n_states
    if n == 1:
        return np.array([[_GAP, _GAP]])
    apart = _distances(_ways(mdp))
    angle = 2 * np.pi * np.argsort(np.argsort(_around(apart), kind="stable")) / n
    radius = apart.mean() * (0.5 + 0.5 * apart.mean(axis=1) / apart.mean(axis=1).max())
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1) * radius[:, None]
    with np.errstate(divide="ignore"):
        weight = np.where(apart > 0, apart**-2.0, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.pinv(laplacian)
    for _ in range(_ROUNDS):
        gap = np.linalg.norm(points[:, None] - points[None], axis=2)
        ratio = np.divide(weight * apart, gap, out=np.zeros_like(gap), where=gap > 1e-9)
        points = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ points)
    return _scaled(points)


def _around(apart: Floats) -> Floats:
    """Return float[S]: an order of the places along the second direction of their distances."""
    centred = -0.5 * apart**2
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    _, vectors = np.linalg.eigh(centred)
    return np.asarray(np.arctan2(vectors[:, -2].round(9), vectors[:, -1].round(9)))


def _scaled(points: Floats) -> Floats:
    """Return points in pixels: neighbours some way apart, all of it on the paper."""
    points = points - points.min(axis=0)
    gap = np.linalg.norm(points[:, None] - points[None], axis=2)
    near = np.where(gap > 1e-9, gap, np.inf).min(axis=1)
    scale = _GAP / max(float(np.median(near)), 1e-9)
    scale = min(scale, 1.6 * _SIDE / max(float(points.max()), 1e-9))
    return np.asarray(points * scale + 2 * RADIUS + 10)


def _ways(mdp: LabeledMDP) -> Bools:
    """Return bool[S, S]: whether any action leads from one place to the other, or back."""
    source = np.repeat(np.arange(mdp.n_states), mdp.n_actions)
    source = np.repeat(source, np.diff(mdp.offsets))
    linked = np.zeros((mdp.n_states, mdp.n_states), dtype=np.bool_)
    linked[source, mdp.successors] = True
    linked |= linked.T
    np.fill_diagonal(linked, False)
    return linked


def _distances(linked: Bools) -> Floats:
    """Return float[S, S]: the ways from place to place; one more than the most where none lead."""
    n = len(linked)
    apart = np.where(linked, 1.0, np.inf)
    np.fill_diagonal(apart, 0.0)
    for middle in range(n):
        apart = np.minimum(apart, apart[:, middle, None] + apart[None, middle])
    finite = apart[np.isfinite(apart)]
    return np.where(np.isfinite(apart), apart, finite.max() + 1)


def places_svg(
    mdp: LabeledMDP,
    *,
    title: str,
    visits: Floats | None = None,
    largest: float | None = None,
    policy: Floats | None = None,
    over: Sequence[str] = (),
) -> str:
    """Return a drawing of a world's places as SVG; at most 200 can be told apart.

    Args:
        mdp: the world.
        title: what the drawing is called.
        visits: float[S], how often each place was visited: shown as heat.
        largest: the number of visits that is hottest; by default the most of `visits`.
        policy: float[S, A]: arrows to where its likeliest actions usually lead.
        over: what else is drawn on top.
    """
    points = place_centres(mdp)
    linked = _ways(mdp)
    hottest = largest if largest is not None else 0.0 if visits is None else float(visits.max())
    heat = np.zeros(mdp.n_states, dtype=np.int64)
    if visits is not None:
        heat = levels(visits, hottest)
    body = [_lines(points, linked), *_arrows(mdp, points, policy), *_nodes(mdp, points, heat)]
    right, bottom = (points.max(axis=0) + 2 * RADIUS + 10).tolist()
    scale = enlarged(right)
    keys, tall, wide = legend(mdp, int(right / scale))
    width, height = max(right, wide * scale + 34), bottom + tall * scale
    words = f"{mdp.n_states} places, {int(linked.sum()) // 2} ways between them."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-family="{text.FONT}">\n'
        f"<title>{text.xml(title)}</title>\n<desc>{text.xml(words)}</desc>\n"
        f'<rect class="background" width="{width:.0f}" height="{height:.0f}" rx="6" '
        f'fill="{_PAPER}"/>\n' + "\n".join(part for part in (*body, *over) if part)
        + f'\n<g transform="translate(16 {bottom:.0f}) scale({scale:.3g})">'
        f"{''.join(keys)}</g>\n</svg>\n"
    )  # fmt: skip


def _lines(points: Floats, linked: Bools) -> str:
    parts = [
        f"M{points[a, 0]:.1f},{points[a, 1]:.1f}L{points[b, 0]:.1f},{points[b, 1]:.1f}"
        for a, b in np.argwhere(np.triu(linked)).tolist()
    ]
    return f'<path class="lines" d="{"".join(parts)}" stroke="{_LINE}" fill="none"/>'


def _arrows(mdp: LabeledMDP, points: Floats, policy: Floats | None) -> Iterator[str]:
    """Yield arrows for the likeliest actions; none where all that a state has are as likely."""
    if policy is None:
        return
    lines, heads = [], []
    for state, target in sorted(_targets(mdp, policy)):
        way = points[target] - points[state]
        length = float(np.hypot(*way))
        way = way / max(length, 1e-9)
        tip = points[target] - way * (RADIUS + 2)
        back, aside = tip - 9 * way, 4.5 * np.array([-way[1], way[0]])
        begin = points[state] + way * RADIUS
        lines.append(f"M{begin[0]:.1f},{begin[1]:.1f}L{back[0]:.1f},{back[1]:.1f}")
        corners = (tip, back + aside, back - aside)
        heads.append("M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in corners) + "Z")
    if lines:
        yield (
            f'<path class="policy" d="{"".join(lines)}" fill="none" stroke="{_INK}" '
            f'stroke-width="2"/><path class="policy" d="{"".join(heads)}" fill="{_INK}"/>'
        )


def _targets(mdp: LabeledMDP, policy: Floats) -> set[tuple[int, int]]:
    """Return (state, the likeliest successor) of every action that is chosen."""
    top = policy.max(axis=1)
    least = np.where(mdp.available, policy, top[:, None]).min(axis=1)
    found = set()
    for state in np.flatnonzero(top > least + 1e-9).tolist():
        for action in np.flatnonzero(policy[state] >= top[state] - 1e-9).tolist():
            successors, chances = mdp.row(state, action)
            if len(successors):
                found.add((state, int(successors[chances.argmax()])))
    return {(state, target) for state, target in found if state != target}


def _nodes(mdp: LabeledMDP, points: Floats, heat: Ints) -> Iterator[str]:
    starts = set() if starts_anywhere(mdp) else set(mdp.initial_states.tolist())
    for state, (x, y) in enumerate(points.tolist()):
        symbol = int(mdp.labels[state])
        fill = _PAPER if symbol < 0 else symbol_colour(symbol)
        name = mdp.state_name(state)
        short = text.shorten(text.visible(name), 9)
        size = min(11.0, 11.0 * 2 * RADIUS * 0.92 / max(text.pixels(short, 11.0), 1e-9))
        ink = _INK if symbol < 0 else ink_on(fill)
        kind = "place" if symbol < 0 else "tile"
        yield (
            f"<g><title>{text.xml(name)}</title>"
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS:.0f}" fill="{fill}" '
            f'stroke="{_QUIET if symbol < 0 else _INK}"/>'
        )
        if heat[state] and symbol < 0:
            yield (
                f'<circle class="heat" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS:.0f}" '
                f'fill="{HEAT}" fill-opacity="{SHADES[heat[state] - 1]}"/>'
            )
        elif heat[state]:
            yield (
                f'<circle class="warm" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS + 4:.0f}" fill="none" '
                f'stroke="{HEAT}" stroke-width="5" stroke-opacity="{SHADES[heat[state] - 1]}"/>'
            )
        if state in starts:
            yield (
                f'<circle class="start" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS + 3:.0f}" '
                f'fill="none" stroke="{_INK}" stroke-width="1.5" stroke-dasharray="4 2"/>'
            )
        yield (
            f'<text x="{x:.1f}" y="{y + 0.36 * size:.1f}" font-size="{size:.1f}" '
            f'text-anchor="middle" fill="{ink}">{text.xml(short)}</text></g>'
        )
