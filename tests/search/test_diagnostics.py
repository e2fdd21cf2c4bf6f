"""The diagnostics are the field's: on random chains they are ArviZ's numbers."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from whence._arrays import Floats
from whence.search import diagnostics

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    arviz = pytest.importorskip("arviz")


def _chains(seed: int) -> Floats:
    """Return correlated chains of numbers or of zeros and ones, some of which never mixed."""
    rng = np.random.default_rng(seed)
    count, length = int(rng.integers(1, 6)), int(rng.integers(8, 400))
    keep = float(rng.choice([0.0, 0.5, 0.95, -0.4]))
    x = rng.normal(size=(count, length))
    for t in range(1, length):
        x[:, t] = keep * x[:, t - 1] + math.sqrt(1 - keep**2) * x[:, t]
    x += float(rng.choice([0.0, 1.0])) * rng.normal(size=(count, 1))
    return (x > 0.3).astype(float) if rng.random() < 0.5 else x


@pytest.mark.parametrize("seed", range(120))
def test_ess_mcse_and_rhat_are_those_of_arviz(seed: int) -> None:
    x = _chains(seed)
    if np.ptp(x) == 0:
        pytest.skip("nothing varies")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = float(np.asarray(arviz.ess(x, method="mean")).item())
        error = float(np.asarray(arviz.mcse(x, method="mean")).item())
        mixed = float(np.asarray(arviz.rhat(x, method="rank")).item())
    assert diagnostics.ess(x) == pytest.approx(theirs, rel=1e-6)
    assert diagnostics.mcse(x) == pytest.approx(error, rel=1e-6)
    if len(x) > 1:  # ArviZ refuses one chain, which can be split as well
        assert diagnostics.rhat(x) == pytest.approx(mixed, rel=1e-6, nan_ok=True)


def test_what_never_changes_is_known_by_every_draw() -> None:
    assert diagnostics.ess(np.ones((2, 50))) == 100
    assert math.isnan(diagnostics.rhat(np.ones((2, 50))))


def test_errors_by_batches_see_what_is_weak_and_slow() -> None:
    rng = np.random.default_rng(0)
    length, keep, share = 3_000, 0.98, 0.3
    slow = rng.normal(size=(300, 2, length))
    for t in range(1, length):
        slow[:, :, t] = keep * slow[:, :, t - 1] + math.sqrt(1 - keep**2) * slow[:, :, t]
    every = rng.normal(size=slow.shape) + share * slow
    true = every.mean(axis=(1, 2)).std()
    by_batches = np.sqrt(np.mean([diagnostics.batch_error(x) ** 2 for x in every]))
    by_ess = np.sqrt(np.mean([diagnostics.mcse(x) ** 2 for x in every]))
    assert by_ess < 0.87 * true
    assert by_batches > 0.9 * true
    low = [max(diagnostics.batch_error(x), diagnostics.mcse(x)) < 0.7 * true for x in every]
    assert np.mean(low) < 0.5 * np.mean([diagnostics.mcse(x) < 0.7 * true for x in every])
    independent = rng.normal(size=(300, 2, 500))
    errors = [diagnostics.batch_error(x) for x in independent]
    assert np.mean(errors) == pytest.approx(1 / math.sqrt(1_000), rel=0.05)
    assert math.isnan(diagnostics.batch_error(np.ones((2, 9))))


def test_the_barrier_and_its_round_trips_by_hand() -> None:
    rejection = [0.2, 0.5]
    assert diagnostics.barrier(rejection) == pytest.approx(0.7)
    expected = 1_000 / (2 + 2 * (0.2 / 0.8 + 0.5 / 0.5))
    assert diagnostics.trips_predicted(rejection, 1_000) == pytest.approx(expected)
    assert diagnostics.trips_predicted([1.0], 1_000) < 1e-6


def test_gaps_between_ladders_are_standard_normal_where_they_agree() -> None:
    rng = np.random.default_rng(0)
    gaps = []
    for _ in range(300):
        fresh, kept = rng.random((2, 600)) < 0.4, rng.random((2, 600)) < 0.7
        kept[:, 0] = False
        last = np.maximum.accumulate(np.where(kept, 0, np.arange(600)), axis=1)
        gaps.append(diagnostics.disagreement(np.take_along_axis(fresh, last, axis=1).astype(int)))
    inside = np.mean(np.array(gaps) < 1.96)
    assert 0.9 < inside < 0.99
    assert np.mean(np.array(gaps) > diagnostics.MOST_ERRORS) < 0.02
