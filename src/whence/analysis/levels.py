"""Whether rewards of other levels than 0 and 1 would explain more.

Where nobody says what machines may pay, they pay 0 or 1. Then the best machine is changed: first
one arrow may lead to a copy of its target that pays otherwise, then one arrow at a time gets any
target and any of more levels, for as long as that explains the demonstrations better. Where it
comes to explain far more than the same changes with 0 and 1, the levels were too few.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.posterior import Posterior
from whence.model.machine import RewardMachine

USUAL = (0.0, 1.0)
OTHERS = ((0.0, 1.0, 2.0), (-1.0, 0.0, 1.0))
CLEARLY = 10.0  # nats, on top of what the changes cost in the prior
SCALES = (0.5, 1.0)  # of alpha: what pays 2 may be what paid 1
WORK = 20_000_000  # machines that are scored times states of their products, at most
ROUNDS = 40


def other_levels(
    posterior: Posterior, machine: RewardMachine
) -> tuple[tuple[float, ...], float] | None:
    """Return levels that explain far more than 0 and 1, and how many nats more; or None.

    Args:
        posterior: of the expert that was found, over machines that pay 0 or 1.
        machine: the best one.
    """
    sharp = not np.isfinite(posterior.expert.alpha)
    if tuple(posterior.levels) != USUAL or not posterior.n_steps or sharp:
        return None
    base = _climbed(posterior, machine, USUAL)
    if not np.isfinite(base):
        return None
    gains = {levels: _climbed(posterior, machine, levels) - base for levels in OTHERS}
    best = max(gains, key=lambda levels: gains[levels])
    return (best, gains[best]) if gains[best] > CLEARLY else None


def _climbed(posterior: Posterior, machine: RewardMachine, levels: tuple[float, ...]) -> float:
    """Return what the best machine that single changes lead to explains, in nats.

    Every change costs the logarithm of how many there are to choose among.
    """
    table = machine.over(posterior.alphabet)
    spare = np.full((1, len(posterior.alphabet)), table.n_states)
    transitions = np.concatenate([table.transitions, spare])
    rewards = np.concatenate([table.rewards, np.zeros(spare.shape)])
    n, m = rewards.shape
    size = n * sum(mdp.n_states for mdp, _ in posterior.worlds)
    count = n * m * max(n, m) * len(levels)
    score = float(_scored(posterior, transitions[None], rewards[None])[0])
    changes = _splits(transitions, rewards, levels)
    for _ in range(min(ROUNDS, WORK // (count * size))):
        found = _scored(posterior, *changes)
        at = int(found.argmax())
        if not found[at] > score + np.log(count):
            break
        score = float(found[at] - np.log(count))
        transitions, rewards = changes[0][at], changes[1][at]
        changes = _changes(transitions, rewards, levels)
    return score


def _scored(posterior: Posterior, transitions: Ints, rewards: Floats) -> Floats:
    """Return float64[B]: log likelihoods, at the better of two alphas each."""
    alpha = posterior.expert.alpha
    each = [
        posterior.log_likelihood(
            transitions, rewards, alpha=np.full(len(transitions), scale * alpha)
        )
        for scale in SCALES
    ]
    return np.asarray(np.max(each, axis=0) / posterior.temperature)


def _splits(transitions: Ints, rewards: Floats, levels: tuple[float, ...]) -> tuple[Ints, Floats]:
    """Return all machines with one arrow led to a copy of its target that pays otherwise.

    The copy is the last state, which nothing leads to; single changes come with them.
    """
    n, m = rewards.shape
    state, symbol, paying, level = (
        part.reshape(-1)
        for part in np.meshgrid(
            np.arange(n - 1), np.arange(m), np.arange(m), np.arange(len(levels)), indexing="ij"
        )
    )
    rows = np.arange(len(state))
    many = np.repeat(transitions[None], len(rows), axis=0)
    paid = np.repeat(rewards[None], len(rows), axis=0)
    target = transitions[state, symbol]
    many[:, -1], paid[:, -1] = transitions[target], rewards[target]
    many[rows, state, symbol] = n - 1
    paid[rows, -1, paying] = np.array(levels)[level]
    single = _changes(transitions, rewards, levels)
    return np.concatenate([many, single[0]]), np.concatenate([paid, single[1]])


def _changes(transitions: Ints, rewards: Floats, levels: tuple[float, ...]) -> tuple[Ints, Floats]:
    """Return all machines with one arrow changed: int64[B, n, m] and float64[B, n, m]."""
    n, m = rewards.shape
    state, symbol, target, level = (
        part.reshape(-1)
        for part in np.meshgrid(
            np.arange(n), np.arange(m), np.arange(n), np.arange(len(levels)), indexing="ij"
        )
    )
    rows = np.arange(len(state))
    many = np.repeat(transitions[None], len(rows), axis=0)
    paid = np.repeat(rewards[None], len(rows), axis=0)
    many[rows, state, symbol] = target
    paid[rows, state, symbol] = np.array(levels)[level]
    return many, paid


def notes_of_levels(posterior: Posterior, machine: RewardMachine) -> list[str]:
    """Return, in words, which further levels would explain more, if any do."""
    found = other_levels(posterior, machine)
    if found is None:
        return []
    levels = ",".join(f"{level:g}" for level in found[0])
    return [
        f"machines may pay 0 or 1, and machines that may pay {levels} explain the demonstrations "
        f"at least {found[1]:,.0f} nats better: try rewards=({levels.replace(',', ', ')}), "
        f"--rewards={levels}"
    ]
