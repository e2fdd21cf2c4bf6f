"""The product of a world and a machine as explicit files of the model checker PRISM.

A state of the model is (s, y, paid): the world's state, the machine's, and whether the step that
led here was paid. Only what can be reached is written. Where the world starts in several states,
a first state with s = -1 leads to them.

    NAME.sta    the values of the variables      NAME.lab    init, paid, and one label per symbol
    NAME.tra    state choice successor probability action
    NAME.trew   state choice successor reward, where it is not 0
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from whence._arrays import BLANK, Floats, Ints
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import in_world, product

RESERVED = ("init", "deadlock", "paid")
_READABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class Explicit(NamedTuple):
    """The reachable product, N states.

    Attributes:
        states: int64[N, 3]: s, y, paid; in ascending order.
        source: int64[R], of each transition.
        choice: int64[R], the action.
        target: int64[R].
        probability: float64[R].
        reward: float64[R].
        initial: the state that the model starts in.
    """

    states: Ints
    source: Ints
    choice: Ints
    target: Ints
    probability: Floats
    reward: Floats
    initial: int


def dumps(mdp: LabeledMDP, machine: RewardMachine) -> dict[str, str]:
    """Return the text of each file by its ending."""
    machine = in_world(machine, mdp)
    model = explicit(mdp, machine)
    n, choices = len(model.states), len(np.unique(model.source * mdp.n_actions + model.choice))
    actions = _identifiers(mdp.actions, "a", ())
    tra = [f"{n} {choices} {len(model.source)}"]
    outside = int((model.states[:, 0] < 0).sum())
    for i, a, j, p in _rows(model, model.probability):
        name = "start" if i < outside else actions[a]
        tra.append(f"{i} {a} {j} {p!r} {name}")
    paying = [row for row in _rows(model, model.reward) if row[3] != 0]
    trew = [f"{n} {choices} {len(paying)}", *(f"{i} {a} {j} {r!r}" for i, a, j, r in paying)]
    sta = ["(s,y,paid)"]
    sta += [f"{i}:({s},{y},{p})" for i, (s, y, p) in enumerate(model.states.tolist())]
    texts = {"tra": tra, "sta": sta, "lab": _labels(mdp, model), "trew": trew}
    return {ending: "\n".join(lines) + "\n" for ending, lines in texts.items()}


def explicit(mdp: LabeledMDP, machine: RewardMachine) -> Explicit:
    """Return the part of the product that can be reached."""
    both = product(mdp, machine)
    size = machine.n_states * mdp.n_states
    first = mdp.offsets[:: mdp.n_actions]
    frontier = 2 * mdp.initial_states.astype(np.int64)
    seen = np.zeros(2 * size, dtype=np.bool_)
    seen[frontier] = True
    parts: list[tuple[Ints, Ints, Ints]] = []
    while len(frontier):
        memory, state = np.divmod(frontier // 2, mdp.n_states)
        entry = mdp.entries(state)
        origin = np.repeat(frontier, first[state + 1] - first[state])
        where = np.repeat(memory, first[state + 1] - first[state])
        target = 2 * both.targets[where, entry] + (both.rewards[where, entry] != 0)
        parts.append((origin, entry, target))
        frontier = np.unique(target[~seen[target]])
        seen[frontier] = True
    origin, entry, target = (np.concatenate(column) for column in zip(*parts, strict=True))
    reward = both.rewards[origin // 2 // mdp.n_states, entry]
    pair = np.searchsorted(mdp.offsets, entry, side="right") - 1
    return _numbered(
        mdp, np.flatnonzero(seen), origin, pair % mdp.n_actions, target, mdp.probabilities[entry],
        reward,
    )  # fmt: skip


def _numbered(
    mdp: LabeledMDP, keys: Ints, origin: Ints, choice: Ints, target: Ints, chance: Floats,
    reward: Floats,
) -> Explicit:  # fmt: skip
    """Return the model with states numbered by (s, y, paid), and one start."""
    memory, state = np.divmod(keys // 2, mdp.n_states)
    table = np.stack([state, memory, keys % 2], axis=1)
    order = np.lexsort((table[:, 2], table[:, 1], table[:, 0]))
    place = np.empty(int(keys.max()) + 1, dtype=np.int64)
    place[keys[order]] = np.arange(len(keys))
    table, source, target = table[order], place[origin], place[target]
    starts = place[2 * mdp.initial_states.astype(np.int64)]
    initial = int(starts[0])
    if len(starts) > 1:
        table = np.vstack([[[-1, 0, 0]], table])
        zeros = np.zeros(len(starts), dtype=np.int64)
        source, target = np.append(zeros, source + 1), np.append(starts + 1, target + 1)
        choice = np.append(zeros, choice)
        chance = np.append(mdp.initial_probabilities, chance)
        reward = np.append(np.zeros(len(starts)), reward)
        initial = 0
    rows = np.lexsort((target, choice, source))
    return Explicit(
        table, source[rows], choice[rows], target[rows], chance[rows], reward[rows], initial
    )


def _rows(model: Explicit, values: Floats) -> list[tuple[int, int, int, float]]:
    columns = (model.source, model.choice, model.target, values)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _labels(mdp: LabeledMDP, model: Explicit) -> list[str]:
    names = [*RESERVED, *_identifiers(mdp.alphabet, "symbol", RESERVED)]
    lines = [" ".join(f'{i}="{name}"' for i, name in enumerate(names))]
    symbol = np.where(model.states[:, 0] < 0, BLANK, mdp.labels[model.states[:, 0]])
    for i, (shown, paid) in enumerate(
        zip(symbol.tolist(), model.states[:, 2].tolist(), strict=True)
    ):
        held = [0] * (i == model.initial) + [2] * paid + [3 + shown] * (shown != BLANK)
        if held:
            lines.append(f"{i}: {' '.join(map(str, held))}")
    return lines


def _identifiers(names: Sequence[str], kind: str, taken: Sequence[str]) -> list[str]:
    """Return different names that PRISM can read: as they are, or else such as `symbol0`."""
    used = {*names, *taken}
    result = []
    for i, name in enumerate(names):
        if name in taken or not _READABLE.fullmatch(name):
            name = f"{kind}{i}"
            while name in used:
                name += "_"
            used.add(name)
        result.append(name)
    return result
