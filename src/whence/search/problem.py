"""What is to be inferred: a machine of some sizes, from some worlds, of an expert known or not."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeGuard

import numpy as np

from whence._arrays import Ints
from whence.errors import ArgumentError
from whence.likelihood.integrating import Integrated
from whence.likelihood.posterior import Posterior
from whence.model.machine import RewardMachine
from whence.search.machines import Machines, check_space
from whence.search.pinning import as_pinned
from whence.search.space import Space
from whence.search.target import Target
from whence.search.unknowns import Unknowns

Sizes = int | range | tuple[int, int]


@dataclass(frozen=True, eq=False)
class Problem:
    """A problem of inference, the same for all methods.

    Attributes:
        posteriors: one for each discount that the expert may have.
        unknowns: what is known of the expert.
        sizes: the numbers of states that a machine may have.
        fixed: arrows that are known, (state, symbol) -> (target, reward), by place.
        start: a machine to start from.
    """

    posteriors: tuple[Posterior, ...]
    unknowns: Unknowns
    sizes: range
    fixed: dict[tuple[int, int], tuple[int, float]]
    start: RewardMachine | None = None

    def plain(self, method: str) -> Posterior:
        """Return the posterior of a known expert, for methods that can do no more."""
        if self.unknowns.any:
            raise ArgumentError(
                f"the expert is to be inferred, which {method} cannot do; give alpha, discount "
                "and lapse, such as Expert(alpha=50, discount=0.92), or use tempering"
            )
        self._check_free(method)
        return self.posteriors[0]

    def marginal(self, method: str) -> Posterior | Integrated:
        """Return the posterior of machines alone, for methods that know no expert."""
        self._check_free(method)
        return self.of_machines(method)

    def of_machines(self, method: str) -> Posterior | Integrated:
        """Return the posterior of machines alone: an unknown expert is integrated out."""
        known = self.unknowns
        if not known.any:
            return self.posteriors[0]
        if known.any_number and known.alpha is not None and not 0 < known.alpha < math.inf:
            raise ArgumentError(
                f"alpha is {known.alpha:g} and the lapse is to be inferred, which {method} cannot "
                "do; give the lapse, or use tempering"
            )
        return Integrated(
            self.posteriors,
            known.alpha_prior if known.alpha is None else known.alpha,
            known.lapse_prior if known.lapse is None else known.lapse,
        )

    def of_kind(self, kind: str) -> Problem:
        """Return the problem of experts of one kind."""
        if self.unknowns.kinds == (kind,):
            return self
        chosen = tuple(each for each in self.posteriors if each.expert.kind == kind)
        return replace(self, posteriors=chosen, unknowns=replace(self.unknowns, kinds=(kind,)))

    def _check_free(self, method: str) -> None:
        if self.fixed or self.start is not None:
            raise ArgumentError(
                f"{method} takes neither known arrows (fix) nor a machine to start from (init); "
                "leave them out, or use tempering"
            )

    @cached_property
    def _target(self) -> Target:
        posterior = self.posteriors[0]
        return Target(self._space(), self.unknowns, self.posteriors, posterior.temperature)

    def target(self) -> Target:
        """Return what a sampler samples."""
        return self._target

    def on_cores(self) -> Problem:
        """Return the same problem, its machines scored by the cores; discounts share a map."""
        made: list[Posterior] = []
        for posterior in self.posteriors:
            like = next((one for one in made if one.expert.kind == posterior.expert.kind), None)
            made.append(like.of_expert(posterior.expert) if like else posterior.on_cores())
        return replace(self, posteriors=tuple(made))

    def started(self, space: Space) -> Machines | None:
        """Return the machine to start from as one of the space, or None.

        Its states are numbered as the known arrows say, whatever their numbers were.
        """
        if self.start is None:
            return None
        machine = self.start.over(self.posteriors[0].alphabet).canonical()
        n = machine.n_states
        if n not in space.sizes or not np.isin(machine.rewards, space.levels).all():
            raise ArgumentError(
                f"init: {machine}: a machine to start from has {spelled(self.sizes)} reachable "
                f"states and pays {', '.join(f'{level:g}' for level in space.levels)}"
            )
        tables = Machines(
            np.zeros((1, space.largest, space.m), dtype=np.int64),
            np.zeros((1, space.largest, space.m), dtype=np.int64),
            np.array([n]),
        )
        tables.transitions[0, :n] = machine.transitions
        tables.paid[0, :n] = np.searchsorted(space.levels, machine.rewards)
        found = as_pinned(space.tidy(tables), space)
        if not space.valid(found)[0]:
            raise ArgumentError(
                "init: the machine to start from has unreachable states, pays nothing or does "
                "not have the known arrows (fix); correct one of them"
            )
        return found

    def _space(self) -> Space:
        posterior = self.posteriors[0]
        m, largest = len(posterior.alphabet), self.sizes[-1]
        check_space(largest, m, posterior.levels)
        targets, paid = self._known(largest, m, posterior.levels)
        bare = Space(
            tuple(self.sizes), m, posterior.levels, posterior.prior, np.zeros(0), targets, paid
        )
        log_size = np.full(largest + 1, -np.inf)
        for n in self.sizes:
            log_size[n] = self._log_size(n, m, bare.named) if len(self.sizes) > 1 else 0.0
        return replace(bare, log_size=log_size)

    def _log_size(self, n: int, m: int, named: int) -> float:
        """Return log P(n) - log Z_n, and the log of how many numbers named states might have.

        Known arrows say what the states that they name do. Which numbers these have says nothing:
        of n states, k may have any of (n - 1)! / (n - 1 - k)!, the first has its own.
        """
        prior = self.posteriors[0].prior
        ways = math.lgamma(n) - math.lgamma(n - named)
        return prior.log_size(n, self.sizes) - prior.normaliser(n, m) + ways

    def _known(self, n: int, m: int, levels: tuple[float, ...]) -> tuple[Ints, Ints]:
        """Return int64[n, m] twice: what is fixed, -1 elsewhere."""
        targets, paid = np.full((n, m), -1), np.full((n, m), -1)
        for (state, symbol), (target, reward) in self.fixed.items():
            if max(state, target) >= self.sizes[0]:
                raise ArgumentError(
                    f"fix: the known arrows name {max(state, target) + 1} states; allow machines "
                    f"with at least that many (states is {spelled(self.sizes)})"
                )
            if not any(math.isclose(reward, level) for level in levels):
                raise ArgumentError(
                    f"fix: a known arrow pays {reward:g}, which is no level; add it to rewards"
                )
            targets[state, symbol] = target
            paid[state, symbol] = int(np.argmin(np.abs(np.array(levels) - reward)))
        return targets, paid


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
