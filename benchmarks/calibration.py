"""Are stated probabilities honest? Machines from the prior, demonstrations from their experts.

Each repetition draws a machine from the prior and a few demonstrations of its expert in a small
stochastic world, infers, and asks for one event at random: that a label sequence pays a certain
total. Over all repetitions, events said to have probability p must happen with frequency p.

    python benchmarks/calibration.py [--repetitions 300] [--first 0] [--workers 4]
"""

from __future__ import annotations

import argparse
import json

import numpy as np
from scipy import stats

import over_seeds
import whence
from whence import Expert, LabeledMDP, Prior, RewardMachine, Tempering

EXPERT = Expert(alpha=5.0, discount=0.8)
STATES, SYMBOLS, LEVELS = 3, 2, (0.0, 1.0)
SETTINGS = Tempering(ladders=6, rungs=5, warm_up=300, steps=2_000, until_agreed=False)
EDGES = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0])


def small_world() -> LabeledMDP:
    """Return a stochastic world of 8 states, 3 actions and 2 symbols."""
    rng = np.random.default_rng(12345)
    rows = []
    for state in range(8):
        for action in range(3):
            targets = rng.choice(8, size=2, replace=False)
            share = rng.uniform(0.5, 0.95)
            rows += [(state, action, int(targets[0]), share)]
            rows += [(state, action, int(targets[1]), 1 - share)]
    labels = [None, "a", None, "b", None, "a", None, "b"]
    return LabeledMDP.from_triples(
        rows, states=8, actions=3, labels=labels, alphabet=["a", "b"], initial=0
    )


def repetition(mdp: LabeledMDP, seed: int) -> tuple[float, bool]:
    """Return the stated probability of a random event, and whether it is so."""
    rng = np.random.default_rng((987, seed))
    tables = Prior().sample(rng, STATES, SYMBOLS, LEVELS, 1)
    truth = RewardMachine(mdp.alphabet, tables[0][0], tables[1][0])
    demos = whence.simulate(mdp, truth, EXPERT, episodes=8, length=12, seed=seed)
    run = whence.infer(
        mdp, demos, states=STATES, rewards=LEVELS, expert=EXPERT, settings=SETTINGS, seed=seed,
        threads=1,
    )  # fmt: skip
    labels = [mdp.alphabet[k] for k in rng.integers(0, SYMBOLS, size=int(rng.integers(1, 5)))]
    total = float(rng.integers(0, 3))
    assert run.posterior is not None
    stated = run.posterior.pays(*labels).get(total, 0.0)
    return stated, sum(truth.run(labels).rewards) == total


def chi_square(stated: np.ndarray, happened: np.ndarray) -> tuple[float, float, list[list[float]]]:
    """Return the statistic, its p-value and the table of reliability."""
    which = np.clip(np.searchsorted(EDGES, stated, side="right") - 1, 0, len(EDGES) - 2)
    table, total, used = [], 0.0, 0
    for place in range(len(EDGES) - 1):
        mine = which == place
        if not mine.any():
            continue
        expected, seen = stated[mine].sum(), happened[mine].sum()
        spread = float((stated[mine] * (1 - stated[mine])).sum())
        table.append([EDGES[place], EDGES[place + 1], int(mine.sum()), expected, int(seen)])
        if spread > 0.5:
            total += (seen - expected) ** 2 / spread
            used += 1
    return total, float(stats.chi2.sf(total, used)), table


def repeated(seed: int) -> tuple[float, bool]:
    """Return one repetition in the small world, wherever it is made."""
    return repetition(small_world(), seed)


def main() -> None:
    """Print the table of reliability and the test."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    over_seeds.add_option(parser)
    chosen = parser.parse_args()
    seeds = range(chosen.first, chosen.first + chosen.repetitions)
    pairs = np.array(over_seeds.done(repeated, seeds, chosen.workers), dtype=np.float64)
    statistic, p_value, table = chi_square(pairs[:, 0], pairs[:, 1])
    print("stated from, to, events, expected, happened")
    for row in table:
        print("  ".join(f"{value:g}" for value in row))
    print(json.dumps({"chi_square": statistic, "p": p_value, "repetitions": len(pairs)}))


if __name__ == "__main__":
    main()
