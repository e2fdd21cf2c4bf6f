"""What happens during a run, for whoever watches: callbacks, the journal and the terminal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from whence.model.machine import RewardMachine

STARTED, RESUMED, EXTENDED, PROGRESS = "started", "resumed", "extended", "progress"
CHECKPOINT, STOPPED, ANALYSING, FINISHED = "checkpoint", "stopped", "analysing", "finished"


@dataclass(frozen=True, eq=False)
class Event:
    """One event of a run.

    Attributes:
        kind: `started`, `resumed`, `extended`, `progress`, `checkpoint`, `stopped`,
            `analysing`, as the search is over and what it found is worked out, or `finished`.
        step: steps done.
        steps: steps in all, at most.
        seconds: spent so far.
        compiling: of those, seconds that this process spent on compiling.
        evaluations: machines scored so far.
        score: of the best machine so far, if there is one.
        machine: the best so far, if there is one.
        details: what the method tells of itself, ready for JSON.
        look: the step at which it may end by itself, as far as is known.
        most_seconds: after which it stops, if that was asked for.
        so_far: returns the provisional `Run`, what was found so far; to be called, if at all,
            while the callback has the event. It takes as long as analysing at the end. None
            while there is no machine yet.
    """

    kind: str
    step: int
    steps: int
    seconds: float
    evaluations: int
    score: float | None
    machine: RewardMachine | None
    details: dict[str, Any] = field(default_factory=dict)
    compiling: float = 0.0
    look: int | None = None
    most_seconds: float | None = None
    so_far: Callable[[], Any] | None = None

    def document(self) -> dict[str, Any]:
        """Return the event for JSON, without the machine."""
        return {
            "event": self.kind,
            "step": self.step,
            "steps": self.steps,
            "seconds": round(self.seconds, 3),
            "compiling": round(self.compiling, 3),
            "evaluations": self.evaluations,
            "score": None if self.score is None or math.isinf(self.score) else self.score,
            "look": self.look,
            "most_seconds": self.most_seconds,
        } | self.details


OnEvent = Callable[[Event], None]
