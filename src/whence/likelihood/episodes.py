"""How likely every episode is under many experts of one machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.steps import machine_states
from whence.likelihood.values import expert_q
from whence.model.checks import step_states
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import restricted

Pairs = Sequence[tuple[LabeledMDP, Demonstrations]]


@dataclass(frozen=True, eq=False)
class Cells:
    """What groups of episodes show of a machine's policy: counts of actions at places.

    Attributes:
        mdp: the world.
        machine: in its alphabet.
        memory: int64[R], the machine's state at each place.
        state: int64[R], the world's.
        place: int64[C], of each cell.
        action: int64[C].
        group: int64[P], which group ...
        cell: int64[P], ... shows which cell ...
        count: float64[P], ... so many times.
    """

    mdp: LabeledMDP
    machine: RewardMachine
    memory: Ints
    state: Ints
    place: Ints
    action: Ints
    group: Ints
    cell: Ints
    count: Floats


def cells(
    mdp: LabeledMDP, demos: Demonstrations, machine: RewardMachine, group: Ints | None = None
) -> Cells:
    """Count what groups of episodes show.

    Args:
        mdp: the world.
        demos: in it.
        machine: reads every symbol that the world shows.
        group: int64[E], the group of each episode; by default each is its own.
    """
    here = restricted(machine, mdp)
    memory = machine_states(mdp, demos, here)
    state = demos.states[step_states(demos)].astype(np.int64)
    codes = (memory * mdp.n_states + state) * mdp.n_actions + demos.actions
    known, which = np.unique(codes, return_inverse=True)
    places, place = np.unique(known // mdp.n_actions, return_inverse=True)
    owner = np.arange(len(demos)) if group is None else group
    pairs, count = np.unique(
        np.repeat(owner, demos.lengths) * max(len(known), 1) + which.reshape(-1),
        return_counts=True,
    )
    return Cells(
        mdp=mdp,
        machine=here,
        memory=places // mdp.n_states,
        state=places % mdp.n_states,
        place=place.reshape(-1),
        action=known % mdp.n_actions,
        group=pairs // max(len(known), 1),
        cell=pairs % max(len(known), 1),
        count=count.astype(np.float64),
    )


def by_group(found: Cells, experts: Sequence[Expert], groups: int) -> Floats:
    """Return float64[K, groups]: the log likelihood of what each group shows, by expert."""
    result = np.zeros((len(experts), groups))
    values: dict[Expert, Floats] = {}
    for k, expert in enumerate(experts):
        alike = _planner(expert)
        if alike not in values:
            values = {alike: _values(found, alike)}
        logs = expert.log_action_probabilities(values[alike])[found.place, found.action]
        result[k] = np.bincount(found.group, found.count * logs[found.cell], groups)
    return result


def log_likelihood_by_episode(
    worlds: Pairs, machine: RewardMachine, experts: Sequence[Expert]
) -> Floats:
    """Return float64[K, E] of K experts of one machine; worlds one after the other.

    Those that plan alike share a solve, if they come one after the other.
    """
    parts = [by_group(cells(mdp, demos, machine), experts, len(demos)) for mdp, demos in worlds]
    return np.concatenate(parts, axis=1)


def _planner(expert: Expert) -> Expert:
    """Return an expert that plans as this one does, without what does not matter for that."""
    if expert.is_soft:
        return replace(expert, lapse=0.0)
    return Expert(1.0, expert.discount)


def _values(found: Cells, expert: Expert) -> Floats:
    """Return float64[R, A], what actions are worth at each place."""
    return np.asarray(expert_q(found.mdp, found.machine, expert)[found.memory, found.state])
