"""How likely demonstrations are under a machine when the expert is unknown: it is integrated out.

`Integrated` stands where a `Posterior` stands for methods that score every machine: its log
likelihoods are those of machines alone, averaged over the priors of alpha and lapse by quadrature,
and over the grid of discounts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from whence._arrays import Floats, Ints
from whence.likelihood import soft_integrating
from whence.likelihood.fitting import Fitter, Normals
from whence.likelihood.posterior import Posterior
from whence.model.canonical import minimise_batch
from whence.model.expert import Expert
from whence.model.expert_prior import AlphaPrior, LapsePrior

COARSE = (0.9,)  # the spacing of the grid
FINE = (0.4, 0.28, 0.2, 0.14, 0.1, 0.07)  # one after the other, until little changes
LITTLE = 1e-6  # nats; errors fall exponentially with the spacing: the finer grid has far less
CUTS = (12.0, 30.0)  # nats below which places are left out, where coarse and where fine
FINE_TOLERANCE = 1e-4  # nats, below which the fine grids are used
EXACT = 1e-13  # of values, relative to the largest that there could be ...
ROUGH = 1e-9  # ... and where likelihoods need not be exact
WIDEST = 1.0  # deviations: what is wider still has an edge somewhere, about as wide as this
MOST_PLACES = 20_000
NEGLIGIBLE = 40.0  # nats below its best discount at which another adds nothing to a machine
STRATA = 8  # experts that stand for all those of a machine

OnGrid = Callable[[Ints, float], Floats]  # integrals of some machines, at a spacing


class Integrated:
    """Scores machines against demonstrations, whoever the expert was.

    Attributes:
        posteriors: one for each discount, all as likely.
        temperature: likelihoods count to the power of one over it.
    """

    def __init__(
        self, posteriors: Sequence[Posterior], alpha: float | AlphaPrior, lapse: float | LapsePrior
    ) -> None:
        """Prepare to integrate over what is not known.

        Args:
            posteriors: one for each discount, over the same demonstrations.
            alpha: the expert's, or a prior over it.
            lapse: the expert's, or a prior over it.
        """
        first = posteriors[0]
        self.posteriors = tuple(posteriors)
        self.alphabet, self.levels, self.prior = first.alphabet, first.levels, first.prior
        self.temperature, self.tolerance = first.temperature, first.tolerance
        self.log_prior = first.log_prior
        self._known = [part for part in (alpha, lapse) if isinstance(part, float | int)]
        self._alpha, self._lapse = alpha, lapse
        self._middles: dict[bytes, Expert] = {}
        self._constant = sum(
            part.log_normaliser
            for part in (alpha, lapse)
            if isinstance(part, AlphaPrior | LapsePrior)
        )
        self._fitter = Fitter(posteriors, alpha, lapse) if len(self._known) < 2 else None

    @property
    def points(self) -> int:
        """How many experts a machine is scored for, about."""
        return len(self.posteriors) * (1, 20, 400)[2 - len(self._known)]

    def log_likelihood(
        self,
        transitions: npt.ArrayLike,
        rewards: npt.ArrayLike,
        *,
        tolerance: float | None = None,
        remember: bool = False,
    ) -> Floats:
        """Return float64[B]: T log of the mean over experts of likelihoods to the power of 1/T.

        Args:
            transitions: int[B, n, m], columns in the order of `alphabet`.
            rewards: float[B, n, m].
            tolerance: in nats; below 1e-4 the fine grid is used.
            remember: not used; machines are never remembered.
        """
        tables = np.asarray(transitions), np.asarray(rewards, dtype=np.float64)
        allowed = self.tolerance if tolerance is None else tolerance
        some, owner = _distinct(tables)
        each = self._at_each(some, allowed)
        mean = np.logaddexp.reduce(each, axis=0) - math.log(len(each))
        result = self.temperature * mean[owner]
        if self._fitter is not None:
            result = result + self.posteriors[0].beside_steps(*tables)
        return np.asarray(result)

    def experts(self, transitions: Ints, rewards: Floats) -> tuple[list[Expert], Floats]:
        """Return experts that stand for all those of one machine, [n, m], and how likely each is.

        Each discount has some, with equal shares of its probability.
        """
        tables = transitions[None], rewards[None]
        experts, shares = [], []
        for number, posterior in enumerate(self.posteriors):
            nodes = np.zeros((MOST_PLACES, 3))
            total = self._at_discount(number, tables, FINE_TOLERANCE / 2, nodes)[0]
            for alpha, lapse in self._strata(nodes):
                experts.append(replace(posterior.expert, alpha=alpha, lapse=lapse))
                shares.append(total)
        weight = np.exp(np.array(shares) - max(shares))
        return experts, np.asarray(weight / weight.sum())

    def middle(self, transitions: Ints, rewards: Floats) -> Expert:
        """Return an expert in the middle of those that one machine, [n, m], makes likely."""
        key = transitions.tobytes() + rewards.tobytes()
        if key not in self._middles:
            experts, shares = self.experts(transitions, rewards)
            first = int(np.argmax(shares))
            self._middles = {key: experts[first + STRATA // 2]}
        return self._middles[key]

    def _strata(self, nodes: Floats) -> list[tuple[float, float]]:
        """Return alpha and lapse of places at equal steps of the summed weight."""
        if self._fitter is None:
            return [(float(self._alpha), float(self._lapse))] * STRATA  # type: ignore[arg-type]
        used = nodes[: int(np.count_nonzero(nodes[:, 2]))]
        used = used[np.argsort(used[:, 0], kind="stable")]
        weight = np.exp(used[:, 2] - used[:, 2].max())
        running = np.cumsum(weight) / weight.sum()
        chosen = used[np.searchsorted(running, (np.arange(STRATA) + 0.5) / STRATA)]
        alpha, lapse = np.exp(chosen[:, 0]), 1 / (1 + np.exp(-chosen[:, 1]))
        if not isinstance(self._alpha, AlphaPrior):
            alpha = np.full(STRATA, float(self._alpha))
        if not isinstance(self._lapse, LapsePrior):
            lapse = np.full(STRATA, float(self._lapse))
        return list(zip(alpha.tolist(), lapse.tolist(), strict=True))

    def _at_each(self, tables: tuple[Ints, Floats], allowed: float) -> Floats:
        """Return float64[D, B], the same at each discount; roughly where it adds nothing."""
        grid = range(len(self.posteriors))
        if self._fitter is None or len(grid) == 1 or allowed >= FINE_TOLERANCE:
            return np.stack([self._at_discount(number, tables, allowed) for number in grid])
        result = np.stack([self._at_discount(number, tables, FINE_TOLERANCE) for number in grid])
        near = result >= result.max(axis=0) - NEGLIGIBLE
        for number in grid:
            rows = np.flatnonzero(near[number])
            some = tables[0][rows], tables[1][rows]
            result[number, rows] = self._at_discount(number, some, allowed)
        return result

    def _at_discount(
        self,
        number: int,
        tables: tuple[Ints, Floats],
        tolerance: float,
        nodes: Floats | None = None,
    ) -> Floats:
        """Return float64[B], the log of the mean over alpha and lapse at a discount."""
        posterior = self.posteriors[number]
        if self._fitter is None:
            found = posterior.log_likelihood(*tables, tolerance=tolerance, remember=False)
            return np.asarray(found / self.temperature)
        batch = self._fitter.solved.batch(tables[0].shape[1])
        starts = range(0, len(tables[0]), batch)
        parts = [
            self._integrals(
                number, (tables[0][i : i + batch], tables[1][i : i + batch]), tolerance, nodes
            )
            for i in starts
        ]
        return np.concatenate([np.zeros(0), *parts])

    def _integrals(
        self, number: int, tables: tuple[Ints, Floats], tolerance: float, nodes: Floats | None
    ) -> Floats:
        fitter, posterior = self._fitter, self.posteriors[number]
        assert fitter is not None
        size = len(tables[0])
        fine = tolerance < FINE_TOLERANCE
        fits = fitter.fits(*tables, np.full(size, number, dtype=np.int64))
        expected = fitter.tempered(fits, np.full(size, 1 / self.temperature))
        expected = Normals(expected.mean, np.clip(expected.root, -WIDEST, WIDEST))
        if posterior.expert.is_soft:
            spacings = soft_integrating.SPACINGS[fine]
            found = self._soft_integrals(posterior, tables, expected, fine, nodes)
        else:
            spacings = FINE if fine else COARSE
            found = self._plain_integrals(posterior, tables, expected, fine, nodes)
        return np.asarray(_refined(found, size, spacings) - self._constant)

    def _plain_integrals(
        self,
        posterior: Posterior,
        tables: tuple[Ints, Floats],
        expected: Normals,
        fine: bool,
        nodes: Floats | None,
    ) -> OnGrid:
        """Return what integrates over Boltzmann experts: one solve a machine."""
        from whence.likelihood.kernels.integrating import integrate_machines

        fitter = self._fitter
        assert fitter is not None
        largest = max(abs(level) for level in self.levels) / (1 - posterior.expert.discount)
        q, counts = fitter.solved.all_rows(posterior, tables, (EXACT if fine else ROUGH) * largest)
        places = np.zeros((0, 3)) if nodes is None else nodes

        def found(some: Ints, spacing: float) -> Floats:
            result = np.zeros((len(some), 2))
            integrate_machines(
                q[some], counts[some], expected.mean[some], expected.root[some],
                1 / self.temperature, fitter.prior, fitter.free, spacing, CUTS[int(fine)], places,
                result,
            )  # fmt: skip
            return result[:, 0]

        return found

    def _soft_integrals(
        self,
        posterior: Posterior,
        tables: tuple[Ints, Floats],
        expected: Normals,
        fine: bool,
        nodes: Floats | None,
    ) -> OnGrid:
        """Return what integrates over soft experts: a solve for every alpha."""
        fitter = self._fitter
        assert fitter is not None
        exact = (FINE_TOLERANCE if fine else self.tolerance) / max(posterior.n_steps, 1) / 20

        def found(some: Ints, spacing: float) -> Floats:
            seen: list[Floats] | None = None if nodes is None else []
            result = soft_integrating.integrals(
                partial(fitter.solved.all_rows, posterior), (tables[0][some], tables[1][some]),
                soft_integrating.Grid(*expected.rows(some), fitter.prior, fitter.free),
                1 / self.temperature, spacing, CUTS[int(fine)], exact, seen,
            )  # fmt: skip
            if nodes is not None and seen:
                every = np.concatenate(seen)[: len(nodes)]
                nodes[:] = 0.0
                nodes[: len(every)] = every
            return result

        return found


def _refined(found: OnGrid, size: int, spacings: Sequence[float]) -> Floats:
    """Return float64[B], on grids ever finer, until little changes."""
    result, open_ = np.full(size, np.inf), np.arange(size)
    for spacing in spacings:
        values = found(open_, spacing)
        changed = np.abs(values - result[open_]) > LITTLE
        result[open_] = values
        open_ = open_[changed]
        if not len(open_):
            break
    return result


def _distinct(tables: tuple[Ints, Floats]) -> tuple[tuple[Ints, Floats], Ints]:
    """Return machines of which no two pay the same, and int64[B], which stands for each."""
    transitions, rewards, _ = minimise_batch(*tables)
    size = len(transitions)
    rows = np.concatenate([transitions.reshape(size, -1), rewards.reshape(size, -1)], axis=1)
    _, first, owner = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return (tables[0][first], tables[1][first]), np.asarray(owner.reshape(-1))
