"""What optimal agents can have everywhere in a world, by the engine that has least to do.

In a deterministic world with few labels values follow from those of its labelled states and the
ways to them, which are measured once a world; elsewhere the whole world is swept.
"""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from whence._arrays import Floats, Ints, frozen_own
from whence.likelihood.compiled import FINEST_VALUE, swept_values
from whence.likelihood.engines import limits
from whence.likelihood.evidence import Evidence, compile_evidence
from whence.likelihood.hub_map import HubMap, is_deterministic, map_hubs
from whence.likelihood.hubs import HubEngine
from whence.likelihood.soft import compiled_soft_q
from whence.model.demos import Demonstrations
from whence.model.expert import Expert, checked_discount
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import checked_rewards, in_world, product

ROOM = 2**25  # Q values that are held at the same time
FEW_SWEEPS = 2.0  # that values by labelled states alone are counted as

Tables = tuple[Ints, Floats, Ints]
_MAPS: WeakKeyDictionary[LabeledMDP, HubMap | None] = WeakKeyDictionary()


def batch_values(mdp: LabeledMDP, tables: Tables, discount: float, tolerance: float) -> Floats:
    """Return float64[B, n, S], the optimal values of machines over the world's own alphabet.

    Args:
        mdp: the world.
        tables: int64[B, n, m], float64[B, n, m] and int64[B], all states reachable.
        discount: of pay.
        tolerance: how far a value may be off.
    """
    everywhere = _everywhere(mdp)
    hubs = _hubs(mdp, everywhere)
    if hubs is None:
        return swept_values(mdp, tables, discount, tolerance)
    engine = HubEngine(mdp, everywhere, discount, 1, hubs)
    size, n, _ = tables[0].shape
    found = np.empty((size, n, mdp.n_states))
    block = max(1, ROOM // (n * mdp.n_actions * mdp.n_states))
    for start in range(0, size, block):
        some = slice(start, start + block)
        part = tables[0][some], tables[1][some], tables[2][some]
        found[some] = engine.visited_q(part, tolerance).max(axis=2)
    return found


def sweeps(mdp: LabeledMDP, discount: float) -> float:
    """Return what the values of a machine take in a world, counted as sweeps over all of it."""
    most = 1 / (1 - discount)
    return most if _hubs(mdp, _everywhere(mdp)) is None else min(most, FEW_SWEEPS)


def _everywhere(mdp: LabeledMDP) -> Evidence:
    """Return evidence of nothing that was done, in every state."""
    nothing = compile_evidence(mdp, Demonstrations.from_episodes([]))
    return replace(nothing, visited=frozen_own(np.arange(mdp.n_states)))


def _hubs(mdp: LabeledMDP, everywhere: Evidence) -> HubMap | None:
    """Return the ways of a world, from everywhere; None where sweeping it takes less."""
    if mdp not in _MAPS:
        within = limits(mdp, everywhere)
        _MAPS[mdp] = map_hubs(mdp, everywhere.visited, within) if is_deterministic(mdp) else None
    return _MAPS[mdp]


def optimal_values(mdp: LabeledMDP, machine: RewardMachine, discount: float) -> Floats:
    """Return float64[n, S], the optimal values of a machine over the world's own alphabet."""
    largest = float(np.abs(machine.rewards).max(initial=0.0)) / (1 - discount)
    tables = (
        machine.transitions[None].astype(np.int64),
        machine.rewards[None].copy(),
        np.array([machine.n_states]),
    )
    return np.asarray(batch_values(mdp, tables, discount, FINEST_VALUE * max(1.0, largest))[0])


def compiled_q(mdp: LabeledMDP, machine: RewardMachine, discount: float) -> Floats:
    """Return the optimal discounted Q of the product, float[n, S, A], to the last digits."""
    machine = in_world(machine, mdp)
    checked_rewards(machine.rewards, checked_discount(discount))
    return product(mdp, machine).backup(optimal_values(mdp, machine, discount), discount)


def expert_q(mdp: LabeledMDP, machine: RewardMachine, expert: Expert) -> Floats:
    """Return what an expert goes by, float[n, S, A]: the optimal Q, or a soft one in nats."""
    if not expert.is_soft:
        return compiled_q(mdp, machine, expert.discount)
    machine = in_world(machine, mdp)
    checked_rewards(machine.rewards, expert.discount)
    return compiled_soft_q(mdp, machine, expert.alpha, expert.discount)
