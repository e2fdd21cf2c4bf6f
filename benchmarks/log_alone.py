"""Is the task found from a log alone, and how sure is it? Coffee as a table of names.

For each demonstration set, with the estimated dynamics taken for the truth (before) and over all
dynamics that the log allows for (after): the probability of the likeliest machine, whether it is
the task in the true world, how probable the task is, and the facts above 90%, true or false.

    python benchmarks/log_alone.py [--episodes 300,30] [--first 0] [--seeds 20] [--workers 4]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import over_seeds
import whence
from whence import Demonstrations, Expert, LabeledMDP, PosteriorSample, RewardMachine
from whence.analysis.plans import Plans

EXPERT = Expert(50, 0.92)
SURE = 0.9
DRAWS = 200_000


def main() -> None:
    """Print a line for each demonstration set, and a summary for each number of episodes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", default="300,30")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--steps", type=int)
    over_seeds.add_option(parser)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    for episodes in [int(part) for part in chosen.episodes.split(",")]:
        one = partial(measured, episodes, steps=chosen.steps)
        seeds = range(chosen.first, chosen.first + chosen.seeds)
        found = over_seeds.done(one, seeds, chosen.workers)
        for when in ("before", "after"):
            print(f"{episodes} episodes, {when}: {summary([each[when] for each in found])}")


def measured(episodes: int, seed: int, steps: int | None = None) -> dict[str, Any]:
    """Write a log, read it back without the world, infer, and compare in the true world."""
    world = whence.worlds.coffee()
    shown = whence.simulate(
        world.mdp, world.task, world.expert, episodes=episodes, length=100, seed=seed
    )
    with tempfile.TemporaryDirectory() as place:
        shown.save(Path(place) / "log.csv", world.mdp)
        log = Demonstrations.load(Path(place) / "log.csv")
    mdp = LabeledMDP.from_demonstrations(log)
    run = whence.infer(mdp, log, states=3, expert=EXPERT, seed=seed, steps=steps)
    assert run.posterior is not None
    assert run.rough is not None
    covered = log.coverage(mdp)
    result: dict[str, Any] = {
        "episodes": episodes, "seed": seed, "right": right(run.best),
        "before": judged(run.rough.as_estimated, mdp), "after": judged(run.posterior, mdp),
        "seen": covered.seen / covered.pairs, "doubts": run.doubts, "seconds": run.seconds,
    }  # fmt: skip
    print(json.dumps(result), flush=True)
    return result


def right(machine: RewardMachine) -> bool:
    """Whether a machine pays as the task does on every label sequence of the true world."""
    world = whence.worlds.coffee()
    return machine.over(world.mdp.alphabet).same_in(world.task, world.mdp)


def judged(sample: PosteriorSample, mdp: LabeledMDP) -> dict[str, Any]:
    """Return how sure a sample is, and whether it is right."""
    task = whence.worlds.coffee().task.over(sample.alphabet)
    plans = Plans.of([mdp], sample.alphabet, [task], [EXPERT.discount])
    answer = sample.answer
    told = zip(answer.told, answer.truth(plans), strict=True)
    return {
        "probability": float(sample.weights[0]),
        "right": right(sample.best),
        "task": float(sum(weight for machine, weight in sample if right(machine))),
        "facts": [(s.probability, bool(true[0])) for s, true in told if s.probability > SURE],
        "answered": bool(answer.sure),
    }


def summary(found: list[dict[str, Any]]) -> str:
    """Return how many are right, and whether those that are sure may be so."""
    sure = [(each["probability"], each["right"]) for each in found if each["probability"] > SURE]
    facts = [fact for each in found for fact in each["facts"]]
    return (
        f"the right machine in {sum(each['right'] for each in found)} of {len(found)}, the task "
        f"has {np.mean([each['task'] for each in found]):.2f} on average; above 90%: "
        f"{told(sure)}; facts {told(facts)}; answers {sum(each['answered'] for each in found)}"
    )


def told(stated: list[tuple[float, bool]]) -> str:
    """Return how many are wrong of how many, and how often chance alone has so many wrong."""
    wrong = sum(not true for _, true in stated)
    rng = np.random.default_rng(0)
    chances = np.minimum(np.array([p for p, _ in stated]), 1 - 1e-9)
    false = rng.random((DRAWS, len(stated))) > chances
    return f"{wrong} of {len(stated)} wrong (p = {(false.sum(axis=1) >= wrong).mean():.3f})"


if __name__ == "__main__":
    main()
