"""Ways through a world, drawn on its map, and what moves along them without a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, Unpack

import numpy as np

from whence._arrays import Floats
from whence.drawing.grid import cell_centres, grid_svg
from whence.drawing.places import MOST_PLACES, RADIUS, place_centres, places_svg

if TYPE_CHECKING:
    from whence.model.mdp import LabeledMDP

COARSE, FINE = 11, 46
HOLD = 0.08  # the share of time that the end of a way is shown
HUGE = 40_000  # cells that are too many to draw


class Marks(TypedDict, total=False):
    """What a drawing of a world shows besides: see `grid_svg` and `places_svg`."""

    visits: Floats | None
    largest: float | None
    policy: Floats | None
    over: Sequence[str]


@dataclass(frozen=True, eq=False)
class Scene:
    """Where the states of a world are drawn.

    Attributes:
        mdp: the world.
        points: float[S, 2], in pixels.
        unit: about how wide a state is.
        most: the largest side of a cell, for grids.
    """

    mdp: LabeledMDP
    points: Floats
    unit: float
    most: int = FINE

    @classmethod
    def of(cls, mdp: LabeledMDP, most: int = FINE) -> Scene | None:
        """Return the scene of a world, or None where it cannot be drawn."""
        if mdp.grid is not None:
            if mdp.grid.width * mdp.grid.height > HUGE:
                return None
            points, unit = cell_centres(mdp, most)
            return cls(mdp, points, unit, most)
        if mdp.n_states > MOST_PLACES:
            return None
        return cls(mdp, place_centres(mdp), 2 * RADIUS)

    def svg(self, title: str, **marks: Unpack[Marks]) -> str:
        """Return the drawing."""
        if self.mdp.grid is None:
            return places_svg(self.mdp, title=title, **marks)
        return grid_svg(self.mdp, title=title, most=self.most, **marks)

    def way(self, states: Sequence[int], kind: str, shift: float = 0.0) -> str:
        """Return a line through states with an arrowhead, `shift` of a state's width aside."""
        points = self.points[list(states)] + shift * self.unit
        kept = [0, *(at for at in range(1, len(points)) if (points[at] != points[at - 1]).any())]
        points = points[kept]
        begin = f'<circle cx="{points[0, 0]:.1f}" cy="{points[0, 1]:.1f}" r="4"/>'
        if len(points) == 1:
            return f'<g class="way {kind}">{begin}</g>'
        ahead = points[-1] - points[-2]
        ahead = ahead / max(float(np.hypot(*ahead)), 1e-9)
        size = max(7.0, 0.22 * self.unit)
        aside = 0.5 * size * np.array([-ahead[1], ahead[0]])
        corners = (points[-1] + 0.5 * size * ahead, points[-1] - 0.5 * size * ahead + aside,
                   points[-1] - 0.5 * size * ahead - aside)  # fmt: skip
        line = "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
        head = "L".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        return (
            f'<g class="way {kind}"><path d="M{line}" fill="none" stroke-width="3" '
            f'stroke-linejoin="round" stroke-linecap="round"/><path d="M{head}Z"/>{begin}</g>'
        )

    def token(self, states: Sequence[int], name: str) -> str:
        """Return a mark that stands in the first state, and moves where its keyframes say."""
        x, y = self.points[states[0]].tolist()
        radius = max(6.0, 0.26 * self.unit)
        return (
            f'<g class="token" style="animation-name:{name}" transform="translate({x:.1f} '
            f'{y:.1f})"><circle r="{radius:.1f}"/></g>'
        )

    def keyframes(self, states: Sequence[int], name: str, hold: float = HOLD) -> str:
        """Return the keyframes of a mark that goes through states and rests at the end."""
        places = self.points[list(states)]
        share = 100 * (1 - hold) / max(len(places) - 1, 1)
        steps = "".join(
            f"{at * share:.2f}%{{transform:translate({x:.1f}px,{y:.1f}px)}}"
            for at, (x, y) in enumerate(places.tolist())
        )
        x, y = places[-1].tolist()
        return f"@keyframes {name}{{{steps}100%{{transform:translate({x:.1f}px,{y:.1f}px)}}}}"


def lighting(memory: Sequence[int], name: str, hold: float = HOLD) -> dict[int, str]:
    """Return keyframes for each state of a machine that is ever lit, by its number.

    Args:
        memory: the machine's state at each place of a way.
        name: how the keyframes' names begin.
        hold: the share of time that the end is shown.
    """
    share = 100 * (1 - hold) / max(len(memory) - 1, 1)
    found = {}
    for state in dict.fromkeys(memory):
        frames, lit = [], None
        for at, now in enumerate(memory):
            if (now == state) != lit:
                lit = now == state
                frames.append(f"{at * share:.2f}%{{fill:var(--{'lit' if lit else 'alive'})}}")
        frames.append(f"100%{{fill:var(--{'lit' if lit else 'alive'})}}")
        found[state] = f"@keyframes {name}-{state}{{{''.join(frames)}}}"
    return found
