"""Small studies for the tests, each made once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import whence
from whence import Demonstrations, Expert, LabeledMDP, RewardMachine, Tempering
from whence.report import Study
from whence.runs.result import Run

MAP = "labels: c o *\nstarts: S\nmap:\nS.c\n*.o\n"
TASK = RewardMachine.from_arrows(["a -c-> b", "b -o/1-> a"], alphabet=("c", "o", "*"))
QUICK = Tempering(rungs=4, warm_up=100, steps=400, trips=1)
EXPERT = Expert(alpha=6, discount=0.9)

NASTY = (
    '<script>document.title="pwned";window.pwned=1</script>',
    '"><img src=x onerror="window.pwned=1">',
    "</style></title></svg><svg onload='window.pwned=1'>",
    "back\\slash 100% {braces} $x$ %%{init: {}}%%",
    "two\nlines\r]]>-->",
    "☕🚀 &amp; it's",
)


def demonstrations(mdp: LabeledMDP, episodes: int = 20) -> Demonstrations:
    return whence.simulate(mdp, TASK, EXPERT, episodes=episodes, length=12, seed=3)


@cache
def grid_run() -> tuple[Run, LabeledMDP, Demonstrations]:
    mdp = LabeledMDP.from_map(MAP, source="map")
    demos = demonstrations(mdp)
    run = whence.infer(mdp, demos, states=2, discount=0.9, settings=QUICK, seed=1)
    return run, mdp, demos


@cache
def grid() -> Study:
    """A grid, an expert of unknown alpha and lapse, and a comparison."""
    return Study.of(*grid_run(), names=["rooms.map"], command="whence infer 'rooms.map' d.jsonl")


@cache
def chain() -> Study:
    """A world that is no grid, every machine of one or two states scored."""
    rows = [[s, a, (s + (1, 2)[a]) % 4, 1.0] for s in range(4) for a in range(2)]
    mdp = LabeledMDP.from_triples(
        rows, states=4, actions=["on", "far"], labels=[None, "c", "o", "*"],
        alphabet=("c", "o", "*"),
    )  # fmt: skip
    demos = demonstrations(mdp, 3)
    run = whence.infer(mdp, demos, states=(1, 2), expert=EXPERT, method="exhaustive")
    return Study.of(run, mdp, demos)


@cache
def two_worlds() -> Study:
    """Two grids, one machine, no comparison."""
    first = LabeledMDP.from_map(MAP, source="map")
    second = LabeledMDP.from_map("labels: c o *\nstarts: S\nmap:\nScoooo\n.*....\n", source="map")
    pairs = [(mdp, demonstrations(mdp, 5)) for mdp in (first, second)]
    run = whence.infer(pairs, states=2, expert=EXPERT, settings=QUICK, seed=1)
    return Study.of(run, pairs, compare=False)


@cache
def annealed() -> Study:
    """A method without probabilities."""
    _, mdp, demos = grid_run()
    settings = whence.Annealing(steps=20)
    run = whence.infer(mdp, demos, states=2, expert=EXPERT, method="annealing", settings=settings)
    return Study.of(run, mdp, demos, compare=False)


@cache
def nasty() -> Study:
    """A world, a machine and files whose names would break a careless page."""
    rows = [[s, a, (s + (1, 3)[a]) % 6, 1.0] for s in range(6) for a in range(2)]
    mdp = LabeledMDP.from_triples(
        rows,
        states=6,
        actions=list(NASTY[:2]),
        labels=list(NASTY),
        names=[f"state {name}" for name in NASTY],
        grid=whence.Grid(3, 2, [(x, y) for y in range(2) for x in range(3)]),
    )
    episodes = [([0, 1, 4, 5, 0], [0, 1, 0, 0]) for _ in range(6)]
    demos = replace(Demonstrations.from_episodes(episodes), source=f"demos {NASTY[0]}.jsonl")
    run = whence.infer(mdp, demos, states=2, discount=0.9, settings=QUICK, seed=2)
    named = RewardMachine(
        run.best.alphabet, run.best.transitions, run.best.rewards, NASTY[: run.best.n_states]
    )
    return Study.of(
        replace(run, best=named),
        mdp,
        demos,
        names=[f"world {NASTY[1]}.map"],
        command=f"whence infer '{NASTY[0]}' -o '{NASTY[4]}'",
        compare=False,
    )


def plain_grid(side: int) -> LabeledMDP:
    """An open grid of cells that all carry a label."""
    cells = np.array([(x, y) for y in range(side) for x in range(side)])
    grid = whence.Grid(side, side, cells)
    actions = ("up", "right", "down", "left")
    labels = [("c", "o", "*")[(x + y) % 3] for x, y in cells.tolist()]
    return LabeledMDP.from_triples(
        grid.transitions(actions, 0.0), states=len(cells), actions=actions, labels=labels,
        alphabet=("c", "o", "*"), grid=grid,
    )  # fmt: skip
