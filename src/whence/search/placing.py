"""What scores machines where a card is asked for: it pays only where many are asked for at once.

The choice is counted before the first step, and no clock is asked. It depends on the settings
alone, so that a run that is resumed, on any number of threads, scores each machine as before.
"""

from __future__ import annotations

from collections.abc import Sequence

from whence.likelihood.posterior import Posterior
from whence.search.problem import Problem


def placed(problem: Problem, machines: int) -> Problem:
    """Return a problem that is scored by the cores where fewer machines are asked for at once."""
    return problem if machines >= few(problem.posteriors) else problem.on_cores()


def few(posteriors: Sequence[Posterior]) -> int:
    """Return how many machines must be asked for at once for a card to pay; 0 without one."""
    return max(engine.few for posterior in posteriors for engine in posterior.engines)
