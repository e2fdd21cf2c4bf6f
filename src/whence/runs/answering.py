"""Give a run answers, take them back, and have the chains sample anew where they must."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from whence.errors import ArgumentError
from whence.likelihood.answers import encoded
from whence.model.asking import DEMONSTRATION, Question
from whence.model.demos import Demonstrations
from whence.model.episodes import Episode
from whence.runs import answers as file
from whence.runs import folder as results
from whence.runs import inference, lock, manifest, resuming, watching
from whence.runs.answers import Ledger
from whence.runs.result import Run
from whence.runs.reweighing import again, sample_of, with_answers, worn


def answered(run: Run, question: Question, answer: object, refresh: bool) -> Run:
    """Return the run as one more answer makes it; see `Run.answered`."""
    value = question.checked(answer)
    check(run, question, value)
    with _held(run) as ledger:
        after = ledger.given(question, value)
        found = with_answers(_basis(run, ledger), after.answers)
        _keep(run, found, after.answers[-1].document())
    return _refreshed_if(found, refresh)


def withdrawn(run: Run, name: str, refresh: bool) -> Run:
    """Return the run without an answer; see `Run.withdrawn`."""
    with _held(run) as ledger:
        after = ledger.withdrawn(name)
        found = with_answers(_basis(run, ledger), after.answers)
        _keep(run, found, {"withdrawn": name})
    return _refreshed_if(found, refresh)


def refreshed(run: Run, progress: bool | None = None) -> Run:
    """Return the run sampled anew with its answers in the target; see `Run.refreshed`."""
    job = again(run)
    given = job.answers
    if run.folder is None:
        with watching.telling(progress, None) as tell:
            found = inference.carried_out(job, None, tell)
    else:
        where = file.sampled_in(run.folder, given)
        where.parent.mkdir(exist_ok=True)
        if (where / manifest.NAME).is_file():
            found = resuming.resume(where, progress=progress)
        else:
            with watching.telling(progress, None) as tell:
                found = inference.carried_out(job, None, tell, where)
    sample = replace(sample_of(found), known=sample_of(run).known)
    kept = replace(
        found, answers=run.answers, folder=run.folder, manifest=run.manifest, posterior=sample
    )
    with _held(run) as ledger:
        _keep(run, kept, {"sampled": [each.id for each in given]})
    return kept if ledger.answers == run.answers else with_answers(kept, ledger.answers)


def check(run: Run, question: Question, value: object) -> None:
    """Refuse a question that is not about the run's worlds, or an episode that does not fit."""
    alphabet = sample_of(run).alphabet
    for word in question.labels:
        encoded(word, alphabet)
    if question.kind != DEMONSTRATION:
        return
    worlds = [mdp for mdp, _ in run.job.pairs]
    if not 0 <= question.world < len(worlds) or question.state >= worlds[question.world].n_states:
        raise ArgumentError(
            f"the question is about state {question.state} of world {question.world}, which the "
            "run does not have; ask the run itself"
        )
    assert isinstance(value, Episode)
    demos = Demonstrations.from_episodes([value], source="the answer")
    demos.check(worlds[question.world]).raise_any()


def _basis(run: Run, ledger: Ledger) -> Run:
    """Return what was sampled, with the answers of the last sampling in its target."""
    basis = run if run.sampled is None else run.sampled
    ids = None if ledger.sampled is None else {each.id for each in ledger.sampled}
    if run.folder is None or ids in (None, {each.id for each in basis.job.answers}):
        return basis
    return resuming.sampled(run.folder, ledger)


@contextmanager
def _held(run: Run) -> Iterator[Ledger]:
    """Hold the run's folder, and yield what it was answered; others may have answered, too."""
    if run.folder is None:
        yield Ledger(run.answers)
        return
    with lock.held(run.folder):
        yield file.read(run.folder)


def _keep(run: Run, found: Run, event: dict[str, Any]) -> None:
    if run.folder is not None:
        file.append(run.folder, event)
        results.write_told(run.folder, found)


def _refreshed_if(run: Run, refresh: bool) -> Run:
    return refreshed(run) if refresh and worn(run) else run
