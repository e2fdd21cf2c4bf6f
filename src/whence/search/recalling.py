"""Draw chains anew among the machines of the census: they forget where they were.

A chain that stands at a machine of the census is offered another one, drawn by weight at the
chain's temperature, with an expert that suits it; a chain elsewhere stays. Where the expert is
known, weights are exact and the offer is always taken; else the ratio of what the target says to
what was expected decides. Census and temperatures are frozen while samples are taken.

What is drawn is a machine in canonical form, which stands for all its labelled copies: no other
move tells copies apart.
"""

from __future__ import annotations

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.fitting import Normals
from whence.search.carrying import places
from whence.search.census import Census, weigh_at_each
from whence.search.streams import taken
from whence.search.target import Chains, Target, stacked
from whence.search.unknowns import Experts


class Recaller:
    """Draws chains anew; made once the warm-up is over.

    Attributes:
        target: what weighs.
        census: B machines, each at a discount.
        temperatures: float64[K].
        log_weight: float64[K, B], the share of each member at each temperature.
    """

    def __init__(self, target: Target, census: Census, temperatures: Floats) -> None:
        """Weigh the census at all temperatures."""
        self.target = target
        self.census = census
        self.temperatures = temperatures
        self._rows, self._slots = _listed(census)
        found = weigh_at_each(target, census, temperatures)
        log_weight = np.array([each.log_weight for each in found])
        self.log_weight = log_weight - np.logaddexp.reduce(log_weight, axis=1)[:, None]
        self._running = np.cumsum(np.exp(self.log_weight), axis=1)
        self._log_likelihood = found[0].log_likelihood
        self._log_prior = target.space.log_prior(census.machines)
        experts = Experts(*(np.zeros(census.size),) * 2, census.discount)
        self._members = Chains(census.machines, experts, self._log_likelihood, self._log_prior)
        normals = [each.normals for each in found if each.normals is not None]
        self._normals = (
            Normals(*(np.array(column) for column in zip(*normals, strict=True)))
            if normals
            else None
        )

    @property
    def exact(self) -> bool:
        """Whether every offer is taken, so that a chain forgets at once where it was."""
        return self._normals is None

    def several(self, rng: np.random.Generator, chains: Chains, rung: int, times: int) -> Chains:
        """Return chains of one rung drawn anew several times, one after the other."""
        if self.exact:
            every = np.tile(np.arange(chains.size), times)
            chance = taken(rng, every).random(len(every))
            drawn = self._drawn(np.full(len(every), rung), chance)
            return self._exactly(chains, every, self.numbers(chains)[every], drawn)
        numbers = self.numbers(chains)
        where = np.flatnonzero(numbers >= 0)
        size = len(where)
        if not size:
            return chains.rows(np.tile(np.arange(chains.size), times))
        old, rungs = chains.rows(where), np.full(times * size, rung)
        again = np.tile(np.arange(size), times)
        own = taken(rng, where[again])
        drawn = self._drawn(rungs, own.random(times * size))
        new = self._offered(own, old.rows(again), rungs, drawn)
        before = self._log_excess(old, rungs[:size], numbers[where])
        after = self._log_excess(new, rungs, drawn).reshape(times, size)
        lots = own.random(times * size).reshape(times, size)
        accepted = _accepted(np.log(lots), before, after)
        every_chain = stacked([chains, new])
        places = np.tile(np.arange(chains.size), (times, 1))
        places[:, where] = np.where(accepted < 0, where, chains.size + accepted)
        return every_chain.rows(places.reshape(-1))

    def numbers(self, chains: Chains) -> Ints:
        """Return int64[C], the number of each chain's machine in the census, or -1."""
        from whence.search.chain_kernel import find_members, plain

        result = np.empty(chains.size, dtype=np.int64)
        tables = (plain(table) for table in (*chains.machines, chains.experts.discount))
        find_members(*tables, self._rows, self._slots, result, False)
        return result

    def step(self, rng: np.random.Generator, chains: Chains, rungs: Ints) -> Chains:
        """Return chains, those in the census drawn anew.

        Args:
            rng: of every choice.
            chains: C of them.
            rungs: int64[C], the number of the temperature of each.
        """
        numbers = self.numbers(chains)
        chance = rng.random(chains.size)
        where = np.flatnonzero(numbers >= 0)
        if not len(where):
            return chains
        if self.exact:
            drawn = self._drawn(rungs, chance)
            return self._exactly(chains, np.arange(chains.size), numbers, drawn)
        rung = rungs[where]
        drawn = self._drawn(rung, chance[where])
        old = chains.rows(where)
        own = taken(rng, where)
        new = self._offered(own, old, rung, drawn)
        before = self._log_excess(old, rung, numbers[where])
        after = self._log_excess(new, rung, drawn)
        accepted = np.log(own.random(len(where))) < after - before
        others = np.full(chains.size, -1)
        others[where[accepted]] = np.flatnonzero(accepted)
        return chains.picked(new, np.arange(chains.size), others)

    def _drawn(self, rung: Ints, chance: Floats) -> Ints:
        """Return int64[C], members by weight at rungs."""
        from whence.search.chain_kernel import draw_members

        result = np.empty(len(rung), dtype=np.int64)
        draw_members(self._running, rung, chance, result)
        return result

    def _exactly(self, chains: Chains, own: Ints, numbers: Ints, drawn: Ints) -> Chains:
        """Return the chains of rows `own`; in place of those in the census, members drawn.

        The likelihoods of members are known, and so are their experts.
        """
        found = chains.picked(self._members, own, np.where(numbers >= 0, drawn, -1))
        old = chains.experts
        return found._replace(
            experts=Experts(old.alpha[own], old.lapse[own], found.experts.discount)
        )

    def _offered(self, rng: np.random.Generator, old: Chains, rung: Ints, drawn: Ints) -> Chains:
        """Return the machines drawn, each with an expert drawn for it."""
        carrier, found = self.target.carrier, self.census.rows(drawn)
        place = carrier.proposed(rng, self._expected(rung, drawn))
        return self.target.chains(found.machines, carrier.at(place, old.experts, found.discount))

    def _log_excess(self, chains: Chains, rung: Ints, numbers: Ints) -> Floats:
        """Return float64[C]: how much more the target gives chains than drawing does, in nats."""
        carrier, place = self.target.carrier, places(chains.experts)
        drawn = carrier.log_proposed(self._expected(rung, numbers), place)
        machine = self._log_prior[numbers] + self.target.log_copies[chains.machines.n_states]
        wanted = chains.log_likelihood / self.temperatures[rung] + machine
        return np.asarray(
            wanted + carrier.log_prior_at(place) - drawn - self.log_weight[rung, numbers]
        )

    def _expected(self, rung: Ints, numbers: Ints) -> Normals:
        """Return what is expected of the experts of members at rungs."""
        assert self._normals is not None
        return Normals(*(table[rung, numbers] for table in self._normals))


def _accepted(log_chance: Floats, before: Floats, after: Floats) -> Ints:
    """Return int64[T, C]: the number of the offer at which each chain stands, or -1.

    An offer does not depend on where a chain stands, so all are weighed beforehand; they are
    taken one after the other.

    Args:
        log_chance: float64[T, C].
        before: float64[C], the excess of the chains.
        after: float64[T, C], of the offers.
    """
    times, size = after.shape
    result = np.full((times, size), -1)
    here, at = before, result[0]
    for t in range(times):
        better = log_chance[t] < after[t] - here
        at = np.where(better, t * size + np.arange(size), at)
        here = np.where(better, after[t], here)
        result[t] = at
    return result


def _listed(census: Census) -> tuple[Ints, Ints]:
    """Return the rows by which members are known, and where to look for each: `find_members`."""
    from whence.search.chain_kernel import find_members, plain

    size, n, m = census.machines.transitions.shape
    rows = np.zeros((size, 2 + 2 * n * m), dtype=np.int64)
    slots = np.full(1 << (2 * size + 1).bit_length(), -1)
    tables = (plain(table) for table in (*census.machines, census.discount))
    find_members(*tables, rows, slots, np.empty(0, dtype=np.int64), True)
    return rows, slots
