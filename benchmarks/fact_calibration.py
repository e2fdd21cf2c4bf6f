"""Are facts as probable as they say? Tasks from the prior, the exact posterior, facts asked.

Each repetition draws a task from the prior and a few demonstrations of its expert in a small
world, scores every machine, and asks the task for every fact that is stated. Of facts stated with
a probability from 50 to 70%, from 70 to 90%, from 90 to 99% and above, as many must be true as
that. The control is an overconfident twin: what it states with odds o it states with odds o^3.

    python benchmarks/fact_calibration.py [--repetitions 100] [--first 0] [--workers 4]
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np

import over_seeds
import whence
from whence import Expert, LabeledMDP, Prior, RewardMachine
from whence.analysis.plans import Plans

EXPERT = Expert(alpha=6.0, discount=0.8)
STATES, LEVELS = 2, (0.0, 1.0)
EDGES = (0.5, 0.7, 0.9, 0.99, 1.0 + 1e-12)
MAP = "slip: 0.1\nlabels: a b c\nstarts: S\nmap:\na..b\n....\n.S.c\n"
FAR = 2.6  # errors: one true calibration in a hundred is further off


def repetition(mdp: LabeledMDP, seed: int) -> tuple[list[tuple[str, float, bool]], bool, bool]:
    """Return each fact's kind, probability and truth; whether there was a sentence, and a route.

    Facts are those that the run tells: what the demonstrations hardly put to the test is not.
    """
    rng = np.random.default_rng((2718, seed))
    tables = Prior().sample(rng, STATES, len(mdp.alphabet), LEVELS, 1)
    truth = RewardMachine(mdp.alphabet, tables[0][0], tables[1][0])
    demos = whence.simulate(
        mdp, truth, EXPERT, episodes=int(rng.integers(1, 25)), length=10, seed=seed
    )
    run = whence.infer(
        mdp, demos, states=STATES, rewards=LEVELS, expert=EXPERT, method="exhaustive"
    )
    answer = run.found
    assert answer is not None
    plans = Plans.of([mdp], mdp.alphabet, [truth], [EXPERT.discount])
    facts = [
        (stated.claim.kind, min(1.0, stated.probability), bool(holds[0]))
        for stated, holds in zip(answer.told, answer.truth(plans), strict=True)
    ]
    return facts, bool(answer.sure), any(each.claim.kind == "route" for each in answer.sure)


def judged(stated: np.ndarray, true: np.ndarray, run: np.ndarray) -> bool:
    """Print how often facts of each range are true; return whether any is off.

    Facts of one task hang together, so their errors are added as if they were one: that is the
    most that a calibrated statement can be off by chance.
    """
    off = False
    for low, high in itertools.pairwise(EDGES):
        part = (stated >= low) & (stated < high)
        if not part.any():
            continue
        gap = np.bincount(run[part], true[part] - stated[part])
        own = np.bincount(run[part], np.sqrt(stated[part] * (1 - stated[part])))
        error = float(np.sqrt((own**2).sum()))
        z = float(gap.sum()) / max(error, 1e-9)
        off |= abs(z) > FAR
        print(
            f"  {low:.0%} to {min(high, 1):.0%}: {part.sum()} facts, stated "
            f"{stated[part].mean():.3f}, true {true[part].mean():.3f} (z = {z:+.1f})"
        )
    return off


def repeated(seed: int) -> tuple[list[tuple[str, float, bool]], bool, bool]:
    """Return one repetition, wherever it is made."""
    return repetition(LabeledMDP.from_map(MAP, source="map"), seed)


def main() -> None:
    """Draw tasks, infer, count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    over_seeds.add_option(parser)
    given = parser.parse_args()
    rows, sentences, sure = [], 0, 0
    seeds = range(given.first, given.first + given.repetitions)
    found = over_seeds.done(repeated, seeds, given.workers)
    for seed, (facts, sentence, route) in zip(seeds, found, strict=True):
        rows += [(kind, p, ok, seed - given.first) for kind, p, ok in facts]
        sentences += sentence
        sure += route
    stated = np.array([p for _, p, _, _ in rows])
    true = np.array([float(ok) for _, _, ok, _ in rows])
    run = np.array([at for *_, at in rows])
    print(
        f"{given.repetitions} tasks, {len(rows)} facts; a sentence that is sure: "
        f"{sentences}, with a route: {sure}"
    )
    for kind in ("route", "ends", "avoids", "pays"):
        part = np.array([each[0] == kind for each in rows])
        if part.any():
            means = f"stated {stated[part].mean():.3f}, true {true[part].mean():.3f}"
            print(f"  {kind}: {part.sum()} facts, {means}")
    print("calibrated" if not judged(stated, true, run) else "NOT calibrated")
    odds = (stated / np.maximum(1 - stated, 1e-12)) ** 3
    print("control, overconfident:")
    caught = judged(odds / (1 + odds), true, run)
    print("control caught" if caught else "control NOT caught")


if __name__ == "__main__":
    main()
