"""Every machine of a space on a card, where there is one: what matters comes back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.cache import bands
from whence.likelihood.engines import CPU
from whence.likelihood.integrating import Integrated
from whence.likelihood.posterior import Posterior
from whence.model.product import checked_rewards, checked_sharpness
from whence.search.enumeration import WIDE, Enumeration, completions

if TYPE_CHECKING:
    from whence.likelihood.cuda.engine import CudaEngine
    from whence.likelihood.cuda.sifting import Stretch

TIMES = 64  # as many machines a step as the settings say for cores


class Sifted(NamedTuple):
    """Machines that matter, and the log weight of those that do not.

    Attributes:
        position: int64[N], numbers in the space, ascending.
        log_likelihood: float64[N].
        log_prior: float64[N].
        log_weight: float64[N].
        log_rest: float64[sizes].
    """

    position: Ints
    log_likelihood: Floats
    log_prior: Floats
    log_weight: Floats
    log_rest: Floats


def on_card(target: Posterior | Integrated, space: Enumeration) -> TypeGuard[Posterior]:
    """Return whether a card goes through the space: the expert known, steps alone counting."""
    if not isinstance(target, Posterior):
        return False
    if target.ending_term is not None or target.answer_term is not None:
        return False
    if target.device == CPU or space.total >= WIDE:
        return False
    engines = _card_engines(target)
    served = [engine.serves(space.sizes[-1], space.m) for engine in engines]
    return len(engines) == len(target.engines) and all(served)


def batch_of(target: Posterior | Integrated, space: Enumeration, batch: int) -> int:
    """Return how many machines a step scores."""
    return TIMES * batch if on_card(target, space) else batch


def sifted(
    target: Posterior, space: Enumeration, start: int, stop: int, best: float, nats: float
) -> Sifted:
    """Score the machines start..stop-1, all of one size, on the card.

    Those come back whose log weight is within `nats` of `best` and of all these.
    """
    from whence.likelihood.cuda.sifting import Sieve

    engines = _card_engines(target)
    which = int(space.size_index(np.array([start]))[0])
    n, edge = space.sizes[which], space.edges[which]
    columns = [target.columns(number) for number in range(len(engines))]
    sieve = Sieve(engines, columns, space.m, _stretch(target, space, n))
    found = sieve.sifted(start - edge, stop - edge, best, nats)
    rest = np.full(len(space.sizes), -np.inf)
    rest[which] = found.log_rest
    return Sifted(
        found.position + edge, found.log_likelihood, found.log_prior, found.log_weight, rest
    )


def _card_engines(target: Posterior) -> list[CudaEngine]:
    """Return the engines that are the card's."""
    from whence.likelihood.cuda.engine import CudaEngine

    return [engine for engine in target.engines if isinstance(engine, CudaEngine)]


def _stretch(target: Posterior, space: Enumeration, n: int) -> Stretch:
    """Return the machines of n states, and how they are weighed."""
    from whence.likelihood.cuda.sifting import Stretch

    expert, prior = target.expert, target.prior
    paid = checked_rewards(np.array(space.levels), expert.discount)
    checked_sharpness(paid, np.array([expert.alpha]), expert.discount)
    by_zeros, by_loops = prior.log_factors(n, space.m, len(space.levels))
    constant = prior.log_size(n, space.sizes) - prior.normaliser(n, space.m) + math.lgamma(n)
    tolerance = target.value_tolerance(bands(np.array([expert.alpha])), target.tolerance)
    return Stretch(
        n=n,
        ways=np.array(completions(n, space.m), dtype=np.int64),
        levels=tuple(sorted(space.levels, key=lambda level: (level != 0, level))),
        by_zeros=by_zeros,
        by_loops=by_loops,
        constant=constant,
        temperature=target.temperature,
        alpha=expert.alpha,
        lapse=expert.lapse,
        tolerance=float(tolerance[0]),
    )
