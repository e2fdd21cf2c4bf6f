"""What scores machines where a card is asked for: it pays only where many are asked for at once.

The choice is counted before the first step, and no clock is asked. It depends on the settings
alone, so that a run that is resumed, on any number of threads, scores each machine as before.
"""

from __future__ import annotations

from whence.search.problem import Problem


def placed(problem: Problem, machines: int) -> Problem:
    """Return a problem that is scored by the cores where fewer machines are asked for at once."""
    few = max(posterior.few for posterior in problem.posteriors)
    return problem if machines >= few else problem.on_cores()
