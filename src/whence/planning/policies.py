"""Policies on the product of a world and a machine."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from whence._arrays import Floats, Ints, concatenated_ranges, frozen_own
from whence.errors import ArgumentError, WhenceWarning
from whence.likelihood import reference
from whence.likelihood.values import compiled_q, expert_q
from whence.model.expert import Expert, best_actions, checked_discount, evenly
from whence.model.joint import Weighted, joint_machine
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import checked_rewards, checked_sharpness, in_world, product

WORTH = 1e-9  # a state from which less can be had is worth nothing


@dataclass(frozen=True, eq=False, repr=False)
class Policy:
    """How to act in a world while a machine keeps track of what was seen.

    Attributes:
        machine: the machine that keeps track; it reads the world's labels.
        probabilities: float[n, S, A], the probability of each action.
        discount: the discount that the policy was made for.
        state_names: S names, or None.
        action_names: A names, or None.
    """

    machine: RewardMachine
    probabilities: Floats
    discount: float
    state_names: tuple[str, ...] | None = None
    action_names: tuple[str, ...] | None = None

    @property
    def actions(self) -> Ints:
        """int64[n, S]: a most likely action, the first where several are."""
        return np.asarray(self.probabilities.argmax(axis=2))

    def act(self, state: str | int, memory: str | int = 0) -> str:
        """Return the name of a most likely action.

        Args:
            state: the world's state, by name or number.
            memory: the machine's state, by name or number; at first the initial one.
        """
        _, states, actions = self.probabilities.shape
        names = self.state_names or tuple(str(s) for s in range(states))
        place = _place(state, names, "state")
        which = _place(memory, self.machine.state_names, "machine state")
        called = self.action_names or tuple(str(a) for a in range(actions))
        return called[int(self.actions[which, place])]

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
        taken = mdp.is_masked and self.probabilities[:, ~mdp.available].any(axis=0)
        if np.any(taken):
            state, action = mdp.unavailable[int(np.argmax(taken))].tolist()
            raise ArgumentError(
                f"the policy takes action {mdp.actions[action]!r} in state "
                f"{mdp.state_name(state)}, which does not have it; plan in this world"
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


def plan(mdp: LabeledMDP, machine: RewardMachine | Weighted, discount: float) -> Policy:
    """Return the policy that is optimal for a machine; equally good actions share evenly.

    For a sample of machines it is the policy with the best expected return over the heaviest
    ones, which hold 95% of the mass: that of their `joint_machine`.
    """
    if not isinstance(machine, RewardMachine):
        machine = joint_machine(machine, alphabet=mdp.alphabet)
    q = optimal_q(mdp, machine, discount)
    policy = _policy(mdp, machine, evenly(best_actions(q)), discount)
    count = relied_on(mdp, policy, q.max(axis=2))
    if count:
        warnings.warn(
            f"the policy counts on {count} state-action pairs that the log behind this world "
            "never shows and that are taken to stay put; see demos.coverage(world)",
            WhenceWarning,
            stacklevel=2,
        )
    return policy


def expert_policy(mdp: LabeledMDP, machine: RewardMachine, expert: Expert) -> Policy:
    """Return how an expert acts who wants what the machine pays."""
    checked_sharpness(machine.rewards, expert.alpha, expert.discount)
    if expert.is_soft:
        q = expert_q(mdp, machine, expert)
    else:
        q = optimal_q(mdp, machine, expert.discount)
    probabilities = expert.action_probabilities(q)
    return _policy(mdp, machine, probabilities, expert.discount)


def _policy(
    mdp: LabeledMDP, machine: RewardMachine, probabilities: Floats, discount: float
) -> Policy:
    named = mdp.names is not None or mdp.grid is not None
    states = tuple(mdp.state_name(s) for s in range(mdp.n_states)) if named else None
    return Policy(in_world(machine, mdp), frozen_own(probabilities), discount, states, mdp.actions)


def _place(value: str | int, names: tuple[str, ...], what: str) -> int:
    if value in names:
        return names.index(str(value))
    if not isinstance(value, str) and 0 <= value < len(names):
        return int(value)
    raise ArgumentError(
        f"{what} {value!r}: nothing has that name; give one of {', '.join(names[:8])}"
        + (", ..." if len(names) > 8 else "")
        + f" or a number from 0 to {len(names) - 1}"
    )


def relied_on(mdp: LabeledMDP, policy: Policy, values: Floats) -> int:
    """Return how many unseen pairs a policy counts on, where there is something to gain.

    Args:
        mdp: the world.
        policy: what is done.
        values: float64[n, S], what can be had from each state.
    """
    if mdp.unseen is None or not len(mdp.unseen):
        return 0
    n = policy.machine.n_states
    chosen = policy.probabilities.reshape(n, -1) > 0
    both = product(mdp, policy.machine)
    reached = np.zeros(n * mdp.n_states, dtype=np.bool_)
    frontier = mdp.initial_states.astype(np.int64)
    reached[frontier] = True
    while len(frontier):
        memory, state = np.divmod(frontier, mdp.n_states)
        pairs = state[:, None] * mdp.n_actions + np.arange(mdp.n_actions)
        taken = chosen[memory[:, None], pairs]
        pair, where = pairs[taken], np.broadcast_to(memory[:, None], pairs.shape)[taken]
        entry = concatenated_ranges(mdp.offsets[pair], mdp.offsets[pair + 1])
        counts = mdp.offsets[pair + 1] - mdp.offsets[pair]
        following = both.targets[np.repeat(where, counts), entry]
        frontier = np.unique(following[~reached[following]])
        reached[frontier] = True
    gain = reached & (values.reshape(-1) > WORTH)
    relied = chosen[:, mdp.unseen] & gain.reshape(n, -1)[:, mdp.unseen // mdp.n_actions]
    return int(relied.any(axis=0).sum())
