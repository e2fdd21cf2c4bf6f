"""A run with answers: its draws are weighed by how likely each machine makes them.

The draws of a *basis*, sampled with some answers in the target or with none, are multiplied by the
likelihood of what was answered since, and divided by that of what was withdrawn. Whatever the
order of answers, the weights follow from the basis and from those that stand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from whence._arrays import Floats
from whence.analysis.certainty import arrow_certainty
from whence.analysis.grouping import unique_machines
from whence.analysis.questions import open_questions
from whence.analysis.sample import PosteriorSample
from whence.errors import ArgumentError
from whence.likelihood.answers import A, AnswerTerm, B
from whence.likelihood.given import demonstrated
from whence.likelihood.posterior import Posterior
from whence.model.asking import Answer, standing
from whence.model.episodes import Episode
from whence.model.expert import BOLTZMANN, SOFT, Expert
from whence.model.machine import RewardMachine
from whence.runs.job import Job
from whence.runs.result import Run
from whence.runs.trust import longer, unweighed
from whence.runs.weighing import likeliest_expert
from whence.search.diagnostics import by_ladder, ess, evenness
from whence.search.draws import Draws
from whence.search.settings import Tempering

WORN = 100.0  # effective draws, fewer than which the chains are asked for new ones
UNEVEN = 0.5  # the share of their worth that draws must have lost by answers, too
COMMON = 0.01  # the least probability of a route that must be known
WARM_UP, PACE, TRIPS = 100, 25, 2  # of chains that start where the sample is
UNSEEN, FEWEST = 0.1, 100.0  # the share that no draw may show, and how many draws a sample has
LOST = 1e-3  # the share of machines that were not kept, up to which exact weights stay exact
FEW = "after the answers, the sample is worth only"


def with_answers(basis: Run, answers: Sequence[Answer], threads: int | None = None) -> Run:
    """Return a run as some answers make it.

    Args:
        basis: sampled with `basis.job.answers` in the target.
        answers: all that were given, those withdrawn among them.
        threads: how many to use.
    """
    found = weighed(basis, answers)
    return found if found.sampled is None else told(found, threads)


def weighed(basis: Run, answers: Sequence[Answer]) -> Run:
    """Return a run with the draws and the sample that answers make, and all else of its basis."""
    given = standing(answers)
    before = {each.id for each in basis.job.answers}
    if before == {each.id for each in given}:
        return replace(basis, answers=tuple(answers), sampled=None)
    draws = drawn_of(basis)
    log_ratio = log_ratios(basis, given) / basis.temperature
    if not np.isfinite(log_ratio[draws.weight > 0]).any():
        raise ArgumentError(
            "no machine of the sample can have produced this demonstration; give the expert a "
            "finite alpha or a lapse above 0, or show something else"
        )
    weight = np.log(draws.weight, where=draws.weight > 0, out=np.full(draws.size, -np.inf))
    weight = weight + log_ratio
    weight = np.exp(weight - weight.max())
    fresh = replace(
        draws,
        weight=weight / weight.sum(),
        log_likelihood=draws.log_likelihood + log_ratio * basis.temperature,
    )
    job, alphabet = replace(basis.job, answers=given), sample_of(basis).alphabet
    sample = PosteriorSample.from_draws(list(job.pairs), fresh, alphabet)
    sample = replace(sample, known=sample_of(basis).known)
    return replace(
        basis, job=job, answers=tuple(answers), draws=fresh, posterior=sample, sampled=basis
    )


def log_ratios(basis: Run, given: Sequence[Answer]) -> Floats:
    """Return float64[N]: by how much the draws' log likelihoods change, at temperature 1."""
    draws, sample = drawn_of(basis), sample_of(basis)
    first, owner = unique_machines(draws.transitions, draws.rewards)
    tables = draws.transitions[first], draws.rewards[first]
    old = basis.job.answers
    after, before = AnswerTerm(given, sample.alphabet), AnswerTerm(old, sample.alphabet)
    result = (after(*tables) - before(*tables))[owner]
    known, now = {each.id for each in old}, {each.id for each in given}
    result = result + _steps(basis, [each for each in given if each.id not in known])
    return np.asarray(result - _steps(basis, [each for each in old if each.id not in now]))


