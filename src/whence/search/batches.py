"""Batches of an enumeration: each is scored by itself, and joined with what is kept.

A batch is a pure function of the numbers of its machines: it keeps those that may matter beside
each other, and sums up the weight of the others. So batches may be scored in any order, and on
any machine; they are joined in the order of their numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.integrating import Integrated
from whence.likelihood.posterior import Posterior
from whence.search.affordable import check_affordable
from whence.search.enumeration import Enumeration
from whence.search.machines import Machines
from whence.search.settings import Exhaustive
from whence.search.sifting import batch_of, on_card, sifted

FINE = 1e-6  # nats, the error allowed in the log likelihood of a machine that is kept
TIE = 2 * FINE  # scores this close are equal
WORTH_REFINING = 25.0  # nats below the heaviest

Scorer = Posterior | Integrated


@dataclass(frozen=True, eq=False)
class Kept:
    """Machines by number, and what is known of each.

    Attributes:
        position: int64[N], numbers in the space.
        log_likelihood: float64[N].
        log_prior: float64[N], not normalised.
        log_weight: float64[N], the logarithm of what a machine weighs, not normalised.
    """

    position: Ints
    log_likelihood: Floats
    log_prior: Floats
    log_weight: Floats

    def taken(self, which: Ints) -> Kept:
        """Return some of the machines, by index or by bool[N]."""
        return Kept(
            self.position[which],
            self.log_likelihood[which],
            self.log_prior[which],
            self.log_weight[which],
        )


NOTHING = Kept(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class State:
    """How far the enumeration is.

    Attributes:
        step: batches done.
        position: the number of the next machine.
        space: what is enumerated.
        kept: the machines that may matter.
        log_dropped: float64[sizes], the log weight of all others so far, by size.
        thinned: whether each batch drops by itself what cannot matter, before it is joined with
            what is kept; not so in runs that were begun before batches could be scored apart.
    """

    step: int
    position: int
    space: Enumeration
    kept: Kept
    log_dropped: Floats
    thinned: bool = True

    @property
    def complete(self) -> bool:
        """Whether every machine was scored."""
        return self.position == self.space.total


@dataclass(frozen=True, eq=False)
class Batch:
    """What is known of one batch of machines, whatever is known of others.

    Attributes:
        stop: the number behind its last machine.
        fresh: the machines that may matter.
        log_rest: float64[sizes], the log weight of the others, by size.
    """

    stop: int
    fresh: Kept
    log_rest: Floats


@dataclass(frozen=True, eq=False)
class Batches:
    """Some batches one after the other, in few arrays, to be sent.

    Attributes:
        stop: int64[K], of each.
        size: int64[K], how many machines each keeps.
        fresh: the machines that they keep.
        log_rest: float64[K, sizes].
    """

    stop: Ints
    size: Ints
    fresh: Kept
    log_rest: Floats

    @classmethod
    def of(cls, batches: list[Batch]) -> Batches:
        """Put batches together."""
        return cls(
            np.array([batch.stop for batch in batches], dtype=np.int64),
            np.array([len(batch.fresh.position) for batch in batches], dtype=np.int64),
            joined([batch.fresh for batch in batches]),
            np.stack([batch.log_rest for batch in batches]),
        )

    def each(self) -> list[Batch]:
        """Return the batches by themselves."""
        edges = np.concatenate([[0], np.cumsum(self.size)]).tolist()
        return [
            Batch(stop, self.fresh.taken(np.arange(first, last)), rest)
            for stop, first, last, rest in zip(
                self.stop.tolist(), edges[:-1], edges[1:], self.log_rest, strict=True
            )
        ]


def init(target: Scorer, sizes: range, settings: Exhaustive) -> State:
    """Return the state before the first batch, where the machines are not too many."""
    space = Enumeration(sizes, len(target.alphabet), target.levels)
    check_affordable(space, target, settings.limit)
    return State(0, 0, space, NOTHING, np.full(len(sizes), -np.inf))


def step(state: State, target: Scorer, settings: Exhaustive) -> tuple[State, Kept]:
    """Score the next batch; returns it beside the state. The last step refines what is kept."""
    batch = batch_at(state, state.position, target, settings)
    return folded(state, batch, target, settings), batch.fresh


def batch_at(state: State, start: int, target: Scorer, settings: Exhaustive) -> Batch:
    """Score the batch that begins at a number; on the cores, of the state only its space counts.

    A card drops what cannot matter beside what is kept.
    """
    space = state.space
    stop = space.stop(start, batch_of(target, space, settings.batch))
    if on_card(target, space):
        best = state.kept.log_weight.max(initial=-np.inf)
        found = sifted(target, space, start, stop, float(best), settings.nats)
        return Batch(stop, Kept(*found[:4]), found.log_rest)
    fresh = _scored(target, space, np.arange(start, stop), target.tolerance)
    if not state.thinned:
        return Batch(stop, fresh, np.full(len(space.sizes), -np.inf))
    return Batch(stop, *pruned(fresh, space, settings))


def folded(state: State, batch: Batch, target: Scorer, settings: Exhaustive) -> State:
    """Return the state with one batch more."""
    space = state.space
    best = state.kept.log_weight.max(initial=-np.inf)
    if batch.fresh.log_weight.max(initial=-np.inf) < best - settings.nats:
        kept, dropped = state.kept, by_size(batch.fresh, space)  # as `pruned` would find, sooner
    else:
        kept, dropped = pruned(joined([state.kept, batch.fresh]), space, settings)
    dropped = np.logaddexp(dropped, batch.log_rest)
    if batch.stop == space.total:
        kept = refined(target, space, kept, settings.batch)
    return replace(
        state,
        step=state.step + 1,
        position=batch.stop,
        kept=kept,
        log_dropped=np.logaddexp(state.log_dropped, dropped),
    )


def joined(parts: list[Kept]) -> Kept:
    """Return the machines of all parts, in their order."""
    return Kept(
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.log_likelihood for part in parts]),
        np.concatenate([part.log_prior for part in parts]),
        np.concatenate([part.log_weight for part in parts]),
    )


def pruned(pool: Kept, space: Enumeration, settings: Exhaustive) -> tuple[Kept, Floats]:
    """Return the machines to keep, and the log weight of the others, float64[sizes]."""
    best = pool.log_weight.max(initial=-np.inf)
    possible = np.isfinite(pool.log_weight)
    chosen = np.flatnonzero(possible & (pool.log_weight >= best - settings.nats))
    if len(chosen) > settings.keep:
        heaviest = heaviest_first(pool.taken(chosen))[: settings.keep]
        chosen = np.sort(chosen[heaviest])
    others = np.ones(len(pool.position), dtype=np.bool_)
    others[chosen] = False
    rest = pool.taken(others)
    return pool.taken(chosen), by_size(rest, space)


def by_size(machines: Kept, space: Enumeration) -> Floats:
    """Return float64[sizes]: the log of the summed weights of each size."""
    result = np.full(len(space.sizes), -np.inf)
    if len(machines.position):
        np.logaddexp.at(result, space.size_index(machines.position), machines.log_weight)
    return result


def heaviest_first(machines: Kept) -> Ints:
    """Return int64[N], an order: by weight; equal weights by number."""
    return np.lexsort((machines.position, -machines.log_weight))


def heaviest(state: State) -> tuple[Kept, Machines]:
    """Return the one machine of most weight; of equal ones, that of the lowest number."""
    kept = state.kept
    close = np.flatnonzero(kept.log_weight >= kept.log_weight.max() - TIE)
    first = kept.taken(close[np.argmin(kept.position[close])][None])
    return first, state.space.machines(first.position)


def refined(
    target: Scorer, space: Enumeration, kept: Kept, batch: int, worth: float = WORTH_REFINING
) -> Kept:
    """Score machines once more, finely, in batches of one size; not those that weigh nothing.

    Those are left as they are that are more than `worth` nats below the heaviest.
    """
    light = kept.log_weight < kept.log_weight.max(initial=-np.inf) - worth
    parts = [kept.taken(light)]
    kept = kept.taken(~light)
    which = space.size_index(kept.position)
    for place in np.unique(which).tolist():
        positions = kept.position[which == place]
        for start in range(0, len(positions), batch):
            some = positions[start : start + batch]
            parts.append(_scored(target, space, some, min(FINE, target.tolerance)))
    return joined(parts)


def scored_once(kept: Kept) -> Kept:
    """Return those that `refined` may have left as they were."""
    near = WORTH_REFINING - 1.0  # a machine's own score has changed since, and the heaviest's
    return kept.taken(kept.log_weight < kept.log_weight.max(initial=-np.inf) - near)


def _scored(target: Scorer, space: Enumeration, positions: Ints, tolerance: float) -> Kept:
    """Score the machines of some numbers, all of one size."""
    tables = space.machines(positions).tables(space.levels)
    likelihood = target.log_likelihood(*tables, tolerance=tolerance, remember=False)
    mass = target.prior.log_mass(*tables, target.levels, space.sizes)
    weight = likelihood / target.temperature + mass
    return Kept(positions, likelihood, target.log_prior(*tables), np.asarray(weight))
