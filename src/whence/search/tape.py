"""What a run keeps of each step: items of the same shape, packed into blocks as they grow.

An item is a NamedTuple of arrays, or of such NamedTuples. A block of N items is the same tuple
with arrays that have one axis more, the first, of length N.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

BLOCK = 1_000

T = TypeVar("T")


class Tape(Generic[T]):
    """Items in order; old ones are packed, so that millions fit in memory."""

    def __init__(self, blocks: list[T] | None = None) -> None:
        self._blocks: list[T] = list(blocks or [])
        self._open: list[T] = []
        self._packed = sum(_length(block) for block in self._blocks)

    def __len__(self) -> int:
        return self._packed + len(self._open)

    def append(self, item: T) -> None:
        """Add an item."""
        self._open.append(item)
        if len(self._open) == BLOCK:
            self._pack()

    def together(self, first: int = 0) -> T | None:
        """Return all items from `first` on as one block, or None where there are none."""
        self._pack()
        blocks, start = [], 0
        for block in self._blocks:
            skip = max(first - start, 0)
            start += _length(block)
            if start > first:
                blocks.append(mapped(lambda array, skip=skip: array[skip:], block))
        if not blocks:
            return None
        whole: T = mapped(lambda *arrays: np.concatenate(arrays), *blocks)
        return whole

    def _pack(self) -> None:
        if not self._open:
            return
        block: T = mapped(lambda *arrays: np.stack(arrays), *self._open)
        self._packed += len(self._open)
        self._blocks.append(block)
        self._open = []


def mapped(function: Callable[..., Any], *items: Any) -> Any:
    """Apply a function to the arrays that stand in the same place of each item."""
    first = items[0]
    if isinstance(first, np.ndarray):
        return function(*items)
    return type(first)(*(mapped(function, *parts) for parts in zip(*items, strict=True)))


def _length(block: Any) -> int:
    return len(block) if isinstance(block, np.ndarray) else _length(block[0])
