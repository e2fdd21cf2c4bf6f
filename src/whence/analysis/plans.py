"""What the optimal agent of every machine of a sample does, and how probable statements are.

A plan belongs to a machine and a discount, since an agent that looks less far ahead may head for
something else. Machines that pay the same wherever they can be read have the same plan, so a class
of a sample is looked at once for each discount that it was drawn with, the heaviest first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from whence._arrays import Bools, Floats, Ints, frozen_own
from whence.analysis.heading import Goal, agent, judged, values_of, worth
from whence.analysis.routes import Course, course
from whence.likelihood.values import sweeps
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.search.diagnostics import by_ladder, ess, evenness

ENOUGH = 0.9995  # the share of the mass whose plans are worked out
LEAST_PLANS = 100  # rare ones may still be rivals of what is stated
MOST_PLANS, MOST_WORK = 4000, 3e8  # plans, and what they take: states of products times sweeps

Word = tuple[int, ...]
Known = dict[tuple[bytes, bytes, float], tuple[list[Floats], Course]]


@dataclass(frozen=True, eq=False)
class Drawn:
    """The N draws that a sample was made from.

    Attributes:
        kind: int64[N], the class of each.
        discount: float64[N].
        weight: float64[N].
        ladder: int64[N], in order of time within one.
        exact: whether weights are exact.
    """

    kind: Ints
    discount: Floats
    weight: Floats
    ladder: Ints
    exact: bool


@dataclass(frozen=True, eq=False)
class Plans:
    """Machines with discounts, and what their optimal agents do; P of them.

    Attributes:
        worlds: where they act.
        alphabet: the m symbols.
        machines: P machines over the alphabet.
        discounts: P of them.
        values: for each plan and each world float64[n, S], what can be had.
        courses: what each heads for.
    """

    worlds: tuple[LabeledMDP, ...]
    alphabet: tuple[str, ...]
    machines: tuple[RewardMachine, ...]
    discounts: tuple[float, ...]
    values: list[list[Floats]]
    courses: tuple[Course, ...]
    _avoided: dict[Word, Bools] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        worlds: Sequence[LabeledMDP],
        alphabet: tuple[str, ...],
        machines: Sequence[RewardMachine],
        discounts: Sequence[float],
        known: Known | None = None,
    ) -> Plans:
        """Work out the plans of machines, each with its discount.

        Args:
            worlds: where they act.
            alphabet: the symbols.
            machines: P of them.
            discounts: P of them.
            known: plans in the same worlds that were worked out before; new ones join them.
        """
        found = {} if known is None else known
        goals = _goals(machines, discounts)
        names = [(g.transitions.tobytes(), g.rewards.tobytes(), g.discount) for g in goals]
        fresh = {name: goal for name, goal in zip(names, goals, strict=True) if name not in found}
        values = values_of(worlds, alphabet, list(fresh.values()))
        for (name, goal), own in zip(fresh.items(), values, strict=True):
            found[name] = own, course(agent(worlds, alphabet, goal, own))
        every = [found[name] for name in names]
        return cls(
            tuple(worlds), alphabet, tuple(machines), tuple(discounts),
            [own for own, _ in every], tuple(way for _, way in every),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.machines)

    def avoided(self, word: Word) -> Bools:
        """Return bool[P, len(word), m]: which labels are avoided on the way to each of a word.

        A label is avoided where reading it does harm, and where the agent could have more if it
        did none: it goes out of its way.
        """
        if word not in self._avoided:
            self._avoided[word] = _avoided(self, word)
        return self._avoided[word]

    def paid(self, word: Word) -> Floats:
        """Return float64[P, len(word)]: what each machine pays for each label of a word."""
        rows = [machine.run([self.alphabet[s] for s in word]).rewards for machine in self.machines]
        return np.array(rows).reshape(len(self.machines), len(word))


def _goals(machines: Sequence[RewardMachine], discounts: Sequence[float]) -> list[Goal]:
    return [
        Goal(machine.transitions, machine.rewards, discount)
        for machine, discount in zip(machines, discounts, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Weighed:
    """The plans of a sample with their weights, the heaviest first.

    Attributes:
        plans: P of them.
        kind: int64[P], the class that each belongs to.
        weight: float64[P].
        draw: int64[N], the plan of each draw, or -1 where it was not worked out.
        drawn: the draws.
    """

    plans: Plans
    kind: Ints
    weight: Floats
    draw: Ints
    drawn: Drawn

    @cached_property
    def missing(self) -> float:
        """The share of the mass whose plans were not worked out."""
        return max(0.0, 1.0 - float(self.weight.sum()))

    def holding(self, holds: Bools) -> Ints:
        """Return int64[N]: 1 for each draw that is of a plan for which a statement holds."""
        return np.append(holds, False)[self.draw].astype(np.int64)

    def probability(self, holds: Bools) -> tuple[float, float]:
        """Return how probable a statement is that holds for some plans, and its error.

        What was not worked out counts against it; where that is more than the Monte-Carlo error,
        it is the error.
        """
        chance = min(1.0, float(self.weight[holds].sum()))
        if self.drawn.exact:
            return chance, self.missing if self.missing > 1e-12 else 0.0
        chains = by_ladder(self.holding(holds), self.drawn.ladder)
        worth_of = evenness(self.drawn.weight) * ess(chains)
        if math.isnan(worth_of):
            return chance, math.nan
        share = (chance * worth_of + 1) / (worth_of + 2)  # all of few is not all
        error = math.sqrt(share * (1 - share) / worth_of)
        unknown = self.missing if self.missing > 1 - ENOUGH else 0.0
        return chance, max(error, unknown)


def weighed(
    worlds: tuple[LabeledMDP, ...],
    alphabet: tuple[str, ...],
    machines: Sequence[RewardMachine],
    drawn: Drawn,
    known: Known | None = None,
) -> Weighed:
    """Work out the plans of the heaviest machines of a sample.

    Args:
        worlds: where they act.
        alphabet: the symbols.
        machines: one for each of the first classes.
        drawn: the draws behind the sample.
        known: plans that were worked out before.
    """
    levels, at = np.unique(drawn.discount, return_inverse=True)
    code = drawn.kind * len(levels) + at.reshape(-1)
    codes, inverse = np.unique(code, return_inverse=True)
    inverse = inverse.reshape(-1)
    weight = np.bincount(inverse, drawn.weight).astype(np.float64)
    named = codes // len(levels) < len(machines)
    order = np.argsort(np.where(named, -weight, 1.0), kind="stable")[: int(named.sum())]
    kept = order[: _enough(weight[order], _work(codes[order], levels, machines, worlds))]
    place = np.full(len(codes), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    kind = codes[kept] // len(levels)
    plans = Plans.of(
        worlds,
        alphabet,
        [machines[k] for k in kind.tolist()],
        levels[codes[kept] % len(levels)].tolist(),
        known,
    )
    return Weighed(plans, frozen_own(kind), frozen_own(weight[kept]), place[inverse], drawn)


def _work(
    codes: Ints, levels: Floats, machines: Sequence[RewardMachine], worlds: Sequence[LabeledMDP]
) -> Floats:
    """Return float64[P]: what each plan takes, in states of products times steps that count."""
    kind, at = np.divmod(codes, len(levels))
    states = np.array([machines[k].n_states for k in kind.tolist()], dtype=np.float64)
    each = np.array([_effort(worlds, discount) for discount in levels.tolist()])
    return np.asarray(states * each[at])


def _effort(worlds: Sequence[LabeledMDP], discount: float) -> float:
    """Return what the values of one state of a machine take: world states times sweeps."""
    return sum(mdp.n_states * sweeps(mdp, discount) for mdp in worlds)


def _enough(weight: Floats, work: Floats) -> int:
    """Return how many plans to work out: until the mass is enough, or the work too much."""
    heavy = int(np.searchsorted(np.cumsum(weight), ENOUGH * weight.sum())) + 1
    able = int(np.searchsorted(np.cumsum(work), MOST_WORK, side="right"))
    return min(len(weight), max(heavy, LEAST_PLANS), MOST_PLANS, max(1, able))


def _avoided(plans: Plans, word: Word) -> Bools:
    """Return bool[P, len(word), m]; see `Plans.avoided`."""
    result = np.zeros((len(plans), len(word), len(plans.alphabet)), dtype=np.bool_)
    goals = _goals(plans.machines, plans.discounts)
    labels = [plans.alphabet[symbol] for symbol in word]
    held = [machine.run(labels).states for machine in plans.machines]
    asked = sorted(
        {
            (at, held[at][phase], symbol)
            for at in range(len(plans))
            for phase in range(len(word))
            for symbol in range(len(plans.alphabet))
            if symbol != word[phase]
        }
    )
    harmful = [each for each in asked if _harmful(plans, goals[each[0]], *each)]
    if not harmful:
        return result
    freed = [_freed(goals[at], state, symbol) for at, state, symbol in harmful]
    effort = {discount: _effort(plans.worlds, discount) for discount in set(plans.discounts)}
    if sum(len(goal.transitions) * effort[goal.discount] for goal in freed) > MOST_WORK:
        return result
    better = values_of(plans.worlds, plans.alphabet, freed)
    found = dict(zip(harmful, better, strict=True))
    for at in range(len(plans)):
        for phase in range(len(word)):
            before = word[phase - 1] if phase else None
            for symbol in range(len(plans.alphabet)):
                key = (at, held[at][phase], symbol)
                if symbol != word[phase] and key in found:
                    result[at, phase, symbol] = _worse(plans, goals[at], key, found[key], before)
    return result


def _harmful(plans: Plans, goal: Goal, at: int, state: int, symbol: int) -> bool:
    """Whether reading a symbol in a state of the machine does harm, where it can be read."""
    label = plans.alphabet[symbol]
    after, reward = int(goal.transitions[state, symbol]), float(goal.rewards[state, symbol])
    if after == state and reward == 0:
        return False
    losses = []
    for mdp, values in zip(plans.worlds, plans.values[at], strict=True):
        if label in mdp.alphabet:
            cells = np.flatnonzero(mdp.labels == mdp.alphabet.index(label))
            reading = reward + goal.discount * values[after, cells]
            gain = reading - goal.discount * values[state, cells]
            losses.append(judged(goal, gain, reading, np.ones(len(cells), dtype=np.bool_))[1])
    every = np.concatenate(losses) if losses else np.zeros(0, dtype=np.bool_)
    return bool(len(every)) and bool(every.all())


def _freed(goal: Goal, state: int, symbol: int) -> Goal:
    """Return the goal with one arrow that changes nothing and pays nothing."""
    transitions, rewards = goal.transitions.copy(), goal.rewards.copy()
    transitions[state, symbol], rewards[state, symbol] = state, 0.0
    return Goal(transitions, rewards, goal.discount)


def _worse(
    plans: Plans, goal: Goal, key: tuple[int, int, int], freed: list[Floats], before: int | None
) -> bool:
    """Whether an arrow costs the agent something on the way from a label, or from the start."""
    at, state, _ = key
    for mdp, values, other in zip(plans.worlds, plans.values[at], freed, strict=True):
        if before is None:
            cells, weight = mdp.initial_states, mdp.initial_probabilities
        elif plans.alphabet[before] in mdp.alphabet:
            column = mdp.alphabet.index(plans.alphabet[before])
            cells = np.flatnonzero(mdp.labels == column)
            weight = np.full(len(cells), 1 / max(len(cells), 1))
        else:
            continue
        now, then = float(weight @ values[state, cells]), float(weight @ other[state, cells])
        costs = judged(goal, np.array([now - then]), np.array([now]), np.array([True]))[1]
        if now > worth(goal) and bool(costs[0]):
            return True
    return False