def worn(run: Run) -> bool:
    """Return whether a run with answers should be sampled anew."""
    basis, sample = run.sampled, run.posterior
    if basis is None or sample is None or basis.draws is None:
        return False
    if basis.draws.exact:
        return lost(run) > LOST or _few_experts(run)
    if evenness(drawn_of(run).weight) < UNEVEN and not worth(run) >= WORN:
        return True
    return unseen(run) > UNSEEN


def _few_experts(run: Run) -> bool:
    """Return whether demonstrations came or went beside a few experts that stand for all.

    An unknown expert is integrated out of exact weights, and each machine has some: what is then
    demonstrated may speak for one between them.
    """
    assert run.sampled is not None
    basis = run.sampled
    before, after = ({each.id: each for each in of.job.answers} for of in (basis, run))
    changed = [
        each for name, each in (before | after).items() if (name in before) != (name in after)
    ]
    shown = any(isinstance(each.value, Episode) for each in changed)
    draws = drawn_of(basis)
    numbers = draws.alpha, draws.lapse, draws.discount, draws.softly
    return shown and any((of != of[0]).any() for of in numbers)


def worth(run: Run) -> float:
    """Return how many independent draws would be as exact about the route that is least exact."""
    sample, draws = sample_of(run), drawn_of(run)
    chains = by_ladder(sample.plan_routes[sample.plans.draw], draws.ladder)
    common = [at for at, each in enumerate(sample.routes) if each.probability >= COMMON]
    slowest = min((ess(chains == at) for at in common), default=float(chains.size))
    return evenness(draws.weight) * slowest


def again(run: Run) -> Job:
    """Return what to do to sample a run anew, with the answers that stand in its target.

    Chains start from the likeliest draw, as the answers weigh it, so that nothing needs to be
    looked for, and warm up for a shorter time.
    """
    job = replace(run.job, answers=standing(run.answers))
    if not isinstance(job.settings, Tempering):
        return job
    draws = drawn_of(run)
    score = draws.log_likelihood / run.temperature + draws.log_prior
    at = int(np.argmax(np.where(draws.weight > 0, score, -np.inf)))
    n = int(draws.n_states[at])
    start = RewardMachine(
        sample_of(run).alphabet, draws.transitions[at, :n], draws.rewards[at, :n]
    )
    settings = replace(
        job.settings,
        warm_up=min(job.settings.warm_up, WARM_UP),
        pace=min(job.settings.pace, PACE),
        trips=min(job.settings.trips, TRIPS),
    )
    return replace(job, init=start, settings=settings)


def lost(run: Run) -> float:
    """Return a bound of the mass, given the answers, of machines that an exact basis dropped."""
    basis, added = run.sampled, _added(run)
    assert basis is not None
    if added is None:
        return 1.0
    dropped = 0.0 if basis.exact is None else basis.exact.dropped
    most = _most(basis, added) / basis.temperature
    return min(1.0, dropped * math.exp(min(most - _kept(run), 700.0)))


def unseen(run: Run) -> float:
    """Return how much of the mass, given the answers, machines may hold that no draw showed.

    What has more than 3/n of the mass is among n independent draws in 19 of 20 cases. Machines
    that have less, and agree with all that was answered since, gain on those that were drawn.
    """
    basis, added = run.sampled, _added(run)
    assert basis is not None
    if added is None:
        return 1.0
    most = (_most(basis, added) + float(_steps(basis, added).max())) / basis.temperature
    count = max(FEWEST, worth(basis))  # who had fewer to begin with has not lost them by answers
    return min(1.0, 3 / count * math.exp(min(most - _kept(run), 700.0)))


def _added(run: Run) -> list[Answer] | None:
    """Return the answers since a run was sampled; None where one was withdrawn since."""
    assert run.sampled is not None
    known = {each.id for each in run.sampled.job.answers}
    added = [each for each in run.job.answers if each.id not in known]
    return added if len(added) == len(run.job.answers) - len(known) else None


