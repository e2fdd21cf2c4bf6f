"""The result of a run of inference."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from whence._arrays import Bools, Floats, Ints
from whence.analysis import untested
from whence.analysis.certainty import Certainty
from whence.analysis.design import Start, Starts
from whence.analysis.facts import Answer, Fact, percent, told_alone
from whence.analysis.granted import granted
from whence.analysis.questions import OpenQuestion
from whence.analysis.rivals import Untold, not_shown
from whence.analysis.sample import PosteriorSample
from whence.drawing import machine_svg, text
from whence.errors import ArgumentError
from whence.likelihood.answers import AnswerTerm, ErrorRate, error_rate, of_answers
from whence.likelihood.ended import BesideSteps, endings_shown
from whence.likelihood.endings import TASK
from whence.model.asking import Answer as Answered
from whence.model.conveniences import RunMethods
from whence.model.expert import BOLTZMANN, SOFT, Expert
from whence.model.machine import RewardMachine
from whence.model.prior import Prior, checked_levels
from whence.runs.checking import Check, check
from whence.runs.events import OnEvent
from whence.runs.groups import Groups
from whence.runs.job import Job
from whence.runs.manifest import Manifest
from whence.runs.weighing import Rough
from whence.search.draws import Draws, Exact


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """What happened at each step of each run; B runs, N steps, evenly spaced in a long run.

    Attributes:
        step: int64[N], which steps, from 1.
        score: float64[N, B], of the current machine at the run's temperature.
        best: float64[N, B], the best score so far.
        temperature: float64[N, B], at which the step was accepted or not.
        accepted: bool[N, B], whether the proposal was.
    """

    step: Ints
    score: Floats
    best: Floats
    temperature: Floats
    accepted: Bools

    def __repr__(self) -> str:
        return f"<Trace: {self.score.shape[0]} rows of {self.score.shape[1]} runs>"


PLANS = {
    BOLTZMANN: "knows the best plan and errs while following it: a Boltzmann expert",
    SOFT: "plans with its own errors in mind: a soft expert",
}

UNFINISHED = "unfinished"  # of a run that has not ended, in the place of why it ended


@dataclass(frozen=True, eq=False, repr=False)
class Run(RunMethods):
    """What inference found, and how.

    Attributes:
        best: the machine with the highest score, in canonical form; of several sizes, the one
            with the largest log_likelihood / temperature + log mass. Where `rough` or answers
            are there, one that is the same as the most probable machine of `posterior`.
        score: log_likelihood / temperature + log_prior.
        log_likelihood: of the demonstrations under the best machine, at the finest tolerance.
        log_prior: of the best machine, not normalised.
        temperature: at which scores are compared.
        trace: what happened at each step.
        steps: how many were made.
        evaluations: machines that were scored, those remembered from before among them.
        seconds: what it took.
        job: what was asked: worlds, demonstrations and every setting.
        expert: who demonstrates, with the best machine where that was inferred.
        stopped: why it ended: `agreed`, `steps` or `minutes`; `unfinished` where it has not.
        doubts: what speaks against trusting the result, in words; nothing where ladders agree.
        draws: machines and their weights in the posterior, where the method knows them.
        posterior: those machines grouped by what they mean in the worlds. Where a world was
            estimated from its log, over all dynamics that the log allows for.
        rough: then, what was done about it, and the posterior that takes the estimate for the
            truth; else None.
        certainty: how sure each arrow of the best machine is.
        open_questions: the shortest label sequences that are still open, and where to settle them.
        exact: what is known of all machines together, where every one was scored.
        log_evidence: the log of P(D | n) and its error, by the number of states: likelihoods, at
            the run's temperature, averaged over the prior of each size, and over that of the
            expert where it is unknown. Sizes that a sample hardly met are left out. Where kinds of
            expert were compared, by the number of states and the kind; for a kind that explains
            little it may be a lower bound, whose error is infinite.
        level_notes: what other levels of rewards would explain, where machines paid 0 or 1.
        expert_notes: whether the expert may as well be greedy, and what follows.
        groups: subjects and their tasks, where `experts` or `tasks` asked for them; else None.
        ladders: how the ladders of tempering did: `temperatures`, `swap_rates`, `round_trips`,
            and `copies` of each; nothing for other methods.
        manifest: of the folder that the run was read from or is kept in, or None.
        folder: that folder, or None.
        answers: to questions, those withdrawn among them; see `answered`.
        sampled: where answers weigh the draws of an earlier run, that one.
    """

    best: RewardMachine
    score: float
    log_likelihood: float
    log_prior: float
    temperature: float
    trace: Trace
    steps: int
    evaluations: int
    seconds: float
    job: Job
    expert: Expert
    stopped: str
    doubts: tuple[str, ...] = ()
    draws: Draws | None = None
    posterior: PosteriorSample | None = None
    rough: Rough | None = None
    certainty: tuple[Certainty, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    exact: Exact | None = None
    log_evidence: Mapping[int | tuple[int, str], tuple[float, float]] = field(default_factory=dict)
    level_notes: tuple[str, ...] = ()
    expert_notes: tuple[str, ...] = ()
    groups: Groups | None = None
    ladders: Mapping[str, Any] = field(default_factory=dict)
    manifest: Manifest | None = None
    folder: Path | None = None
    answers: tuple[Answered, ...] = ()
    sampled: Run | None = None

    @cached_property
    def found(self) -> Answer | None:
        """What the sample says, less what the demonstrations never put to the test."""
        if self.posterior is None:
            return None
        answer = replace(self._told[0], untested=self._told[1])
        return replace(answer, granted=granted(answer, self.states, self.rewards))

    @cached_property
    def _told(self) -> tuple[Answer, frozenset[int], tuple[Untold, ...]]:
        assert self.posterior is not None
        answer = self.posterior.answer
        most = self.states[-1]
        return answer, *not_shown(answer, self.job.shown, self.expert, most, self._beside)

    @cached_property
    def _beside(self) -> tuple[BesideSteps, ...]:
        """What speaks for machines beside the demonstrated steps: answers and endings."""
        assert self.posterior is not None
        alphabet = self.posterior.alphabet
        answers = of_answers(self.job.answers, alphabet)
        ends = endings_shown(self.job.shown, alphabet) if self.job.endings == TASK else None
        return tuple(term for term in (answers, ends) if term is not None)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """What is known of the expert's wishes, each with its probability over the whole sample.

        Routes come first, the most special of them first; what is less probable than 50% is not
        stated. Nothing where the method gives no probabilities.
        """
        if self.groups is not None:
            return self.groups.facts
        if self.posterior is None or self.found is None:
            return ()
        return (
            *self.found.facts,
            *(each.fact for each in self._told[2]),
            *untested.indifferent(
                self.posterior, self.open_questions, self.job.shown, self.expert, self._beside
            ),
            *untested.untellable(self.posterior, self.expert),
        )

    @cached_property
    def next_test(self) -> tuple[Untold, Start] | None:
        """What was hardly put to the test and would be by one demonstration, and its start.

        Of several statements it is the first; None where all that is stated was tested.
        """
        if self.posterior is None or not self._told[2]:
            return None
        first = self._told[2][0]
        design = Starts(self.posterior.worlds, self.expert)
        return first, design.best((first.own, first.other), (0.5, 0.5))

    @property
    def provisional(self) -> bool:
        """Whether the run has not ended: what it says is what it knows so far."""
        return self.stopped == UNFINISHED

    @property
    def answer(self) -> str:
        """What the expert wants, in one sentence of the facts that are sure.

        A second one says how the expert plans, where that was asked. Of a run that has not ended
        it begins with "So far", and after how many steps.
        """
        return self.until_now + self._answer

    @property
    def until_now(self) -> str:
        """What marks an answer as provisional; empty where the run has ended."""
        if not self.provisional:
            return ""
        step = "step" if self.steps == 1 else "steps"
        met = self.draws is None and self.posterior is not None
        among = ", among the machines that were met" if met else ""
        return f"So far, after {self.steps:,} {step}{among}: "

    @property
    def _answer(self) -> str:
        if self.groups is not None:
            return self.groups.answer
        if self.found is not None:
            return self.found.sentence + self._planning
        worlds = [mdp for mdp, _ in self.job.pairs]
        return told_alone(worlds, self.best, self.expert.discount)

    @property
    def _planning(self) -> str:
        """What kind of expert it is, in words; nothing where one was assumed."""
        if "kind" not in self.inferred or self.posterior is None:
            return ""
        kind, probability = max(self.posterior.kinds.items(), key=lambda each: each[1])
        return f" It {PLANS[kind]} ({percent(probability)} sure)."

    @property
    def shown(self) -> RewardMachine:
        """The machine that illustrates the answer: the simplest of the most probable route."""
        return self.best if self.posterior is None else self.posterior.routes[0].machine

    @property
    def states(self) -> range:
        """The numbers of states that were searched."""
        return self.job.sizes

    @property
    def seed(self) -> int:
        """The seed of every random choice."""
        return self.job.seed

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.job.method

    @property
    def settings(self) -> Any:
        """The settings of the method."""
        return self.job.settings

    @property
    def prior(self) -> Prior:
        """The prior over machines."""
        return self.job.prior

    @property
    def rewards(self) -> tuple[float, ...]:
        """The levels that machines may pay."""
        return checked_levels(self.job.rewards)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the demonstrations would allow to ask for, and what was done unasked, in words."""
        rough = () if self.rough is None else (self.rough.note,)
        groups = () if self.groups is None else self.groups.notes
        return (*self.job.notes, *self.level_notes, *self.expert_notes, *rough, *groups)

    @property
    def inferred(self) -> tuple[str, ...]:
        """What was inferred of the expert: of alpha, lapse, discount and kind."""
        return self.job.unknowns.inferred

    @cached_property
    def error_rate(self) -> ErrorRate:
        """How often answers are wrong, over the whole sample: its mean and deviation."""
        sample = self.posterior
        alphabet = () if sample is None else sample.alphabet
        term = AnswerTerm(self.job.answers, alphabet)
        if sample is None:
            return error_rate(term.errors(np.zeros((1, 1, 0), np.int64), np.zeros((1, 1, 0))),
                              np.ones(1))  # fmt: skip
        members = sample.members
        return error_rate(term.errors(members.transitions, members.rewards), members.weight)

    @property
    def telling(self) -> tuple[OpenQuestion, ...]:
        """The old name of `open_questions`."""
        warnings.warn("run.telling is run.open_questions now", DeprecationWarning, stacklevel=2)
        return self.open_questions

    @property
    def run(self) -> Run:
        """The run itself, as what `load` returned had it before; use the run."""
        warnings.warn(
            "load(...).run is load(...) now: leave out .run", DeprecationWarning, stacklevel=2
        )
        return self

    def check(
        self,
        *,
        replicas: int = 400,
        minutes: float = 5.0,
        threads: int | None = None,
        on_event: OnEvent | None = None,
    ) -> Check:
        """Return whether the model fits: inferred from half of the episodes, tested on the others.

        Args:
            replicas: how often the model makes the episodes that were set aside anew.
            minutes: how long the inference on the other half may take.
            threads: how many to use; all cores by default.
            on_event: called with each `Event` of this inference.
        """
        return check(self.job, most=replicas, minutes=minutes, threads=threads, on_event=on_event)

    def to_arviz(self, *, predicted: int = 50, every: int | None = None) -> Any:
        """Return the draws for ArviZ: an InferenceData (0.x) or a DataTree (1.x).

        Chains are the independent ladders. Groups: `posterior` with `n_states`, `n_minimal` (of
        the minimised machine), `alpha`, `lapse`, `discount`, `log_likelihood`, `log_prior`, and
        `machine`, the number of the drawn machine's class in `posterior.machines`;
        `log_likelihood`, by episode; `log_prior`, of machine and expert; `sample_stats`, with the
        ladders' swap rates and Lambda; `posterior_predictive` and `observed_data`, what
        episodes show.

        Args:
            predicted: how many draws of each chain make episodes; 0 leaves them out.
            every: keep one draw in so many; by default all, unless they are too many.
        """
        from whence.runs import arviz

        if self.sampled is not None:
            raise ArgumentError(
                "answers weigh the draws of this run, and ArviZ takes draws of one weight; sample "
                "anew with the answers first: run.refreshed().to_arviz()"
            )
        return arviz.to_arviz(
            self.job, self.draws, self.posterior, self.ladders, predicted=predicted, every=every
        )

    def _repr_html_(self) -> str:
        """Return the answer and the machine that illustrates it, for notebooks."""
        doubts = "".join(f"<li>{text.xml(doubt)}</li>" for doubt in self.doubts)
        warned = f"<p>Do not trust this yet:</p><ul>{doubts}</ul>" if doubts else ""
        drawing = machine_svg(self.shown)
        return f"<div><p><strong>{text.xml(self.answer)}</strong></p>{drawing}{warned}</div>"

    def __repr__(self) -> str:
        return (
            f"<Run: {self.best.n_states} states, score {self.score:.2f}, {self.method}, "
            f"{self.steps} steps>"
        )
