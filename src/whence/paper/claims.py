"""The paper's claims about its own choices, each against the variant without that choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, median

from whence.paper.experiment import Results
from whence.paper.figures import Comparison, compared, paired, share
from whence.paper.triples import PAPER, Found


@dataclass(frozen=True)
class Claim:
    """Something that the paper says, and what it is tested against.

    Attributes:
        variant: the name of the variant without the choice.
        without: that variant, in words.
        text: what the paper says.
        same_score: whether the best is kept by the same score, so that scores can be compared.
    """

    variant: str
    without: str
    text: str
    same_score: bool = False


CLAIMS = (
    Claim(
        "standard-rule",
        "temperature on the prior, too",
        "with temperature on the likelihood only, the prior keeps its importance",
        same_score=True,
    ),
    Claim(
        "one-change",
        "one changed entry",
        "changing a single entry is too little: several must change to leave a local optimum",
        same_score=True,
    ),
    Claim("uniform-prior", "uniform prior", "a prior in favour of simple machines is useful"),
    Claim("alpha-5", "alpha 5", "with alpha too low, worse machines look more plausible"),
    Claim("alpha-500", "alpha 500", "with alpha too high, local optima become traps"),
)


@dataclass(frozen=True)
class Summary:
    """A variant on a world.

    Attributes:
        world: its name.
        variant: its name.
        median: of r_a over triples.
        mean: of r_a over triples.
        reached: the fraction of triples that reach the paper's r_a.
        same_in_world: triples that found a machine the world cannot tell from the truth.
        acceptance: the median fraction of proposals accepted.
    """

    world: str
    variant: str
    median: float
    mean: float
    reached: float
    same_in_world: int
    acceptance: float


def summary(results: Results, world: str, variant: str = PAPER.name) -> Summary:
    """Summarise a variant on a world."""
    found = results.of(world, variant)
    returns = [f.agent for f in found]
    return Summary(
        world=world,
        variant=variant,
        median=median(returns),
        mean=mean(returns),
        reached=share(r >= results.references[world].threshold for r in returns),
        same_in_world=sum(f.same_in_world for f in found),
        acceptance=median(f.acceptance for f in found),
    )


def by_return(results: Results, claim: Claim, worlds: tuple[str, ...]) -> Comparison:
    """Compare what the agents earn, on the same demonstrations."""
    return _compared(results, claim, worlds, lambda f: f.agent)


def by_score(results: Results, claim: Claim, worlds: tuple[str, ...]) -> Comparison:
    """Compare the scores found; it makes sense where the best is kept by the same score."""
    assert claim.same_score
    return _compared(results, claim, worlds, lambda f: f.score)


def disagreement(results: Results, claim: Claim) -> bool:
    """Return whether the paper's choice mostly earns more on one world, and less on another."""
    signs = [by_return(results, claim, (world,)) for world in results.plan.worlds]
    return any(c.better > c.worse for c in signs) and any(c.worse > c.better for c in signs)


def _compared(
    results: Results, claim: Claim, worlds: tuple[str, ...], value: Callable[[Found], float]
) -> Comparison:
    pairs = paired(results, worlds, claim.variant)
    return compared([(value(a), value(b)) for a, b in pairs])