def _most(basis: Run, added: Sequence[Answer]) -> float:
    """Return the log likelihood of more answers under a machine that agrees with all there are."""
    before, more = (
        sum(not isinstance(each.value, Episode) for each in some)
        for some in (basis.job.answers, added)
    )
    return sum(math.log((B + i) / (A + B + i)) for i in range(before, before + more))


def _kept(run: Run) -> float:
    """Return the log of the mean likelihood ratio, over the draws, of what was answered since."""
    basis = run.sampled
    assert basis is not None
    draws = drawn_of(basis)
    ratio = log_ratios(basis, run.job.answers) / basis.temperature
    return float(np.logaddexp.reduce(np.log(np.maximum(draws.weight, 1e-300)) + ratio))


def _steps(basis: Run, some: Sequence[Answer]) -> Floats:
    """Return float64[N]: the log likelihood of what some answers demonstrate."""
    draws = drawn_of(basis)
    result = np.zeros(draws.size)
    if not any(isinstance(each.value, Episode) for each in some):
        return result
    shown = demonstrated(some, len(basis.job.pairs))
    pairs = [(mdp, more) for (mdp, _), more in zip(basis.job.pairs, shown, strict=True)]
    for soft, discount in sorted(set(zip(draws.softly, draws.discount.tolist(), strict=True))):
        rows = (draws.discount == discount) & (draws.softly == soft)
        kind = SOFT if soft else BOLTZMANN
        expert = Expert(1.0, discount, kind=kind)
        scorer = Posterior(pairs, expert=expert, rewards=basis.job.rewards)
        result[rows] = scorer.log_likelihood(
            draws.transitions[rows], draws.rewards[rows],
            alpha=draws.alpha[rows], lapse=draws.lapse[rows],
        )  # fmt: skip
    return result


def told(run: Run, threads: int | None) -> Run:
    """Return a run with all that follows from the weights of its draws."""
    problem = run.job.problem(threads, "cpu")
    sample, draws = sample_of(run), drawn_of(run)
    expert = likeliest_expert(sample, draws, run.temperature)
    place = problem.unknowns.places.index((expert.kind, expert.discount))
    posterior = problem.posteriors[place].of_expert(expert)
    machine = sample.best
    likelihood = posterior.finest(machine)
    prior = float(posterior.log_prior(machine.transitions[None], machine.rewards[None])[0])
    found = replace(
        run,
        best=machine,
        score=likelihood / posterior.temperature + prior,
        log_likelihood=likelihood,
        log_prior=prior,
        expert=expert,
        certainty=arrow_certainty(posterior, machine, sample),
        open_questions=open_questions(sample, expert=expert),
        exact=None,
        log_evidence={},
    )
    return replace(found, doubts=(*run.doubts, *_doubts(found)))


def _doubts(run: Run) -> list[str]:
    """Return, in words, whether the answers have worn a sample out."""
    if not worn(run):
        return []
    if run.draws is not None and run.draws.exact:
        if lost(run) > LOST:
            return [f"{FEW} {1 - lost(run):.0%} of all machines"]
        return [f"{FEW} a few experts of each machine, since something was demonstrated"]
    return [f"{FEW} {worth(run):.0f} independent draws"]


def sample_of(run: Run) -> PosteriorSample:
    """Return the sample of a run, where its method gives one."""
    if run.posterior is None:
        kept = None if run.folder is None else str(run.folder)
        warming = isinstance(run.settings, Tempering)
        cure = f"go on first: {longer(run, kept)}" if warming else "infer with method='tempering'"
        raise ArgumentError(f"{unweighed(run)}, so that answers cannot be weighed; {cure}")
    if run.groups is not None:
        raise ArgumentError(
            f"the run has {len(run.groups.groups)} group(s) of subjects, and a question is put to "
            "one of them; ask it alone: run.of_group(0), or whence ask RUN --group 1"
        )
    return run.posterior


def drawn_of(run: Run) -> Draws:
    """Return the draws of a run, where its method makes some."""
    sample_of(run)
    assert run.draws is not None
    return run.draws
