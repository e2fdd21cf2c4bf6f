"""Does inference find what the data say? Every built-in world, many demonstration sets.

For each set: the score of the best machine beside that of the polished truth (the true machine,
climbed by the best single change of an entry until none helps), evaluations, seconds in all and,
where the expert is said, until that score was first told; round trips of the ladders beside those
that the barrier predicts. On recharge also what the best machine pays on `w r` and `w t r`.

    python benchmarks/find_the_truth.py [--worlds coffee,recharge] [--seeds 20] [--first 0]
                                        [--unknown] [--workers 4]

With `--unknown`, only the number of states and the reward levels are said; then the question is
whether the best machine is the same in the world as when everything is said.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from functools import partial

import numpy as np

import over_seeds
import round_trips
import whence
from whence import Expert, Posterior, RewardMachine, Run
from whence.model.canonical import valid
from whence.paper.growing import neighbours
from whence.paper.worlds import BUILT_IN, World
from whence.runs.events import Event

EXPERT = Expert(alpha=50, discount=0.92)
SLACK = 1e-2  # nats, the tolerance of scores while searching


def polished(posterior: Posterior, machine: RewardMachine) -> float:
    """Return the score of a machine climbed by the best changes of single entries."""
    ordered = machine.over(posterior.alphabet)
    score = float(posterior.score(ordered.transitions[None], ordered.rewards[None])[0])
    while True:
        near = [
            np.array(column) for column in zip(*neighbours(ordered, posterior.levels), strict=True)
        ]
        kept = valid(near[0], near[1])
        scores = posterior.score(near[0][kept], near[1][kept])
        best = int(np.argmax(scores))
        if scores[best] <= score + 1e-6:
            return score
        score = float(scores[best])
        ordered = RewardMachine(ordered.alphabet, near[0][kept][best], near[1][kept][best])


def measured(world: World, seed: int, unknown: bool) -> dict[str, object]:
    """Infer from one demonstration set; return what came of it."""
    demos = world.demonstrations(seed)
    said = {"states": world.task.n_states, "rewards": world.rewards, "seed": seed}
    posterior = Posterior(world.mdp, demos, expert=EXPERT, rewards=world.rewards)
    goal = polished(posterior, world.task)
    met: list[float] = []
    states = round_trips.watched()
    began = time.perf_counter()

    def on_event(event: Event) -> None:
        if not met and not unknown and event.score is not None and event.score >= goal - SLACK:
            met.append(time.perf_counter() - began)

    known = {} if unknown else {"expert": EXPERT}
    run = whence.infer(world.mdp, demos, **said, **known, on_event=on_event, progress=False)
    trips, predicted = round_trips.travelled(run, states[-1])
    score = float(posterior.score(*(t[None] for t in (run.best.transitions, run.best.rewards)))[0])
    result: dict[str, object] = {
        "world": world.name, "seed": seed, "score": score, "goal": goal,
        "reached": score >= goal - SLACK, "evaluations": run.evaluations,
        "seconds": run.seconds, "met": met[0] if met else None, "steps": run.steps,
        "stopped": run.stopped, "doubts": run.doubts, "trips": trips,
        "share": min(trips) / max(predicted, 1e-9),
    }  # fmt: skip
    if world.name == "recharge":
        rule = run.best.run(["w", "r"]).rewards[-1], run.best.run(["w", "t", "r"]).rewards[-1]
        result["wet_rule"] = rule == (0.0, 1.0)
    if unknown:
        result |= _unknown(world, run, demos, said)
    return result


def _unknown(
    world: World, run: Run, demos: whence.Demonstrations, said: dict[str, object]
) -> dict[str, object]:
    told = whence.infer(world.mdp, demos, **said, expert=EXPERT)
    same = run.best.same_in(told.best, world.mdp)
    alpha = run.posterior.alpha if run.posterior else None
    return {"same_as_told": same, "alpha": alpha, "expert": str(run.expert)}


def told(name: str, seed: int, unknown: bool) -> dict[str, object]:
    """Return what a demonstration set gives, and print it."""
    row = measured(BUILT_IN[name](None), seed, unknown)
    print(json.dumps(row), flush=True)
    return row


def main() -> None:
    """Print a line for each demonstration set, and a summary for each world."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", default=",".join(BUILT_IN))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--unknown", action="store_true")
    over_seeds.add_option(parser)
    chosen = parser.parse_args()
    for name in chosen.worlds.split(","):
        one = partial(told, name, unknown=chosen.unknown)
        rows = over_seeds.done(
            one, range(chosen.first, chosen.first + chosen.seeds), chosen.workers
        )
        seconds = [float(str(row["seconds"])) for row in rows]
        scored = [int(str(row["evaluations"])) for row in rows]
        print(
            f"{name}: {sum(bool(row['reached']) for row in rows)} of {len(rows)} reach the "
            f"polished truth; seconds {statistics.median(seconds):.1f} "
            f"(worst {max(seconds):.1f}); "
            f"evaluations {statistics.median(scored):,.0f} (worst {max(scored):,})",
            flush=True,
        )
        agreed = sum(row["stopped"] == "agreed" for row in rows)
        share = [float(str(row["share"])) for row in rows]
        print(
            f"{name}: agreed in {agreed}; trips beside those predicted: median "
            f"{statistics.median(share):.2f}, least {min(share):.2f}, at least a third in "
            f"{sum(each >= 1 / 3 for each in share)}"
        )
        met = [float(str(row["met"])) for row in rows if row["met"] is not None]
        if met:
            print(f"{name}: score met after {statistics.median(met):.1f} s (worst {max(met):.1f})")
        for key in ("wet_rule", "same_as_told"):
            if key in rows[0]:
                print(f"{name}: {key} in {sum(bool(row[key]) for row in rows)} of {len(rows)}")


if __name__ == "__main__":
    main()
