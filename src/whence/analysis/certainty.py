"""How sure each arrow of a machine is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats, Ints
from whence.analysis.questions import open_sequences
from whence.analysis.sample import PosteriorSample
from whence.errors import MachineError
from whence.likelihood.posterior import Posterior
from whence.model.canonical import valid
from whence.model.machine import RewardMachine, number

DETERMINED = 3.0  # nats that every other choice must lose
TELLINGS, LONGEST, NODES = 100, 12, 5000  # how far open sequences are searched for


@dataclass(frozen=True)
class Certainty:
    """What the log posterior loses when one arrow changes and all others stay.

    Attributes:
        state: where the arrow starts.
        symbol: what it reads.
        target: where it leads.
        reward: what it pays.
        loss: nats that the best other target or reward, or both, loses; infinite where no
            other choice leaves a valid machine; below 0 where one is better.
        other_target: of that best other choice; None where there is none.
        other_reward: of that best other choice; None where there is none.
        likelihood_loss: the least that any other choice loses in log likelihood, invalid
            machines too.
        determined: whether `loss` is at least 3 nats and no open label sequence ends here by way
            of arrows that lose as much.
    """

    state: int
    symbol: str
    target: int
    reward: float
    loss: float
    other_target: int | None
    other_reward: float | None
    likelihood_loss: float
    determined: bool


def arrow_certainty(
    posterior: Posterior, machine: RewardMachine, sample: PosteriorSample | None = None
) -> tuple[Certainty, ...]:
    """Return how sure each arrow is, by state and symbol; all changes are scored in one batch.

    A change that makes a state unreachable or leaves no reward has prior 0 and is no
    alternative, even where what remains is a valid machine of fewer states: that one has a
    different number of states, and its own place in the sample. Its log likelihood still counts
    in `likelihood_loss`.

    Args:
        posterior: scores the changed machines, at its temperature.
        machine: the best machine; it pays the posterior's reward levels.
        sample: with it, an arrow is not determined when following an open label sequence
            (see `open_questions`) in the machine ends on the arrow, and no arrow before it on
            that way is to blame: one that is not determined by itself.
    """
    ordered = _paying(machine.over(posterior.alphabet), posterior.levels)
    changed = _changes(ordered, posterior.levels)
    tables = (
        np.concatenate([ordered.transitions[None], changed[0]]),
        np.concatenate([ordered.rewards[None], changed[1]]),
    )
    likelihood = posterior.log_likelihood(*tables)
    score = likelihood / posterior.temperature + posterior.log_prior(*tables)
    loss = np.where(valid(*changed), _lost(score), np.inf)
    shape = (ordered.transitions.size, -1)
    loss, likely = loss.reshape(shape), _lost(likelihood).reshape(shape)
    unsure = set(np.flatnonzero(loss.min(axis=1, initial=np.inf) < DETERMINED).tolist())
    if sample is not None:
        unsure |= _blamed(ordered, sample, unsure)
    return tuple(
        _certainty(ordered, arrow, posterior.levels, loss[arrow], likely[arrow], arrow in unsure)
        for arrow in range(len(loss))
    )


def _lost(values: Floats) -> Floats:
    """Return what each later value lies below the first; equal infinities lose nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(values[1:] == values[0], 0.0, values[0] - values[1:])


def _changes(machine: RewardMachine, levels: tuple[float, ...]) -> tuple[Ints, Floats]:
    """Return all machines with one other arrow: int64[n m (n G - 1), n, m] and rewards alike."""
    size = machine.transitions.size
    others = _others(machine, levels)
    target, level = np.divmod(others, len(levels))
    count = others.shape[1]
    arrow = np.repeat(np.arange(size), count)
    row = np.arange(size * count)
    transitions = np.repeat(machine.transitions.reshape(1, -1), size * count, axis=0)
    rewards = np.repeat(machine.rewards.reshape(1, -1), size * count, axis=0)
    transitions[row, arrow] = target.reshape(-1)
    rewards[row, arrow] = np.array(levels)[level.reshape(-1)]
    shape = (size * count, *machine.transitions.shape)
    return transitions.reshape(shape), rewards.reshape(shape)


def _others(machine: RewardMachine, levels: tuple[float, ...]) -> Ints:
    """Return int64[n m, n G - 1]: target * G + level of every choice that an arrow is not."""
    level = np.searchsorted(levels, machine.rewards.reshape(-1))
    own = machine.transitions.reshape(-1) * len(levels) + level
    others = np.arange(machine.n_states * len(levels) - 1)
    return np.asarray(others + (others >= own[:, None]))


def _certainty(
    machine: RewardMachine,
    arrow: int,
    levels: tuple[float, ...],
    losses: Floats,
    likely: Floats,
    unsure: bool,
) -> Certainty:
    state, column = divmod(arrow, len(machine.alphabet))
    best = int(losses.argmin()) if np.isfinite(losses).any() else None
    other = None if best is None else int(_others(machine, levels)[arrow, best])
    return Certainty(
        state=state,
        symbol=machine.alphabet[column],
        target=int(machine.transitions[state, column]),
        reward=float(machine.rewards[state, column]),
        loss=float(losses.min(initial=np.inf)),
        other_target=None if other is None else other // len(levels),
        other_reward=None if other is None else levels[other % len(levels)],
        likelihood_loss=float(likely.min(initial=np.inf)),
        determined=not unsure,
    )


def _blamed(machine: RewardMachine, sample: PosteriorSample, unsure: set[int]) -> set[int]:
    """Return the arrows, state * m + column, that open label sequences end on by sure ways."""
    found = set()
    for word, _ in open_sequences(sample, TELLINGS, LONGEST, NODES):
        labels = [sample.alphabet[symbol] for symbol in word]
        states = machine.run(labels[:-1]).states
        way = [
            state * len(machine.alphabet) + machine.index(label)
            for state, label in zip(states, labels, strict=True)
        ]
        if unsure.isdisjoint(way[:-1]):
            found.add(way[-1])
    return found


def _paying(machine: RewardMachine, levels: tuple[float, ...]) -> RewardMachine:
    odd = machine.rewards[~np.isin(machine.rewards, levels)]
    if len(odd):
        raise MachineError(
            f"the machine pays {number(float(odd[0]))}, and the posterior knows the levels "
            f"{', '.join(number(level) for level in levels)}; give the posterior this level"
        )
    return machine
