"""Ways through a world: of an expert who was watched, and of an agent that a machine pays."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from whence.errors import WhenceWarning
from whence.likelihood.steps import machine_states
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import restricted, with_blank
from whence.planning.policies import plan
from whence.report.study import Study

LONGEST = 60  # steps that are shown


@dataclass(frozen=True)
class Walk:
    """Where somebody was, and what the machine had seen by then; one more of each than steps.

    Attributes:
        states: the world's.
        memory: the machine's.
    """

    states: tuple[int, ...]
    memory: tuple[int, ...]


def predicted(
    mdp: LabeledMDP,
    machine: RewardMachine,
    discount: float,
    start: int,
    *,
    steps: int = LONGEST,
    loops: bool = False,
) -> Walk:
    """Return where an optimal agent goes if every action leads where it usually does.

    Args:
        mdp: the world.
        machine: what pays.
        discount: of the agent.
        start: the first state, with nothing read.
        steps: at most; it stops where nothing more can be earned.
        loops: whether to go on where a loop is closed.
    """
    own = restricted(machine, mdp)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WhenceWarning)
        actions = plan(mdp, own, discount).actions
    following, _ = with_blank(own.transitions, own.rewards)
    states, memory = [start], [0]
    been = {(start, 0)}
    while len(states) <= steps:
        state, at = states[-1], memory[-1]
        if not own.can_pay[at]:
            break
        successors, chances = mdp.row(state, int(actions[at, state]))
        then = int(successors[chances.argmax()])
        states.append(then)
        memory.append(int(following[at, mdp.labels[then]]))
        place = (then, memory[-1])
        if not loops and place in been:
            break
        been.add(place)
    return Walk(tuple(states), tuple(memory))


def typical(study: Study) -> tuple[int, Walk] | None:
    """Return the number of an episode in the first world that fits as well as most, and its way.

    Of the episodes that are at least as long as most, it is the one whose log likelihood a step
    under the machine that is drawn is in the middle.
    """
    mdp, demos = study.worlds[0]
    long = np.flatnonzero((demos.lengths > 0) & (demos.lengths >= np.median(demos.lengths)))
    if not len(long):
        return None
    each = study.posterior.log_likelihood_by_episode(study.shown)[: len(demos)]
    fit = np.asarray(each)[long] / demos.lengths[long]
    chosen = int(long[np.argsort(fit, kind="stable")[len(long) // 2]])
    own = restricted(study.shown, mdp)
    alone = demos.subset(np.array([chosen]))
    states = alone.states[: LONGEST + 1].tolist()
    memory = machine_states(mdp, alone, own)[: len(states)].tolist()
    if len(memory) < len(states):
        following, _ = with_blank(own.transitions, own.rewards)
        memory.append(int(following[memory[-1], mdp.labels[states[-1]]]))
    return chosen, Walk(tuple(states[: len(memory)]), tuple(memory))
