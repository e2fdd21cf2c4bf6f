"""What lies around the machine that a triple ended in, and how far the truth is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from whence._arrays import Floats, Ints
from whence.likelihood.posterior import Posterior
from whence.model.canonical import valid
from whence.paper.triples import PAPER, Job, inferred
from whence.paper.words import aligned
from whence.paper.worlds import BUILT_IN

CLOSE = 1e-6

Tables = tuple[Ints, Floats]


@dataclass(frozen=True)
class Nearby:
    """The surroundings of the machine that a triple found.

    Attributes:
        world: its name.
        seed: of the triple.
        to_truth: how many entries must change to make it the true machine.
        changes: how many entries a late proposal changes on average, 2 n m p.
        ones: valid machines one changed entry away.
        better_ones: those of them that score higher.
        twos: valid machines two changed entries away.
        better_twos: those of them that score higher.
    """

    world: str
    seed: int
    to_truth: int
    changes: float
    ones: int
    better_ones: int
    twos: int
    better_twos: int


def nearby(job: Job) -> Nearby:
    """Run a triple of the paper's method again, and look around where it ended."""
    world = BUILT_IN[job.world](None)
    demos = world.demonstrations(job.seed)
    run = inferred(Job(job.world, job.seed, PAPER, job.steps), world, demos)
    posterior = Posterior(
        world.mdp, demos, expert=run.expert, rewards=run.rewards, temperature=run.temperature,
        threads=1,
    )  # fmt: skip
    here = run.best.transitions, run.best.rewards
    level = posterior.score(here[0][None], here[1][None])[0]
    scores = [posterior.score(*changed(here, run.rewards, count)) for count in (1, 2)]
    targets, rewards = aligned(run.best, world.task)
    odd = (targets != world.task.transitions).sum() + (rewards != world.task.rewards).sum()
    return Nearby(
        world=job.world,
        seed=job.seed,
        to_truth=int(odd),
        changes=2 * here[0].size * run.settings.p_min,
        ones=len(scores[0]),
        better_ones=int((scores[0] > level + CLOSE).sum()),
        twos=len(scores[1]),
        better_twos=int((scores[1] > level + CLOSE).sum()),
    )


def changed(tables: tuple[Ints, Floats], levels: tuple[float, ...], count: int) -> Tables:
    """Return every valid machine in which exactly `count` entries differ: [B, n, m] each."""
    n, size = len(tables[0]), tables[0].size
    flat = np.concatenate([tables[0].ravel().astype(np.float64), tables[1].ravel()])
    single = [
        (entry, value)
        for entry in range(2 * size)
        for value in (range(n) if entry < size else levels)
        if value != flat[entry]
    ]
    every = [c for c in combinations(single, count) if len({entry for entry, _ in c}) == count]
    made = np.repeat(flat[None], len(every), axis=0)
    for place in range(count):
        rows = np.arange(len(every))
        made[rows, [c[place][0] for c in every]] = [c[place][1] for c in every]
    shape = (-1, *tables[0].shape)
    transitions, rewards = made[:, :size].astype(np.int64), made[:, size:]
    result = transitions.reshape(shape), rewards.reshape(shape)
    kept = valid(*result)
    return result[0][kept], result[1][kept]
