"""Small runs of every method, and what is left of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import whence
from whence import Annealing, Exhaustive, Expert, Tempering

METHODS: dict[str, dict[str, Any]] = {
    "tempering": {
        "alpha": "infer", "discount": 0.9, "lapse": "infer",
        "settings": Tempering(rungs=4, warm_up=20, pace=10, steps=60, every=20, trips=1,
                              until_agreed=False),
    },
    "annealing": {
        "expert": Expert(20, 0.9), "settings": Annealing(steps=60, t_min=5, t0=500, runs=2),
    },
    "exhaustive": {"expert": Expert(20, 0.9), "settings": Exhaustive(batch=64)},
}  # fmt: skip
RESULTS = ("best.json", "trace.npz", "draws.npz")


def world() -> whence.LabeledMDP:
    """Return a corridor of five states with two labels, where one step in ten goes astray."""
    triples = []
    for state in range(5):
        for action, step in enumerate((-1, 1)):
            to, back = min(max(state + step, 0), 4), min(max(state - step, 0), 4)
            triples += [(state, action, to, 0.9), (state, action, back, 0.1)]
    return whence.LabeledMDP.from_triples(
        triples, states=5, actions=("left", "right"), labels=["a", None, None, None, "b"],
        alphabet=("a", "b"), initial=[(1, 0.5), (2, 0.5)],
    )  # fmt: skip


def demonstrations(mdp: whence.LabeledMDP, episodes: int = 8) -> whence.Demonstrations:
    """Return what an expert shows that goes to a, then to b."""
    task = whence.RewardMachine.from_arrows(["x -a-> y", "y -b/1-> x"], alphabet=("a", "b"))
    return whence.simulate(mdp, task, Expert(20, 0.9), episodes=episodes, length=12, seed=3)


def infer(method: str, **changes: Any) -> whence.Run:
    """Make a small run."""
    mdp = world()
    demos = changes.pop("demos", None) or demonstrations(mdp)
    said = METHODS[method] | {"states": 2, "method": method, "seed": 5} | changes
    return whence.infer(mdp, demos, **said)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a result, all but how long it took."""
    return {name: (folder / name).read_bytes() for name in RESULTS if (folder / name).exists()}
