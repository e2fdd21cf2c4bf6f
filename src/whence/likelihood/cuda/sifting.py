"""A space of machines on the card: written by number, scored, weighed and sifted there.

Only the machines that matter, and the summed weight of the others, come back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.cuda.card import WARP, FullError
from whence.likelihood.cuda.engine import Batch, CudaEngine

BLOCKS = 2_048  # of kernels that go over all machines; fixed, so that sums are the same everywhere
AT_A_TIME = 2**20  # machines, at most
KERNELS = "enumerate.cu"


@dataclass(frozen=True, eq=False)
class Stretch:
    """Machines of one size, and what each weighs.

    Attributes:
        n: their states.
        ways: int64[n m + 1, n + 2], the ways to fill the entries from each on.
        levels: the rewards, 0 first.
        by_zeros: float64[n m + 1], the log prior of rewards of which so many are 0.
        by_loops: float64[n m + 1], the log prior of transitions of which so many stay.
        constant: what is added to every log prior to make it a log mass.
        temperature: divides log likelihoods.
        alpha: the expert's.
        lapse: the expert's.
        tolerance: how far values may be off.
    """

    n: int
    ways: Ints
    levels: tuple[float, ...]
    by_zeros: Floats
    by_loops: Floats
    constant: float
    temperature: float
    alpha: float
    lapse: float
    tolerance: float


@dataclass(frozen=True, eq=False)
class Sifted:
    """What came back.

    Attributes:
        position: int64[N], the numbers of the machines that matter, ascending.
        log_likelihood: float64[N].
        log_prior: float64[N].
        log_weight: float64[N].
        log_rest: the log of the summed weights of all others.
    """

    position: Ints
    log_likelihood: Floats
    log_prior: Floats
    log_weight: Floats
    log_rest: float


class Sieve:
    """Goes through the machines of one size."""

    def __init__(
        self, engines: Sequence[CudaEngine], columns: Sequence[Ints], m: int, stretch: Stretch
    ) -> None:
        """Prepare to score machines of m symbols.

        Args:
            engines: of the worlds, all on one card.
            columns: int64[m'] of each world, the columns of its symbols.
            m: symbols of the machines.
            stretch: which machines, and how they are weighed.
        """
        self._engines, self._m, self._stretch = engines, m, stretch
        card = self._card = engines[0].card
        constants = stretch.ways, np.array(stretch.levels), stretch.by_zeros, stretch.by_loops
        with card.guarded():
            self._columns = [card.put(own.astype(np.int32)) for own in columns]
            self._constants = [card.put(np.ascontiguousarray(numbers)) for numbers in constants]
        self._experts: dict[int, tuple[Any, ...]] = {}

    def sifted(self, start: int, stop: int, best: float, nats: float) -> Sifted:
        """Return what matters of the machines start..stop-1, counted within their size.

        A machine matters where its log weight is within `nats` of `best` and of all these.
        """
        n = self._stretch.n
        chunk = min(AT_A_TIME, *(engine.room_for(n) // 2 + 1 for engine in self._engines))
        parts: list[Sifted] = []
        first = start
        while first < stop:
            try:
                with self._card.guarded():
                    parts.append(self._part(first, min(first + chunk, stop), best, nats))
            except FullError:
                if chunk <= WARP:
                    raise
                chunk = max(min(chunk, stop - first) // 2, WARP)
                self._experts.clear()
                continue
            first += chunk
            best = max(best, parts[-1].log_weight.max(initial=-np.inf))
        rest = [part.log_rest for part in parts]
        return Sifted(
            np.concatenate([part.position for part in parts]),
            np.concatenate([part.log_likelihood for part in parts]),
            np.concatenate([part.log_prior for part in parts]),
            np.concatenate([part.log_weight for part in parts]),
            float(np.logaddexp.reduce(rest)) if rest else -math.inf,
        )

    def _part(self, start: int, stop: int, best: float, nats: float) -> Sifted:
        card, size = self._card, stop - start
        likelihood, prior = self._scored(start, size)
        weight, most = card.empty(size, np.float64), card.empty(BLOCKS, np.float64)
        given = self._stretch
        self._run(
            "weigh_all", size, np.float64(given.temperature), np.float64(given.constant),
            likelihood, prior, weight, most,
        )  # fmt: skip
        best = max(best, float(card.get(most).max()))
        if best == -math.inf:
            nothing = np.zeros(0)
            return Sifted(np.zeros(0, dtype=np.int64), nothing, nothing, nothing, -math.inf)
        found, which = card.put(np.zeros(1, dtype=np.uint64)), card.empty(size, np.int64)
        rest = card.empty(BLOCKS, np.float64)
        self._run(
            "sift", size, np.float64(best - nats), np.float64(best), weight, found, which, rest
        )
        total = float(card.get(rest).sum())
        kept = np.sort(card.get(which[: int(card.get(found)[0])]))
        columns = [self._picked(kept, numbers) for numbers in (likelihood, prior, weight)]
        log_rest = math.log(total) + best if total > 0 else -math.inf
        return Sifted(kept + start, columns[0], columns[1], columns[2], log_rest)

    def _picked(self, which: Ints, numbers: Any) -> Floats:
        """Return some of some numbers on the card."""
        out = self._card.empty(len(which), np.float64)
        if len(which):
            self._run("pick", len(which), self._card.put(which), numbers, out)
        return np.asarray(self._card.get(out))

    def _scored(self, start: int, size: int) -> tuple[Any, Any]:
        """Return the log likelihoods and log priors of some machines, on the card."""
        card, given, m = self._card, self._stretch, self._m
        entries = given.n * m
        targets, pays = (
            card.empty(size * entries, np.uint8),
            card.empty(size * entries, np.float64),
        )
        prior = card.empty(size, np.float64)
        payments = len(given.levels) ** entries - 1
        self._run(
            "unrank", size, np.int64(start), np.int64(given.n), np.int64(m),
            np.int64(len(given.levels)), np.int64(payments), *self._constants, targets, pays,
            prior,
        )  # fmt: skip
        experts = self._asked(size)
        total: Any = None
        for engine, columns in zip(self._engines, self._columns, strict=True):
            batch = Batch(size, given.n, m, columns, targets, pays, experts[3])
            found = engine.read(batch, engine.solved(batch)[0], experts[:3], size)
            if total is None:
                total = found
            else:
                self._run("add_to", size, found, total)
        return total, prior

    def _asked(self, size: int) -> tuple[Any, Any, Any, Any]:
        """Return the one expert of each machine, and how exactly it is solved."""
        if size not in self._experts:
            given, put = self._stretch, self._card.put
            self._experts = {
                size: (
                    put(np.arange(size + 1)),
                    *(put(np.full(size, x)) for x in (given.alpha, given.lapse, given.tolerance)),
                )
            }
        first, alpha, lapse, tolerance = self._experts[size]
        return first, alpha, lapse, tolerance

    def _run(self, name: str, size: int, *arguments: Any) -> None:
        self._card.kernel(KERNELS, name, ())(BLOCKS, 0, (np.int64(size), *arguments))
