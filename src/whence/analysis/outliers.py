"""Which steps and episodes a machine explains, and which are odd."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from whence._arrays import Ints
from whence.likelihood.posterior import Posterior
from whence.likelihood.steps import Steps, steps
from whence.model.expert import Expert
from whence.model.machine import RewardMachine


class Outlier(NamedTuple):
    """An episode and how well a machine explains it.

    Attributes:
        world: the number of its world.
        episode: its number in that world's demonstrations.
        z: how many standard deviations its log likelihood lies from what the machine's own
            expert would have in the same states; far below 0 is odd.
        surprise: nats of evidence that someone else made it, who takes unlikely actions more
            often. The expert's own episodes reach x nats with a probability of at most exp(-x),
            however short they are.
        log_likelihood: of all its steps.
        expected: what the expert's own actions would have on average.
        steps: how many it has.
        worst_step: the step whose action is least likely, compared with the average there.
    """

    world: int
    episode: int
    z: float
    surprise: float
    log_likelihood: float
    expected: float
    steps: int
    worst_step: int


def outliers(
    posterior: Posterior, machine: RewardMachine, expert: Expert | None = None
) -> tuple[Outlier, ...]:
    """Return all episodes with at least one step, that with the lowest z first.

    With p the expert's action probabilities at a step, in its state and after its labels,

        z = sum over steps of (log p(a) - m) / sqrt(sum over steps of v),
        m = sum over b of p(b) log p(b),  v = sum over b of p(b) (log p(b) - m)^2.

    In episodes of that expert the gaps log p(a) - m have mean 0 given what came before, and v is
    their variance. With many steps that matter z is about standard normal; where only a few
    do, as when nothing can be earned any more, one unlikely action makes it large: then look
    at `surprise`, the log of the product over steps of p(a)^-1/2 / (sum over b of p(b)^1/2), whose
    exponential has mean 1 in episodes of the expert. Where v is 0 throughout, z is 0. An action
    that the expert never takes makes z minus infinity.

    Args:
        posterior: holds the demonstrations.
        machine: what the expert is paid by.
        expert: how rational it is; the posterior's by default.
    """
    ordered = machine.over(posterior.alphabet)
    found = steps(posterior.worlds, ordered, expert or posterior.expert)
    lengths = np.diff(found.offsets)
    total, mean = found.by_episode(found.log_likelihood), found.by_episode(found.mean)
    surprise = found.by_episode(found.surprise)
    spread = np.sqrt(found.by_episode(found.variance))
    gap = total - mean
    z = np.divide(gap, spread, out=np.where(np.isinf(gap), gap, 0.0), where=spread > 0)
    worst = _worst(found)
    order = np.argsort(z, kind="stable")
    columns = (found.world, found.number, z, surprise, total, mean, lengths, worst)
    rows = zip(*(column[order].tolist() for column in columns), strict=True)
    return tuple(Outlier(*row) for row in rows if row[6])


def _worst(found: Steps) -> Ints:
    """Return int64[E]: the step furthest below the average, 0 where there is none."""
    episode = np.repeat(np.arange(len(found.world)), np.diff(found.offsets))
    order = np.lexsort((found.log_likelihood - found.mean, episode))
    result = np.zeros(len(found.world), dtype=np.int64)
    some = np.diff(found.offsets) > 0
    first = order[found.offsets[:-1][some]]
    result[some] = first - found.offsets[:-1][some]
    return result
