"""How exact the frequencies of a sample are.

Draws of one ladder follow each other and are alike. Their error comes from the means of batches
that are long enough to forget each other, and from how far the ladders lie apart; the larger of
the two counts, and never less than independent draws would have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whence._arrays import Floats, Ints

MOST_BATCHES = 32
TOGETHER = 4096  # classes that are counted at a time
COMPARED = 0.01  # the least weight of a class that ladders are compared by


class Summary(NamedTuple):
    """A number that varies over the sample: its mean and the interval that holds 95%."""

    mean: float
    low: float
    high: float


class Agreement(NamedTuple):
    """How far independent ladders lie apart.

    Attributes:
        largest: the largest difference of a class's frequency between one ladder and all
            others, in units of its error, over the classes of at least 1%. Above 4 or so, the
            ladders have not mixed.
        total_variation: the largest over pairs of ladders of half the sum of the differences,
            from 0 to 1; many rare classes make it large even where ladders agree.
    """

    largest: float
    total_variation: float


@dataclass(frozen=True, eq=False)
class Precision:
    """What the order of the draws says about their frequencies.

    Attributes:
        errors: float64[K], the standard error of each class's frequency.
        effective_size: so many independent draws would be as exact: the variances of
            independent draws over those estimated, each summed over the classes.
        agreement: between ladders; None where there is but one.
    """

    errors: Floats
    effective_size: float
    agreement: Agreement | None


def precision(classes: Ints, ladder: Ints, n_classes: int) -> Precision:
    """Return how exact class frequencies are.

    Args:
        classes: int64[N], the class of each draw; those of a ladder in order of time.
        ladder: int64[N].
        n_classes: K.
    """
    names, sizes = np.unique(ladder, return_counts=True)
    means, variances = _ladders(classes, ladder, n_classes)
    share = sizes / sizes.sum()
    weight = means @ share
    chance = weight * (1 - weight)
    within = variances @ share**2
    apart = ((means - weight[:, None]) ** 2) @ share**2
    between = apart * len(names) / (len(names) - 1) if len(names) > 1 else 0.0
    squared = np.maximum(np.maximum(within, between), chance / len(classes))
    total = float(squared.sum())
    agreement = _agreement(means, variances, sizes, weight) if len(names) > 1 else None
    effective = float(chance.sum()) / total if total > 0 else float(len(classes))
    return Precision(np.sqrt(squared), effective, agreement)


def summarised(values: Floats, weight: Floats) -> Summary:
    """Return the mean and the 2.5% and 97.5% quantiles of weighted values."""
    mean = float(weight @ values) if np.isfinite(values).all() else math.inf
    order = np.argsort(values, kind="stable")
    running = np.cumsum(weight[order]) / weight.sum()
    places = np.searchsorted(running, (0.025, 0.975)).clip(max=len(values) - 1)
    low, high = values[order][places].tolist()
    return Summary(mean, low, high)


def _ladders(classes: Ints, ladder: Ints, n_classes: int) -> tuple[Floats, Floats]:
    """Return the frequencies in each ladder, float64[K, L], and their variances."""
    order = np.argsort(ladder, kind="stable")
    _, sizes = np.unique(ladder, return_counts=True)
    counts = np.clip(np.sqrt(sizes).astype(np.int64), 1, MOST_BATCHES)
    place = np.arange(len(classes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    batch = place * np.repeat(counts, sizes) // np.repeat(sizes, sizes)
    batch += np.repeat(np.cumsum(counts) - counts, sizes)
    edges = range(0, n_classes, TOGETHER)
    parts = [
        _batch_means(classes[order], batch, sizes, counts, (i, min(i + TOGETHER, n_classes)))
        for i in edges
    ]
    return np.vstack([p[0] for p in parts]), np.vstack([p[1] for p in parts])


def _batch_means(
    classes: Ints, batch: Ints, sizes: Ints, counts: Ints, part: tuple[int, int]
) -> tuple[Floats, Floats]:
    """Return frequencies and variances of classes part[0] to part[1] - 1, float64[..., L]."""
    here = (classes >= part[0]) & (classes < part[1])
    total, n = int(counts.sum()), part[1] - part[0]
    cell = (classes[here] - part[0]) * total + batch[here]
    hits = np.bincount(cell, minlength=n * total).reshape(n, total)
    first = np.cumsum(counts) - counts
    means = np.add.reduceat(hits, first, axis=1) / sizes
    share = hits / np.bincount(batch, minlength=total)
    spread = (share - np.repeat(means, counts, axis=1)) ** 2
    freedom = np.maximum(counts - 1, 1) * counts
    return means, np.add.reduceat(spread, first, axis=1) / freedom


def _agreement(means: Floats, variances: Floats, sizes: Ints, weight: Floats) -> Agreement:
    """Compare each ladder with all the others."""
    frequent = weight >= COMPARED
    chance = (weight * (1 - weight))[:, None] / sizes
    each = np.maximum(variances, chance)[frequent]
    share = sizes / sizes.sum()
    others = 1 - share
    rest = (weight[frequent, None] - means[frequent] * share) / others
    pooled = each @ share**2
    rest_variance = (pooled[:, None] - each * share**2) / others**2
    error = np.sqrt(each + rest_variance)
    gap = np.abs(means[frequent] - rest)
    units = np.divide(gap, error, out=np.zeros_like(gap), where=error > 0)
    apart = [
        0.5 * float(np.abs(means[:, i] - means[:, j]).sum())
        for i in range(len(sizes))
        for j in range(i)
    ]
    return Agreement(float(units.max(initial=0.0)), max(apart))
