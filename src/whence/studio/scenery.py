"""A world as the page shows it: where its states are drawn, and what is around a state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from whence._arrays import BLANK, Ints
from whence.drawing.grid import symbol_colour
from whence.drawing.ways import Scene
from whence.model.mdp import LabeledMDP
from whence.studio import walking
from whence.studio.walking import Walk

MOST_ACTIONS = 60  # that the page offers in one state
MOST_STARTS = 200
MOST_DRAWN = 60  # cells in a row of a map that can be drawn on
ASIDE = 1e-3  # a successor this unlikely is not told of


@dataclass(frozen=True, eq=False)
class Scenery:
    """A world with what the page needs to know of it, worked out once."""

    mdp: LabeledMDP

    @cached_property
    def usual(self) -> Ints:
        """int64[S, A]: where each action most likely leads."""
        return walking.usual_successors(self.mdp)

    @cached_property
    def scene(self) -> Scene | None:
        """Where states are drawn, or None where they are too many."""
        return Scene.of(self.mdp)

    @cached_property
    def document(self) -> dict[str, Any]:
        """The world for the page; `points` are places on the drawing, `svg`."""
        mdp, scene = self.mdp, self.scene
        return {
            "states": mdp.n_states,
            "actions": list(mdp.actions[:MOST_ACTIONS]),
            "all_actions": mdp.n_actions,
            "alphabet": list(mdp.alphabet),
            "colours": [symbol_colour(at) for at in range(len(mdp.alphabet))],
            "labels": None if scene is None else mdp.labels.tolist(),
            "starts": mdp.initial_states[:MOST_STARTS].tolist(),
            "deterministic": mdp.is_deterministic,
            "estimated": mdp.unseen is not None,
            "grid": mdp.grid is not None,
            "points": None if scene is None else scene.points.round(1).tolist(),
            "unit": None if scene is None else scene.unit,
            "svg": None if scene is None else scene.svg("The world"),
            "drawn": _drawn(mdp),
        }

    def around(self, state: int) -> list[dict[str, Any]]:
        """Return what each action of a state does: where it leads, and what is read there."""
        mdp, found = self.mdp, []
        for action in range(min(mdp.n_actions, MOST_ACTIONS)):
            then = int(self.usual[state, action])
            if then < 0:
                continue
            chances = mdp.row(state, action)[1]
            found.append(
                {
                    "action": action,
                    "to": then,
                    "name": mdp.state_name(then),
                    "label": mdp.label(then),
                    "sure": bool(chances.max() >= 1 - ASIDE),
                }
            )
        return found

    def walk_document(self, walk: Walk) -> dict[str, Any]:
        """Return a walk for the page, with what is around its end."""
        here = walk.states[-1]
        return {
            "revision": walk.revision,
            "states": list(walk.states),
            "actions": list(walk.actions),
            "history": list(walk.history),
            "read": walking.symbols_read(self.mdp, walk),
            "name": self.mdp.state_name(here),
            "label": self.mdp.label(here) if walk.actions else None,
            "around": self.around(here),
        }


def _drawn(mdp: LabeledMDP) -> dict[str, Any] | None:
    """Return a grid as it can be drawn on, cells numbered row by row; None for other worlds."""
    grid = mdp.grid
    if grid is None or max(grid.width, grid.height) > MOST_DRAWN:
        return None
    cells = (grid.cells[:, 1].astype(np.int64) * grid.width + grid.cells[:, 0]).tolist()
    rarest = float(mdp.probabilities.min())
    return {
        "width": grid.width,
        "height": grid.height,
        "solid": sorted(set(range(grid.width * grid.height)) - set(cells)),
        "walls": [list(wall) for wall in grid.walls],
        "labels": [
            [cell, mdp.alphabet[label]]
            for cell, label in zip(cells, mdp.labels.tolist(), strict=True)
            if label != BLANK
        ],
        "starts": [cells[state] for state in mdp.initial_states.tolist()],
        "slip": 0.0 if mdp.is_deterministic else round(min(2 * rarest, 0.99), 6),
        "stay": "stay" in mdp.actions,
        "unavailable": mdp.is_masked,
    }
