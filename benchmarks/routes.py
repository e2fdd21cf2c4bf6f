"""Are routes what optimal agents do? Random machines and worlds, beside simulated episodes.

Each problem is a random world (deterministic or not, one to three starts) with a random machine of
one to eight states. The route must have every label that is clearly next more than once in
twenty times after a beginning, and none that clearly is not, up to five labels deep; see
tests/support/wanted.py, which shares nothing with the library but the definition.

    PYTHONPATH=tests python benchmarks/routes.py [--problems 500] [--first 0]
"""

from __future__ import annotations

import argparse
import collections

import numpy as np

from support import wanted
from support.problems import random_machine, random_world
from whence.analysis.plans import Plans
from whence.analysis.routes import ANYTHING, longest
from whence.analysis.wording import phrase, shown

MOST, EPISODES, LENGTH, FEW = 5, 600, 80, 120
LEVELS = np.array([0.5, 1.0, 2.0])


def problem(seed: int) -> tuple[str | None, str, str]:
    """Return how route and simulation differ, or None, what kind it is, and the route in words."""
    rng = np.random.default_rng((4711, seed))
    mdp = random_world(
        rng, states=int(rng.integers(4, 24)), actions=int(rng.integers(2, 5)),
        symbols=int(rng.integers(2, 5)), successors=int(rng.integers(1, 4)), blank=0.6,
    )  # fmt: skip
    machine = random_machine(rng, mdp.alphabet, int(rng.integers(1, 9)), LEVELS)
    discount = float(rng.choice([0.5, 0.8, 0.9, 0.95]))
    course = Plans.of([mdp], mdp.alphabet, [machine], [discount]).courses[0]
    words = wanted.words(
        mdp, machine, discount, episodes=EPISODES, length=LENGTH, most=MOST,
        rng=np.random.default_rng((4712, seed)),
    )  # fmt: skip
    kind = "endless" if longest(course.moves) is None else "ends"
    if any(symbol == ANYTHING for move in course.moves for symbol, _ in move):
        kind = "too many ways"
    elif any(len(move) > 1 for move in course.moves):
        kind += ", with choices"
    text = phrase(course.moves, shown(mdp.alphabet), by_start=course.by_start)
    return wanted.disagreement(course, mdp.alphabet, words, MOST, FEW), kind, text


def main() -> None:
    """Compare, and say how many agree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    kinds: collections.Counter[str] = collections.Counter()
    wrong = []
    for seed in range(given.first, given.first + given.problems):
        differs, kind, text = problem(seed)
        kinds[kind] += 1
        if differs is not None:
            wrong.append(seed)
            print(f"problem {seed}: {differs} ({text})", flush=True)
    print(f"{given.problems - len(wrong)} of {given.problems} agree; {dict(kinds)}")


if __name__ == "__main__":
    main()
