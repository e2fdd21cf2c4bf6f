"""How much faster are deterministic worlds by way of their hubs? Beside sweeps, in one process.

A 39 by 39 grid without slip, 25 labelled cells of 8 symbols and 200 episodes of 150 steps from 40
starts; the machines come from the prior, one thread, least time of its core of several runs. Both
engines score the same batch; the largest difference between them is printed, too.

    python benchmarks/hubs_beside_sweeps.py [--states 3 8] [--machines 200] [--seed 0]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import whence
from whence import Expert, LabeledMDP, RewardMachine
from whence.cli.benchmarks.grids import open_grid
from whence.likelihood.compiled import CompiledEngine
from whence.likelihood.engines import Engine
from whence.likelihood.evidence import compile_evidence
from whence.likelihood.hub_map import map_hubs
from whence.likelihood.hubs import HubEngine
from whence.model.prior import Prior

SIDE, LABELLED, STARTS = 39, 25, 40
SYMBOLS = tuple("abcdefgh")
EXPERT = Expert(alpha=100, discount=0.97)
TASK = RewardMachine.from_arrows(
    ["first -a-> second", "second -b-> third", "third -c/1-> over"], alphabet=SYMBOLS
)


def grid(rng: np.random.Generator) -> LabeledMDP:
    """Return an open grid without slip: labels anywhere, 40 starts."""
    chosen = rng.choice(SIDE * SIDE, LABELLED + STARTS, replace=False)
    return open_grid(SIDE, SYMBOLS, chosen[:LABELLED], chosen[LABELLED:])


def seconds(engine: Engine, tables: tuple, machines: int) -> tuple[float, np.ndarray]:
    """Return the least time of the core for one machine, and the log likelihoods."""
    first = np.arange(machines + 1)
    alpha, lapse = np.full(machines, EXPERT.alpha), np.zeros(machines)
    steps = engine.evidence.n_steps
    tolerance = np.full(machines, 1e-2 / (2 * EXPERT.alpha * EXPERT.discount * steps))
    least = np.inf
    for _ in range(5):
        begun = time.process_time()
        found, _ = engine.log_likelihood(tables, first, alpha, lapse, tolerance)
        least = min(least, time.process_time() - begun)
    return least / machines, found


def main() -> None:
    """Print both engines' times for each number of states."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, nargs="+", default=[3, 8])
    parser.add_argument("--machines", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    mdp = grid(rng)
    demos = whence.simulate(mdp, TASK, EXPERT, episodes=200, length=150, seed=options.seed)
    evidence = compile_evidence(mdp, demos)
    hubs = map_hubs(mdp, evidence.visited)
    assert hubs is not None
    print(f"{evidence.n_cells:,} cells, {len(evidence.visited):,} states visited")
    for n in options.states:
        drawn = Prior().sample(rng, n, len(SYMBOLS), (0.0, 1.0), options.machines)
        engines = (
            CompiledEngine(mdp, evidence, EXPERT.discount, 1),
            HubEngine(mdp, evidence, EXPERT.discount, 1, hubs),
        )
        tables = engines[0].canonical(*drawn)
        (swept, one), (by_hubs, other) = (seconds(e, tables, options.machines) for e in engines)
        print(
            f"n = {n}: sweeps {1e6 * swept:,.0f} us, hubs {1e6 * by_hubs:,.0f} us a machine, "
            f"{swept / by_hubs:.1f} times; largest difference {np.max(np.abs(one - other)):.1e}"
        )


if __name__ == "__main__":
    main()
