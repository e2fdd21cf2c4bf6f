"""What if the expert acts blindly now and then? Multi coffee, an epsilon-greedy expert.

One action in ten is drawn blindly, the others are optimal. The machine is inferred twice from the
same demonstrations: with the share of blind actions inferred, and with the paper's model, which
has none (alpha 50, lapse 0). Prints for both whether the best machine scores at least what the
polished truth does, and what it earns.

    python benchmarks/blind_actions.py [--seeds 5] [--world multi-coffee]
"""

from __future__ import annotations

import argparse
import json
import math

import whence
from find_the_truth import SLACK, polished
from whence import Expert, Posterior
from whence.paper.worlds import BUILT_IN, World

DISCOUNT = 0.92
LAPSE = 0.1


def main() -> None:
    """Print a line for each demonstration set and model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--world", default="multi-coffee")
    chosen = parser.parse_args()
    world = BUILT_IN[chosen.world](None)
    expert = Expert(math.inf, DISCOUNT, LAPSE)
    for seed in range(chosen.seeds):
        demos = whence.simulate(
            world.mdp, world.task, expert, episodes=world.episodes, length=world.length, seed=seed
        )
        for lapse in ("infer", 0.0):
            print(json.dumps(measured(world, demos, lapse, seed)), flush=True)


def measured(
    world: World, demos: whence.Demonstrations, lapse: float | str, seed: int
) -> dict[str, object]:
    """Infer with one model of the expert; return what came of it."""
    run = whence.infer(
        world.mdp, demos, states=world.task.n_states, rewards=world.rewards, alpha=50.0,
        lapse=lapse, discount=DISCOUNT, seed=seed,
    )  # fmt: skip
    posterior = Posterior(world.mdp, demos, expert=run.expert, rewards=world.rewards)
    tables = run.best.transitions[None], run.best.rewards[None]
    score, goal = float(posterior.score(*tables)[0]), polished(posterior, world.task)
    policy = whence.plan(world.mdp, run.best, DISCOUNT)
    earned = whence.evaluate(world.mdp, policy, world.task, world.length)
    return {
        "seed": seed, "lapse": lapse, "score": score, "goal": goal,
        "reached": score >= goal - SLACK, "found": run.best.same_in(world.task, world.mdp),
        "inferred_lapse": run.expert.lapse, "per_step": run.log_likelihood / demos.n_steps,
        "return": earned.expected_return, "reference": earned.reference,
        "seconds": run.seconds, "stopped": run.stopped,
    }  # fmt: skip


if __name__ == "__main__":
    main()
