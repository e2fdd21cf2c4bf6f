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
from whence.model.expert_prior import AlphaPrior, LapsePrior

EXACT = 1e-7  # of the values behind a fit, in units of the largest level
MOST_ROWS = 4_096  # pairs of a machine state and a visited state that a fit looks at
REMEMBERED = 100_000
ROOM = 2**22  # numbers that are worked on at a time
USUAL_LAPSE = 0.05  # to start from
FARTHEST = 4.0  # how far a mean may lie from the fit
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
        self._posteriors = posteriors
        self._largest = max(abs(level) for level in posteriors[0].levels) or 1.0
        unit = math.log(self._largest)
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
        tables = self._posteriors[0].canonical(transitions, rewards)
        keys = _keys((*tables, discount))
        fresh: dict[bytes, int] = {}
        for row, key in enumerate(keys):
            if key not in self._remembered:
                fresh.setdefault(key, row)
        if fresh:
            rows = np.fromiter(fresh.values(), dtype=np.int64, count=len(fresh))
            found = np.zeros((len(rows), 8))
            for number in np.unique(discount[rows]):
                own = discount[rows] == number
                some = rows[own]
                found[own] = self._fitted(
                    self._posteriors[number], tables[0][some], tables[1][some]
                )
            self._remembered.update(zip(fresh, found, strict=True))
        result = np.array([self._remembered[key] for key in keys]).reshape(len(keys), 8)
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

    def _fitted(self, posterior: Posterior, transitions: Ints, rewards: Floats) -> Floats:
        """Return float64[B, 8], some machines at a time."""
        size, n, _ = transitions.shape
        batch = self.batch(n)
        fit = self._softly if posterior.expert.is_soft else self._plainly
        parts = [
            fit(posterior, (transitions[first : first + batch], rewards[first : first + batch]))
            for first in range(0, size, batch)
        ]
        return np.concatenate([np.zeros((0, 8)), *parts])

    def _plainly(self, posterior: Posterior, tables: tuple[Ints, Floats]) -> Floats:
        """Return float64[B, 8] for Boltzmann experts: one solve for all alphas and lapses."""
        from whence.likelihood.kernels.fitting import fit_machines

        size = len(tables[0])
        result = np.zeros((size, 8))
        q, counts = self.rows(posterior, tables, EXACT * self._largest)
        prior, start = np.tile(self.prior, (size, 1)), np.tile(self._start, (size, 1))
        nothing = np.zeros((0, 0, 0))
        fit_machines(q, nothing, counts, MOST_ROWS, prior, self.free, start, result)
        return result

    def _softly(self, posterior: Posterior, tables: tuple[Ints, Floats]) -> Floats:
        """Return float64[B, 8] for soft experts."""
        rows = partial(self.rows, posterior)
        return fit_softly(rows, tables, self.prior, self.free, self._start, MOST_ROWS)

    def batch(self, n: int) -> int:
        """Return how many machines of n states are worked on at a time."""
        posterior = self._posteriors[0]
        width = max(world.n_actions for world, _ in posterior.worlds)
        rows = n * width * sum(len(each.visited) for each in posterior.evidence)
        return max(ROOM // max(rows, 1), 1)

    def rows(
        self, posterior: Posterior, tables: tuple[Ints, Floats], exact: float
    ) -> tuple[Floats, Floats]:
        """Return Q and counts of actions, float64[B, R, A], worlds one after the other."""
        from whence.likelihood.kernels.fitting import occupy_machines

        size, n, _ = tables[0].shape
        width = max(world.n_actions for world, _ in posterior.worlds)
        parts = []
        for number, seen in enumerate(posterior.evidence):
            engine, own = posterior.in_world(number, tables)
            many, actions = len(seen.visited), engine.mdp.n_actions
            q = engine.visited_q(own, exact).transpose(0, 1, 3, 2).reshape(size, n, -1)
            q[:, :, seen.closed] = -np.inf
            q = q.reshape(size, -1, actions)
            counts = np.zeros((size, n, many * actions))
            occupy_machines(
                own[0], seen.parent, seen.symbol, seen.first_cell, seen.cell_key,
                seen.cell_count, np.zeros(len(seen.parent), dtype=np.int64), counts,
            )  # fmt: skip
            parts.append((_wide(q, width, -np.inf), _wide(counts.reshape(q.shape), width, 0.0)))
        return (
            np.concatenate([part[0] for part in parts], axis=1),
            np.concatenate([part[1] for part in parts], axis=1),
        )


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
    inside = np.clip(share, 1e-12, 1 - 1e-12)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def _wide(rows: Floats, width: int, filled: float) -> Floats:
    """Return float64[B, R, width], with columns added where a world has fewer actions."""
    missing = width - rows.shape[2]
    return (
        np.pad(rows, ((0, 0), (0, 0), (0, missing)), constant_values=filled) if missing else rows
    )


def _keys(tables: tuple[Ints, Floats, Ints, Ints]) -> list[bytes]:
    """Return what each canonical machine at a discount is remembered by."""
    size = len(tables[2])
    rows = np.concatenate([table.reshape(size, -1).astype(np.float64) for table in tables], axis=1)
    return [row.tobytes() for row in rows]
