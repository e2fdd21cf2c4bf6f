"""Benchmarks over seeds, by several processes or the workers of a Dask scheduler.

python benchmarks/calibration.py --workers 4
python benchmarks/calibration.py --workers tcp://127.0.0.1:8786
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TypeVar

from whence.paper.experiment import done_by
from whence.runs.workers import opened

J = TypeVar("J")
R = TypeVar("R")


def add_option(parser: argparse.ArgumentParser) -> None:
    """Give a benchmark `--workers`."""
    parser.add_argument("--workers", help="how many processes, or a Dask scheduler's address")


def done(function: Callable[[J], R], jobs: Sequence[J], workers: str | None) -> list[R]:
    """Return function(job) for every job, in their order.

    Args:
        function: one at the top of a module; what it finds must depend on its job alone.
        jobs: such as seeds.
        workers: how many processes, or the address of a Dask scheduler; None for this process.
    """
    if workers is None:
        return [function(job) for job in jobs]
    with opened(workers) as executor:
        return done_by(executor, function, jobs, lambda done, of: None)
