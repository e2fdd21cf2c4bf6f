"""How the experts of chains change: along with their machines, and on their own."""

from __future__ import annotations

import numpy as np

from whence._arrays import Bools, Floats
from whence.search.machines import Machines
from whence.search.streams import taken
from whence.search.target import Chains, Target
from whence.search.unknowns import Experts

DRAWN = 0.6  # how often alpha and lapse are drawn anew where they change alone


def carried(
    chains: Chains,
    proposed: Machines,
    target: Target,
    temperatures: Floats,
    log_prior: Floats | None = None,
) -> tuple[Experts, Floats]:
    """Return the experts of proposed machines, and float64[B], the log Jacobian.

    Machines without prior mass are not looked at: they are rejected anyway.

    Args:
        chains: B of them.
        proposed: B machines.
        target: what is sampled.
        temperatures: float64[B].
        log_prior: float64[B], of the proposed machines, where it is known.
    """
    result, log_q = chains.experts, np.zeros(chains.size)
    if not target.carrier.useful:
        return result, log_q
    rows = np.isfinite(target.space.log_prior(proposed) if log_prior is None else log_prior)
    if not rows.any():
        return result, log_q
    old = chains.machines.rows(rows), chains.experts.rows(rows)
    some, log_q[rows] = target.carrier.changed(
        old, proposed.rows(rows), old[1].discount, temperatures[rows]
    )
    return _put(result, some, rows), log_q


def another_expert(
    rng: np.random.Generator, chains: Chains, target: Target, temperatures: Floats
) -> tuple[Experts, Floats]:
    """Return other experts of the same machines, and float64[B], the log ratio of proposals.

    Each has another discount, where that is unknown; or an alpha and a lapse drawn anew, or a
    little changed. Which of these is tried does not depend on the expert.
    """
    unknowns, carrier = target.unknowns, target.carrier
    kinds = 2 if len(unknowns.places) > 1 else 1
    turning = rng.integers(0, kinds, chains.size) == 1
    turned = np.where(
        turning, unknowns.turned(rng, chains.experts.discount), chains.experts.discount
    )
    result, log_q = unknowns.propose(rng, chains.experts), np.zeros(chains.size)
    result = _put(result, chains.experts.rows(turning)._replace(discount=turned[turning]), turning)
    if not carrier.useful:
        return result, log_q
    anew = ~turning & (rng.random(chains.size) < DRAWN)
    if anew.any():
        some, log_q[anew] = carrier.drawn(
            taken(rng, anew),
            chains.machines.rows(anew),
            chains.experts.rows(anew),
            temperatures[anew],
        )
        result = _put(result, some, anew)
    if turning.any():
        old = chains.machines.rows(turning), chains.experts.rows(turning)
        some, log_q[turning] = carrier.changed(old, old[0], turned[turning], temperatures[turning])
        result = _put(result, some, turning)
    return result, log_q


def _put(experts: Experts, some: Experts, where: Bools) -> Experts:
    """Return experts with some others where bool[B] says so."""
    result = Experts(*(table.copy() for table in experts))
    for table, new in zip(result, some, strict=True):
        table[where] = new
    return result
