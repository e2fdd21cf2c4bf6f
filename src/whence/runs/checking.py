"""Does the model fit? Inferred from half of the episodes, it is tested on the others.

Everything in the model is inferred from one half, drawn by lot. Machines and experts are drawn
from what was found, and each makes a replica of the other half. Were the model right, the real
episodes would be one more replica, so that their rank among them is uniform.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whence._arrays import Ints
from whence.analysis import replicas
from whence.analysis.discrepancies import Reader, statistics
from whence.analysis.misfit import Discrepancy, Misfit, compared
from whence.errors import ArgumentError
from whence.likelihood.endings import TASK
from whence.model.demos import Demonstrations
from whence.model.expert import Expert
from whence.model.machine import RewardMachine
from whence.model.mdp import LabeledMDP
from whence.runs import events
from whence.runs.events import OnEvent
from whence.runs.job import Job, check_minutes
from whence.runs.searching import Search
from whence.runs.walk import Walk
from whence.search.draws import Draws

STREAM = 3  # apart from the streams of `simulate`, `infer` and `held_out`
LEAST_EPISODES = 4
REPLICAS, LEAST_REPLICAS = 400, 99
MOST_STEPS = 20_000_000  # that replicas have together
MINUTES = 5.0

Pairs = Sequence[tuple[LabeledMDP, Demonstrations]]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was inferred from the episodes that were not set aside.

    Attributes:
        machine: the best one.
        expert: its expert.
        draws: machines and experts, where the method gives them.
        doubts: what speaks against them.
    """

    machine: RewardMachine
    expert: Expert
    draws: Draws | None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """Whether real episodes look like those that the model makes.

    Attributes:
        fitted: what was inferred from the training episodes; its machine's states are those that
            the discrepancies name.
        misfit: how the episodes set aside and their replicas compare.
        chosen: for each world, the numbers of the episodes set aside.
        training_episodes: how many episodes the model was inferred from.
        steps: how many steps the episodes set aside have.
        notes: what limits the check, in words.
    """

    fitted: Fitted
    misfit: Misfit
    chosen: tuple[Ints, ...]
    training_episodes: int
    steps: int
    notes: tuple[str, ...] = ()

    @property
    def p_value(self) -> float:
        """How often a replica is as far out as the real episodes, in any statistic."""
        return self.misfit.p_value

    @property
    def fits(self) -> bool:
        """Whether the p-value is above 5%."""
        return self.misfit.fits

    @property
    def discrepancies(self) -> tuple[Discrepancy, ...]:
        """All statistics, the farthest out first."""
        return self.misfit.discrepancies

    @property
    def advice(self) -> tuple[str, ...]:
        """What to try next, where the model does not fit."""
        return self.misfit.advice

    @property
    def episodes(self) -> int:
        """How many episodes were set aside."""
        return sum(len(each) for each in self.chosen)

    @property
    def lines(self) -> tuple[str, ...]:
        """The result in words, a sentence a line."""
        found = [each.text for each in self.misfit.found]
        tried = [f"try {line}" for line in self.advice]
        said = [self.misfit.verdict, *found, *tried, *self.notes]
        return tuple(line[:1].upper() + line[1:] + "." for line in said)

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        return f"<Check: {self.misfit.verdict}>"


def check(
    job: Job,
    *,
    most: int = REPLICAS,
    minutes: float = MINUTES,
    threads: int | None = None,
    on_event: OnEvent | None = None,
) -> Check:
    """Infer from half of the episodes of a job, and test that on the others.

    Args:
        job: whose model is checked.
        most: how many replicas to make of the episodes set aside; fewer where they are long.
        minutes: how long the inference may take.
        threads: how many to use; all cores by default.
        on_event: called with each `Event` of the inference.

    Raises:
        ArgumentError: if there are fewer than 4 episodes to divide.
    """
    check_minutes(minutes)
    chosen = halves(job.pairs, job.seed)
    training = tuple(
        (replace(mdp, unseen=None), demos.subset(np.setdiff1d(np.arange(len(demos)), own)))
        for (mdp, demos), own in zip(job.pairs, chosen, strict=True)
    )
    half = replace(job, pairs=training, minutes=minutes, init=None)
    return confronted(half, fitted_to(half, threads, on_event), job.pairs, chosen, most)


