"""Simulation: a policy followed step by step."""

from __future__ import annotations

from whence.likelihood.kernels.compiling import kernel


@kernel
def walk_policy(
    draws, choices, following, labels, offsets, before, successors, memory, states, actions
):
    """Follow a policy for some steps, in every episode, as `simulation` does for all at once.

    Args:
        draws: float64[steps, 2, E], uniform on [0, 1): for the action, for the successor.
        choices: float64[n, S, A], running sums of the action probabilities.
        following: int64[n, m + 1], the machine's transitions; the last column is blank's.
        labels: int32[S].
        offsets: int64[S * A + 1].
        before: float64[N + 1], running sums of all transition probabilities.
        successors: int32[N].
        memory: int64[E], machine states, updated.
        states: int32[steps + 1, E]; the first row is given, the others are written.
        actions: int32[steps, E], written.
    """
    n_actions = choices.shape[2]
    blank = following.shape[1] - 1
    for episode in range(states.shape[1]):
        y = memory[episode]
        s = states[0, episode]
        for step in range(draws.shape[0]):
            a = 0
            while draws[step, 0, episode] >= choices[y, s, a]:
                a += 1
            pair = s * n_actions + a
            entry, last = offsets[pair], offsets[pair + 1] - 1
            low = before[entry]
            point = low + draws[step, 1, episode] * (before[last + 1] - low)
            while entry < last and before[entry + 1] <= point:
                entry += 1
            s = successors[entry]
            label = labels[s]
            y = following[y, label if label >= 0 else blank]
            actions[step, episode] = a
            states[step + 1, episode] = s
        memory[episode] = y
