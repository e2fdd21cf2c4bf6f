"""A simulated person, who knows what the expert wants: for tests, studies and `--simulate`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats
from whence.errors import ArgumentError
from whence.likelihood.answers import answers_likely
from whence.model.asking import DEMONSTRATION, Question
from whence.model.episodes import Episode
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import restricted, with_blank
from whence.planning.policies import expert_policy
from whence.planning.simulation import checked_seed, cumulative
from whence.runs.result import Run


@dataclass(frozen=True, eq=False)
class Person:
    """Answers by a machine, and is wrong now and then.

    Attributes:
        machine: what is wanted.
        expert: how well it is shown; by default as the run believes.
        wrong: how often an answer is wrong.
        seed: of every random choice; an answer depends on it and on how many came before.
    """

    machine: RewardMachine
    expert: Expert | None = None
    wrong: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what is no rate and no seed."""
        checked_seed(self.seed)
        if not 0 <= self.wrong <= 1:
            raise ArgumentError(f"wrong is {self.wrong}; give a number from 0 to 1")

    def __call__(self, run: Run, question: Question) -> float | str | Episode:
        """Return the answer to a question that a run has."""
        rng = np.random.default_rng([self.seed, len(run.answers)])
        if question.kind == DEMONSTRATION:
            mdp = run.job.pairs[question.world][0]
            return shown(mdp, self.machine, self.expert or run.expert, question, rng)
        machine = self.machine
        tables = machine.transitions[None], machine.rewards[None]
        likely = answers_likely(question, machine.alphabet, *tables)
        right = question.answers[_drawn(rng, likely.right[0])]
        if rng.random() >= self.wrong:
            return right
        others = [answer for answer in question.answers if answer != right]
        return others[int(rng.integers(len(others)))]


def shown(
    mdp: LabeledMDP,
    machine: RewardMachine,
    expert: Expert,
    question: Question,
    rng: np.random.Generator,
) -> Episode:
    """Return a demonstration from where it is asked for, until nothing more can be paid."""
    machine = restricted(machine.over(_alphabet(machine, mdp)), mdp)
    policy = expert_policy(mdp, machine, expert)
    following, _ = with_blank(machine.transitions, machine.rewards)
    memory = 0
    for label in question.labels[0]:
        memory = int(following[memory, mdp.alphabet.index(label)])
    states: list[int] = [question.state]
    actions: list[int] = []
    while len(actions) < question.length and (not actions or machine.can_pay[memory]):
        actions.append(_drawn(rng, policy.probabilities[memory, states[-1]]))
        pair = states[-1] * mdp.n_actions + actions[-1]
        entries = slice(int(mdp.offsets[pair]), int(mdp.offsets[pair + 1]))
        after = _drawn(rng, mdp.probabilities[entries])
        states.append(int(mdp.successors[entries][after]))
        memory = int(following[memory, mdp.labels[states[-1]]])
    return Episode(tuple(states), tuple(actions), history=question.labels[0])


def _alphabet(machine: RewardMachine, mdp: LabeledMDP) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*mdp.alphabet, *machine.alphabet)))


def _drawn(rng: np.random.Generator, chance: Floats) -> int:
    return int((rng.random() >= cumulative(chance)).sum())
