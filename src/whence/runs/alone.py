"""One group of a run's subjects, as a run of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from whence.analysis.sample import PosteriorSample
from whence.errors import ArgumentError
from whence.runs.job import ONE_TASK, SHARED
from whence.runs.result import Run
from whence.runs.reweighing import told


def of_group(run: Run, number: int) -> Run:
    """Return what a run knows of one group of its subjects; see `Run.of_group`."""
    if run.groups is None:
        raise ArgumentError(
            "the run knows nothing of groups; infer with experts='by-subject' or tasks=(1, 3)"
        )
    count = len(run.groups.groups)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < count:
        raise ArgumentError(f"group is {number!r}; the run has {count}: give 0 to {count - 1}")
    group = run.groups.groups[number]
    names = [[str(name) in group.subjects for name in d.subjects or ()] for _, d in run.job.pairs]
    pairs = [
        (mdp, demos.subset(np.flatnonzero(own)))
        for (mdp, demos), own in zip(run.job.pairs, names, strict=True)
    ]
    job = replace(run.job, pairs=pairs, experts=SHARED, tasks=ONE_TASK, init=None)
    sample = PosteriorSample.from_draws(pairs, group.draws, group.posterior.alphabet)
    alone = replace(
        run, job=job, draws=group.draws, posterior=sample, groups=None, rough=None,
        level_notes=(), ladders={}, folder=None, manifest=None,
    )  # fmt: skip
    return told(alone, None)
