"""The same demonstrations in worlds that differ in their probabilities alone.

Evidence is compiled once, and a world laid out for the kernels once: what changes is a column of
numbers, so that another world costs little more than solving it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from whence._arrays import Floats, Ints, frozen_own
from whence.likelihood.compiled import CompiledEngine
from whence.likelihood.layouts import Layout, layout
from whence.likelihood.posterior import Posterior
from whence.likelihood.soft import SoftEngine
from whence.model.mdp import LabeledMDP


@dataclass(frozen=True, eq=False)
class Template:
    """A world as the kernels want it, and where its probabilities go.

    Attributes:
        mdp: the world.
        laid: the layout.
        entry: int64[...], the world's transition behind each number of the layout, or -1.
    """

    mdp: LabeledMDP
    laid: Layout
    entry: Ints

    @classmethod
    def of(cls, mdp: LabeledMDP) -> Template:
        """Lay a world out once, its transitions numbered in place of their probabilities."""
        numbers = np.arange(1, mdp.n_transitions + 1, dtype=np.float64)
        laid = layout(replace(mdp, probabilities=numbers))
        return cls(mdp, laid, laid.probabilities.astype(np.int64) - 1)

    def engine(self, old: CompiledEngine, probabilities: Floats) -> CompiledEngine:
        """Return an engine like another one, with other probabilities, float64[N]."""
        padded = np.append(probabilities, 0.0)
        laid = replace(self.laid, probabilities=frozen_own(padded[self.entry]))
        return type(old)(self.mdp, old.evidence, old.discount, old.threads, laid)


class Redrawn:
    """A posterior whose worlds can be exchanged for others with the same transitions."""

    def __init__(self, posterior: Posterior, worlds: list[LabeledMDP]) -> None:
        """Compile the demonstrations once more, for worlds that allow for more transitions."""
        self._base = posterior.in_worlds(worlds)
        self._templates = [Template.of(mdp) for mdp in worlds]
        kind = SoftEngine if posterior.expert.is_soft else CompiledEngine
        self.engines = [
            kind(mdp, evidence, posterior.expert.discount, 1, template.laid)
            for mdp, evidence, template in zip(
                worlds, self._base.evidence, self._templates, strict=True
            )
        ]

    def at(self, probabilities: list[Floats]) -> Posterior:
        """Return the posterior of worlds with these probabilities, float64[N] for each."""
        result = copy(self._base)
        result._remembered = {}
        result.engines = [
            template.engine(engine, column)
            for template, engine, column in zip(
                self._templates, self.engines, probabilities, strict=True
            )
        ]
        return result
