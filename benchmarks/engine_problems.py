"""Random problems by every engine of this machine, beside the readable one: the worst errors.

    python benchmarks/engine_problems.py [--problems 2000] [--first 2]

Of each kind of world so many problems are drawn, a hundred from each seed, as the tests draw
them. Fails where an error is above the promised tolerance.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support import conformance
from whence import Posterior
from whence.likelihood import posterior as posterior_module
from whence.likelihood.evidence import compile_evidence

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


def main() -> int:
    """Print a line for each engine and kind; return 1 where an error is too large."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--first", type=int, default=2)
    given = parser.parse_args()
    wrong = 0
    for kind in KINDS:
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