def confronted(
    half: Job, fitted: Fitted, pairs: Pairs, chosen: Sequence[Ints], most: int = REPLICAS
) -> Check:
    """Compare episodes with replicas by what was inferred from others.

    Args:
        half: what that was inferred from.
        fitted: what was inferred.
        pairs: worlds with all episodes.
        chosen: for each world, the numbers of those that were set aside.
        most: how many replicas to make; fewer where episodes are long.
    """
    test = [(mdp, demos.subset(own)) for (mdp, demos), own in zip(pairs, chosen, strict=True)]
    usable = [(mdp, demos.subset(replicas.replicable(demos))) for mdp, demos in test]
    usable_steps = sum(demos.n_steps for _, demos in usable)
    if not usable_steps:
        raise ArgumentError(
            "no episode that was set aside has steps and the world's own labels; those with "
            "labels of their own cannot be made anew"
        )
    rng = np.random.default_rng(np.random.SeedSequence(half.seed, spawn_key=(STREAM, 1)))
    count = min(most, max(LEAST_REPLICAS, MOST_STEPS // usable_steps))
    ending = half.endings == TASK
    readers = [
        Reader.of(mdp, seen, fitted.machine, fitted.expert, ending)
        for (mdp, _), (_, seen) in zip(usable, half.pairs, strict=True)
    ]
    longest = max(int(demos.lengths.max(initial=0)) for _, demos in pairs)
    posterior = half.problem().posteriors[0]
    term = posterior.ending_term
    read = None if term is None else np.array(posterior.alphabet)[term.readable].tolist()
    places = [replicas.seats(mdp, demos, longest if ending else 0, read) for mdp, demos in usable]
    rows = [statistics(readers, [demos for _, demos in usable])]
    for machine, expert in _drawn(fitted, posterior.alphabet, count, rng):
        rates = replicas.drawn_rates(posterior, machine, rng)
        sets = [replicas.replica(place, machine, expert, rates, rng) for place in places]
        rows.append(statistics(readers, sets))
    names = list(dict.fromkeys(name for row in rows for name in row))
    values = np.array([[row.get(name, np.nan) for name in names] for row in rows])
    return Check(
        fitted=fitted,
        misfit=compared(names, values),
        chosen=tuple(chosen),
        training_episodes=sum(len(demos) for _, demos in half.pairs),
        steps=sum(demos.n_steps for _, demos in test),
        notes=tuple(_notes(half, fitted, test, usable)),
    )


def halves(pairs: Pairs, seed: int) -> tuple[Ints, ...]:
    """Return, for each world, the numbers of half of its episodes with steps, drawn by lot."""
    usable = [np.flatnonzero(demos.lengths > 0) for _, demos in pairs]
    total = sum(len(each) for each in usable)
    if total < LEAST_EPISODES:
        raise ArgumentError(
            f"there are {total} episodes with steps; at least {LEAST_EPISODES} are needed to "
            "infer from half of them and test on the others: add demonstrations"
        )
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(STREAM,)))
    extra = rng.permutation(len(usable)) % 2  # worlds with an odd number: half of them round up
    return tuple(
        np.sort(rng.permutation(each)[: (len(each) + int(up)) // 2])
        for each, up in zip(usable, extra, strict=True)
    )


def fitted_to(job: Job, threads: int | None, on_event: OnEvent | None) -> Fitted:
    """Return what is inferred from a job's demonstrations, without what a run tells of it."""
    problem = job.problem(threads)
    walk = Walk.start(job, problem)
    Search(job, problem, walk, on_event=on_event).run(events.STARTED)
    finding = walk.method.finish(walk.state, walk.records)
    machine, expert, _ = finding.best
    return Fitted(machine, expert, finding.draws, finding.doubts)


def _drawn(
    fitted: Fitted, alphabet: Sequence[str], count: int, rng: np.random.Generator
) -> list[tuple[RewardMachine, Expert]]:
    """Return machines with their experts, drawn from what was found."""
    draws = fitted.draws
    if draws is None:
        return [(fitted.machine.over(alphabet), fitted.expert)] * count
    rows = rng.choice(draws.size, count, p=draws.weight / draws.weight.sum())
    found = []
    for row in rows.tolist():
        n = int(draws.n_states[row])
        tables = draws.transitions[row, :n], draws.rewards[row, :n]
        found.append((RewardMachine(alphabet, *tables), draws.expert(row)))
    return found


def _notes(half: Job, fitted: Fitted, test: Pairs, usable: Pairs) -> list[str]:
    left = sum(len(demos) for _, demos in test) - sum(len(demos) for _, demos in usable)
    notes = []
    if left:
        notes.append(
            f"{left} episodes have labels of their own, which cannot be made anew, or no steps; "
            "they were left out"
        )
    if fitted.draws is None or half.settings.temperature != 1:
        notes.append(
            "the method gives no sample of the posterior at temperature 1, so what is not known "
            "of the model is not counted, and p-values are too small"
        )
    if half.by_subject:
        notes.append(
            "everybody was taken for one expert with one task here; check a group alone: "
            "run.of_group(0).check()"
        )
    if any(mdp.unseen is not None for mdp, _ in test):
        notes.append("replicas move by the dynamics that were estimated from the log")
    if fitted.doubts:
        notes.append("the inference left doubts: " + "; ".join(fitted.doubts))
    return notes
