"""Simulation-based calibration with the number of states and the expert unknown.

Each repetition draws a number of states, a machine, alpha and lapse from their priors, has that
expert demonstrate in a small stochastic world, and samples the posterior of all of them. If the
sampler is right, the truth's rank among draws is uniform, whatever is asked of it: alpha, lapse,
the number of states, the log likelihood, what a label sequence pays. Equal values are ranked at
random. `--wrong` infers with another prior than the one drawn from, which must show.

    python benchmarks/rank_calibration.py [--repetitions 300] [--first 0] [--wrong]
"""

from __future__ import annotations

import argparse
import json

import numpy as np
from scipy import stats

import whence
from calibration import LEVELS, SYMBOLS, small_world
from whence import Expert, LabeledMDP, Posterior, Prior, RewardMachine, Tempering
from whence.model.expert_prior import AlphaPrior, LapsePrior
from whence.search.problem import Problem
from whence.search.sampling import ParallelTempering
from whence.search.target import Chains, stacked
from whence.search.unknowns import unknowns

DISCOUNT = 0.8
SIZES = range(1, 3)
SETTINGS = Tempering(ladders=2, rungs=6, warm_up=60, pace=20, steps=180, until_agreed=False)
RANKED = 19  # draws beside which the truth is ranked
ASKED = ("alpha", "lapse", "states", "log likelihood", "pay")
WRONG = AlphaPrior(centre=3.0, spread=1.0)


def repetition(mdp: LabeledMDP, seed: int, wrong: bool) -> list[int]:
    """Return the truth's rank, 0 to `RANKED`, in all that is asked."""
    rng = np.random.default_rng((123, seed))
    prior = Prior()
    chances = np.exp([prior.log_size(n, SIZES) for n in SIZES])
    n = int(rng.choice(SIZES, p=chances / chances.sum()))
    tables = prior.sample(rng, n, SYMBOLS, LEVELS, 1)
    truth = RewardMachine(mdp.alphabet, tables[0][0], tables[1][0])
    alpha = float(np.exp(AlphaPrior().sample(rng, 1)[0]))
    lapse = float(LapsePrior().sample(rng, 1)[0])
    expert = Expert(alpha, DISCOUNT, lapse)
    demos = whence.simulate(mdp, truth, expert, episodes=10, length=12, seed=seed)
    first = Posterior(mdp, demos, expert=Expert(1.0, DISCOUNT), rewards=LEVELS, threads=1)
    known = unknowns(None, None, None, DISCOUNT, WRONG if wrong else None)
    draws = sampled(Problem((first,), known, SIZES, {}), seed)
    transitions, rewards = draws.machines.tables(LEVELS)
    labels = rng.integers(0, SYMBOLS, size=int(rng.integers(1, 5))).tolist()
    likely = Posterior(mdp, demos, expert=expert, rewards=LEVELS).finest(truth)
    true = (alpha, lapse, n, likely, total(truth.transitions, truth.rewards, labels))
    drawn = (
        draws.experts.alpha, draws.experts.lapse, draws.machines.n_states, draws.log_likelihood,
        [total(*tables, labels) for tables in zip(transitions, rewards, strict=True)],
    )  # fmt: skip
    return [rank(rng, *pair) for pair in zip(true, map(np.asarray, drawn), strict=True)]


def sampled(problem: Problem, seed: int) -> Chains:
    """Return draws of the posterior, far apart, as the default method makes them."""
    method, rng = ParallelTempering(problem, SETTINGS), np.random.default_rng(seed)
    state, kept = method.init(rng), []
    for _ in range(SETTINGS.steps):
        state, _ = method.step(rng, state)
        record = method.record(state)
        if record is not None:
            kept.append(record)
    every = stacked(kept)
    return every.rows(np.linspace(0, every.size - 1, RANKED).astype(int))


def total(transitions: np.ndarray, rewards: np.ndarray, labels: list[int]) -> float:
    """Return what a label sequence pays in all."""
    state, paid = 0, 0.0
    for label in labels:
        paid += float(rewards[state, label])
        state = int(transitions[state, label])
    return paid


def rank(rng: np.random.Generator, true: float, drawn: np.ndarray) -> int:
    """Return how many draws are below the truth; equal ones are, or are not, at random."""
    equal = int(np.isclose(drawn, true, rtol=1e-7, atol=1e-6).sum())
    below = int(((drawn < true) & ~np.isclose(drawn, true, rtol=1e-7, atol=1e-6)).sum())
    return below + int(rng.integers(0, equal + 1))


def main() -> None:
    """Print how often each rank came, and how likely that is if ranks are uniform."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--wrong", action="store_true")
    asked = parser.parse_args()
    mdp = small_world()
    seeds = range(asked.first, asked.first + asked.repetitions)
    rows = []
    for seed in seeds:
        rows.append(repetition(mdp, seed, asked.wrong))
        print(json.dumps({"seed": seed, "ranks": rows[-1]}), flush=True)
    ranks = np.array(rows)
    for place, name in enumerate(ASKED):
        counts = np.bincount(ranks[:, place] // 2, minlength=(RANKED + 1) // 2)
        p_value = float(stats.chisquare(counts).pvalue)
        print(json.dumps({"asked": name, "counts": counts.tolist(), "p": round(p_value, 4)}))


if __name__ == "__main__":
    main()
