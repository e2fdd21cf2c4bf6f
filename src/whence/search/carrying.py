"""Moves of an unknown expert that know which experts suit a machine.

At a temperature, what a machine's likelihood and the prior say of log alpha and logit lapse is
near normal, with a mean and a root of its covariance that follow from the machine's fit. When a
machine or a discount changes, the expert is *carried along*: it stays as many deviations away from
the new mean as it was from the old one. The map is one to one, and the ratio of the roots'
determinants is its Jacobian. Between such moves an expert is *drawn anew* from a Student
distribution around the mean. Mean and root depend on machine, discount and temperature alone, so
that both are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.likelihood.fitting import Fits, Fitter, Normals, logit
from whence.likelihood.posterior import Posterior
from whence.search.machines import Machines
from whence.search.unknowns import Experts, Unknowns

FREEDOM = 5.0  # degrees of freedom of the Student distribution
WIDER = 1.2  # its scale, in deviations
FROM_PRIOR = 0.1  # how often an expert that is proposed with a machine comes from the prior


@dataclass(frozen=True, eq=False)
class Carrier:
    """Carries experts along.

    Attributes:
        unknowns: what is known of the expert.
        posteriors: one for each discount of the grid.
    """

    unknowns: Unknowns
    posteriors: tuple[Posterior, ...]

    @property
    def useful(self) -> bool:
        """Whether alpha or lapse is unknown, and fits can be made."""
        known = self.unknowns
        if known.alpha is not None and not 0 < known.alpha < math.inf:
            return False
        return known.alpha is None or known.lapse is None

    def changed(
        self, old: tuple[Machines, Experts], new: Machines, discount: Ints, temperatures: Floats
    ) -> tuple[Experts, Floats]:
        """Return experts for new machines and discounts, and float64[B], the log Jacobian.

        Args:
            old: machines and their experts.
            new: as many machines.
            discount: int64[B], the new places in the grid.
            temperatures: float64[B].
        """
        machines, experts = old
        size = machines.size
        both = Machines(*map(np.concatenate, zip(machines, new, strict=True)))
        places_of_both = np.concatenate([experts.discount, discount])
        expected = self.normals(both, places_of_both, np.tile(temperatures, 2))
        before, after = expected.rows(np.arange(size)), expected.rows(np.arange(size, 2 * size))
        place = places(experts)
        moved = after.at(before.standard(place))
        log_q = after.log_volume - before.log_volume
        return self.at(moved, experts, discount), log_q + self._slope(moved, place)

    def drawn(
        self, rng: np.random.Generator, machines: Machines, experts: Experts, temperatures: Floats
    ) -> tuple[Experts, Floats]:
        """Return experts drawn anew, and float64[B], log q(old | new) - log q(new | old)."""
        expected = self.normals(machines, experts.discount, temperatures)
        old = places(experts)
        new = np.where(self._free > 0, expected.at(_student(rng, old.shape)), old)
        log_q = self.log_student(expected, old) - self.log_student(expected, new)
        return self.at(new, experts, experts.discount), log_q + self._slope(new, old)

    def proposed(self, rng: np.random.Generator, expected: Normals) -> Floats:
        """Return float64[B, 2], places drawn around what is expected; one in ten from the prior.

        A likelihood may have a second peak, such as a greedy expert who lapses often: whoever
        stands there must be drawn now and then, or would not be left for long.
        """
        shape = expected.mean.shape
        near = expected.at(_student(rng, shape))
        far = places(self.unknowns.sample(rng, shape[0]))
        place = np.where(rng.random((shape[0], 1)) < FROM_PRIOR, far, near)
        return np.where(self._free > 0, place, expected.mean)

    def log_proposed(self, expected: Normals, place: Floats) -> Floats:
        """Return float64[B], the log density of places that are proposed."""
        count = self._free.sum()
        unit = math.lgamma((FREEDOM + count) / 2) - math.lgamma(FREEDOM / 2)
        unit -= count * (math.log(FREEDOM * math.pi) / 2 + math.log(WIDER))
        near = self.log_student(expected, place) + unit
        far = self.log_prior_at(place) - self._log_normaliser
        return np.asarray(np.logaddexp(math.log1p(-FROM_PRIOR) + near, math.log(FROM_PRIOR) + far))

    @property
    def _log_normaliser(self) -> float:
        """The log of the integral of the prior over what is unknown."""
        known = self.unknowns
        return (known.alpha_prior.log_normaliser if known.alpha is None else 0.0) + (
            known.lapse_prior.log_normaliser if known.lapse is None else 0.0
        )

    def log_student(self, expected: Normals, place: Floats) -> Floats:
        """Return float64[B], the log density of places that are drawn, but for a constant."""
        free = self._free
        away = (expected.standard(place) * free / WIDER) ** 2
        power = (FREEDOM + free.sum()) / 2
        return np.asarray(-power * np.log1p(away.sum(axis=1) / FREEDOM) - expected.log_volume)

    def log_prior_at(self, place: Floats) -> Floats:
        """Return float64[B], the log prior of experts, by log alpha and logit lapse."""
        size = len(place)
        nothing = Experts(np.ones(size), np.zeros(size), np.zeros(size, dtype=np.int64))
        experts = self.at(place, nothing, nothing.discount)
        lapses = _log_weight(place[:, 1]) if self._free[1] > 0 else 0.0
        return np.asarray(self.unknowns.log_prior(experts) + lapses)

    def fitted(self, machines: Machines, experts: Experts, discount: Ints) -> Experts:
        """Return the experts that fit machines best at discounts, with what is known as it was."""
        expected = self.normals(machines, discount, np.ones(machines.size))
        return self.at(expected.mean, experts, discount)

    def normals(self, machines: Machines, discount: Ints, temperatures: Floats) -> Normals:
        """Return what is expected of the experts of machines, at discounts and temperatures."""
        return self.tempered(self.fits(machines, discount), temperatures)

    def fits(self, machines: Machines, discount: Ints) -> Fits:
        """Return the experts that fit machines best at discounts, int64[B]."""
        transitions, rewards = machines.tables(self.posteriors[0].levels)
        return self._fitter.fits(transitions, rewards, discount)

    def tempered(self, fits: Fits, temperatures: Floats) -> Normals:
        """Return what is expected of experts at temperatures, float64[B]."""
        return self._fitter.tempered(fits, 1 / temperatures)

    def shared(self, experts: Experts) -> Bools:
        """Return bool[B]: the experts whose machines are solved once for all of them."""
        if not self.useful:
            return np.zeros(len(experts.alpha), dtype=np.bool_)
        return self._fitter.solved.serves(experts.alpha, experts.discount)

    def log_likelihood(self, machines: Machines, experts: Experts) -> Floats:
        """Return float64[B] of machines at experts that share solves."""
        tables = machines.tables(self.posteriors[0].levels)
        return self._fitter.solved.log_likelihood(
            *tables, experts.discount, experts.alpha, experts.lapse
        )

    @cached_property
    def _fitter(self) -> Fitter:
        known = self.unknowns
        return Fitter(
            self.posteriors,
            known.alpha_prior if known.alpha is None else known.alpha,
            known.lapse_prior if known.lapse is None else known.lapse,
        )

    @property
    def _free(self) -> Floats:
        """float64[2]: 1 where log alpha and lapse are unknown."""
        return self._fitter.free

    def at(self, place: Floats, old: Experts, discount: Ints) -> Experts:
        """Return experts at places, with what is known as it was."""
        free = self._free > 0
        with np.errstate(over="ignore"):
            alpha, lapse = np.exp(place[:, 0]), 1 / (1 + np.exp(-place[:, 1]))
        return Experts(alpha if free[0] else old.alpha, lapse if free[1] else old.lapse, discount)

    def _slope(self, new: Floats, old: Floats) -> Floats:
        """Return float64[B], the log of how much denser lapses lie at new places than at old."""
        if not self._free[1]:
            return np.zeros(len(new))
        return np.asarray(_log_weight(new[:, 1]) - _log_weight(old[:, 1]))


def _student(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return float64[B, 2], drawn from the Student distribution, in deviations."""
    heavy = np.sqrt(rng.chisquare(FREEDOM, shape[0]) / FREEDOM)
    return np.asarray(WIDER * rng.normal(size=shape) / heavy[:, None])


def _log_weight(z: Floats) -> Floats:
    """Return the log of lapse (1 - lapse), the slope of the lapse by its logit."""
    return np.asarray(-np.abs(z) - 2 * np.log1p(np.exp(-np.abs(z))))


def places(experts: Experts) -> Floats:
    """Return float64[B, 2], log alpha and logit lapse."""
    return np.stack([np.log(experts.alpha), logit(experts.lapse)], axis=1)
