"""Label histories: a trie that grows as episodes are walked, and its depth-first order."""

from __future__ import annotations

from whence.likelihood.kernels.compiling import lean_kernel, part


@lean_kernel
def walk_trie(
    state_offsets, action_offsets, labels, history_offsets, history, m, keys, children, node,
    parent, symbol,
):  # fmt: skip
    """Walk all episodes through a trie of labels that grows on the way.

    Args:
        state_offsets: int64[E + 1].
        action_offsets: int64[E + 1].
        labels: int64, the label of each state, -1 for blank.
        history_offsets: int64[E + 1].
        history: int64, the labels read before each episode.
        m: symbols.
        keys: int64[a power of two], all -1, written over.
        children: int64[as many], written over.
        node: int64[steps], the history at which each action was taken, written.
        parent: int64[most], written.
        symbol: int64[most], written.

    Returns:
        The number of histories, or 0 where `keys` has no room for them.
    """
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
                    if 2 * count >= len(keys):
                        return 0
                    keys[slot] = key
                    children[slot] = count
                    parent[count] = here
                    symbol[count] = label
                    count += 1
                here = children[slot]
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


@lean_kernel
def depth_first(parent, size, position, free, order, end):
    """Write the depth-first order of a tree whose parents come before their children.

    Args:
        parent: int64[H].
        size: int64[H], all 1, written over.
        position: int64[H], all 0, written over.
        free: int64[H], all 1, written over.
        order: int64[H], the old number at each new position, written.
        end: int64[H], for each new position, the position behind its subtree, written.
    """
    for i in range(len(parent) - 1, 0, -1):
        size[parent[i]] += size[i]
    for i in range(1, len(parent)):
        above = parent[i]
        position[i] = position[above] + free[above]
        free[above] += size[i]
    for i in range(len(parent)):
        order[position[i]] = i
        end[position[i]] = position[i] + size[i]
