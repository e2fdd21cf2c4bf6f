"""How many states machines may have: one number, or a range of them."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from whence.errors import ArgumentError

Sizes = int | range | tuple[int, int]


def checked_sizes(states: object) -> range:
    """Return the sizes that `states` stands for, ascending: 3, (2, 5) with 5, or range(2, 6)."""
    if isinstance(states, range) and states and states.step == 1 and states[0] >= 1:
        return states
    ends = states if isinstance(states, tuple) and len(states) == 2 else (states, states)
    least, most = (end if _counts(end) else 0 for end in ends)
    if 1 <= least <= most:
        return range(int(least), int(most) + 1)
    raise ArgumentError(
        f"states is {states!r}; give a whole number of at least 1, the machine's states, or the "
        "least and the most of them, such as (2, 5)"
    )


def one_size(sizes: range, method: str) -> int:
    """Return the size, where there is one; the method knows no more."""
    if len(sizes) > 1:
        raise ArgumentError(
            f"states is {spelled(sizes)}; {method} searches machines of one size: give one whole "
            "number, or method 'exhaustive'"
        )
    return sizes[0]


def spelled(sizes: range) -> str:
    """Return sizes as people write them: 3, or 2-5."""
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}-{sizes[-1]}"


def _counts(value: object) -> TypeGuard[int]:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
