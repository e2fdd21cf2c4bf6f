"""Label histories: a trie that grows as episodes are walked, and its depth-first order."""

from __future__ import annotations

import numpy as np

from whence.likelihood.kernels.compiling import kernel, maker, part


@kernel
def walk_trie(
    state_offsets, action_offsets, labels, history_offsets, history, m, node, parent, symbol
):
    """Walk all episodes through a trie of labels that grows on the way.

    Args:
        state_offsets: int64[E + 1].
        action_offsets: int64[E + 1].
        labels: int64, the label of each state, -1 for blank.
        history_offsets: int64[E + 1].
        history: int64, the labels read before each episode.
        m: symbols.
        node: int64[steps], the history at which each action was taken, written.
        parent: int64[most], written.
        symbol: int64[most], written.

    Returns:
        The number of histories.
    """
    capacity = 1024
    keys = np.full(capacity, -1, dtype=np.int64)
    children = np.empty(capacity, dtype=np.int64)
    count = 1
    for episode in range(len(state_offsets) - 1):
        here = 0
        before = history_offsets[episode + 1] - history_offsets[episode]
        steps = action_offsets[episode + 1] - action_offsets[episode]
        for i in range(before + steps):
            if i < before:
                label = history[history_offsets[episode] + i]
            else:
                step = i - before
                label = labels[state_offsets[episode] + step] if step > 0 else -1
            if label >= 0:
                key = here * m + label
                slot = _probe(keys, key)
                if keys[slot] != key:
                    keys[slot] = key
                    children[slot] = count
                    parent[count] = here
                    symbol[count] = label
                    count += 1
                here = children[slot]
                if 2 * count > capacity:
                    keys, children = _rehashed(keys, children)
                    capacity = len(keys)
            if i >= before:
                node[action_offsets[episode] + i - before] = here
    return count


@part
def _probe(keys, key):
    """Return the slot of a key in a table of a power of two, or the free one where it goes."""
    mask = len(keys) - 1
    slot = (key ^ (key >> 17)) * 0x9E3779B1 & mask
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@maker
def _rehashed(keys, children):
    """Return the table at twice its size."""
    larger = np.full(2 * len(keys), -1, dtype=np.int64)
    values = np.empty(2 * len(keys), dtype=np.int64)
    for i in range(len(keys)):
        if keys[i] != -1:
            slot = _probe(larger, keys[i])
            larger[slot] = keys[i]
            values[slot] = children[i]
    return larger, values


@kernel
def depth_first(parent, order, end):
    """Write the depth-first order of a tree whose parents come before their children.

    Args:
        parent: int64[H].
        order: int64[H], the old number at each new position, written.
        end: int64[H], for each new position, the position behind its subtree, written.
    """
    size = np.ones(len(parent), dtype=np.int64)
    for i in range(len(parent) - 1, 0, -1):
        size[parent[i]] += size[i]
    position = np.zeros(len(parent), dtype=np.int64)
    free = np.ones(len(parent), dtype=np.int64)
    for i in range(1, len(parent)):
        above = parent[i]
        position[i] = position[above] + free[above]
        free[above] += size[i]
    for i in range(len(parent)):
        order[position[i]] = i
        end[position[i]] = position[i] + size[i]
