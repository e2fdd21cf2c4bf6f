"""The expert that fits each machine best, and how sharply: one solve, whatever alpha and lapse.

A soft expert takes a few: see `whence.likelihood.soft_fitting`.

A likelihood is near normal in log alpha and logit lapse around its best place. Where the expert is
unknown, that place and the curvature there tell which experts are worth trying with a machine.
Fits guide proposals alone: likelihoods themselves come from `Posterior.log_likelihood`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.posterior import Posterior
from whence.likelihood.soft_fitting import fit_softly
from whence.likelihood.solved import Rows, Solved
from whence.model.expert_prior import AlphaPrior, LapsePrior

MOST_ROWS = 4_096  # pairs of a machine state and a visited state that a fit looks at
FITTING = 2.0  # what a number of Q takes where an expert is fitted, as states that are solved
REMEMBERED = 100_000
USUAL_LAPSE = 0.05  # to start from
FARTHEST = 4.0  # how far a mean may lie from the fit
LEAST_SHARE = 1e-300  # so that its logarithm is finite: a lapse may be as small as that
LEAST_PRECISION = 0.02  # of log alpha, where neither data nor prior say anything


class Fits(NamedTuple):
    """The best expert of each machine.

    Attributes:
        place: float64[B, 2], log alpha and logit lapse, the prior over them counted.
        log_likelihood: float64[B], there, about.
        slope: float64[B, 2], of the log likelihood alone.
        curvature: float64[B, 3]: by log alpha, by both, by logit lapse; negative at a peak.
    """

    place: Floats
    log_likelihood: Floats
    slope: Floats
    curvature: Floats


class Normals(NamedTuple):
    """What is expected of the expert of each machine, in log alpha and logit lapse.

    Attributes:
        mean: float64[B, 2].
        root: float64[B, 2, 2], lower triangular; its product with its transpose is the
            covariance.
    """

    mean: Floats
    root: Floats

    @property
    def log_volume(self) -> Floats:
        """float64[B], the log of the determinant of the roots."""
        return np.asarray(np.log(self.root[:, 0, 0]) + np.log(self.root[:, 1, 1]))

    def rows(self, chosen: Ints) -> Normals:
        """Return some of them."""
        return Normals(self.mean[chosen], self.root[chosen])

    def standard(self, place: Floats) -> Floats:
        """Return float64[B, 2]: how many deviations places are away from the mean."""
        away = place - self.mean
        first = away[:, 0] / self.root[:, 0, 0]
        second = (away[:, 1] - self.root[:, 1, 0] * first) / self.root[:, 1, 1]
        return np.stack([first, second], axis=1)

    def at(self, standard: Floats) -> Floats:
        """Return float64[B, 2], the places that are so many deviations away."""
        return np.asarray(self.mean + np.einsum("bij,bj->bi", self.root, standard))


class Fitter:
    """Fits experts to machines at some discounts, and remembers what it fitted."""

    def __init__(
        self,
        posteriors: Sequence[Posterior],
        alpha: float | AlphaPrior,
        lapse: float | LapsePrior,
    ) -> None:
        """Prepare to fit what is not known.

        Args:
            posteriors: one for each discount, over the same demonstrations.
            alpha: the expert's, finite, or a prior over it.
            lapse: the expert's, or a prior over it.
        """
        self.solved = Solved(posteriors)
        unit = math.log(self.solved.largest)
        known = alpha if not isinstance(alpha, AlphaPrior) else alpha.centre / math.exp(unit)
        prior = alpha if isinstance(alpha, AlphaPrior) else AlphaPrior()
        beta = lapse if isinstance(lapse, LapsePrior) else LapsePrior()
        low, high = prior.bounds
        self.prior = np.array(
            [
                math.log(prior.centre) - unit, min(prior.spread, 1e6), low - unit, high - unit,
                beta.ones, beta.zeros, -unit, 0.0 if isinstance(lapse, LapsePrior) else lapse,
            ]
        )  # fmt: skip
        free = isinstance(alpha, AlphaPrior), isinstance(lapse, LapsePrior)
        self.free = np.array(free, dtype=np.float64)
        share = USUAL_LAPSE if isinstance(lapse, LapsePrior) else lapse
        self._start = np.array([math.log(known), logit(np.array(share)).item()])
        self._remembered: dict[bytes, Floats] = {}

    def fits(self, transitions: Ints, rewards: Floats, discount: Ints) -> Fits:
        """Return the best expert of each machine, int[B, n, m] and float[B, n, m].

        `discount`, int64[B], says at which of the discounts.
        """
        tables, keys = self.solved.keyed(transitions, rewards, discount)
        known = {key: self._remembered.get(key) for key in keys}  # other threads may forget
        fresh: dict[bytes, int] = {}
        for row, key in enumerate(keys):
            if known[key] is None:
                fresh.setdefault(key, row)
        if fresh:
            rows = np.fromiter(fresh.values(), dtype=np.int64, count=len(fresh))
            found = self._fitted((tables[0][rows], tables[1][rows]), discount[rows], list(fresh))
            known.update(zip(fresh, found, strict=True))
            self._remembered.update(zip(fresh, found, strict=True))
        result = np.array([known[key] for key in keys]).reshape(len(keys), 8)
        if len(self._remembered) > REMEMBERED:
            every = list(self._remembered.items())
            self._remembered = dict(every[len(every) // 2 :])
        return Fits(result[:, :2], result[:, 2], result[:, 3:5], result[:, 5:])

    def tempered(self, fits: Fits, beta: Floats) -> Normals:
        """Return what is expected of experts where likelihoods count to the power of beta."""
        slope, precision = self._prior_at(fits.place)
        aa, az, zz = _bent_down(-fits.curvature)
        aa, az, zz = (beta * part for part in (aa, az, zz))
        free = self.free
        aa = np.where(free[0] > 0, aa + precision[:, 0], 1.0)
        zz = np.where(free[1] > 0, zz + precision[:, 1], 1.0)
        az = az * free[0] * free[1]
        g = (beta[:, None] * fits.slope + slope) * free
        det = aa * zz - az * az
        shift = np.stack([zz * g[:, 0] - az * g[:, 1], aa * g[:, 1] - az * g[:, 0]], axis=1)
        mean = fits.place + np.clip(shift / det[:, None], -FARTHEST, FARTHEST)
        if free[0] > 0:
            mean[:, 0] = np.clip(mean[:, 0], self.prior[2], self.prior[3])
        root = np.zeros((len(beta), 2, 2))
        root[:, 0, 0] = np.sqrt(zz / det)
        root[:, 1, 0] = -az / np.sqrt(zz * det)
        root[:, 1, 1] = 1 / np.sqrt(zz)
        return Normals(mean, root)

    def _prior_at(self, place: Floats) -> tuple[Floats, Floats]:
        """Return the slopes of the log prior, and how sharp it is, float64[B, 2] twice."""
        centre, spread, ones, zeros = self.prior[[0, 1, 4, 5]]
        half = np.tanh((place[:, 0] - centre) / (2 * spread))
        lapse = 1 / (1 + np.exp(-place[:, 1]))
        slope = np.stack([-half / spread, ones * (1 - lapse) - zeros * lapse], axis=1)
        sharp = np.maximum((1 - half**2) / (2 * spread**2), LEAST_PRECISION)
        return slope, np.stack(
            [sharp, (ones + zeros) * lapse * (1 - lapse) + LEAST_PRECISION], axis=1
        )

    def _fitted(self, tables: tuple[Ints, Floats], discount: Ints, keys: list[bytes]) -> Floats:
        """Return float64[B, 8], some machines at a time."""
        result = np.zeros((len(keys), 8))
        soft = np.array([each.expert.is_soft for each in self.solved.posteriors])[discount]
        plain = np.flatnonzero(~soft)
        if len(plain):
            some = tables[0][plain], tables[1][plain]
            result[plain] = self._plainly(some, discount[plain], [keys[row] for row in plain])
        for number in np.unique(discount[soft]):
            own = np.flatnonzero(discount == number)
            result[own] = self._softly(number, (tables[0][own], tables[1][own]))
        return result

    def _plainly(self, tables: tuple[Ints, Floats], discount: Ints, keys: list[bytes]) -> Floats:
        """Return float64[B, 8] for Boltzmann experts: one solve for all alphas and lapses."""
        size = len(keys)
        result = np.zeros((size, 8))
        prior, start = np.tile(self.prior, (size, 1)), np.tile(self._start, (size, 1))
        for some in self.solved.pieces(size, tables[0].shape[1]):
            rows = self.solved.rows(tables, discount, keys, some)
            own = prior[some], start[some], result[some]
            part, work = partial(_fit_some, rows, own, self.free), FITTING * rows.q.size
            self.solved.spread(part, rows.size, work)
        return result

    def _softly(self, number: int, tables: tuple[Ints, Floats]) -> Floats:
        """Return float64[B, 8] for soft experts at a place of the grid."""
        rows = partial(self.solved.all_rows, self.solved.posteriors[number])
        pieces = self.solved.pieces(len(tables[0]), tables[0].shape[1])
        parts = [
            fit_softly(
                rows, (tables[0][some], tables[1][some]), self.prior, self.free, self._start,
                MOST_ROWS,
            )
            for some in pieces
        ]  # fmt: skip
        return np.concatenate(parts)


def _fit_some(rows: Rows, tables: tuple[Floats, ...], free: Floats, start: int, stop: int) -> None:
    """Fit some machines; tables: priors, places to start from, and what is written."""
    from whence.likelihood.kernels.fitting import fit_machines

    q, counts, ends = rows.some(start, stop)
    prior, places, out = (table[start:stop] for table in tables)
    fit_machines(q, np.zeros((0, 0)), counts, ends, MOST_ROWS, prior, free, places, out)


def _bent_down(precision: Floats) -> tuple[Floats, Floats, Floats]:
    """Return precisions, float64[B, 3], without what is negative in any direction."""
    aa, az, zz = precision.T
    middle, spread = (aa + zz) / 2, np.hypot((aa - zz) / 2, az)
    high, low = middle + spread, middle - spread
    kept = np.maximum(np.stack([high, low]), 0.0)
    share = np.where(spread > 0, (kept[0] - kept[1]) / np.maximum(2 * spread, 1e-300), 0.0)
    mean = (kept[0] + kept[1]) / 2
    return mean + share * (aa - middle), share * az, mean + share * (zz - middle)


def logit(share: Floats) -> Floats:
    """Return the log odds of shares between 0 and 1; those at the ends are taken as near them."""
    inside = np.clip(share, LEAST_SHARE, 1 - 1e-12)
    return np.asarray(np.log(inside) - np.log1p(-inside))
