"""What scores machines where a card is asked for: it pays only where many are asked for at once.

The choice is counted before the first step, and no clock is asked. It depends on the settings
alone, so that a run that is resumed, on any number of threads, scores each machine as before.
"""

from __future__ import annotations

from whence.likelihood.engines import CPU
from whence.search.problem import Problem

FEW = 100  # machines that two cores score in the time that a card takes for a call


def placed(problem: Problem, machines: int) -> Problem:
    """Return a problem that is scored by the cores where fewer machines are asked for at once."""
    if problem.posteriors[0].device == CPU or machines >= FEW:
        return problem
    return problem.on_cores()
