"""A search in motion: the generator, the state, and what is kept of the steps so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from whence.analysis.plans import Known
from whence.planning.simulation import checked_seed
from whence.runs.job import Job
from whence.runs.reported import largest_error
from whence.search.method import AGREED, Carried, Method, Part, Row
from whence.search.problem import Problem
from whence.search.tape import Tape


class Crew(Protocol):
    """Whoever does the work of parts.

    Attributes:
        seats: how many workers there are.
        scans: how many steps a part should have.
        ahead: parts that are under way.
    """

    @property
    def seats(self) -> int: ...  # noqa: D102

    @property
    def scans(self) -> int: ...  # noqa: D102

    @property
    def ahead(self) -> Sequence[Part]: ...  # noqa: D102

    def carried(self, method: Method[Any, Any, Any], parts: list[Part]) -> list[Carried]:
        """Take on more parts; return what became of those that are to be joined next."""
        ...


STREAM = 1  # apart from the stream of `simulate`, which uses the seed itself


@dataclass(eq=False)
class Walk:
    """Where a search stands; all that the next step needs.

    Attributes:
        method: at work on the problem.
        rng: of every random choice.
        state: the method's.
        rows: the trace, a row a step, fewer of a long run.
        records: what the method keeps of steps.
        seconds: spent so far.
        known: plans of machines that were worked out on the way.
    """

    method: Method[Any, Any, Any]
    rng: np.random.Generator
    state: Any
    rows: Tape[Row] = field(default_factory=Tape)
    records: Tape[Any] = field(default_factory=Tape)
    seconds: float = 0.0
    known: Known = field(default_factory=dict)

    @classmethod
    def start(cls, job: Job, problem: Problem) -> Walk:
        """Return the walk before its first step."""
        seed = np.random.SeedSequence(checked_seed(job.seed), spawn_key=(STREAM,))
        rng = np.random.default_rng(seed)
        method = job.search(problem)
        return cls(method, rng, method.init(rng))

    def advance(self, crew: Crew | None = None) -> None:
        """Make one step; or with workers as many as they make before they meet."""
        ahead: Sequence[Part] = () if crew is None else crew.ahead
        parts: list[Part] = []
        if crew is not None:
            parts = self.method.parts(self.state, crew.seats, crew.scans, ahead)
        if crew is not None and (parts or ahead):
            done = crew.carried(self.method, parts)
            self.state, rows, records = self.method.met(self.state, done)
            for row in rows:
                self.rows.append(row)
            for record in records:
                self.records.append(record)
            return
        self.state, info = self.method.step(self.rng, self.state)
        self.rows.append(self.method.row(self.state, info))
        kept = self.method.record(self.state)
        if kept is not None:
            self.records.append(kept)

    def ended(self) -> str | None:
        """Return why there is nothing more to do, or None.

        Ladders that agree go on until the facts that they tell are exact enough, too.
        """
        why = self.method.ended(self.state, self.records)
        if why != AGREED:
            return why
        draws = self.method.sampled(self.state, self.records)
        posterior = self.method.problem.posteriors[0]
        if draws is None or largest_error(posterior, draws, self.known) <= self._precision:
            return why
        return None

    @property
    def _precision(self) -> float:
        return float(getattr(self.method.settings, "precision", np.inf))
