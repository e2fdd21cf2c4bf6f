"""Medians, fractions and tests, and the Markdown tables made of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from whence.paper import published as paper
from whence.paper.experiment import Results
from whence.paper.triples import BINARY, PAPER, Found

CLOSE = 1e-6  # returns and scores this close are equal
COMPARISONS = 11  # how many a full page judges: 4 with baselines, 5 by return, 2 by score
SIGNIFICANT = 0.05 / COMPARISONS


@dataclass(frozen=True)
class Row:
    """A row of the main table.

    Attributes:
        world: its name.
        quantity: what is measured: r_e, r_a, or a baseline's r_a.
        paper: the published figure, or None.
        ours: the median over triples.
        least: the lowest of all triples.
        most: the highest of all triples.
        reached: the fraction of triples that reach the paper's r_a, or None.
        truth: the exact return of the truth's own policy (for r_e: of the expert).
    """

    world: str
    quantity: str
    paper: float | None
    ours: float
    least: float
    most: float
    reached: float | None
    truth: float


def rows(results: Results, world: str) -> list[Row]:
    """Return the main table's rows for a world."""
    known, published = results.references[world], paper.TABLE_1[world]
    found, memoryless = results.of(world), results.baselines_of(world)
    quantities: list[tuple[str, float | None, list[float]]] = [
        ("r_a, this method", published.agent, [f.agent for f in found]),
        ("best reward per label (n = 1)", None, [b.markovian for b in memoryless]),
        ("best reward per state", None, [b.per_state for b in memoryless]),
        ("behavioural cloning", None, [b.cloning for b in memoryless]),
    ]
    binary = results.of(world, BINARY.name)
    if binary:
        quantities.append(("machine with rewards 0 and 1", None, [f.agent for f in binary]))
    watched = _row(world, "r_e", published.expert, [f.watched for f in found], None, known.expert)
    return [watched] + [
        _row(world, name, printed, values, known.threshold, known.agent)
        for name, printed, values in quantities
    ]


def _row(
    world: str,
    quantity: str,
    published: float | None,
    values: list[float],
    threshold: float | None,
    truth: float,
) -> Row:
    reached = None if threshold is None else share(v >= threshold for v in values)
    return Row(
        world, quantity, published, median(values), min(values), max(values), reached, truth
    )


@dataclass(frozen=True)
class Outcome:
    """How the machines found stand to the truth, in triples.

    Attributes:
        preferred: the machine found scores higher than the truth: the score is to blame.
        equal: both score the same.
        missed: the truth scores higher: the search is to blame.
        same: the true machine was found.
        same_in_world: the world cannot tell what was found from the truth.
    """

    preferred: int
    equal: int
    missed: int
    same: int
    same_in_world: int


def outcome(found: Sequence[Found]) -> Outcome:
    """Count how the machines found stand to the truth."""
    gaps = [f.score - f.truth_score for f in found if f.truth_score is not None]
    return Outcome(
        preferred=sum(gap > CLOSE for gap in gaps),
        equal=sum(abs(gap) <= CLOSE for gap in gaps),
        missed=sum(gap < -CLOSE for gap in gaps),
        same=sum(f.same for f in found),
        same_in_world=sum(f.same_in_world for f in found),
    )


def best(found: Sequence[Found]) -> Found:
    """Return the triple with the highest r_a; a tie goes to the score furthest above the truth's.

    Scores on different demonstrations cannot be compared; how far they are above the truth's can.
    """

    def rank(f: Found) -> tuple[float, float]:
        gap = f.score - f.truth_score if f.truth_score is not None else -math.inf
        return (round(f.agent, 6), gap)

    return max(found, key=rank)


@dataclass(frozen=True)
class Comparison:
    """The paper's method against a variant, on the same demonstrations and seeds.

    Attributes:
        better: triples in which the paper's method earns more.
        worse: triples in which it earns less.
        equal: the others.
        p: the result of the two-sided sign test.
    """

    better: int
    worse: int
    equal: int
    p: float

    @property
    def verdict(self) -> str:
        """`holds`, `contradicted`, or `not shown`, at a level of 0.05 over all comparisons."""
        if self.p >= SIGNIFICANT:
            return "not shown"
        return "holds" if self.better > self.worse else "contradicted"


def compared(pairs: Sequence[tuple[float, float]]) -> Comparison:
    """Compare (paper's, variant's) figures pair by pair."""
    better = sum(a - b > CLOSE for a, b in pairs)
    worse = sum(b - a > CLOSE for a, b in pairs)
    return Comparison(better, worse, len(pairs) - better - worse, sign_test(better, worse))


def sign_test(better: int, worse: int) -> float:
    """Return the two-sided p of the sign test, under which both signs are equally likely."""
    n = better + worse
    tail = sum(math.comb(n, k) for k in range(max(better, worse), n + 1)) / 2.0**n
    return min(1.0, 2.0 * tail)


def against_baseline(results: Results, worlds: Sequence[str], name: str) -> Comparison:
    """Compare the paper's method with a baseline on the same demonstrations."""
    return compared(
        [
            (found.agent, getattr(baseline, name))
            for world in worlds
            for found, baseline in zip(results.of(world), results.baselines_of(world), strict=True)
        ]
    )


def against_binary(results: Results, worlds: Sequence[str]) -> Comparison:
    """Compare the paper's method with machines that pay 0 and 1 only."""
    pairs = paired(results, worlds, BINARY.name)
    return compared([(a.agent, b.agent) for a, b in pairs])


def paired(results: Results, worlds: Sequence[str], variant: str) -> list[tuple[Found, Found]]:
    """Return the paper's and a variant's triples on the same demonstrations."""
    return [
        pair
        for world in worlds
        for pair in zip(results.of(world, PAPER.name), results.of(world, variant), strict=True)
    ]


def share(values: Iterable[bool]) -> float:
    """Return the fraction that is true."""
    items = list(values)
    return float(sum(items) / len(items))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; every row has as many cells as the head."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_safe(cell) for cell in line)} |" for line in lines)


def percent(fraction: float | None) -> str:
    """Return a fraction as a percentage, or an empty text."""
    return "" if fraction is None else f"{100 * fraction:.0f}%"


def figure(value: float | None) -> str:
    """Return a return with three decimals, or an empty text."""
    return "" if value is None else f"{value:.3f}"


def _safe(cell: str) -> str:
    return cell.replace("|", "\\|")
