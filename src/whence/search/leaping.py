"""Leaps: machines drawn anew, wherever a chain stands, around a few centres.

Where hot and cold machines are so different that no chain of small changes leads from one kind to
the other, replicas do not travel. A leap proposes a machine that has nothing to do with where the
chain stands. One of a few *centres*, machines that chains stood at when the warm-up ended, is
drawn, and then each arrow by itself, by what it would weigh at the chain's temperature if all
others were the centre's: arrows that matter stay, those that do not come from the prior. A last
centre is the prior itself. A centre is drawn about as often as machines around it are met at that
temperature. None of this need be true: the ratio of what the target says to how likely a leap
makes a machine, summed over all centres, decides.

What is drawn stands for all its labelled copies, as in `whence.search.recalling`, and centres and
temperatures are frozen as the census is.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.search import census
from whence.search.carrying import places
from whence.search.census import Census
from whence.search.machines import Machines
from whence.search.space import Space
from whence.search.streams import taken
from whence.search.target import Chains, Target
from whence.search.unknowns import Experts

ANYTHING = 0.02  # the share of an arrow's chances that follows the prior
LEAST = 1e-300  # of a share, so that a centre can come back, and no row of shares sums to 0
EVENLY = 0.2  # the share of leaps whose centre is drawn evenly
RUNGS_APART = 4  # of those at which machines are drawn to tell how often a centre is ...
TRIES = 12  # ... and how many around each, there
ROUNDS = 20  # in which shares of centres settle
NEARLY_ALL = 0.99  # of the weight: where the heaviest centre has it ...
SELDOM = 8  # ... chains leap every so many steps
MOST_STATES = 5  # whose (n - 1)! labelled copies are summed over


class Leaper:
    """Proposes leaps; made once the warm-up is over.

    Attributes:
        target: what is sampled.
        temperatures: float64[K].
    """

    def __init__(self, target: Target, centres: Census, temperatures: Floats) -> None:
        """Weigh every other arrow of each centre at all temperatures."""
        self.target, self.temperatures = target, temperatures
        space, rungs = target.space, len(temperatures)
        parts = [
            _around(target, centres.rows(np.array([row])), temperatures)
            for row in range(centres.size)
        ]
        self._sizes = np.concatenate([centres.machines.n_states, np.array(space.sizes)])
        grid = len(target.unknowns.places)
        alike = np.full((rungs, grid), -math.log(grid))
        arrows = [part[0] for part in parts]
        own = [part[1] for part in parts]
        for n in space.sizes:
            arrows.append(np.tile(_prior(space, n), (rungs, 1, 1)))
            own.append(alike)
        self._log_arrow = np.ascontiguousarray(np.stack(arrows, axis=1))
        self._log_place = np.ascontiguousarray(np.stack(own, axis=1))
        self._orders, self._first_order = _orders(space.largest)
        self._running_arrow = np.cumsum(np.exp(self._log_arrow), axis=3)
        self._running_place = np.cumsum(np.exp(self._log_place), axis=2)
        self._log_mix = self._mixed()
        self._running_mix = np.cumsum(np.exp(self._log_mix), axis=1)

    def _mixed(self) -> Floats:
        """Return float64[K, C], logs: how often each centre is drawn on each rung.

        Machines are drawn around every centre and weighed on every rung, and centres are drawn as
        often as the weighted machines belong to them. A rough sample will do: any shares are
        exact.
        """
        rungs, count = self._log_arrow.shape[:2]
        some = np.arange(0, rungs, RUNGS_APART)
        rung, centre = (
            part.reshape(-1) for part in np.meshgrid(some, np.repeat(np.arange(count), TRIES))
        )
        machines, place = self._made(np.random.default_rng(0), rung, centre)
        rows = np.flatnonzero(self.target.space.valid(machines))
        machines, place = machines.rows(rows), place[rows]
        found = census.weigh_at_each(self.target, Census(machines, place), self.temperatures)
        each = np.array(
            [self._by_centre(machines, place, np.full(len(rows), k)) for k in range(rungs)]
        )
        pool = np.logaddexp.reduce(each[some].transpose(1, 0, 2).reshape(len(rows), -1), axis=1)
        log_weight = np.array([part.log_weight for part in found]) - pool
        every = [_shares(*pair) for pair in zip(log_weight, each, strict=True)]
        return np.stack(every)

    def due(self, step: int) -> Bools:
        """Return bool[K]: the rungs whose chains leap now.

        Where nearly all belongs to the heaviest centre, a leap is rarely of use.
        """
        several = self._log_mix[:, 0] < math.log((1 - EVENLY) * NEARLY_ALL)
        return np.asarray(several | (step % SELDOM == 0))

    def step(self, rng: np.random.Generator, chains: Chains, rungs: Ints) -> tuple[Chains, Bools]:
        """Return chains, some of them after a leap, and bool[C], which.

        Args:
            rng: of every choice.
            chains: C of them.
            rungs: int64[C], the number of the temperature of each.
        """
        machines, discount = self.drawn(rng, rungs)
        lots = np.log(rng.random(chains.size))
        where = np.flatnonzero(np.isfinite(self.target.space.log_prior(machines)))
        jumped = np.zeros(chains.size, dtype=np.bool_)
        if not len(where):
            return chains, jumped
        old, rung = chains.rows(where), rungs[where]
        new = self._scored(taken(rng, where), machines.rows(where), discount[where], old, rung)
        with np.errstate(invalid="ignore"):  # of two machines that are impossible
            gain = self.log_excess(new, rung) - self.log_excess(old, rung)
        accepted = lots[where] < gain
        others = np.full(chains.size, -1)
        others[where[accepted]] = np.flatnonzero(accepted)
        jumped[where[accepted]] = True
        return chains.picked(new, np.arange(chains.size), others), jumped

    def drawn(self, rng: np.random.Generator, rungs: Ints) -> tuple[Machines, Ints]:
        """Return a machine for each rung, valid or not, and int64[C], its discount."""
        centre = _chosen(self._running_mix[rungs], rng.random(len(rungs)))
        return self._made(rng, rungs, centre)

    def _made(self, rng: np.random.Generator, rungs: Ints, centre: Ints) -> tuple[Machines, Ints]:
        """Return machines drawn around centres, and int64[C], their discounts."""
        space = self.target.space
        n, m, levels = space.largest, space.m, len(space.levels)
        chance = rng.random((len(rungs), 1 + n * m))
        place = _chosen(self._running_place[rungs, centre], chance[:, 0])
        code = _chosen(self._running_arrow[rungs, centre], chance[:, 1:])
        targets, paid = (code // levels).reshape(-1, n, m), (code % levels).reshape(-1, n, m)
        return space.tidy(Machines(targets, paid, self._sizes[centre])), place

    def log_excess(self, chains: Chains, rung: Ints) -> Floats:
        """Return float64[C]: how much more the target gives chains than leaps do, in nats."""
        target, carrier = self.target, self.target.carrier
        wanted = chains.log_likelihood / self.temperatures[rung]
        wanted = wanted + target.space.log_prior(chains.machines)
        wanted = wanted + target.log_copies[chains.machines.n_states]
        wanted = wanted - self.log_chance(chains.machines, chains.experts.discount, rung)
        if not carrier.useful:
            return np.asarray(wanted)
        place = places(chains.experts)
        expected = carrier.normals(
            chains.machines, chains.experts.discount, self.temperatures[rung]
        )
        beside = carrier.log_prior_at(place) - carrier.log_proposed(expected, place)
        return np.asarray(wanted + beside)

    def log_chance(self, machines: Machines, discount: Ints, rung: Ints) -> Floats:
        """Return float64[B], the log probability that leaps make machines or their copies."""
        found = self._by_centre(machines, discount, rung) + self._log_mix[rung]
        return np.asarray(np.logaddexp.reduce(found, axis=1))

    def _by_centre(self, machines: Machines, discount: Ints, rung: Ints) -> Floats:
        """Return float64[B, C], the same around each centre."""
        from whence.search.chain_kernel import plain
        from whence.search.leap_kernel import weigh_leaps

        result = np.empty((machines.size, len(self._sizes)))
        tables = (plain(table) for table in (*machines, discount, rung))
        weigh_leaps(
            *tables, self._sizes, self._log_arrow, self._log_place, self._orders,
            self._first_order, result,
        )  # fmt: skip
        return result

    def _scored(
        self, rng: np.random.Generator, machines: Machines, discount: Ints, old: Chains, rung: Ints
    ) -> Chains:
        """Return valid machines, each with an expert drawn for it."""
        carrier = self.target.carrier
        if not carrier.useful:
            experts = Experts(old.experts.alpha, old.experts.lapse, discount)
            return self.target.chains(machines, experts)
        expected = carrier.normals(machines, discount, self.temperatures[rung])
        place = carrier.proposed(rng, expected)
        return self.target.chains(machines, carrier.at(place, old.experts, discount))


def possible(space: Space) -> bool:
    """Return whether machines are small enough for leaps."""
    return space.largest <= MOST_STATES


def _around(target: Target, centre: Census, temperatures: Floats) -> tuple[Floats, Floats]:
    """Return the chances of arrows and of places around a centre, logs.

    Returns:
        float64[K, n m, n G] and float64[K, D].
    """
    space, count = target.space, int(centre.machines.n_states[0])
    n, m, levels = space.largest, space.m, len(space.levels)
    arrows, codes = n * m, n * levels
    used, wide = count * m, count * levels
    arrow, code = (part.reshape(-1) for part in np.indices((used, wide)))
    every = centre.machines.rows(np.zeros(len(arrow), dtype=np.int64)).copy()
    row = np.arange(len(arrow))
    every.transitions[row, arrow // m, arrow % m] = code // levels
    every.paid[row, arrow // m, arrow % m] = code % levels
    some = np.flatnonzero(space.valid(every))
    grid = len(target.unknowns.places)
    again = centre.machines.rows(np.zeros(grid, dtype=np.int64))
    first = Census(every.rows(some), np.repeat(centre.discount, len(some)))
    members = census.joined([first, Census(again, np.arange(grid))])
    found = census.weigh_at_each(target, members, temperatures)
    prior = _prior(space, count)
    log_arrow = np.full((len(temperatures), arrows, codes), -np.inf)
    log_place = np.empty((len(temperatures), grid))
    for k, each in enumerate(found):
        table = np.full((used, wide), -np.inf)
        table[arrow[some], code[some]] = each.log_weight[: len(some)]
        table -= np.logaddexp.reduce(table, axis=1)[:, None]
        log_arrow[k] = prior
        log_arrow[k, :used, :wide] = np.logaddexp(
            table + math.log1p(-ANYTHING), prior[:used, :wide] + math.log(ANYTHING)
        )
        of_place = each.log_weight[len(some) :]
        chance = of_place - np.logaddexp.reduce(of_place)
        log_place[k] = np.logaddexp(
            chance + math.log1p(-ANYTHING), math.log(ANYTHING) - math.log(grid)
        )
    return log_arrow, log_place


def _prior(space: Space, count: int) -> Floats:
    """Return float64[n m, n G], the log prior of arrows; of rows that hold no state, to stay."""
    n, m, levels = space.largest, space.m, len(space.levels)
    result = np.full((n, m, n, levels), -np.inf)
    own, targets = np.arange(count)[:, None], np.arange(count)[None]
    of_target = space.log_target(targets, own, np.full((1, 1), count))
    of_paid = space.log_paid(np.arange(levels))
    result[:count, :, :count] = of_target[:, None, :, None] + of_paid
    for y in range(count, n):
        result[y, :, y, space.zero] = 0.0
    return np.asarray(result.reshape(n * m, n * levels))


def _shares(log_weight: Floats, each: Floats) -> Floats:
    """Return float64[C], logs: shares of centres that suit weighted machines.

    Args:
        log_weight: float64[B].
        each: float64[B, C], the log probability of each machine around each centre.
    """
    weight = np.exp(log_weight - log_weight.max())
    weight = np.minimum(weight, weight.mean() * math.sqrt(len(weight)))  # a few are not all
    weight /= weight.sum()
    chance = np.exp(each - each.max(axis=1)[:, None])
    share = np.full(each.shape[1], 1 / each.shape[1])
    for _ in range(ROUNDS):
        belongs = share * chance
        share = np.maximum(weight @ (belongs / belongs.sum(axis=1)[:, None]), LEAST)
    return np.asarray(np.log((1 - EVENLY) * share + EVENLY / len(share)))


def _orders(largest: int) -> tuple[Ints, Ints]:
    """Return int64[P, n], the new numbers of states, and int64[n + 2], where each size begins."""
    found: list[tuple[int, ...]] = []
    first = [0]
    for n in range(largest + 1):
        if n:
            rest = itertools.permutations(range(1, n))
            found += [(0, *order, *range(n, largest)) for order in rest]
        first.append(len(found))
    return np.array(found, dtype=np.int64), np.array(first, dtype=np.int64)


def _chosen(running: Floats, chance: Floats) -> Ints:
    """Return int64[...], where chances, float64[...], fall among sums, float64[..., N]."""
    wanted = chance[..., None] * running[..., -1:]
    return np.asarray(np.minimum((running <= wanted).sum(axis=-1), running.shape[-1] - 1))
