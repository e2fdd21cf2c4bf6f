"""The finders beside the chains: each ladder's looks for a better start, during the warm-up.

Each ladder has a finder of its own, with the ladder's own randomness. After each turn the best
machine that it has takes the place of the coldest chain, if no chain of the ladder has met a
better one. All that ends with the warm-up, so no sample depends on how a start was found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from whence._arrays import Ints
from whence.likelihood.threads import side_by_side
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
        found: how far each ladder's is.
        heard: whether all are over, and the ladders have heard of what was found.
    """

    found: tuple[Found, ...]
    heard: bool

    @property
    def evaluations(self) -> int:
        """How many machines were scored by all finders."""
        return sum(found.scored for found in self.found)

    @property
    def over(self) -> bool:
        """Whether no finder has anything left to do."""
        return all(found.over for found in self.found)

    def turning(self, in_turn: bool) -> list[int]:
        """Return the places of those that take a turn: all that are not over, or the first."""
        places = [place for place, found in enumerate(self.found) if not found.over]
        return places[:1] if in_turn else places

    def parted(self, places: Ints) -> Seeking:
        """Return some of them."""
        return replace(self, found=tuple(self.found[place] for place in places.tolist()))


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
        one = replace(self.finder.init(), over=not wanted)
        return Seeking((one,) * self.settings.ladders, not wanted)

    def step(
        self, rngs: list[np.random.Generator], seeking: Seeking, places: list[int]
    ) -> tuple[Seeking, list[Chains | None]]:
        """Take a turn of some finders, side by side where there are several threads.

        Args:
            rngs: one for each finder of all.
            seeking: where the finders are.
            places: of those that take a turn.

        Returns:
            Where they are then, and the best machine that each of them has so far.
        """
        if places:
            _ = self.finder.goals  # once for all
        threads = self.target.posteriors[0].engines[0].threads
        turns = [partial(self._turn, rngs[place], seeking.found[place]) for place in places]
        found, every = side_by_side(turns, threads), list(seeking.found)
        for place, (new, _) in zip(places, found, strict=True):
            every[place] = new
        return replace(seeking, found=tuple(every)), [best for _, best in found]

    def _turn(self, rng: np.random.Generator, before: Found) -> tuple[Found, Chains | None]:
        """Take a turn of one finder; also returns the best machine that it has so far."""
        found = self.finder.step(rng, before)
        best = self._chain(found.beam)
        most = SHARE * self.settings.steps * self.settings.rungs
        if found.over or found.scored > most:
            found = replace(self.finder.init(), scored=found.scored, over=True)
        return found, best

    def _chain(self, beam: Scored) -> Chains | None:
        """Return the best machine of a beam as a chain of the target.

        Where a number of states is asked for, a machine that has it competes with the best one of
        all, to which states are added that change nothing.
        """
        if not beam.score.size:
            return None
        right = np.isin(beam.machines.n_states, self.target.space.sizes)
        rows = [beam.rows(np.array([row])) for row in {0, *np.flatnonzero(right)[:1].tolist()}]
        made = [self._allowed(one) for one in rows]
        chains = [chain for chain in made if chain is not None]
        return max(chains, key=lambda chain: float(self.target.score(chain)[0]), default=None)

    def _allowed(self, one: Scored) -> Chains | None:
        machine: Machines | None = padded(one.machines, self.target.space)
        if machine is None:
            return None
        known, expert = self.target.unknowns, one.experts
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
