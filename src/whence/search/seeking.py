"""The finder beside the chains: ladder by ladder it looks for a better start, during the warm-up.

Each ladder has a finder of its own, one after the other, with randomness of its own. After each
turn the best machine that it has takes the place of the coldest chain, if no chain of the ladder
has met a better one. All that ends with the warm-up, so no sample depends on how a start was
found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from whence.search.finding.climbing import Scored
from whence.search.finding.finder import Finder, Found
from whence.search.finding.padding import padded
from whence.search.machines import Machines
from whence.search.settings import Tempering
from whence.search.target import Chains, Target
from whence.search.unknowns import Experts

FEW_STEPS = 2_000  # a run of fewer has no time for it
FEW_MACHINES = 1e5  # among so few, chains need no help
SHARE = 0.25  # of all machines that a run may score, at most


@dataclass(frozen=True, eq=False)
class Seeking:
    """Where the finders are.

    Attributes:
        ladder: whose finder it is now; as many as there are ladders when all are over.
        scored: machines, by finders that are over.
        found: how far this one is.
    """

    ladder: int
    scored: int
    found: Found

    @property
    def evaluations(self) -> int:
        """How many machines were scored by all finders."""
        return self.scored + self.found.scored

    def over(self, settings: Tempering) -> bool:
        """Whether no finder has anything left to do."""
        return self.ladder >= settings.ladders


class Seeker:
    """Runs the finders of all ladders."""

    def __init__(self, target: Target, settings: Tempering, lists: Target | None = None) -> None:
        """Prepare the finders.

        Args:
            target: what the chains sample.
            settings: of the chains.
            lists: the same target, where long lists of machines are scored by something else.
        """
        self.target = target
        self.settings = settings
        self.finder = Finder(target, lists)

    def init(self, wanted: bool) -> Seeking:
        """Return the finders before the first turn, or all of them over."""
        wanted = wanted and self.settings.finder and _worthwhile(self.target, self.settings)
        return Seeking(0 if wanted else self.settings.ladders, 0, self.finder.init())

    def step(self, rng: np.random.Generator, seeking: Seeking) -> tuple[Seeking, Chains | None]:
        """Take a turn; also returns the best machine so far of this ladder's finder."""
        found = self.finder.step(rng, seeking.found)
        best = self._chain(found.beam)
        now = replace(seeking, found=found)
        most = SHARE * self.settings.steps * self.settings.rungs
        if found.over or found.scored > most:
            now = Seeking(now.ladder + 1, now.evaluations, self.finder.init())
        return now, best

    def _chain(self, beam: Scored) -> Chains | None:
        """Return the best machine of a beam as a chain of the target."""
        if not beam.score.size:
            return None
        machine: Machines | None = padded(beam.machines.rows(np.array([0])), self.target.space)
        if machine is None:
            return None
        known = self.target.unknowns
        expert = beam.experts.rows(np.array([0]))
        return self.target.chains(
            machine,
            Experts(
                expert.alpha if known.alpha is None else np.full(1, known.alpha),
                expert.lapse if known.lapse is None else np.full(1, known.lapse),
                expert.discount,
            ),
        )


def _worthwhile(target: Target, settings: Tempering) -> bool:
    """Return whether a run is long enough, and its space large enough, for a finder."""
    space = target.space
    free = (space.known_targets < 0).all() and (space.known_paid < 0).all()
    count = space.largest * space.m * math.log(space.largest * len(space.levels))
    return bool(free) and settings.steps >= FEW_STEPS and count > math.log(FEW_MACHINES)
