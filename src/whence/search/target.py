"""What a sampler samples: machines and experts, given the demonstrations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.likelihood.posterior import Posterior
from whence.search.carrying import Carrier
from whence.search.machines import Machines
from whence.search.space import Space
from whence.search.unknowns import Experts, Unknowns


class Chains(NamedTuple):
    """Machines, experts and what is known of each pair.

    Attributes:
        machines: B of them.
        experts: B of them.
        log_likelihood: float64[B].
        log_prior: float64[B], of machine and expert.
    """

    machines: Machines
    experts: Experts
    log_likelihood: Floats
    log_prior: Floats

    @property
    def size(self) -> int:
        """The number of chains, B."""
        return len(self.log_prior)

    def score(self, temperature: float) -> Floats:
        """Return float64[B]: log likelihood / temperature + log prior."""
        return np.asarray(self.log_likelihood / temperature + self.log_prior)

    def rows(self, chosen: Ints | Bools) -> Chains:
        """Return some of them."""
        return Chains(
            self.machines.rows(chosen),
            self.experts.rows(chosen),
            self.log_likelihood[chosen],
            self.log_prior[chosen],
        )

    def replaced(self, other: Chains, where: Bools) -> Chains:
        """Return these chains with the other's rows where bool[B] says so."""
        every = np.arange(self.size)
        return self.picked(other, every, np.where(where, every, -1))

    def picked(self, other: Chains, own: Ints, others: Ints) -> Chains:
        """Return chains: the other's row others[i], or where that is -1 the own row own[i].

        Args:
            other: chains, however many.
            own: int64[B].
            others: int64[B].
        """
        from whence.search.chain_kernel import pick, plain

        tables = [plain(table) for table in (*self.tables, *other.tables)]
        made = [np.empty((len(own), *table.shape[1:]), table.dtype) for table in tables[:8]]
        pick(*tables, own, others, *made)
        return Chains(Machines(*made[:3]), Experts(*made[3:6]), made[6], made[7])

    @property
    def tables(self) -> tuple[Ints | Floats, ...]:
        """All arrays, in their order."""
        return (*self.machines, *self.experts, self.log_likelihood, self.log_prior)


def stacked(parts: list[Chains]) -> Chains:
    """Return all of them one after the other."""
    return Chains(
        Machines(*map(np.concatenate, zip(*(part.machines for part in parts), strict=True))),
        Experts(*map(np.concatenate, zip(*(part.experts for part in parts), strict=True))),
        np.concatenate([part.log_likelihood for part in parts]),
        np.concatenate([part.log_prior for part in parts]),
    )


@dataclass(frozen=True, eq=False)
class Target:
    """The posterior over machines and experts.

    Attributes:
        space: the machines and their prior.
        unknowns: the experts and their prior.
        posteriors: one for each discount of the grid.
        temperature: of the coldest chains; 1 is the Bayesian posterior.
    """

    space: Space
    unknowns: Unknowns
    posteriors: tuple[Posterior, ...]
    temperature: float = 1.0

    @cached_property
    def carrier(self) -> Carrier:
        """What finds experts that suit a machine."""
        return Carrier(self.unknowns, self.posteriors)

    def log_likelihood(self, machines: Machines, experts: Experts) -> Floats:
        """Return float64[B]; machines whose experts share no solve in a batch by discount."""
        shared = self.carrier.shared(experts)
        if shared.all() and len(shared):
            return self.carrier.log_likelihood(machines, experts)
        result = np.empty(len(machines.n_states))
        if shared.any():
            result[shared] = self.carrier.log_likelihood(
                machines.rows(shared), experts.rows(shared)
            )
        transitions, rewards = machines.tables(self.space.levels)
        for number in np.unique(experts.discount[~shared]):
            rows = ~shared & (experts.discount == number)
            result[rows] = self.posteriors[number].log_likelihood(
                transitions[rows],
                rewards[rows],
                alpha=experts.alpha[rows],
                lapse=experts.lapse[rows],
            )
        return result

    def log_prior(self, machines: Machines, experts: Experts) -> Floats:
        """Return float64[B]; minus infinity where a machine is not valid."""
        return self.space.log_prior(machines) + self.unknowns.log_prior(experts)

    def chains(
        self, machines: Machines, experts: Experts, of_machines: Floats | None = None
    ) -> Chains:
        """Score machines; those without prior mass are not solved.

        Args:
            machines: B of them.
            experts: B of them.
            of_machines: float64[B], the log prior of the machines, where it is known.
        """
        if of_machines is None:
            of_machines = self.space.log_prior(machines)
        log_prior = of_machines + self.unknowns.log_prior(experts)
        possible = np.isfinite(log_prior)
        log_likelihood = np.full(len(log_prior), -np.inf)
        if possible.all():
            log_likelihood = self.log_likelihood(machines, experts)
        elif possible.any():
            log_likelihood[possible] = self.log_likelihood(
                machines.rows(possible), experts.rows(possible)
            )
        return Chains(machines, experts, log_likelihood, log_prior)

    def sample(self, rng: np.random.Generator, size: int) -> Chains:
        """Return chains from the prior."""
        return self.chains(self.space.sample(rng, size), self.unknowns.sample(rng, size))

    def score(self, chains: Chains) -> Floats:
        """Return float64[B]: log likelihood / temperature + log prior of all labelled copies.

        A machine of n states has (n - 1)! copies, each as likely; of k states that known arrows
        name beside the first, the numbers are known, and it has (n - 1 - k)!.
        """
        score = chains.log_likelihood / self.temperature + chains.log_prior
        if len(self.space.sizes) > 1:
            score = score + self.log_copies[chains.machines.n_states]
        return score  # neither is infinite above, so that nothing is undefined

    @cached_property
    def log_copies(self) -> Floats:
        """float64[n + 1]: the log of how many labelled copies a machine of each size has."""
        named, most = self.space.named, self.space.largest
        return np.array([math.lgamma(max(n - named, 1)) for n in range(most + 1)])
