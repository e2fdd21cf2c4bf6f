"""Is the kind of expert told? Coffee, demonstrations by Boltzmann and by soft experts.

For each demonstration set, one inference that compares the kinds: which one it names, how much the
evidence speaks for it, and whether the best machine scores at least what the true one does, each
with an expert of the right kind whose alpha and lapse are inferred. Then the speed of soft experts
beside Boltzmann ones, in CPU time, one thread.

A soft expert who hardly errs acts as a Boltzmann one does: at alpha 150 the two kinds explain its
demonstrations about equally well, and nobody could tell. `--alpha` tries that.

    python benchmarks/expert_kinds.py [--seeds 20] [--first 0] [--kinds boltzmann,soft]
        [--alpha 150] [--speed]
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

import whence
from whence import Expert, Posterior
from whence.likelihood.fitting import Fitter
from whence.model.expert_prior import AlphaPrior, LapsePrior

ALPHAS = {"boltzmann": 30.0, "soft": 80.0}
DISCOUNT = 0.92
NEAR = 0.05  # nats: scores of equally good machines, whose experts are drawn
MACHINES = 2_000


def main() -> None:
    """Print a line for each demonstration set, and a summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", default="boltzmann,soft")
    parser.add_argument("--alpha", type=float, default=ALPHAS["soft"], help="of soft experts")
    parser.add_argument("--speed", action="store_true")
    chosen = parser.parse_args()
    ALPHAS["soft"] = chosen.alpha
    for kind in [] if chosen.speed else chosen.kinds.split(","):
        lines = [told(kind, chosen.first + seed) for seed in range(chosen.seeds)]
        right = sum(line["told"] == kind for line in lines)
        reached = sum(line["short"] <= NEAR for line in lines)
        print(f"{kind}: told {right} of {len(lines)}, the truth's score reached {reached}")
    speed()


def told(kind: str, seed: int) -> dict[str, object]:
    """Infer from one demonstration set, with both kinds allowed."""
    world = whence.worlds.coffee()
    expert = Expert(ALPHAS[kind], DISCOUNT, kind=kind)
    demos = whence.simulate(world.mdp, world.task, expert, episodes=100, length=100, seed=seed)
    began = time.process_time()
    run = whence.infer(
        world.mdp, demos, states=3, discount=DISCOUNT, expert_kind="infer", seed=seed, threads=1,
        progress=False,
    )  # fmt: skip
    seconds = time.process_time() - began
    assert run.posterior is not None
    kinds = run.posterior.kinds
    value = {
        size[1]: each[0] for size, each in run.log_evidence.items() if isinstance(size, tuple)
    }
    posterior = Posterior(world.mdp, demos, expert=expert, threads=1)
    line: dict[str, object] = {
        "kind": kind,
        "seed": seed,
        "told": max(kinds, key=lambda each: kinds[each]),
        "nats": value[kind] - max((v for k, v in value.items() if k != kind), default=-np.inf),
        "short": best_score(posterior, world.task) - best_score(posterior, run.best),
        "task": run.best.same_in(world.task, world.mdp),
        "alpha": run.expert.alpha,
        "stopped": run.stopped,
        "steps": run.steps,
        "cpu_seconds": round(seconds, 1),
    }
    print(json.dumps(line), flush=True)
    return line


def best_score(posterior: Posterior, machine: whence.RewardMachine) -> float:
    """Return a machine's score with the expert of the posterior's kind that suits it best."""
    tables = machine.over(posterior.alphabet)
    transitions, rewards = tables.transitions[None], tables.rewards[None]
    fitter = Fitter([posterior], AlphaPrior(), LapsePrior())
    place = fitter.fits(transitions, rewards, np.zeros(1, dtype=np.int64)).place[0]
    alpha = np.exp(place[0] + np.linspace(-0.2, 0.2, 41))
    lapse = 1 / (1 + np.exp(-place[1] - np.linspace(-4, 1, 11)))
    every = np.stack(np.meshgrid(alpha, lapse), axis=-1).reshape(-1, 2)
    found = posterior.log_likelihood(
        np.repeat(transitions, len(every), axis=0), np.repeat(rewards, len(every), axis=0),
        alpha=every[:, 0], lapse=every[:, 1], tolerance=1e-4,
    )  # fmt: skip
    return float(found.max() + posterior.log_prior(transitions, rewards)[0])


def speed() -> None:
    """Print what a machine takes for each kind, in microseconds of CPU time."""
    rng = np.random.default_rng(0)
    for name in ("coffee", "recharge"):
        world = getattr(whence.worlds, name)()
        m = len(world.mdp.alphabet)
        demos = whence.simulate(
            world.mdp, world.task, world.expert, episodes=100, length=50, seed=0
        )
        transitions = rng.integers(0, 3, (MACHINES, 3, m))
        rewards = (rng.random((MACHINES, 3, m)) < 0.3).astype(np.float64)
        line: dict[str, object] = {"world": name}
        for kind, alpha in ALPHAS.items():
            posterior = Posterior(
                world.mdp, demos, expert=Expert(alpha, DISCOUNT, kind=kind), threads=1
            )
            fitter = Fitter([posterior], AlphaPrior(), LapsePrior())
            place = np.zeros(MACHINES, dtype=np.int64)
            posterior.log_likelihood(transitions[:9], rewards[:9], remember=False)
            fitter.fits(transitions[:9], rewards[:9], place[:9])
            began = time.process_time()
            posterior.log_likelihood(transitions, rewards, remember=False)
            middle = time.process_time()
            fitter.fits(transitions, rewards, place)
            each = middle - began, time.process_time() - middle
            line |= {
                f"{kind} score": round(each[0] / MACHINES * 1e6, 1),
                f"{kind} fit": round(each[1] / MACHINES * 1e6, 1),
            }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
