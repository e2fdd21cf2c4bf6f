"""One group of a run's subjects, as a run of its own."""

from __future__ import annotations

from dataclasses import replace

from whence.analysis.sample import PosteriorSample
from whence.errors import ArgumentError
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
    job = run.job.of_subjects(group.subjects)
    sample = PosteriorSample.from_draws(list(job.pairs), group.draws, group.posterior.alphabet)
    alone = replace(
        run, job=job, draws=group.draws, posterior=sample, groups=None, rough=None,
        level_notes=(), expert_notes=(), ladders={}, folder=None, manifest=None,
    )  # fmt: skip
    return told(alone, None)
