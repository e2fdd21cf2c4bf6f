"""The facts that a run will tell: are their probabilities exact enough to stop?

Which facts there are is seen from the sample itself, so they are asked for last: when all other
probabilities are exact enough. A plan that was worked out once is kept, and what the result tells
in the end is made from the same plans.
"""

from __future__ import annotations

from whence.analysis.plans import Known
from whence.analysis.sample import PosteriorSample
from whence.likelihood.posterior import Posterior
from whence.search.diagnostics import COMMON, by_ladder, mcse
from whence.search.draws import Draws


def largest_error(posterior: Posterior, draws: Draws, known: Known) -> float:
    """Return the largest Monte-Carlo error of a fact that is neither sure nor impossible.

    Args:
        posterior: of the worlds and the alphabet.
        draws: of all ladders.
        known: plans that were worked out before; new ones join them.
    """
    sample = sampled(posterior, draws, known)
    return 0.0 if draws.exact else error_of_facts(sample)


def error_of_facts(sample: PosteriorSample) -> float:
    """Return the largest Monte-Carlo error of a fact of at least 1% and at most 99%."""
    answer = sample.answer
    errors = [
        mcse(by_ladder(answer.weighed.holding(each.holds), sample.drawn.ladder))
        for each in answer.every
        if COMMON <= each.probability <= 1 - COMMON
    ]
    return max(errors, default=0.0)


def sampled(posterior: Posterior, draws: Draws, known: Known) -> PosteriorSample:
    """Return draws in classes, with plans that were worked out before."""
    return PosteriorSample.from_draws(
        list(posterior.worlds), draws, posterior.alphabet, known=known
    )
