"""Subjects and their groups, each with a posterior of its own: what a run tells of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from whence._arrays import Floats
from whence.analysis.facts import Fact, percent
from whence.analysis.questions import OpenQuestion
from whence.analysis.sample import PosteriorSample
from whence.analysis.subjects import SHARED
from whence.drawing.text import visible
from whence.model.machine import RewardMachine
from whence.search.diagnostics import Summary
from whence.search.draws import Draws

NAMED = 6  # subjects of a group that a sentence names
ONE_EXPERT = (
    "all subjects share an alpha and a lapse here, so one who errs more often than the others may "
    "seem to want something else; experts='by-subject' (--experts by-subject) tells these apart"
)
ESTIMATED = (
    "what is said of subjects and their groups takes the dynamics that the log shows for the true "
    "ones"
)
TOGETHER = "; run.posterior, of everybody together, takes into account how rough they are"


@dataclass(frozen=True)
class Subject:
    """One who acted.

    Attributes:
        name: as the demonstrations have it.
        group: the number of its group, from 0.
        share: how likely it belongs there.
        alpha: of its expert: a geometric mean and a 95% interval.
        lapse: likewise, an arithmetic mean.
        episodes: how many are its own.
        steps: of these.
    """

    name: str
    group: int
    share: float
    alpha: Summary
    lapse: Summary
    episodes: int
    steps: int


@dataclass(frozen=True, eq=False)
class Group:
    """Subjects with one task.

    Attributes:
        subjects: their names.
        posterior: the machines that remain possible, of those weighed.
        draws: these machines with their weights; alpha and lapse are the means of the subjects'.
        open_questions: the shortest label sequences that are still open to them.
    """

    subjects: tuple[str, ...]
    posterior: PosteriorSample
    draws: Draws
    open_questions: tuple[OpenQuestion, ...]

    @property
    def best(self) -> RewardMachine:
        """The likeliest machine."""
        return self.posterior.best

    @property
    def answer(self) -> str:
        """What these subjects want, in a sentence."""
        return self.posterior.answer.sentence

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What is known of their wishes."""
        return self.posterior.answer.facts

    @property
    def called(self) -> str:
        """The subjects in words; names that could be read as several stand in quotes."""
        more = len(self.subjects) - NAMED
        shown = ", ".join(named(each) for each in self.subjects[:NAMED])
        return shown if more <= 0 else f"{shown} and {more} more"


@dataclass(frozen=True, eq=False)
class Groups:
    """Subjects and their groups, for the likeliest number of groups.

    Attributes:
        groups: each with its posterior.
        subjects: in the order in which the demonstrations name them.
        log_evidence: log P(D | K), by the number of groups, of the machines weighed.
        probability: P(K | D), all numbers that were asked for being as likely beforehand.
        together: float64[S, S], how likely two subjects have one task, for that number of groups.
        machines: those that were weighed.
        source: names what they were found from.
        experts: `shared` or `by-subject`.
        estimated: whether a world's dynamics are those that a log shows.
    """

    groups: tuple[Group, ...]
    subjects: tuple[Subject, ...]
    log_evidence: dict[int, float]
    probability: dict[int, float]
    together: Floats
    machines: tuple[RewardMachine, ...]
    source: str
    experts: str
    estimated: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """How many groups there are, and what the sums are over, in words."""
        among = (
            f"tasks of subjects are weighed among {len(self.machines)} machines that were found; "
            "others count as impossible"
        )
        several = len(self.groups) > 1
        found = [among, *([ESTIMATED + ("" if several else TOGETHER)] if self.estimated else [])]
        ends = [(*each.alpha[1:], *each.lapse[1:]) for each in self.subjects]
        inferred = any(low < high or few < many for low, high, few, many in ends)
        if several and self.experts == SHARED and inferred:
            found.append(ONE_EXPERT)
        if len(self.probability) > 1:
            shares = ", ".join(f"{k}: {percent(p)}" for k, p in self.probability.items())
            found.insert(0, f"how many groups of subjects there are, by evidence: {shares}")
        return tuple(found)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What is known of each group's wishes; of several, with its subjects named."""
        if len(self.groups) == 1:
            return self.groups[0].facts
        return tuple(
            replace(fact, text=f"{each.called}: {fact.text}")
            for each in self.groups
            for fact in each.facts
        )

    @property
    def answer(self) -> str:
        """What each group wants, a sentence each."""
        if len(self.groups) == 1:
            return self.groups[0].answer
        count = len(self.groups)
        chance = f"{percent(self.probability[count])} sure"
        said = "; ".join(f"{each.called}: {_lowered(each.answer)}" for each in self.groups)
        return f"{count} groups of subjects ({chance}): {said}"


def named(subject: str) -> str:
    """Return a subject's name as a line of text shows it."""
    shown = visible(subject)
    return f"'{shown}'" if set(shown) & set(",;:") or shown != shown.strip() else shown


def _lowered(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].rstrip(".")
