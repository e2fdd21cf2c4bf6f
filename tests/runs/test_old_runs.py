"""Runs that version 0.1 began: they open, and go on to what that version would have found."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import whence
from whence.likelihood.posterior import TOLERANCE

SCORED = ("score", "best", "log_likelihood", "weight")
OLD = Path(__file__).parents[1] / "data" / "runs-0.1"


@pytest.mark.parametrize("method", ["tempering", "annealing", "exhaustive"])
def test_a_run_of_version_0_1_goes_on_to_the_result_of_that_version(
    method: str, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(OLD / method, folder, ignore=shutil.ignore_patterns("expected-*"))
    begun = whence.load(folder)
    assert begun.stopped == "unfinished"
    assert begun.steps > 0
    run = whence.resume(folder)
    assert run.steps > begun.steps
    assert (folder / "best.json").read_bytes() == (
        OLD / method / "expected-best.json"
    ).read_bytes()
    for name in ("trace.npz", "draws.npz"):
        expected = OLD / method / f"expected-{name}"
        if expected.exists():
            _agree(folder / name, expected)


def test_a_run_of_version_0_1_whose_expert_is_unknown_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(OLD / "tempering-unknown-expert", folder)
    begun = whence.load(folder)
    run = whence.resume(folder)
    assert begun.steps < run.steps == 60
    assert run.job.unknowns.alpha_prior.high == 1000
    assert run.draws is not None


def _agree(path: Path, other: Path) -> None:
    """Compare choices exactly, and what follows from scores within the tolerance of scores."""
    with np.load(path) as found, np.load(other) as expected:
        assert found.files == expected.files
        for key in found.files:
            if key in SCORED:
                np.testing.assert_allclose(found[key], expected[key], rtol=0, atol=TOLERANCE)
            else:
                assert found[key].tobytes() == expected[key].tobytes(), key
