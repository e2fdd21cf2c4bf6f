"""Simulated experts: many episodes at once, every random choice from one seed."""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats, Ints
from whence.errors import ArgumentError
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.model.product import with_blank
from whence.planning.policies import Policy, expert_policy

MOST_STEPS = 2**30
FEW_EPISODES, LONG = 100, 10_000  # where a compiled loop beats steps of all together
BLOCK = 2**20  # draws that are made at a time


def simulate(
    mdp: LabeledMDP,
    machine: RewardMachine,
    expert: Expert,
    *,
    episodes: int,
    length: int,
    seed: int,
) -> Demonstrations:
    """Return demonstrations of an expert who wants what the machine pays.

    Args:
        mdp: the world; episodes start where it says.
        machine: what the expert is paid by.
        expert: how rational it is.
        episodes: E.
        length: the number of steps of each episode.
        seed: of every random choice.
    """
    policy = expert_policy(mdp, machine, expert)
    states, actions = simulate_policy(
        mdp, policy, episodes, length, np.random.default_rng(checked_seed(seed))
    )
    return Demonstrations.from_flat(
        states.reshape(-1),
        np.arange(episodes + 1) * (length + 1),
        actions.reshape(-1),
        np.arange(episodes + 1) * length,
    )


def simulate_policy(
    mdp: LabeledMDP, policy: Policy, episodes: int, length: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return the states, int32[E, length + 1], and the actions, int32[E, length]."""
    check_size(episodes, length)
    walk = _Walk(mdp, policy.in_world(mdp))
    states = np.empty((length + 1, episodes), dtype=np.int32)
    actions = np.empty((length, episodes), dtype=np.int32)
    states[0] = _initial(mdp, rng.random(episodes))
    memory = np.zeros(episodes, dtype=np.int64)
    advance = walk.each if episodes < FEW_EPISODES and length > LONG else walk.together
    block = max(1, BLOCK // max(episodes, 1))
    for start in range(0, length, block):
        stop = min(start + block, length)
        draws = rng.random((stop - start, 2, episodes))
        advance(draws, memory, states[start : stop + 1], actions[start:stop])
    return np.ascontiguousarray(states.T), np.ascontiguousarray(actions.T)


def simulate_from(
    mdp: LabeledMDP,
    policy: Policy,
    starts: Ints,
    memory: Ints,
    lengths: Ints,
    rng: np.random.Generator,
) -> tuple[Ints, Ints, Ints]:
    """Return episodes that begin at given places and have given lengths, stored flat.

    Args:
        mdp: the world.
        policy: what is done.
        starts: int[E], the state that each episode begins in.
        memory: int[E], the policy's machine state there.
        lengths: int[E], the number of steps of each.
        rng: of every random choice.

    Returns:
        The states and the machine's states in them, int64[sum of T + 1], and the actions,
        int64[T in all].
    """
    walk = _Walk(mdp, policy.in_world(mdp))
    order = np.argsort(-lengths, kind="stable")  # those that go on come first
    remaining = lengths[order]
    longest = int(lengths.max(initial=0))
    states = np.zeros((longest + 1, len(lengths)), dtype=np.int64)
    actions = np.zeros((longest, len(lengths)), dtype=np.int64)
    memories = np.zeros_like(states)
    states[0], memories[0] = starts[order], memory[order]
    for step in range(longest):
        active = int(np.searchsorted(-remaining, -step))  # of lengths above `step`
        some = slice(0, active)
        memories[step + 1, some] = memories[step, some]
        walk.together(
            rng.random((1, 2, active)),
            memories[step + 1, some],
            states[step : step + 2, some],
            actions[step : step + 1, some],
        )
    back = np.argsort(order, kind="stable")
    kept = np.arange(longest + 1)[:, None] <= remaining
    return (
        states.T[back][kept.T[back]],
        memories.T[back][kept.T[back]],
        actions.T[back][kept[1:].T[back]],
    )


def cumulative(probabilities: Floats) -> Floats:
    """Return float[..., A]: running sums that end at exactly 1, so that no draw falls off."""
    sums = np.cumsum(probabilities, axis=-1)
    return np.asarray(sums / sums[..., -1:])


def checked_seed(seed: int) -> int:
    """Return the seed if it is one."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ArgumentError(f"seed is {seed!r}; give a whole number of at least 0")
    return int(seed)


class _Walk:
    """Follows a policy: all episodes together step by step, or each one by a compiled loop.

    Both make the same choices from the same draws. Successors are found by searching one
    running sum over all transitions.
    """

    def __init__(self, mdp: LabeledMDP, policy: Policy) -> None:
        self.mdp = mdp
        self.choices = cumulative(policy.probabilities)
        self.following, _ = with_blank(policy.machine.transitions, policy.machine.rewards)
        self.before = np.concatenate([[0.0], np.cumsum(mdp.probabilities)])

    def together(self, draws: Floats, memory: Ints, states: Ints, actions: Ints) -> None:
        """Advance all episodes at once; see `walk_policy` for the arguments."""
        for step, (choose, move) in enumerate(draws):
            row = self.choices[memory, states[step]]
            actions[step] = (choose[:, None] >= row).sum(axis=1)
            pair = states[step].astype(np.int64) * self.mdp.n_actions + actions[step]
            states[step + 1] = self._successors(pair, move)
            memory[:] = self.following[memory, self.mdp.labels[states[step + 1]]]

    def each(self, draws: Floats, memory: Ints, states: Ints, actions: Ints) -> None:
        """Advance one episode after the other: faster for a few long ones."""
        from whence.likelihood.kernels.walking import walk_policy

        walk_policy(
            draws, self.choices, self.following.astype(np.int64), self.mdp.labels,
            self.mdp.offsets, self.before, self.mdp.successors, memory, states, actions,
        )  # fmt: skip

    def _successors(self, pair: Ints, draws: Floats) -> Ints:
        """Return a successor for each state-action pair; `draws` are uniform on [0, 1)."""
        first, last = self.mdp.offsets[pair], self.mdp.offsets[pair + 1] - 1
        if self.mdp.is_deterministic:
            return np.asarray(self.mdp.successors[first])
        low, high = self.before[first], self.before[last + 1]
        found = np.searchsorted(self.before, low + draws * (high - low), side="right") - 1
        return np.asarray(self.mdp.successors[np.clip(found, first, last)])


def _initial(mdp: LabeledMDP, draws: Floats) -> Ints:
    if len(mdp.initial_states) == 1:
        return np.full(len(draws), int(mdp.initial_states[0]))
    chosen = np.searchsorted(cumulative(mdp.initial_probabilities), draws, side="right")
    return np.asarray(mdp.initial_states[chosen])


def check_size(episodes: int, length: int) -> None:
    """Refuse numbers of episodes and steps that are negative or too large."""
    for name, value in (("episodes", episodes), ("length", length)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise ArgumentError(f"{name} is {value!r}; give a whole number of at least 0")
    if max(episodes, 1) * (length + 1) > MOST_STEPS:
        raise ArgumentError(
            f"{episodes} episodes of {length} steps are more than {MOST_STEPS} steps; "
            "simulate fewer at a time"
        )
