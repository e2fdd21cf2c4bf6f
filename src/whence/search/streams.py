"""Random streams that belong to (ladder, scan), never to a thread, a batch or a machine.

A scan of a ladder draws from a generator of its own, which follows from the run's seed, the
number of the ladder and the number of the step. So ladders can be advanced together, one by one,
or on several machines, in stretches of any length, and draw the same numbers. The sizes that a
machine may have are sampled together, so they share a ladder's streams.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from whence._arrays import Bools, Ints

COMMON = (1,)  # what follows the run's own key in that of the stream that all ladders share ...
OWN = 0  # ... and in a ladder's, before its number
APART = 2**64  # numbers between two scans


class LadderStreams:
    """The streams of some ladders, scan by scan.

    Each ladder's is one long sequence; scan t has the numbers from 2^64 t on.
    """

    def __init__(self, root: np.random.Generator, ladders: Sequence[int]) -> None:
        """Name the streams by a generator's seed; the generator itself is not used up."""
        self.root = root
        self._ladders = list(ladders)
        keys = [COMMON, *((OWN, int(ladder)) for ladder in ladders)]
        self._generators = [np.random.default_rng(_child(root, key)) for key in keys]
        self._starts = [each.bit_generator.state for each in self._generators]

    def belong(self, root: np.random.Generator, ladders: Sequence[int]) -> bool:
        """Return whether these are the streams of some ladders below a generator."""
        return self.root is root and self._ladders == list(ladders)

    def at(self, scan: int) -> tuple[float, list[np.random.Generator]]:
        """Return a number from 0 up to 1 that all ladders share, and each ladder's generator.

        They are good until the next scan is asked for.
        """
        for each, start in zip(self._generators, self._starts, strict=True):
            bits = each.bit_generator
            bits.state = start
            bits.advance(scan * APART)  # type: ignore[attr-defined]
        common, *own = self._generators
        return float(common.random()), own


def together(generators: list[np.random.Generator], rows: int) -> np.random.Generator:
    """Return what draws for `rows` rows of each generator, those of the first one first."""
    if len(generators) == 1:
        return generators[0]
    streams = Streams(generators, np.arange(len(generators) * rows) // rows, rows)
    return cast(np.random.Generator, streams)  # of the few methods that whole batches ask for


def taken(rng: np.random.Generator, rows: Ints | Bools) -> np.random.Generator:
    """Return what draws for some of the rows."""
    if isinstance(rng, Streams):
        return cast(np.random.Generator, Streams(rng.generators, rng.owner[rows]))
    return rng


class Streams:
    """Draws whole batches as a generator does, but each row from its owner's stream.

    Attributes:
        generators: one for each owner.
        owner: int64[B], whose row it is. The first axis of all that is drawn has length B.
    """

    def __init__(self, generators: list[np.random.Generator], owner: Ints, each: int = 0) -> None:
        """Take rows by owner; where `each` is given, every owner has as many, in turn."""
        self.generators = generators
        self.owner = owner
        if each:
            self._rows: list[Any] = [
                slice(n * each, (n + 1) * each) for n in range(len(generators))
            ]
            self._counts = [each] * len(generators)
            return
        self._rows, self._counts = _split(owner.tobytes(), len(generators))

    def random(self, size: Any) -> Any:
        """Return float64[size], uniform."""
        return self._drawn("random", (), size)

    def normal(self, *, size: Any) -> Any:
        """Return float64[size], normal."""
        return self._drawn("normal", (0.0, 1.0), size)

    def chisquare(self, df: float, size: Any) -> Any:
        """Return float64[size], chi-square."""
        return self._drawn("chisquare", (df,), size)

    def beta(self, a: float, b: float, size: Any) -> Any:
        """Return float64[size], beta."""
        return self._drawn("beta", (a, b), size)

    def uniform(self, low: float, high: float, size: Any) -> Any:
        """Return float64[size], uniform."""
        return self._drawn("uniform", (low, high), size)

    def integers(self, low: npt.ArrayLike, high: npt.ArrayLike, size: Any = None) -> Any:
        """Return int64[size], by default of the shape of `high`, which is above all of them."""
        return self._drawn("integers", (low, high), size)

    def choice(self, a: Any, size: Any, p: Any = None) -> Any:
        """Return some of `a`, [size], with probabilities `p`."""
        parts = [
            each.choice(a, size=_sized(size, count), p=p)
            for each, count in zip(self.generators, self._counts, strict=True)
        ]
        return self._placed(parts, size)

    def _drawn(self, method: str, arguments: tuple[Any, ...], size: Any) -> Any:
        parts = [
            getattr(each, method)(
                *(self._of(argument, rows) for argument in arguments),
                size=_sized(size, count),
            )
            for each, rows, count in zip(self.generators, self._rows, self._counts, strict=True)
        ]
        return self._placed(parts, size)

    def _of(self, argument: Any, rows: Any) -> Any:
        """Return an argument for some rows: an array has one row for each, or one for all."""
        if np.ndim(argument) == 0 or len(argument) != len(self.owner):
            return argument
        return argument[rows]

    def _placed(self, parts: list[Any], size: Any) -> Any:
        length = size[0] if isinstance(size, tuple) else size
        if size is None:
            length = sum(len(part) for part in parts)
        if length != len(self.owner):
            raise ValueError(f"{length} rows are drawn for {len(self.owner)} rows of ladders")
        result = np.empty((length, *parts[0].shape[1:]), dtype=parts[0].dtype)
        for rows, part in zip(self._rows, parts, strict=True):
            result[rows] = part
        return result


@lru_cache(maxsize=256)
def _split(owner: bytes, owners: int) -> tuple[list[Any], list[int]]:
    """Return the rows of each owner, and how many: the same few are asked for again and again."""
    own = np.frombuffer(owner, dtype=np.int64)
    if (own[1:] >= own[:-1]).all():
        edges = np.searchsorted(own, np.arange(owners + 1)).tolist()
        rows: list[Any] = [slice(*pair) for pair in pairwise(edges)]
        return rows, [last - first for first, last in pairwise(edges)]
    rows = [np.flatnonzero(own == number) for number in range(owners)]
    return rows, [len(each) for each in rows]


def _sized(size: Any, rows: int) -> Any:
    """Return the size of a batch with another number of rows; None follows from arguments."""
    if size is None:
        return None
    return (rows, *size[1:]) if isinstance(size, tuple) else rows


def _child(root: np.random.Generator, keys: tuple[int, ...]) -> np.random.SeedSequence:
    """Return the seed that some numbers name below that of a generator."""
    seed = root.bit_generator.seed_seq
    if not isinstance(seed, np.random.SeedSequence):
        raise TypeError("the generator has no seed to name streams by; make it with default_rng")
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *keys))
