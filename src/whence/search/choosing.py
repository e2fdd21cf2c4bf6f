"""Which method infers, where none is named: all machines where they are few, else a sample.

Work is counted, never timed, so that the choice is the same on every machine.
"""

from __future__ import annotations

import math

from whence.likelihood.posterior import Worlds
from whence.model.expert import BOLTZMANN, SOFT
from whence.search.enumeration import Enumeration
from whence.search.unknowns import Unknowns

AUTO = "auto"
MOST_WORK = 10**8  # products of machines, their size in the worlds, and experts that are tried
MOST_MACHINES_DIGITS = 9
EXPERTS = (1, 20, 100)  # as work: where alpha and lapse are known, one is not, both are not
SOFT_SOLVE = 4  # as work: what solving takes for a soft expert, more than for a Boltzmann one ...
SOFT_ALPHAS = 16  # ... and for how many alphas, where alpha is unknown


def chosen(pairs: Worlds, sizes: range, levels: tuple[float, ...], unknowns: Unknowns) -> str:
    """Return `exhaustive` where the work of scoring every machine is small, else `tempering`."""
    symbols = len({symbol for world, _ in pairs for symbol in world.alphabet})
    known = unknowns.alpha
    if known is not None and unknowns.lapse is None and not 0 < known < math.inf:
        return "tempering"
    digits = sizes[-1] * symbols * math.log10(max(len(levels), 1))
    if symbols < 1 or len(levels) < 2 or digits > MOST_MACHINES_DIGITS:
        return "tempering"
    work = work_of(pairs, Enumeration(sizes, symbols, levels), unknowns)
    return "exhaustive" if work <= MOST_WORK else "tempering"


def work_of(pairs: Worlds, space: Enumeration, unknowns: Unknowns) -> int:
    """Return what scoring every machine takes: machines x their size in the worlds x experts."""
    pairs_of_world = sum(world.n_states * world.n_actions for world, _ in pairs)
    products = sum(count * n for count, n in zip(space.counts, space.sizes, strict=True))
    free = (unknowns.alpha is None) + (unknowns.lapse is None)
    solves = SOFT_ALPHAS if unknowns.alpha is None else 1
    each = {BOLTZMANN: EXPERTS[free], SOFT: EXPERTS[free] + SOFT_SOLVE * solves}
    return products * pairs_of_world * sum(each[kind] for kind, _ in unknowns.places)
