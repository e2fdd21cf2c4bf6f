"""Random problems by every engine of this machine, beside the readable one: the worst errors.

    python benchmarks/engine_problems.py [--problems 2000] [--first 2] [--soft] [--kind any]

Of each kind of world so many problems are drawn, a hundred from each seed, as the tests draw
them. Fails where an error is above the promised tolerance. With `--soft` experts plan softly, and
so many problems are drawn in all; alpha is 2,000 where it would be infinite, and discounts are
0.99 at most.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support import conformance
from whence import Expert, Posterior
from whence.likelihood import posterior as posterior_module
from whence.likelihood import reference
from whence.likelihood.evidence import compile_evidence
from whence.model.expert import SOFT

KINDS = ("any", "deterministic", "masked any", "masked deterministic")
LEVELS = (-1.0, 0.0, 0.5, 1.0, 2.0)
TOLERANCES = (1e-2, 1e-5)
MOST_FINE = 0.99  # the largest discount at which the finer tolerance is asked for
EACH = 100  # problems of a seed


def worst_errors(
    build: conformance.Builder, every: tuple[conformance.Problem, ...]
) -> tuple[int, list[float]]:
    """Return how many problems an engine takes on, and its worst error at each tolerance."""
    taken, worst = 0, [0.0, 0.0]
    for problem in every:
        evidence = compile_evidence(problem.mdp, problem.demos)
        if build(problem.mdp, evidence, 0.5, 1) is None:
            continue
        taken += 1
        posterior_module.engine_for = build  # type: ignore[assignment]
        posterior = Posterior(
            problem.mdp, problem.demos, rewards=LEVELS, expert=problem.expert, threads=1
        )
        tables = problem.machine.transitions[None], problem.machine.rewards[None]
        for place, tolerance in enumerate(TOLERANCES):
            if place and problem.expert.discount > MOST_FINE:
                continue
            found = float(posterior.log_likelihood(*tables, tolerance=tolerance)[0])
            error = 0.0 if found == problem.exact else abs(found - problem.exact)
            worst[place] = max(worst[place], error)
    return taken, worst


def soft_errors(every: tuple[conformance.Problem, ...]) -> list[float]:
    """Return the worst errors for soft experts: at each tolerance, and at the finest."""
    worst = [0.0, 0.0, 0.0]
    for problem in every:
        given = problem.expert
        alpha = given.alpha if math.isfinite(given.alpha) else 2000.0
        expert = Expert(alpha, min(given.discount, MOST_FINE), given.lapse, SOFT)
        tables = problem.machine.transitions, problem.machine.rewards
        exact = reference.log_likelihood(problem.mdp, problem.demos, *tables, expert)
        posterior = Posterior(problem.mdp, problem.demos, rewards=LEVELS, expert=expert, threads=1)
        one = tables[0][None], tables[1][None]
        found = [float(posterior.log_likelihood(*one, tolerance=t)[0]) for t in TOLERANCES]
        found.append(posterior.finest(problem.machine))
        worst = [max(w, abs(f - exact)) for w, f in zip(worst, found, strict=True)]
    return worst


def soft(problems: int, first: int, kinds: Sequence[str]) -> int:
    """Print a line for each kind of world; return 1 where an error is too large."""
    wrong, each = 0, -(-problems // len(KINDS))
    for kind in kinds:
        seeds = range(first, first + -(-each // EACH))
        parts = [soft_errors(conformance.problems(kind, seed, min(each, EACH))) for seed in seeds]
        worst = [max(column) for column in zip(*parts, strict=True)]
        shown = ", ".join(f"{error:.1e}" for error in worst)
        print(f"soft, {kind}: {len(parts) * min(each, EACH)} problems, worst {shown}", flush=True)
        wrong |= any(w > t for w, t in zip(worst, TOLERANCES, strict=False))
    return wrong


def main() -> int:
    """Print a line for each engine and kind; return 1 where an error is too large."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--first", type=int, default=2)
    parser.add_argument("--soft", action="store_true")
    parser.add_argument("--kind", choices=KINDS, action="append", help="of world; else all")
    given = parser.parse_args()
    kinds = given.kind or KINDS
    if given.soft:
        return soft(given.problems, given.first, kinds)
    wrong = 0
    for kind in kinds:
        found: dict[str, list[tuple[int, list[float]]]] = {
            name: [] for name in conformance.ENGINES
        }
        for seed in range(given.first, given.first + -(-given.problems // EACH)):
            every = conformance.problems(kind, seed, EACH)
            for name, build in conformance.ENGINES.items():
                found.setdefault(name, []).append(worst_errors(build, every))
        for name, parts in found.items():
            taken = sum(part[0] for part in parts)
            worst = [max(part[1][place] for part in parts) for place in range(2)]
            print(f"{name}, {kind}: {taken} problems, worst {worst[0]:.1e} and {worst[1]:.1e}")
            wrong |= any(w > t for w, t in zip(worst, TOLERANCES, strict=True))
    return wrong


if __name__ == "__main__":
    raise SystemExit(main())
