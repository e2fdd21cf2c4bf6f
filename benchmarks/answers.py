"""Does the answer say what the expert wanted? Stories with a known task, sentence beside truth.

For each story and seed an expert is simulated, its task inferred, and the sentence printed; every
fact that was stated is asked of the true task. Facts of probability p should be false in a share
1 - p of cases; facts of one run hang together, so the p-value is a rough one.

    python benchmarks/answers.py [--stories rat key warehouse coffee usual multi] [--seeds 10]
                                [--first 0]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import whence

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from stories import STORIES, Story, simulated, truth_of


def told(story: Story, seed: int) -> tuple[list[tuple[str, float, bool]], bool]:
    """Infer, print the sentence, and return each fact's text, probability and truth.

    The second is whether the sentence has the whole true route.
    """
    demos = simulated(story, seed)
    began = time.perf_counter()
    run = whence.infer(story.mdp, demos, **story.asked, seed=seed)
    assert run.posterior is not None
    answer = run.found
    assert answer is not None
    alphabet = run.posterior.alphabet
    truth, whole = truth_of(story, alphabet)
    right = [bool(holds[0]) for holds in answer.truth(truth)]
    facts = [(s.claim.text, s.probability, ok) for s, ok in zip(answer.told, right, strict=True)]
    named = any(
        stated.claim.kind == "route" and stated.claim.text.removesuffix(" first") == whole
        for stated in answer.sure
    )
    seconds = time.perf_counter() - began
    print(f"  {seed}: {run.answer} [{seconds:.0f} s, {len(run.doubts)} doubts]", flush=True)
    for text, probability, ok in facts:
        if not ok:
            print(f"     false: {text} ({probability:.1%})", flush=True)
    return facts, named


def p_value(probabilities: np.ndarray, false: int) -> float:
    """Return how likely so many false facts are, or more, if facts were independent."""
    rng = np.random.default_rng(0)
    draws = (rng.random((100_000, len(probabilities))) >= probabilities).sum(axis=1)
    return float((draws >= false).mean())


def main() -> None:
    """Tell the stories, and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stories", nargs="+", default=list(STORIES), choices=list(STORIES))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    for name in given.stories:
        story = STORIES[name]()
        print(f"{name}: {STORIES[name].__doc__}", flush=True)
        facts, named = [], 0
        for seed in range(given.first, given.first + given.seeds):
            found, whole = told(story, seed)
            facts += found
            named += whole
        stated = np.array([min(p, 1.0) for _, p, _ in facts])
        false = sum(not ok for _, _, ok in facts)
        grave = sum(not ok and p > 0.995 for _, p, ok in facts)
        print(
            f"  the whole true route in {named} of {given.seeds} sentences; {len(facts)} facts, "
            f"{false} false ({(1 - stated).sum():.2f} expected, "
            f"p = {p_value(stated, false):.3f}), {grave} of them stated above 99.5%",
            flush=True,
        )


if __name__ == "__main__":
    main()
