"""Whether an expert acts best wherever it acts at all, and what cannot be told then.

An expert of finite rationality shows by how often it errs how much each thing is worth to it. One
who always does what is best, but for lapses, shows only which plan is best: pay along the way, and
how large pays are, are told as far as another plan would be best without them, and no further.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whence.likelihood.posterior import Posterior
from whence.model.expert import BOLTZMANN
from whence.model.machine import RewardMachine

NO_WORSE = 3.0  # nats that a greedy expert may explain less
LAPSES = np.concatenate([[0.0], np.geomspace(1e-4, 0.5, 40)])
LARGEST_DISCOUNT = 0.99  # beyond, actions that are as good are not told from those nearly so


def notes_of_greed(
    posterior: Posterior, machine: RewardMachine, inferred: Sequence[str]
) -> list[str]:
    """Return, in words, that the expert may as well be greedy.

    Args:
        posterior: of the expert that was found.
        machine: the best one.
        inferred: what of the expert was.
    """
    expert = posterior.expert
    known = "alpha" not in inferred or expert.kind != BOLTZMANN
    if known or not posterior.n_steps or expert.discount > LARGEST_DISCOUNT:
        return []
    lapses = LAPSES if "lapse" in inferred else np.array([expert.lapse])
    greedy = posterior.of_expert(replace(expert, alpha=math.inf))
    table = machine.over(posterior.alphabet)
    many = (len(lapses), *table.transitions.shape)
    found = greedy.log_likelihood(
        np.broadcast_to(table.transitions, many),
        np.broadcast_to(table.rewards, many),
        lapse=lapses,
    )
    at = int(found.argmax())
    if not found[at] >= posterior.finest(machine) - NO_WORSE:
        return []
    often = f", but for {lapses[at]:.1%} of its steps" if lapses[at] > 0 else ""
    return [
        f"the expert may as well always act best{often}: such behaviour tells which plan is best, "
        "not how much better it is, so pay along the way and the size of pays are known only as "
        "far as another plan would be best without them"
    ]
