"""A search in motion: the generator, the state, and what is kept of the steps so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whence.planning.simulation import checked_seed
from whence.runs.job import Job
from whence.search.methods import Row
from whence.search.problem import Problem
from whence.search.tape import Tape

STREAM = 1  # apart from the stream of `simulate`, which uses the seed itself


@dataclass(eq=False)
class Walk:
    """Where a search stands; all that the next step needs.

    Attributes:
        rng: of every random choice.
        state: the method's.
        rows: the trace, a row a step, fewer of a long run.
        records: what the method keeps of steps.
        seconds: spent so far.
    """

    rng: np.random.Generator
    state: Any
    rows: Tape[Row] = field(default_factory=Tape)
    records: Tape[Any] = field(default_factory=Tape)
    seconds: float = 0.0

    @classmethod
    def start(cls, job: Job, problem: Problem) -> Walk:
        """Return the walk before its first step."""
        seed = np.random.SeedSequence(checked_seed(job.seed), spawn_key=(STREAM,))
        rng = np.random.default_rng(seed)
        return cls(rng, job.how.init(rng, problem, job.settings))

    def advance(self, job: Job, problem: Problem) -> None:
        """Make one step."""
        how, settings = job.how, job.settings
        self.state, info = how.step(self.rng, self.state, problem, settings)
        self.rows.append(how.row(self.state, info, problem, settings))
        kept = how.record(self.state, settings)
        if kept is not None:
            self.records.append(kept)

    def ended(self, job: Job, problem: Problem) -> str | None:
        """Return why there is nothing more to do, or None."""
        return job.how.ended(self.state, self.records, problem, job.settings)
