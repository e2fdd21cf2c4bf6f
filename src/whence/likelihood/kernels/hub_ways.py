"""The ways through the blank states of a deterministic world, the same for all machines."""

from __future__ import annotations

from whence.likelihood.kernels.compiling import kernel


@kernel
def backwards(successors, n_actions, first, before):
    """Turn transitions around: before[first[s]:first[s + 1]] are the states that lead to s.

    Args:
        successors: int32[N].
        n_actions: A; each has one successor.
        first: int64[S + 2], zeros, written up to S + 1.
        before: int32[N], written.
    """
    for s in successors:
        first[s + 2] += 1
    for s in range(first.shape[0] - 2):
        first[s + 2] += first[s + 1]
    for e in range(len(successors)):
        before[first[successors[e] + 1]] = e // n_actions
        first[successors[e] + 1] += 1


@kernel
def walk_back(hub, labels, first, before, distance, queue):
    """Write the length of the shortest way into a hub, from all states that have one.

    States in between are blank; the way is one step long at least.

    Args:
        hub: a state.
        labels: int32[S].
        first: int64[S + 1], of `before`.
        before: int32[N].
        distance: int32[S], zeros; written.
        queue: int32[S], the states with a way, written.

    Returns:
        Their number.
    """
    count = 0
    for e in range(first[hub], first[hub + 1]):
        s = before[e]
        if distance[s] == 0:
            distance[s] = 1
            queue[count] = s
            count += 1
    head = 0
    while head < count:
        s = queue[head]
        head += 1
        if labels[s] < 0:
            for e in range(first[s], first[s + 1]):
                b = before[e]
                if distance[b] == 0:
                    distance[b] = distance[s] + 1
                    queue[count] = b
                    count += 1
    return count


@kernel
def peel(labels, first, before, left, order):
    """Find the blank states from which every walk ends at a label, the last ones first.

    Args:
        labels: int32[S].
        first: int64[S + 1], of `before`.
        before: int32[N].
        left: int64[S], how many transitions lead to blank states; counted down.
        order: int32[S], those states, written: each after all that it leads to.

    Returns:
        Their number.
    """
    count = 0
    for s in range(labels.shape[0]):
        if labels[s] < 0 and left[s] == 0:
            order[count] = s
            count += 1
    head = 0
    while head < count:
        s = order[head]
        head += 1
        for e in range(first[s], first[s + 1]):
            b = before[e]
            left[b] -= 1
            if left[b] == 0 and labels[b] < 0:
                order[count] = b
                count += 1
    return count


@kernel
def longest(hub, states, offsets, successors, labels, length):
    """Write the length of the longest way into a hub, 0 where there is none.

    Args:
        hub: a state.
        states: int32[...], states whose walks all end at a label, each after all blank ones
            that it leads to.
        offsets: int64[S + 1], where each state's transitions begin.
        successors: int32[N].
        labels: int32[S].
        length: int32[S], written for `states`.
    """
    for s in states:
        most = 0
        for e in range(offsets[s], offsets[s + 1]):
            after = successors[e]
            if after == hub:
                most = max(most, 1)
            elif labels[after] < 0 and length[after] > 0:
                most = max(most, length[after] + 1)
        length[s] = most
