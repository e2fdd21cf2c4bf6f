"""The settings of each method; those of annealing are named as in the paper's Table 1.

Each says at which `temperature` scores are compared, and gives itself `at` another one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from whence.errors import ArgumentError

RULES = ("modified", "standard")
NEIGHBOURS = ("several", "one")


@dataclass(frozen=True)
class Annealing:
    """The settings of annealing; by default those of the paper's coffee world.

    Attributes:
        t0: the first temperature, T0.
        t_min: the lowest one, T; scores are compared at it.
        beta_t: what the temperature is multiplied by, beta_T.
        p0: the first probability that an entry changes.
        p_min: the lowest one, p.
        beta_p: what the probability is multiplied by.
        every: iterations between two such multiplications, k.
        steps: iterations of each run, N.
        runs: independent runs; the best machine of all is kept.
        rule: `modified`, temperature on the likelihood only, or `standard`, on the prior too.
        neighbours: `several` changed entries, or `one`.
    """

    t0: float = 100_000.0
    t_min: float = 300.0
    beta_t: float = 0.96
    p0: float = 0.5
    p_min: float = 1 / 12
    beta_p: float = 0.99
    every: int = 5
    steps: int = 1_000
    runs: int = 3
    rule: str = "modified"
    neighbours: str = "several"

    def __post_init__(self) -> None:
        if not 0 < self.t_min < math.inf:
            raise ArgumentError(f"t_min is {self.t_min}; give a finite number above 0")
        if not self.t_min <= self.t0 < math.inf:
            raise ArgumentError(
                f"t0 is {self.t0}; give a finite number of at least t_min, {self.t_min}"
            )
        if not 0 < self.p_min < 1:
            raise ArgumentError(f"p_min is {self.p_min}; give a number between 0 and 1")
        if not self.p_min <= self.p0 < 1:
            raise ArgumentError(
                f"p0 is {self.p0}; give a number from p_min, {self.p_min:g}, up to, not "
                "including, 1"
            )
        for name, factor in (("beta_t", self.beta_t), ("beta_p", self.beta_p)):
            if not 0 < factor <= 1:
                raise ArgumentError(f"{name} is {factor}; give a number above 0, at most 1")
        for name in ("every", "steps", "runs"):
            _check_count(getattr(self, name), name)
        _check_choice(self.rule, RULES, "rule")
        _check_choice(self.neighbours, NEIGHBOURS, "neighbours")

    @property
    def temperature(self) -> float:
        """The temperature that scores are compared at: the lowest one."""
        return self.t_min

    @property
    def at_once(self) -> int:
        """Machines that a step asks for."""
        return self.runs

    def at(self, temperature: float) -> Annealing:
        """Return these settings with scores compared at another temperature."""
        return replace(self, t_min=temperature)

    @classmethod
    def preset(cls, name: str) -> Annealing:
        """Return a column of the paper's Table 1: recharge, coffee or multi-coffee."""
        _check_choice(name, tuple(PRESETS), "preset")
        return PRESETS[name]


def _check_count(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ArgumentError(f"{name} is {value!r}; give a whole number of at least 1")


def _check_choice(value: str, known: tuple[str, ...], name: str) -> None:
    if value not in known:
        raise ArgumentError(f"{name} is {value!r}; known are {', '.join(known)}")


PRESETS = {
    "recharge": Annealing(
        t0=500_000, t_min=200, beta_t=0.98, p0=0.5, p_min=1 / 16, beta_p=0.99, every=5, steps=2_000
    ),
    "coffee": Annealing(
        t0=100_000, t_min=300, beta_t=0.96, p0=0.5, p_min=1 / 12, beta_p=0.99, every=5, steps=1_000
    ),
    "multi-coffee": Annealing(
        t0=1_000_000, t_min=50, beta_t=0.99, p0=0.5, p_min=1 / 16, beta_p=0.995, every=10,
        steps=10_000,
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Tempering:
    """The settings of parallel tempering.

    Attributes:
        ladders: independent ladders.
        rungs: chains of each.
        hottest: the highest temperature, in units of the lowest; by default where the
            likelihood hardly matters.
        warm_up: steps, at least, during which rungs and moves adapt.
        pace: steps between two adaptations.
        steps: at most, the warm-up among them.
        trips: round trips that every ladder must have made before it may stop.
        every: steps between two looks at whether the ladders agree.
        until_agreed: whether to stop when they do; else all steps are made.
        precision: the largest Monte-Carlo error of a reported probability with which it may stop.
        finder: whether to look for good machines to start from, in runs that are long enough.
        temperature: of the coldest rung; 1 is the Bayesian posterior.
    """

    ladders: int = 2
    rungs: int = 20
    hottest: float | None = None
    warm_up: int = 400
    pace: int = 50
    steps: int = 20_000
    trips: int = 10
    every: int = 200
    until_agreed: bool = True
    precision: float = 0.01
    finder: bool = True
    temperature: float = 1.0

    def __post_init__(self) -> None:
        for name in ("ladders", "rungs", "warm_up", "pace", "steps", "trips", "every"):
            _check_count(getattr(self, name), name)
        for name in ("temperature", "hottest", "precision"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise ArgumentError(f"{name} is {value}; give a finite number above 0")

    @property
    def at_once(self) -> int:
        """Machines that a step asks for."""
        return self.ladders * self.rungs

    def at(self, temperature: float) -> Tempering:
        """Return these settings with scores compared at another temperature."""
        return replace(self, temperature=temperature)


@dataclass(frozen=True)
class Exhaustive:
    """The settings of the exact posterior.

    Attributes:
        temperature: T, divides log likelihoods.
        batch: machines that are scored together, a step.
        limit: refuse to score more machines than this.
        nats: how far below the best machine's a log weight may lie for the machine to be kept.
        keep: how many machines to keep at most, the heaviest ones.
    """

    temperature: float = 1.0
    batch: int = 16_384
    limit: int = 20_000_000
    nats: float = 40.0
    keep: int = 100_000

    def __post_init__(self) -> None:
        for name in ("temperature", "nats"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise ArgumentError(f"{name} is {value}; give a finite number above 0")
        for name in ("batch", "limit", "keep"):
            _check_count(getattr(self, name), name)

    def at(self, temperature: float) -> Exhaustive:
        """Return these settings with scores compared at another temperature."""
        return replace(self, temperature=temperature)
