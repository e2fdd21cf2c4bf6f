"""What a run keeps of its steps: items of the same shape, packed into blocks as they grow.

An item is a NamedTuple of arrays, or of such NamedTuples. A block of N items is the same tuple
with arrays that have one axis more, the first, of length N. Of a long run every second item is
kept, then every fourth, and so on, so that memory stays where it is however long a run takes.
Whole numbers are packed into as few bytes as hold them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from whence._arrays import Ints

BLOCK = 1_000
MOST = 100_000  # items of two rows each, or fewer of more
_KINDS = (np.int8, np.int16, np.int32, np.int64)

T = TypeVar("T")


class Tape(Generic[T]):
    """Items in order, at most so many that they have 2 `MOST` rows, evenly spaced.

    Attributes:
        offered: how many items were appended so far.
        every: those kept are the items 0, every, 2 every, ...; a power of two.
    """

    def __init__(
        self, blocks: list[T] | None = None, *, offered: int | None = None, every: int = 1
    ) -> None:
        self._like: T | None = blocks[0] if blocks else None
        self._rows = (*_shape(blocks[0]), 1)[1] if blocks else 2
        self._blocks: list[T] = [mapped(_narrow, block) for block in blocks or []]
        self._open: list[T] = []
        self._packed = sum(_length(block) for block in self._blocks)
        self.offered = self._packed if offered is None else offered
        self.every = every

    def __len__(self) -> int:
        return self._packed + len(self._open)

    @property
    def places(self) -> Ints:
        """int64[N], which of the items offered are kept, from 0."""
        return np.arange(len(self), dtype=np.int64) * self.every

    @property
    def _most(self) -> int:
        """How many items are kept, at most."""
        return min(MOST, max(2 * MOST // max(self._rows, 1), 1))

    def append(self, item: T) -> None:
        """Offer an item; it is kept if its turn has come."""
        if self.offered % self.every == 0:
            if self._like is None:
                self._like, self._rows = item, (*_shape(item), 1)[0]
            self._open.append(item)
        self.offered += 1
        if len(self) > self._most:
            self._halve()
        elif len(self._open) == BLOCK:
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
        whole: T = mapped(_joined, self._like, *blocks)
        return whole

    def _halve(self) -> None:
        whole = self.together()
        self._blocks = [mapped(lambda array: _narrow(array[::2]), whole)]
        self._packed = _length(self._blocks[0])
        self.every *= 2

    def _pack(self) -> None:
        if not self._open:
            return
        block: T = mapped(lambda *arrays: _narrow(np.stack(arrays)), *self._open)
        self._packed += len(self._open)
        self._blocks.append(block)
        self._open = []


def block_of(items: list[T]) -> T | None:
    """Return items as one block, or None where there are none."""
    if not items:
        return None
    block: T = mapped(lambda *arrays: np.stack(arrays), *items)
    return block


def items_of(block: T | None) -> list[T]:
    """Return the items of a block."""
    if block is None:
        return []
    return [mapped(lambda array, n=n: array[n], block) for n in range(_length(block))]


def mapped(function: Callable[..., Any], *items: Any) -> Any:
    """Apply a function to the arrays that stand in the same place of each item."""
    first = items[0]
    if isinstance(first, np.ndarray):
        return function(*items)
    return type(first)(*(mapped(function, *parts) for parts in zip(*items, strict=True)))


def _narrow(array: Any) -> Any:
    """Return a copy, of whole numbers in the smallest kind that holds them."""
    if array.dtype.kind != "i" or not array.size:
        return array.copy()
    low, high = array.min(), array.max()
    fits = (kind for kind in _KINDS if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return array.astype(next(fits))


def _joined(like: Any, *arrays: Any) -> Any:
    """Return arrays below each other, of the kind of another one."""
    result = np.concatenate(arrays)
    return result.astype(like.dtype, copy=False)


def _length(block: Any) -> int:
    return _shape(block)[0]


def _shape(block: Any) -> tuple[int, ...]:
    """Return the shape of the first array of an item or a block."""
    return block.shape if isinstance(block, np.ndarray) else _shape(block[0])
