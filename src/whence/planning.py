"""Policies on the product of a world and a machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from whence._types import Floats, Ints, frozen_own
from whence.engines import reference
from whence.errors import ArgumentError
from whence.expert import Expert, best_actions, checked_discount, evenly
from whence.joint import joint_machine
from whence.machine import RewardMachine
from whence.mdp import LabeledMDP
from whence.product import checked_rewards, checked_sharpness, in_world, product

if TYPE_CHECKING:
    from whence.sample import PosteriorSample


@dataclass(frozen=True, eq=False, repr=False)
class Policy:
    """How to act in a world while a machine keeps track of what was seen.

    Attributes:
        machine: the machine that keeps track; it reads the world's labels.
        probabilities: float[n, S, A], the probability of each action.
        discount: the discount that the policy was made for.
    """

    machine: RewardMachine
    probabilities: Floats
    discount: float

    @property
    def actions(self) -> Ints:
        """int64[n, S]: a most likely action, the first where several are."""
        return np.asarray(self.probabilities.argmax(axis=2))

    def in_world(self, mdp: LabeledMDP) -> Policy:
        """Return the policy with its machine's columns in the order of the world's alphabet."""
        machine = in_world(self.machine, mdp)
        expected = (machine.n_states, mdp.n_states, mdp.n_actions)
        if self.probabilities.shape != expected:
            raise ArgumentError(
                f"a policy for {self.probabilities.shape[1]} states and "
                f"{self.probabilities.shape[2]} actions does not fit a world of {mdp.n_states} "
                f"states and {mdp.n_actions} actions; plan in this world"
            )
        return replace(self, machine=machine)

    def __repr__(self) -> str:
        n, states, actions = self.probabilities.shape
        return f"<Policy: {n} machine states, {states} world states, {actions} actions>"


def optimal_q(mdp: LabeledMDP, machine: RewardMachine, discount: float) -> Floats:
    """Return the optimal discounted Q of the product, float[n, S, A].

    Small products are solved by policy iteration with a linear solve, large ones by the
    compiled engine to the last digits.
    """
    checked_discount(discount)
    checked_rewards(machine.rewards, discount)
    both = product(mdp, machine)
    if both.n_machine_states * mdp.n_states <= reference.DENSE_LIMIT:
        return reference.policy_iteration(both, discount)
    return compiled_q(mdp, machine, discount)


def compiled_q(mdp: LabeledMDP, machine: RewardMachine, discount: float) -> Floats:
    """Return the same by the compiled engine, which takes a moment to load."""
    from whence.engines import compiled

    machine = in_world(machine, mdp)
    checked_rewards(machine.rewards, checked_discount(discount))
    values = compiled.optimal_values(mdp, machine, discount)
    return product(mdp, machine).backup(values, discount)


def plan(mdp: LabeledMDP, machine: RewardMachine | PosteriorSample, discount: float) -> Policy:
    """Return the policy that is optimal for a machine; equally good actions share evenly.

    For a sample of machines it is the policy with the best expected return over the heaviest
    ones, which hold 95% of the mass: that of their `joint_machine`.
    """
    if not isinstance(machine, RewardMachine):
        machine = joint_machine(machine, alphabet=mdp.alphabet)
    chosen = best_actions(optimal_q(mdp, machine, discount))
    return Policy(in_world(machine, mdp), frozen_own(evenly(chosen)), discount)


def expert_policy(mdp: LabeledMDP, machine: RewardMachine, expert: Expert) -> Policy:
    """Return how an expert acts who wants what the machine pays."""
    checked_sharpness(machine.rewards, expert.alpha, expert.discount)
    q = optimal_q(mdp, machine, expert.discount)
    probabilities = expert.action_probabilities(q)
    return Policy(in_world(machine, mdp), frozen_own(probabilities), expert.discount)
