"""How real episodes differ from replicas, with p-values, and in words.

Real episodes and R replicas are R + 1 rows of statistics. Where the model is right, and its parts
were inferred from other episodes, no row is special: the rank of the real one is uniform, and
so is every p-value below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whence._arrays import Floats
from whence.analysis import discrepancies as kinds
from whence.analysis.discrepancies import Statistic

SIGNIFICANT = 0.05
INTERVAL = (2.5, 97.5)  # percent
MORE, LESS = "more", "less"
SENTENCES = {
    kinds.PHASE: ("spend {more} of their steps in state {phase} of the machine {than}", "share"),
    kinds.ACTION: ("take action {of} {often} in state {phase} of the machine {than}", "share"),
    kinds.LABEL: ("enter {of} {often} {than}", "share"),
    kinds.IN_A_ROW: ("enter the same label {often} in a row {than}", "number"),
    kinds.TURN: ("turn back {often} {than}", "share"),
    kinds.SURE: ("take a best action {often} {than} where it is {of} likely to", "share"),
    kinds.SURPRISE: ("are {more} surprising, in nats an action, {than}", "number"),
    kinds.SPREAD: ("differ {more} from each other in how surprising they are {than}", "number"),
    kinds.FIRST_PAY: ("take {longer} to be paid for the first time {than}", "number"),
    kinds.LENGTH: ("are {longer}, in steps, {than}", "number"),
    kinds.ENDED: ("end {often} because the task is over {than}", "share"),
}
NAMES = {
    kinds.PHASE: "steps in state {phase} of the machine",
    kinds.ACTION: "action {of} in state {phase}",
    kinds.LABEL: "states entered that show {of}",
    kinds.IN_A_ROW: "the same label in a row",
    kinds.TURN: "turns back",
    kinds.SURE: "a best action, where that is {of} likely",
    kinds.SURPRISE: "surprise, in nats an action",
    kinds.SPREAD: "how far episodes differ in that",
    kinds.FIRST_PAY: "steps up to the first pay",
    kinds.LENGTH: "steps of an episode",
    kinds.ENDED: "episodes that end because the task is over",
}
ARE = (kinds.SURPRISE, kinds.SPREAD, kinds.LENGTH)
WORDS = {
    MORE: {"more": "more", "often": "more often", "longer": "longer"},
    LESS: {"more": "less", "often": "less often", "longer": "shorter"},
}
STATES = "more machine states (states, --states): the task may need more memory"
MISSING = (
    "a label that is missing: something that the expert reacts to and the world does not name"
)
EXPERT = (
    "another kind of expert (expert_kind, --expert), or a lapse and a discount that are inferred, "
    "where they were given"
)
APART = "an expert for each subject (experts='by-subject'), if several acted"
ENDINGS = "endings='ignore', if episodes do not end because the task is over"
ADVICE = {
    kinds.PHASE: (STATES, MISSING),
    kinds.ACTION: (MISSING, EXPERT),
    kinds.LABEL: (STATES, MISSING),
    kinds.IN_A_ROW: (STATES, EXPERT),
    kinds.TURN: (EXPERT, MISSING),
    kinds.SURE: (EXPERT, STATES),
    kinds.SURPRISE: (EXPERT, STATES),
    kinds.SPREAD: (APART, STATES),
    kinds.FIRST_PAY: (STATES, MISSING),
    kinds.LENGTH: (ENDINGS, STATES),
    kinds.ENDED: (ENDINGS, STATES),
}


@dataclass(frozen=True)
class Discrepancy:
    """How real episodes and replicas compare in one statistic.

    Attributes:
        statistic: what was counted.
        observed: in the real episodes.
        expected: on average in replicas.
        low: 2.5% of replicas are below.
        high: 2.5% are above.
        p_value: how often a replica is as far out as the real episodes, to either side.
        adjusted: how often a replica is that far out in any statistic.
    """

    statistic: Statistic
    observed: float
    expected: float
    low: float
    high: float
    p_value: float
    adjusted: float

    @property
    def name(self) -> str:
        """What was counted, in words."""
        return NAMES[self.statistic.kind].format(**self.statistic._asdict())

    def shown(self, value: float) -> str:
        """Return a value of the statistic as people are shown it."""
        unit = SENTENCES[self.statistic.kind][1]
        return f"{100 * value:.3g}%" if unit == "share" else f"{value:.3g}"

    @property
    def text(self) -> str:
        """The comparison as a sentence."""
        pattern, _ = SENTENCES[self.statistic.kind]
        words = WORDS[MORE if self.observed > self.expected else LESS]
        of, phase = self.statistic.of, self.statistic.phase
        than = "than this expert's" if self.statistic.kind in ARE else "than this expert would"
        said = pattern.format(of=of, phase=phase, than=than, **words)
        seen, low, high = (self.shown(value) for value in (self.observed, self.low, self.high))
        return f"real episodes {said}: {seen}, where {low} to {high} fit"


@dataclass(frozen=True, eq=False)
class Misfit:
    """How real episodes and replicas compare.

    Attributes:
        discrepancies: the farthest out first.
        p_value: of all statistics together: how often a replica is as far out in any.
        replicas: how many there were.
    """

    discrepancies: tuple[Discrepancy, ...]
    p_value: float
    replicas: int

    @property
    def fits(self) -> bool:
        """Whether the real episodes are what the model would make."""
        return self.p_value > SIGNIFICANT

    @property
    def found(self) -> tuple[Discrepancy, ...]:
        """What the model does not explain, by itself beyond doubt."""
        return tuple(each for each in self.discrepancies if each.adjusted <= SIGNIFICANT)

    @property
    def advice(self) -> tuple[str, ...]:
        """What to try next, the first thing first."""
        if self.fits:
            return ()
        worst = self.found or self.discrepancies[:1]
        firsts = [ADVICE[each.statistic.kind][0] for each in worst]
        later = [line for each in worst for line in ADVICE[each.statistic.kind][1:]]
        return tuple(dict.fromkeys(firsts + later))

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        if self.fits:
            return (
                "the model fits: real episodes look like its replicas in all that was counted "
                f"(p = {self.p_value:.2g})"
            )
        return f"the model does not fit (p {self._p()}): its replicas differ from real episodes"

    def _p(self) -> str:
        least = 1 / (self.replicas + 1)
        return f"< {2 * least:.2g}" if self.p_value <= least else f"= {self.p_value:.2g}"


def compared(names: Sequence[Statistic], values: Floats) -> Misfit:
    """Return how real episodes and replicas compare.

    Args:
        names: K statistics.
        values: float64[R + 1, K], the real episodes first; nan where nothing was counted.
    """
    standard = _standard(values)
    farthest = standard.max(axis=1, initial=0.0)
    found = [
        Discrepancy(
            statistic=name,
            observed=float(values[0, k]),
            expected=float(np.nanmean(values[1:, k])),
            low=float(np.nanpercentile(values[1:, k], INTERVAL[0])),
            high=float(np.nanpercentile(values[1:, k], INTERVAL[1])),
            p_value=_two_sided(values[:, k]),
            adjusted=_beyond(standard[0, k], farthest[1:]),
        )
        for k, name in enumerate(names)
        if np.isfinite(values[0, k]) and np.isfinite(values[1:, k]).any()
    ]
    far = {name: standard[0, k] for k, name in enumerate(names)}
    order = sorted(found, key=lambda each: -far[each.statistic])
    return Misfit(tuple(order), _beyond(farthest[0], farthest[1:]), len(values) - 1)


def _standard(values: Floats) -> Floats:
    """Return float64[R + 1, K], how many deviations each row is away from the mean of all."""
    known = np.isfinite(values)
    counts = np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, values, 0.0)
    away = np.where(known, values - filled.sum(axis=0) / counts, 0.0)
    deviation = np.sqrt((away**2).sum(axis=0) / counts)
    tiny = deviation <= 1e-12 * np.abs(filled).max(axis=0, initial=0.0)
    return np.abs(away) / np.where(tiny, np.inf, deviation)


def _two_sided(column: Floats) -> float:
    """Return how often a row is as far out as the first, by rank; ties count half."""
    known = column[1:][np.isfinite(column[1:])]
    below = float((known < column[0]).sum()) + 0.5 * float((known == column[0]).sum() + 1)
    low = below / (len(known) + 1)
    return min(2 * min(low, 1 - low), 1.0)


def _beyond(value: float, others: Floats) -> float:
    """Return how often others are at least as large; ties count half."""
    ties = 0.5 * float((others == value).sum() + 1)
    return (float((others > value).sum()) + ties) / (len(others) + 1)
