"""Random problems on a card, beside the readable engine: the worst error of each kind.

    python benchmarks/card_problems.py [PROBLEMS]

needs `whence[cuda]`, a card, and `src` and `tests` on the path. Fails where an error is above the
promised tolerance. One problem in fifty is also solved by straight code, which is compiled for it.
"""

from __future__ import annotations

import sys

import numpy as np

from support import conformance
from whence import Posterior
from whence.errors import WhenceError
from whence.likelihood import posterior as posterior_module
from whence.likelihood.cuda.card import first_card
from whence.likelihood.cuda.engine import CudaEngine
from whence.likelihood.hub_map import map_hubs

KINDS = ("any", "deterministic", "masked any", "masked deterministic")
LEVELS = (-1.0, 0.0, 0.5, 1.0, 2.0)
TOLERANCE = 1e-2
STRAIGHT = 50  # one problem in so many
SEED = 2_000


def main(count: int) -> int:
    """Print the worst error of each engine and kind; return 1 where one is too large."""
    card = first_card()
    print(f"{card.name}: {count} problems")
    builders = conformance.on_card(card)

    def straight(mdp, evidence, discount, threads):  # type: ignore[no-untyped-def]
        hubs = map_hubs(mdp, evidence.visited) if mdp.is_deterministic else None
        return CudaEngine(mdp, evidence, discount, threads, card, hubs)

    builders["card straight"] = straight
    bad = 0
    for place, kind in enumerate(KINDS):
        errors: dict[str, list[float]] = {name: [] for name in builders}
        for number in range(count // len(KINDS)):
            rng = np.random.default_rng([SEED, place, number])
            problem = conformance._problem(rng, kind)
            for name, build in builders.items():
                if name == "card hubs" and not problem.mdp.is_deterministic:
                    continue
                if name == "card straight" and (
                    number % STRAIGHT or problem.expert.discount > 0.98
                ):
                    continue
                errors[name].append(_error(problem, build))
        for name, found in errors.items():
            worst = max(found, default=0.0)
            over = sum(not error <= TOLERANCE for error in found)
            bad += over
            print(f"{kind:22} {name:14} {len(found):5} worst {worst:.1e} nats, {over} too far")
    return int(bad > 0)


def _error(problem, build) -> float:  # type: ignore[no-untyped-def]
    posterior_module.engine_for = build
    one = Posterior(problem.mdp, problem.demos, expert=problem.expert, rewards=LEVELS, threads=1)
    found = one.log_likelihood(problem.machine.transitions[None], problem.machine.rewards[None])[0]
    return 0.0 if found == problem.exact else float(abs(found - problem.exact))


if __name__ == "__main__":
    try:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000))
    except WhenceError as error:
        sys.exit(f"error: {error}")
