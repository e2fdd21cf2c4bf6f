"""whence against independent solvers, on many random problems; the worst difference of each.

pip install quantecon scipy stormpy automata-lib aalpy
python benchmarks/differential.py [--problems 1000]
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support import differing


def main() -> None:
    """Print one line for each comparison."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--problems", type=int, default=1000)
    seeds = range(parser.parse_args().problems)
    for solver, module in (("quantecon", "quantecon"), ("storm", "stormpy")):
        if importlib.util.find_spec(module) is None:
            print(f"optimal values against {solver}: not installed")
            continue
        worst = max(differing.values(seed, solver) for seed in seeds)
        print(
            f"optimal values against {solver}: {len(seeds)} problems, worst {worst:.2e}",
            flush=True,
        )
    worst = max(differing.likelihood(seed) for seed in seeds)
    print(f"log likelihoods against SciPy: {len(seeds)} problems, worst {worst:.2e}", flush=True)
    for seed in seeds:
        differing.equality(seed)
    print(f"machines against automata-lib and AALpy: {len(seeds)} pairs, all agree")


if __name__ == "__main__":
    main()
